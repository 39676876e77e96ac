/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENON_OPENSSL

#include <assert.h>
#include <mbedtls/sha256.h>

#include "crypto/backend.h"
#include "crypto/stream.h"

static_assert(sizeof(mbedtls_sha256_context) <= TENONI_SHA256_STATE_SIZE, "the stream has room for mbedTLS's state");

static tenon_status result(int error)
{
    return error == 0 ? TENON_OK : TENON_ERROR_CRYPTO;
}

tenon_status tenoni_sha256_begin(void *state)
{
    mbedtls_sha256_init(state);
    return result(mbedtls_sha256_starts_ret(state, 0));
}

tenon_status tenoni_sha256_update(void *state, const uint8_t *data, size_t n)
{
    return result(mbedtls_sha256_update_ret(state, data, n));
}

tenon_status tenoni_sha256_finish(void *state, uint8_t *out)
{
    return result(mbedtls_sha256_finish_ret(state, out));
}

#endif
