/* SPDX-License-Identifier: Apache-2.0 */
#ifdef TENON_OPENSSL

/* As sha256_openssl.c: no state on the heap. */
#define OPENSSL_SUPPRESS_DEPRECATED

#include <assert.h>
#include <openssl/sha.h>

#include "internal/hash.h"

static_assert(sizeof(SHA512_CTX) <= TENONI_HASH_STATE_SIZE, "a stream has room for OpenSSL's state");

static tenon_status result(int success)
{
    return success == 1 ? TENON_OK : TENON_ERROR_CRYPTO;
}

tenon_status tenoni_sha384_begin(void *state)
{
    return result(SHA384_Init(state));
}

tenon_status tenoni_sha384_update(void *state, const uint8_t *data, size_t n)
{
    return result(SHA384_Update(state, data, n));
}

tenon_status tenoni_sha384_finish(void *state, uint8_t *out)
{
    return result(SHA384_Final(out, state));
}

#endif
