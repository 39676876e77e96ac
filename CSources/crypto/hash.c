/* SPDX-License-Identifier: Apache-2.0 */
#include "crypto/hash.h"

#include <assert.h>

#include "base/secure.h"
#include "crypto/backend.h"
#include "crypto/stream.h"

static_assert((size_t)TENONI_SHA256_STATE_SIZE <= (size_t)TENONI_HASH_STATE_SIZE, "a stream has room for SHA-256");

size_t tenoni_hash_size(tenoni_hash hash)
{
    return hash == TENONI_SHA256 ? 32 : hash == TENONI_SHA384 ? 48 : 64;
}

size_t tenoni_hash_block(tenoni_hash hash)
{
    return hash == TENONI_SHA256 ? 64 : 128;
}

tenon_status tenoni_hash_begin(tenoni_hash_stream *stream, tenoni_hash hash)
{
    stream->hash = hash;
    return hash == TENONI_SHA256 ? tenoni_sha256_begin(stream->state) : tenoni_sha512_begin(stream->state, hash);
}

tenon_status tenoni_hash_update(tenoni_hash_stream *stream, const void *data, size_t n)
{
    if (n == 0)
        return TENON_OK;
    return stream->hash == TENONI_SHA256 ? tenoni_sha256_update(stream->state, data, n)
                                         : tenoni_sha512_update(stream->state, data, n);
}

tenon_status tenoni_hash_finish(tenoni_hash_stream *stream, uint8_t *out)
{
    return stream->hash == TENONI_SHA256 ? tenoni_sha256_finish(stream->state, out)
                                         : tenoni_sha512_finish(stream->state, out, tenoni_hash_size(stream->hash));
}

tenon_status tenoni_hash_parts(tenoni_hash hash, uint8_t *out, const tenoni_part *parts, size_t count)
{
    tenoni_hash_stream stream;
    tenon_status status = tenoni_hash_begin(&stream, hash);
    for (size_t i = 0; status == TENON_OK && i < count; i++)
        status = tenoni_hash_update(&stream, parts[i].bytes, parts[i].n);
    if (status == TENON_OK)
        status = tenoni_hash_finish(&stream, out);
    tenoni_wipe(&stream, sizeof stream);
    return status;
}
