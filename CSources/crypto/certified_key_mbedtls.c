/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENON_OPENSSL

#include <stdbool.h>

#include "crypto/certified_key.h"
#include "crypto/group.h"
#include "crypto/mbedtls.h"
#include "crypto/protection.h"

/* mbedTLS adds the code of what failed below, which is all that tells no memory from a signature above the modulus. */
static tenon_status rsa_result(int error)
{
    enum { LOW = 0x7f };
    if (error == 0)
        return TENON_OK;
    return (-error & LOW) == -MBEDTLS_ERR_MPI_ALLOC_FAILED ? TENON_ERROR_MEMORY : TENON_ERROR_SIGNATURE_INVALID;
}

tenon_status tenoni_rsa_verify(const tenoni_certified_key *key, const tenoni_message_digest *digest,
                               tenoni_reader signature)
{
    static const mbedtls_md_type_t names[] = {MBEDTLS_MD_SHA256, MBEDTLS_MD_SHA384, MBEDTLS_MD_SHA512};
    const uint8_t exponent[] = {(uint8_t)(key->exponent >> 24), (uint8_t)(key->exponent >> 16),
                                (uint8_t)(key->exponent >> 8), (uint8_t)key->exponent};
    tenoni_reader modulus = key->modulus_or_point;
    mbedtls_rsa_context rsa;
    tenoni_mbedtls_rsa_init(&rsa);
    int error =
        mbedtls_rsa_import_raw(&rsa, modulus.at, modulus.left, NULL, 0, NULL, 0, NULL, 0, exponent, sizeof exponent);
    if (error == 0)
        error = tenoni_mbedtls_rsa_verify(&rsa, names[digest->hash], (unsigned)tenoni_hash_size(digest->hash),
                                          digest->bytes, signature.at);
    mbedtls_rsa_free(&rsa);
    return rsa_result(error);
}

static tenon_status load_point(mbedtls_ecp_group *group, mbedtls_ecp_point *point, const tenoni_certified_key *key)
{
    tenoni_reader bytes = key->modulus_or_point;
    mbedtls_ecp_point_init(point);
    tenon_status status = key->kind == TENONI_KEY_P256
                              ? tenoni_group_load(group)
                              : tenoni_group_load_wide(group, key->kind == TENONI_KEY_P384 ? MBEDTLS_ECP_DP_SECP384R1
                                                                                           : MBEDTLS_ECP_DP_SECP521R1);
    if (status != TENON_OK)
        return status;
    int error = mbedtls_ecp_point_read_binary(group, point, bytes.at, bytes.left);
    error = error != 0 ? error : mbedtls_ecp_check_pubkey(group, point);
    if (error == MBEDTLS_ERR_ECP_INVALID_KEY)
        return TENON_ERROR_POINT_OFF_CURVE;
    return error == 0 ? TENON_OK : tenoni_group_failure(error);
}

tenon_status tenoni_curve_check(const tenoni_certified_key *key)
{
    mbedtls_ecp_group group;
    mbedtls_ecp_point point;
    tenon_status status = load_point(&group, &point, key);
    mbedtls_ecp_point_free(&point);
    mbedtls_ecp_group_free(&group);
    return status;
}

/* mbedTLS blinds with a generator of its own here, whose state is allocated. */
static tenon_status ecdsa_result(int error)
{
    switch (error) {
    case 0:
        return TENON_OK;
    case MBEDTLS_ERR_ECP_VERIFY_FAILED:
        return TENON_ERROR_SIGNATURE_INVALID;
    case MBEDTLS_ERR_MD_ALLOC_FAILED:
        return TENON_ERROR_MEMORY;
    default:
        return tenoni_group_failure(error);
    }
}

tenon_status tenoni_ecdsa_verify(const tenoni_certified_key *key, const tenoni_message_digest *digest, const uint8_t *r,
                                 const uint8_t *s)
{
    size_t field = tenoni_key_field(key->kind);
    mbedtls_ecp_group group;
    mbedtls_ecp_point point;
    mbedtls_mpi r_number, s_number;
    mbedtls_mpi_init(&r_number);
    mbedtls_mpi_init(&s_number);
    tenon_status status = load_point(&group, &point, key);
    if (status == TENON_OK) {
        int error = mbedtls_mpi_read_binary(&r_number, r, field);
        error = error != 0 ? error : mbedtls_mpi_read_binary(&s_number, s, field);
        error = error != 0 ? error
                           : mbedtls_ecdsa_verify(&group, digest->bytes, tenoni_hash_size(digest->hash), &point,
                                                  &r_number, &s_number);
        status = ecdsa_result(error);
    }
    mbedtls_mpi_free(&s_number);
    mbedtls_mpi_free(&r_number);
    mbedtls_ecp_point_free(&point);
    mbedtls_ecp_group_free(&group);
    return status;
}

/* mbedTLS wipes numbers when it frees them. */
tenon_status tenoni_rsa_raise(uint8_t *out, const uint8_t *modulus, const uint8_t *number)
{
    mbedtls_mpi n, e, base;
    mbedtls_mpi_init(&n);
    mbedtls_mpi_init(&e);
    mbedtls_mpi_init(&base);
    int error = mbedtls_mpi_read_binary(&n, modulus, TENONI_RSA_SIZE);
    error = error != 0 ? error : mbedtls_mpi_lset(&e, 65537);
    error = error != 0 ? error : mbedtls_mpi_read_binary(&base, number, TENONI_RSA_SIZE);
    error = error != 0 ? error : mbedtls_mpi_exp_mod(&base, &base, &e, &n, NULL);
    error = error != 0 ? error : mbedtls_mpi_write_binary(&base, out, TENONI_RSA_SIZE);
    mbedtls_mpi_free(&base);
    mbedtls_mpi_free(&e);
    mbedtls_mpi_free(&n);
    return error == 0 ? TENON_OK : tenoni_group_failure(error);
}

#endif
