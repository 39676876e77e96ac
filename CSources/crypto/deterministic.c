/* SPDX-License-Identifier: Apache-2.0 */
#include <mbedtls/ecdsa.h>

#include "base/secure.h"
#include "crypto/backend.h"
#include "crypto/group.h"

/* RFC 6979. The blinding of the multiplication is random all the same: only the nonce is derived. */
tenon_status tenoni_sign_deterministic(tenon_signature *out, const uint8_t *scalar, const tenon_digest *digest)
{
    mbedtls_ecp_group group;
    mbedtls_mpi d, r, s;
    mbedtls_mpi_init(&d);
    mbedtls_mpi_init(&r);
    mbedtls_mpi_init(&s);
    tenon_status status = tenoni_group_load(&group);
    if (status == TENON_OK) {
        int error = mbedtls_mpi_read_binary(&d, scalar, TENON_SCALAR_SIZE);
        error = error != 0 ? error
                           : mbedtls_ecdsa_sign_det_ext(&group, &r, &s, &d, digest->bytes, TENON_DIGEST_SIZE,
                                                        MBEDTLS_MD_SHA256, tenoni_group_random, NULL);
        error = error != 0 ? error : mbedtls_mpi_write_binary(&r, out->bytes, TENON_SCALAR_SIZE);
        error = error != 0 ? error : mbedtls_mpi_write_binary(&s, out->bytes + TENON_SCALAR_SIZE, TENON_SCALAR_SIZE);
        status = error == 0 ? TENON_OK : tenoni_group_failure(error);
    }
    mbedtls_ecp_group_free(&group);
    mbedtls_mpi_free(&s);
    mbedtls_mpi_free(&r);
    mbedtls_mpi_free(&d);
    /* mbedTLS seeds the generator of RFC 6979 with the key, from an array that it does not wipe. */
    tenoni_wipe_stack();
    return status;
}
