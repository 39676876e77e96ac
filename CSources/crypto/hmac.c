/* SPDX-License-Identifier: Apache-2.0 */
#include "internal/hmac.h"

#include <string.h>

#include "internal/backend.h"
#include "internal/secure.h"

/* RFC 2104, 2. */
enum { INNER_PAD = 0x36, OUTER_PAD = 0x5c };

static tenon_status update(void *state, const void *data, size_t n)
{
    return n == 0 ? TENON_OK : tenoni_sha256_update(state, data, n);
}

tenon_status tenoni_sha256_parts(tenon_digest *out, const tenoni_part *parts, size_t count)
{
    uint64_t state[TENONI_SHA256_STATE_SIZE / sizeof(uint64_t)];
    tenon_status status = tenoni_sha256_begin(state);
    for (size_t i = 0; status == TENON_OK && i < count; i++)
        status = update(state, parts[i].bytes, parts[i].n);
    if (status == TENON_OK)
        status = tenoni_sha256_finish(state, out);
    tenoni_wipe(state, sizeof state);
    return status;
}

static void pad_with(tenoni_hmac_stream *stream, uint8_t mask)
{
    for (size_t i = 0; i < sizeof stream->pad; i++)
        stream->pad[i] ^= mask;
}

/* A key that is longer than a block is used by its digest. */
static tenon_status set_key(tenoni_hmac_stream *stream, const void *key, size_t n)
{
    tenon_digest digest;
    tenon_status status = TENON_OK;
    memset(stream, 0, sizeof *stream);
    if (n <= sizeof stream->pad) {
        if (n != 0)
            memcpy(stream->pad, key, n);
        return TENON_OK;
    }
    status = tenoni_sha256_parts(&digest, &(tenoni_part){key, n}, 1);
    if (status == TENON_OK)
        memcpy(stream->pad, digest.bytes, sizeof digest.bytes);
    tenoni_wipe(&digest, sizeof digest);
    return status;
}

tenon_status tenoni_hmac_begin(tenoni_hmac_stream *stream, const void *key, size_t key_n)
{
    tenon_status status = set_key(stream, key, key_n);
    if (status == TENON_OK)
        status = tenoni_sha256_begin(stream->state);
    pad_with(stream, INNER_PAD);
    if (status == TENON_OK)
        status = tenoni_sha256_update(stream->state, stream->pad, sizeof stream->pad);
    pad_with(stream, INNER_PAD ^ OUTER_PAD);
    if (status != TENON_OK)
        tenoni_wipe(stream, sizeof *stream);
    return status;
}

tenon_status tenoni_hmac_update(tenoni_hmac_stream *stream, const void *data, size_t n)
{
    return update(stream->state, data, n);
}

tenon_status tenoni_hmac_finish(tenoni_hmac_stream *stream, tenon_digest *out)
{
    tenon_digest inner;
    tenon_status status = tenoni_sha256_finish(stream->state, &inner);
    if (status == TENON_OK)
        status = tenoni_sha256_parts(
            out, (tenoni_part[]){{stream->pad, sizeof stream->pad}, {inner.bytes, sizeof inner.bytes}}, 2);
    tenoni_wipe(&inner, sizeof inner);
    tenoni_wipe(stream, sizeof *stream);
    return status;
}

tenon_status tenoni_hmac(tenon_digest *out, const void *key, size_t key_n, const tenoni_part *parts, size_t count)
{
    tenoni_hmac_stream stream;
    tenon_status status = tenoni_hmac_begin(&stream, key, key_n);
    for (size_t i = 0; status == TENON_OK && i < count; i++)
        status = tenoni_hmac_update(&stream, parts[i].bytes, parts[i].n);
    if (status == TENON_OK)
        status = tenoni_hmac_finish(&stream, out);
    tenoni_wipe(&stream, sizeof stream);
    return status;
}
