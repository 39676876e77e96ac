/* SPDX-License-Identifier: Apache-2.0 */
#ifdef TENON_OPENSSL

/* The plain SHA256_* and SHA512_* are deprecated in favour of EVP, whose state is allocated and costs more than a short
 * message. */
#define OPENSSL_SUPPRESS_DEPRECATED

#include <assert.h>
#include <openssl/sha.h>

#include "crypto/hash.h"

static_assert(sizeof(SHA256_CTX) <= TENONI_SHA256_STATE_SIZE, "the stream has room for OpenSSL's state");
static_assert(sizeof(SHA512_CTX) <= TENONI_HASH_STATE_SIZE, "a stream has room for OpenSSL's state");

static tenon_status result(int success)
{
    return success == 1 ? TENON_OK : TENON_ERROR_CRYPTO;
}

tenon_status tenoni_sha256_begin(void *state)
{
    return result(SHA256_Init(state));
}

tenon_status tenoni_sha256_update(void *state, const uint8_t *data, size_t n)
{
    return result(SHA256_Update(state, data, n));
}

tenon_status tenoni_sha256_finish(void *state, uint8_t *out)
{
    return result(SHA256_Final(out, state));
}

tenon_status tenoni_sha512_begin(void *state, tenoni_hash hash)
{
    return result(hash == TENONI_SHA384 ? SHA384_Init(state) : SHA512_Init(state));
}

tenon_status tenoni_sha512_update(void *state, const uint8_t *data, size_t n)
{
    return result(SHA512_Update(state, data, n));
}

/* The state knows how many bytes it gives. */
tenon_status tenoni_sha512_finish(void *state, uint8_t *out, size_t n)
{
    (void)n;
    return result(SHA512_Final(out, state));
}

#endif
