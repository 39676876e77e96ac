/* SPDX-License-Identifier: Apache-2.0 */
#include <mbedtls/ecdsa.h>

#include "fuzz.h"
#include "tenon/encoding.h"
#include "tenon/p256.h"

/*
 * Input: key || digest || signature, the key as 64 bytes or, when that does not fill the input, as a compressed point:
 * half of those are on the curve, so that chance gets past the check of the key. What is missing at the end is zeros.
 */
typedef struct {
    tenon_public_key key;
    tenon_digest digest;
    tenon_signature signature;
} claim;

static bool read_claim(claim *out, const uint8_t *data, size_t n)
{
    uint8_t form[TENON_COMPRESSED_SIZE] = {0};
    memset(out, 0, sizeof *out);
    if (n >= sizeof *out) {
        memcpy(out, data, sizeof *out);
        return true;
    }
    size_t form_n = n < sizeof form ? n : sizeof form;
    memcpy(form, data, form_n);
    size_t rest = n - form_n;
    size_t room = sizeof *out - sizeof out->key;
    memcpy(out->digest.bytes, data + form_n, rest < room ? rest : room);
    return tenon_public_key_decode_compressed(&out->key, form, sizeof form) == TENON_OK;
}

static bool may_be(tenon_status status)
{
    return status == TENON_OK || status == TENON_ERROR_SIGNATURE_INVALID || status == TENON_ERROR_SIGNATURE_RANGE ||
           status == TENON_ERROR_POINT_RANGE || status == TENON_ERROR_POINT_OFF_CURVE;
}

static tenon_status verify_prepared(const claim *made)
{
    tenon_verifier *verifier;
    tenon_status status = tenon_verifier_new(&verifier, &made->key);
    MUST((status == TENON_OK) == (verifier != NULL));
    MUST(status == tenon_p256_check(&made->key));
    if (status == TENON_OK) {
        status = tenon_verifier_verify(verifier, &made->digest, &made->signature);
        MUST(tenon_verifier_verify(verifier, &made->digest, &made->signature) == status);
    }
    tenon_verifier_free(&verifier);
    MUST(verifier == NULL);
    return status;
}

/* The verdict of mbedTLS's own verification for a key on the curve, whichever backend is under test. */
static bool mbedtls_accepts(const claim *made)
{
    mbedtls_ecp_group group;
    mbedtls_ecp_point key;
    mbedtls_mpi r, s;
    mbedtls_ecp_group_init(&group);
    mbedtls_ecp_point_init(&key);
    mbedtls_mpi_init(&r);
    mbedtls_mpi_init(&s);
    MUST(mbedtls_ecp_group_load(&group, MBEDTLS_ECP_DP_SECP256R1) == 0);
    MUST(mbedtls_mpi_read_binary(&key.X, made->key.bytes, TENON_SCALAR_SIZE) == 0);
    MUST(mbedtls_mpi_read_binary(&key.Y, made->key.bytes + TENON_SCALAR_SIZE, TENON_SCALAR_SIZE) == 0);
    MUST(mbedtls_mpi_lset(&key.Z, 1) == 0);
    MUST(mbedtls_mpi_read_binary(&r, made->signature.bytes, TENON_SCALAR_SIZE) == 0);
    MUST(mbedtls_mpi_read_binary(&s, made->signature.bytes + TENON_SCALAR_SIZE, TENON_SCALAR_SIZE) == 0);
    int error = mbedtls_ecdsa_verify(&group, made->digest.bytes, TENON_DIGEST_SIZE, &key, &r, &s);
    mbedtls_mpi_free(&s);
    mbedtls_mpi_free(&r);
    mbedtls_ecp_point_free(&key);
    mbedtls_ecp_group_free(&group);
    return error == 0;
}

/* The lower s is accepted, too; another digest is not. */
static void accepted(const claim *made)
{
    claim other = *made;
    MUST(tenon_signature_normalize(&other.signature) == TENON_OK);
    MUST(tenon_p256_verify(&other.key, &other.digest, &other.signature) == TENON_OK);
    other.digest.bytes[0] ^= 1;
    MUST(tenon_p256_verify(&other.key, &other.digest, &other.signature) == TENON_ERROR_SIGNATURE_INVALID);
}

FUZZ_TARGET(data, n)
{
    claim made;
    if (!read_claim(&made, data, n))
        return;
    tenon_status status = tenon_p256_verify(&made.key, &made.digest, &made.signature);
    MUST(may_be(status));
    MUST(verify_prepared(&made) == status);
    if (tenon_p256_check(&made.key) == TENON_OK)
        MUST(mbedtls_accepts(&made) == (status == TENON_OK));
    if (status == TENON_OK)
        accepted(&made);
}
