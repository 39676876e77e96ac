/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENON_OPENSSL

#include <mbedtls/bignum.h>

#include "crypto/group.h"
#include "crypto/oaep.h"

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
