/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENON_OPENSSL

#include <assert.h>
#include <string.h>

#include "base/secure.h"
#include "crypto/hash.h"
#include "crypto/mbedtls.h"

static_assert(sizeof(mbedtls_sha256_context) <= TENONI_SHA256_STATE_SIZE, "the stream has room for mbedTLS's state");
static_assert(sizeof(mbedtls_sha512_context) <= TENONI_HASH_STATE_SIZE, "a stream has room for mbedTLS's state");

static tenon_status result(int error)
{
    return error == 0 ? TENON_OK : TENON_ERROR_CRYPTO;
}

tenon_status tenoni_sha256_begin(void *state)
{
    mbedtls_sha256_init(state);
    return result(TENONI_MBEDTLS_HASH(mbedtls_sha256_starts)(state, 0));
}

tenon_status tenoni_sha256_update(void *state, const uint8_t *data, size_t n)
{
    return result(TENONI_MBEDTLS_HASH(mbedtls_sha256_update)(state, data, n));
}

tenon_status tenoni_sha256_finish(void *state, uint8_t *out)
{
    return result(TENONI_MBEDTLS_HASH(mbedtls_sha256_finish)(state, out));
}

tenon_status tenoni_sha512_begin(void *state, tenoni_hash hash)
{
    mbedtls_sha512_init(state);
    return result(TENONI_MBEDTLS_HASH(mbedtls_sha512_starts)(state, hash == TENONI_SHA384));
}

tenon_status tenoni_sha512_update(void *state, const uint8_t *data, size_t n)
{
    return result(TENONI_MBEDTLS_HASH(mbedtls_sha512_update)(state, data, n));
}

/* mbedTLS 2.28 asks for the room of SHA-512 in its prototype. */
tenon_status tenoni_sha512_finish(void *state, uint8_t *out, size_t n)
{
    uint8_t whole[TENONI_HASH_MAX];
    tenon_status status = result(TENONI_MBEDTLS_HASH(mbedtls_sha512_finish)(state, whole));
    if (status == TENON_OK)
        memcpy(out, whole, n);
    tenoni_wipe(whole, sizeof whole);
    return status;
}

#endif
