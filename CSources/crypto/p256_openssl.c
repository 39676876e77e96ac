/* SPDX-License-Identifier: Apache-2.0 */
#ifdef TENON_OPENSSL

/* EC_KEY is deprecated in favour of EVP_PKEY, which wraps it and takes DER; the point and r, s go in here as they are.
 */
#define OPENSSL_SUPPRESS_DEPRECATED

#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/ecerr.h>
#include <openssl/err.h>
#include <openssl/obj_mac.h>
#include <stdlib.h>

#include "crypto/p256.h"
#include "tenon/tenon.h"

const char *tenon_backend_name(void)
{
    return "openssl";
}

/* OpenSSL keeps errors by thread; after a call nobody needs what it left there. */
static tenon_status failure(tenon_status status)
{
    ERR_clear_error();
    return status;
}

/* Why a call failed: no memory, which is asked first, or this reason. Other causes were ruled out before. */
static tenon_status refused_for(int reason, tenon_status status)
{
    bool named = false, no_memory = false;
    for (unsigned long error = ERR_get_error(); error != 0; error = ERR_get_error()) {
        named |= ERR_GET_REASON(error) == reason;
        no_memory |= ERR_GET_REASON(error) == ERR_R_MALLOC_FAILURE;
    }
    return named && !no_memory ? status : TENON_ERROR_MEMORY;
}

/* So that refused_for sees what comes now and nothing older. */
static void forget_errors(void)
{
    ERR_clear_error();
}

static EC_KEY *new_key(void)
{
    return EC_KEY_new_by_curve_name(NID_X9_62_prime256v1);
}

/* OpenSSL refuses a point that is not on the curve here. */
static tenon_status set_point(EC_KEY *key, const tenon_public_key *from)
{
    BIGNUM *x = BN_bin2bn(from->bytes, TENON_SCALAR_SIZE, NULL);
    BIGNUM *y = BN_bin2bn(from->bytes + TENON_SCALAR_SIZE, TENON_SCALAR_SIZE, NULL);
    const EC_GROUP *group = EC_KEY_get0_group(key);
    EC_POINT *point = EC_POINT_new(group);
    tenon_status status = TENON_OK;
    forget_errors();
    if (x == NULL || y == NULL || point == NULL)
        status = failure(TENON_ERROR_MEMORY);
    else if (EC_POINT_set_affine_coordinates(group, point, x, y, NULL) != 1)
        status = refused_for(EC_R_POINT_IS_NOT_ON_CURVE, TENON_ERROR_POINT_OFF_CURVE);
    else if (EC_KEY_set_public_key(key, point) != 1)
        status = failure(TENON_ERROR_CRYPTO);
    EC_POINT_free(point);
    BN_free(y);
    BN_free(x);
    return status;
}

tenon_status tenoni_p256_check(const tenon_public_key *key)
{
    EC_KEY *holder = new_key();
    tenon_status status = holder == NULL ? failure(TENON_ERROR_MEMORY) : set_point(holder, key);
    EC_KEY_free(holder);
    return status;
}

static tenon_status write_point(tenon_public_key *out, const EC_GROUP *group, const EC_POINT *point)
{
    BIGNUM *x = BN_new();
    BIGNUM *y = BN_new();
    tenon_status status = TENON_OK;
    if (x == NULL || y == NULL)
        status = failure(TENON_ERROR_MEMORY);
    else if (EC_POINT_get_affine_coordinates(group, point, x, y, NULL) != 1 ||
             BN_bn2binpad(x, out->bytes, TENON_SCALAR_SIZE) != TENON_SCALAR_SIZE ||
             BN_bn2binpad(y, out->bytes + TENON_SCALAR_SIZE, TENON_SCALAR_SIZE) != TENON_SCALAR_SIZE)
        status = failure(TENON_ERROR_CRYPTO);
    BN_free(y);
    BN_free(x);
    return status;
}

tenon_status tenoni_p256_decompress(tenon_public_key *out, const uint8_t *x, bool odd)
{
    EC_GROUP *group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1);
    EC_POINT *point = group == NULL ? NULL : EC_POINT_new(group);
    BIGNUM *number = BN_bin2bn(x, TENON_SCALAR_SIZE, NULL);
    tenon_status status = TENON_OK;
    forget_errors();
    if (point == NULL || number == NULL)
        status = failure(TENON_ERROR_MEMORY);
    else if (EC_POINT_set_compressed_coordinates(group, point, number, odd, NULL) != 1)
        status = refused_for(EC_R_INVALID_COMPRESSED_POINT, TENON_ERROR_POINT_OFF_CURVE);
    else
        status = write_point(out, group, point);
    BN_free(number);
    EC_POINT_free(point);
    EC_GROUP_free(group);
    return status;
}

struct tenon_verifier {
    EC_KEY *key;
};

void tenoni_verifier_free(tenon_verifier *verifier)
{
    EC_KEY_free(verifier->key);
    free(verifier);
}

/* OpenSSL's P-256 keeps a table of G by itself and has no use for one of the key: once and many are alike. */
tenon_status tenoni_verifier_new(tenon_verifier **out, const tenon_public_key *key, bool prepared)
{
    (void)prepared;
    tenon_verifier *verifier = calloc(1, sizeof *verifier);
    if (verifier == NULL)
        return TENON_ERROR_MEMORY;
    verifier->key = new_key();
    tenon_status status = verifier->key == NULL ? failure(TENON_ERROR_MEMORY) : set_point(verifier->key, key);
    if (status != TENON_OK) {
        tenoni_verifier_free(verifier);
        return status;
    }
    *out = verifier;
    return TENON_OK;
}

