/* SPDX-License-Identifier: Apache-2.0 */
#include "tenon/digest.h"

#include <string.h>

#include "base/secure.h"
#include "crypto/backend.h"
#include "crypto/hmac.h"
#include "crypto/stream.h"

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
