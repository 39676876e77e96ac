/* SPDX-License-Identifier: Apache-2.0 */
#include "crypto/hmac.h"

#include <string.h>

#include "base/secure.h"

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
