/* SPDX-License-Identifier: Apache-2.0 */
#include "crypto/hash.h"

#include <assert.h>
#include <string.h>

#include "base/secure.h"
#include "crypto/p256.h"
#include "tenon/digest.h"

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

/* RFC 2104, 2. */
enum { INNER_PAD = 0x36, OUTER_PAD = 0x5c };

tenon_status tenoni_sha256_parts(tenon_digest *out, const tenoni_part *parts, size_t count)
{
    return tenoni_hash_parts(TENONI_SHA256, out->bytes, parts, count);
}

/* More than a shorter block: a number of bytes that the compiler knows takes it a quarter of the instructions. */
static void pad_with(tenoni_hmac_stream *stream, uint8_t mask)
{
    for (size_t i = 0; i < sizeof stream->pad; i++)
        stream->pad[i] ^= mask;
}

/* A key that is longer than a block is used by its digest. */
static tenon_status set_key(tenoni_hmac_stream *stream, tenoni_hash hash, const void *key, size_t n)
{
    memset(stream->pad, 0, sizeof stream->pad);
    if (n > tenoni_hash_block(hash))
        return tenoni_hash_parts(hash, stream->pad, &(tenoni_part){key, n}, 1);
    if (n != 0)
        memcpy(stream->pad, key, n);
    return TENON_OK;
}

tenon_status tenoni_hmac_begin(tenoni_hmac_stream *stream, tenoni_hash hash, const void *key, size_t key_n)
{
    tenon_status status = set_key(stream, hash, key, key_n);
    if (status == TENON_OK)
        status = tenoni_hash_begin(&stream->inner, hash);
    pad_with(stream, INNER_PAD);
    if (status == TENON_OK)
        status = tenoni_hash_update(&stream->inner, stream->pad, tenoni_hash_block(hash));
    pad_with(stream, INNER_PAD ^ OUTER_PAD);
    if (status != TENON_OK)
        tenoni_wipe(stream, sizeof *stream);
    return status;
}

tenon_status tenoni_hmac_update(tenoni_hmac_stream *stream, const void *data, size_t n)
{
    return tenoni_hash_update(&stream->inner, data, n);
}

tenon_status tenoni_hmac_finish(tenoni_hmac_stream *stream, uint8_t *out)
{
    tenoni_hash hash = stream->inner.hash;
    uint8_t inner[TENONI_HASH_MAX];
    const tenoni_part parts[] = {{stream->pad, tenoni_hash_block(hash)}, {inner, tenoni_hash_size(hash)}};
    tenon_status status = tenoni_hash_finish(&stream->inner, inner);
    if (status == TENON_OK)
        status = tenoni_hash_parts(hash, out, parts, 2);
    tenoni_wipe(inner, sizeof inner);
    tenoni_wipe(stream, sizeof *stream);
    return status;
}

tenon_status tenoni_hmac_with(tenoni_hash hash, uint8_t *out, const void *key, size_t key_n, const tenoni_part *parts,
                              size_t count)
{
    tenoni_hmac_stream stream;
    tenon_status status = tenoni_hmac_begin(&stream, hash, key, key_n);
    for (size_t i = 0; status == TENON_OK && i < count; i++)
        status = tenoni_hmac_update(&stream, parts[i].bytes, parts[i].n);
    if (status == TENON_OK)
        return tenoni_hmac_finish(&stream, out);
    tenoni_wipe(&stream, sizeof stream);
    return status;
}

tenon_status tenoni_hmac(tenon_digest *out, const void *key, size_t key_n, const tenoni_part *parts, size_t count)
{
    return tenoni_hmac_with(TENONI_SHA256, out->bytes, key, key_n, parts, count);
}

tenon_status tenoni_stream_begin(uint64_t *stream, uint64_t kind)
{
    memset(stream, 0, TENON_SHA256_STREAM_SIZE);
    tenon_status status = tenoni_sha256_begin(stream + 1);
    if (status == TENON_OK)
        stream[0] = kind;
    return status;
}

tenon_status tenoni_stream_update(uint64_t *stream, uint64_t kind, const void *data, size_t n)
{
    if (stream[0] != kind)
        return TENON_ERROR_STREAM;
    return n == 0 ? TENON_OK : tenoni_sha256_update(stream + 1, data, n);
}

tenon_status tenoni_stream_finish(uint64_t *stream, uint64_t kind, tenon_digest *out)
{
    if (stream[0] != kind)
        return TENON_ERROR_STREAM;
    tenon_status status = tenoni_sha256_finish(stream + 1, out->bytes);
    tenoni_wipe(stream, TENON_SHA256_STREAM_SIZE);
    return status;
}

tenon_status tenon_sha256_begin(tenon_sha256_stream *stream)
{
    return stream == NULL ? TENON_ERROR_NULL : tenoni_stream_begin(stream->opaque, TENONI_STREAM_SHA256);
}

tenon_status tenon_sha256_update(tenon_sha256_stream *stream, const uint8_t *data, size_t n)
{
    if (stream == NULL || (data == NULL && n != 0))
        return TENON_ERROR_NULL;
    return tenoni_stream_update(stream->opaque, TENONI_STREAM_SHA256, data, n);
}

tenon_status tenon_sha256_finish(tenon_sha256_stream *stream, tenon_digest *out)
{
    if (out != NULL)
        memset(out, 0, sizeof *out);
    if (stream == NULL || out == NULL)
        return TENON_ERROR_NULL;
    return tenoni_stream_finish(stream->opaque, TENONI_STREAM_SHA256, out);
}

tenon_status tenon_sha256(tenon_digest *out, const uint8_t *data, size_t n)
{
    tenon_sha256_stream stream;
    if (out != NULL)
        memset(out, 0, sizeof *out);
    if (out == NULL || (data == NULL && n != 0))
        return TENON_ERROR_NULL;
    tenon_status status = tenon_sha256_begin(&stream);
    if (status == TENON_OK)
        status = tenon_sha256_update(&stream, data, n);
    if (status == TENON_OK)
        status = tenon_sha256_finish(&stream, out);
    tenoni_wipe(&stream, sizeof stream);
    return status;
}

tenon_status tenon_hmac_sha256(tenon_digest *out, const uint8_t *key, size_t key_n, const uint8_t *data, size_t n)
{
    if (out != NULL)
        memset(out, 0, sizeof *out);
    if (out == NULL || (key == NULL && key_n != 0) || (data == NULL && n != 0))
        return TENON_ERROR_NULL;
    tenon_status status = tenoni_hmac(out, key, key_n, &(tenoni_part){data, n}, 1);
    if (status != TENON_OK)
        memset(out, 0, sizeof *out);
    return status;
}
