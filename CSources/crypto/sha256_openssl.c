/* SPDX-License-Identifier: Apache-2.0 */
#ifdef TENON_OPENSSL

/* The plain SHA256_* are deprecated in favour of EVP, whose state is allocated and costs more than a short message. */
#define OPENSSL_SUPPRESS_DEPRECATED

#include <assert.h>
#include <openssl/sha.h>

#include "crypto/backend.h"
#include "crypto/stream.h"

static_assert(sizeof(SHA256_CTX) <= TENONI_SHA256_STATE_SIZE, "the stream has room for OpenSSL's state");

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

#endif