static ECDSA_SIG *read_signature(const tenon_signature *signature)
{
    ECDSA_SIG *out = ECDSA_SIG_new();
    BIGNUM *r = BN_bin2bn(signature->bytes, TENON_SCALAR_SIZE, NULL);
    BIGNUM *s = BN_bin2bn(signature->bytes + TENON_SCALAR_SIZE, TENON_SCALAR_SIZE, NULL);
    if (out != NULL && r != NULL && s != NULL && ECDSA_SIG_set0(out, r, s) == 1)
        return out;
    BN_free(s);
    BN_free(r);
    ECDSA_SIG_free(out);
    return NULL;
}

tenon_status tenoni_verifier_verify(const tenon_verifier *verifier, const tenon_digest *digest,
                                    const tenon_signature *signature)
{
    ECDSA_SIG *parsed = read_signature(signature);
    if (parsed == NULL)
        return failure(TENON_ERROR_MEMORY);
    forget_errors();
    int verdict = ECDSA_do_verify(digest->bytes, TENON_DIGEST_SIZE, parsed, verifier->key);
    ECDSA_SIG_free(parsed);
    if (verdict == 1)
        return TENON_OK;
    if (verdict == 0)
        return failure(TENON_ERROR_SIGNATURE_INVALID);
    /* A sum that is the point at infinity is an invalid signature, but OpenSSL calls it an error. */
    return refused_for(EC_R_POINT_AT_INFINITY, TENON_ERROR_SIGNATURE_INVALID);
}

struct tenoni_signer {
    EC_KEY *key;
};

void tenoni_signer_free(tenoni_signer *signer)
{
    EC_KEY_free(signer->key);
    free(signer);
}

static tenon_status set_scalar(EC_KEY *key, tenon_public_key *public_key, const uint8_t *scalar)
{
    const EC_GROUP *group = EC_KEY_get0_group(key);
    BIGNUM *number = BN_secure_new();
    EC_POINT *point = EC_POINT_new(group);
    tenon_status status = TENON_OK;
    if (number == NULL || point == NULL || BN_bin2bn(scalar, TENON_SCALAR_SIZE, number) == NULL)
        status = failure(TENON_ERROR_MEMORY);
    else if (EC_KEY_set_private_key(key, number) != 1 || EC_POINT_mul(group, point, number, NULL, NULL, NULL) != 1 ||
             EC_KEY_set_public_key(key, point) != 1)
        status = failure(TENON_ERROR_CRYPTO);
    else
        status = write_point(public_key, group, point);
    EC_POINT_free(point);
    BN_clear_free(number);
    return status;
}

tenon_status tenoni_signer_new(tenoni_signer **out, tenon_public_key *public_key, const uint8_t *scalar)
{
    tenoni_signer *signer = calloc(1, sizeof *signer);
    if (signer == NULL)
        return TENON_ERROR_MEMORY;
    signer->key = new_key();
    tenon_status status =
        signer->key == NULL ? failure(TENON_ERROR_MEMORY) : set_scalar(signer->key, public_key, scalar);
    if (status != TENON_OK) {
        tenoni_signer_free(signer);
        return status;
    }
    *out = signer;
    return TENON_OK;
}

/*
 * OpenSSL derives the nonce from the key, the digest and its generator together (BN_generate_dsa_nonce): were the
 * generator to repeat after a fork or a snapshot, two digests still have two nonces.
 */
tenon_status tenoni_signer_sign(const tenoni_signer *signer, tenon_signature *out, const tenon_digest *digest)
{
    ECDSA_SIG *made = ECDSA_do_sign(digest->bytes, TENON_DIGEST_SIZE, signer->key);
    if (made == NULL)
        return failure(TENON_ERROR_CRYPTO);
    bool written =
        BN_bn2binpad(ECDSA_SIG_get0_r(made), out->bytes, TENON_SCALAR_SIZE) == TENON_SCALAR_SIZE &&
        BN_bn2binpad(ECDSA_SIG_get0_s(made), out->bytes + TENON_SCALAR_SIZE, TENON_SCALAR_SIZE) == TENON_SCALAR_SIZE;
    ECDSA_SIG_free(made);
    return written ? TENON_OK : failure(TENON_ERROR_CRYPTO);
}

static tenon_status agree(uint8_t *x, EC_KEY *own, const EC_KEY *other, const uint8_t *scalar)
{
    BIGNUM *number = BN_secure_new();
    tenon_status status = TENON_OK;
    if (number == NULL || BN_bin2bn(scalar, TENON_SCALAR_SIZE, number) == NULL)
        status = failure(TENON_ERROR_MEMORY);
    else if (EC_KEY_set_private_key(own, number) != 1 ||
             ECDH_compute_key(x, TENON_SCALAR_SIZE, EC_KEY_get0_public_key(other), own, NULL) != TENON_SCALAR_SIZE)
        status = failure(TENON_ERROR_CRYPTO);
    BN_clear_free(number);
    return status;
}

tenon_status tenoni_p256_agree(uint8_t *x, const uint8_t *scalar, const tenon_public_key *key)
{
    EC_KEY *own = new_key();
    EC_KEY *other = new_key();
    tenon_status status = own == NULL || other == NULL ? failure(TENON_ERROR_MEMORY) : set_point(other, key);
    if (status == TENON_OK)
        status = agree(x, own, other, scalar);
    EC_KEY_free(other);
    EC_KEY_free(own);
    return status;
}

#endif
