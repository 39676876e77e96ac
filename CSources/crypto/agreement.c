/* SPDX-License-Identifier: Apache-2.0 */
#include "crypto/group.h"
#include "crypto/mbedtls.h"
#include "crypto/protection.h"

/*
 * ECDH on P-384, by mbedTLS in both builds: it wipes what it frees, whereas OpenSSL 3.5 leaves a copy of the scalar in
 * memory.
 */

enum { SIZE = TENONI_P384_SIZE };

typedef struct {
    mbedtls_ecp_group group;
    mbedtls_ecp_point other, product;
    mbedtls_mpi scalar;
} agreement;

static void agreement_init(agreement *a)
{
    mbedtls_ecp_group_init(&a->group);
    mbedtls_ecp_point_init(&a->other);
    mbedtls_ecp_point_init(&a->product);
    mbedtls_mpi_init(&a->scalar);
}

static void agreement_free(agreement *a)
{
    mbedtls_mpi_free(&a->scalar);
    mbedtls_ecp_point_free(&a->product);
    mbedtls_ecp_point_free(&a->other);
    mbedtls_ecp_group_free(&a->group);
}

static tenon_status result(int error)
{
    return error == 0 ? TENON_OK : tenoni_group_failure(error);
}

static tenon_status load(agreement *a, const uint8_t *scalar, const uint8_t *point)
{
    tenon_status status = tenoni_group_load_wide(&a->group, MBEDTLS_ECP_DP_SECP384R1);
    if (status != TENON_OK)
        return status;
    int error = mbedtls_mpi_read_binary(&a->other.X, point, SIZE);
    error = error != 0 ? error : mbedtls_mpi_read_binary(&a->other.Y, point + SIZE, SIZE);
    error = error != 0 ? error : mbedtls_mpi_lset(&a->other.Z, 1);
    error = error != 0 ? error : mbedtls_mpi_read_binary(&a->scalar, scalar, SIZE);
    return result(error);
}

static tenon_status check(const agreement *a)
{
    if (mbedtls_mpi_cmp_mpi(&a->other.X, &a->group.P) >= 0 || mbedtls_mpi_cmp_mpi(&a->other.Y, &a->group.P) >= 0)
        return TENON_ERROR_POINT_RANGE;
    int error = mbedtls_ecp_check_pubkey(&a->group, &a->other);
    if (error != 0)
        return error == MBEDTLS_ERR_ECP_INVALID_KEY ? TENON_ERROR_POINT_OFF_CURVE : result(error);
    error = mbedtls_ecp_check_privkey(&a->group, &a->scalar);
    return error == MBEDTLS_ERR_ECP_INVALID_KEY ? TENON_ERROR_SCALAR_RANGE : result(error);
}

static int multiply(agreement *a, uint8_t *x, uint8_t *y, const mbedtls_ecp_point *point)
{
    int error = mbedtls_ecp_mul(&a->group, &a->product, &a->scalar, point, tenoni_group_random, NULL);
    error = error != 0 ? error : mbedtls_mpi_write_binary(&a->product.X, x, SIZE);
    return error != 0 || y == NULL ? error : mbedtls_mpi_write_binary(&a->product.Y, y, SIZE);
}

tenon_status tenoni_p384_agree(uint8_t *z, uint8_t *ephemeral, const uint8_t *scalar, const uint8_t *point)
{
    agreement a;
    agreement_init(&a);
    tenon_status status = load(&a, scalar, point);
    if (status == TENON_OK)
        status = check(&a);
    if (status == TENON_OK)
        status = result(multiply(&a, ephemeral, ephemeral + SIZE, &a.group.G));
    if (status == TENON_OK)
        status = result(multiply(&a, z, NULL, &a.other));
    agreement_free(&a);
    return status;
}
