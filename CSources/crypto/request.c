/* SPDX-License-Identifier: Apache-2.0 */
#include "tenon/request.h"

#include <string.h>

#include "base/bytes.h"
#include "base/secure.h"
#include "base/text.h"
#include "crypto/hash.h"
#include "tenon/digest.h"
#include "tenon/encoding.h"

tenon_status tenon_binding_nonce(tenon_digest *out, const char *challenge, size_t challenge_n, const char *key_text,
                                 size_t key_n)
{
    tenon_sha256_stream stream;
    if (out == NULL)
        return TENON_ERROR_NULL;
    memset(out, 0, sizeof *out);
    if ((challenge == NULL && challenge_n != 0) || (key_text == NULL && key_n != 0))
        return TENON_ERROR_NULL;
    if (challenge_n == 0 || key_n == 0)
        return TENON_ERROR_EMPTY;
    tenon_status status = tenoni_stream_begin(stream.opaque, TENONI_STREAM_SHA256);
    if (status == TENON_OK)
        status = tenoni_stream_update(stream.opaque, TENONI_STREAM_SHA256, challenge, challenge_n);
    if (status == TENON_OK)
        status = tenoni_stream_update(stream.opaque, TENONI_STREAM_SHA256, key_text, key_n);
    return status == TENON_OK ? tenoni_stream_finish(stream.opaque, TENONI_STREAM_SHA256, out) : status;
}

static tenon_status add_line(tenon_request *request, const char *text, size_t n)
{
    tenon_status status = tenoni_stream_update(request->opaque, TENONI_STREAM_REQUEST, text, n);
    return status != TENON_OK ? status : tenoni_stream_update(request->opaque, TENONI_STREAM_REQUEST, "\n", 1);
}

tenon_status tenon_request_begin(tenon_request *request, const char *method, size_t method_n, const char *path,
                                 size_t path_n, const char *timestamp, size_t timestamp_n)
{
    if (request == NULL)
        return TENON_ERROR_NULL;
    memset(request, 0, sizeof *request);
    tenon_status status = tenoni_method_check(method, method_n);
    if (status == TENON_OK)
        status = tenoni_path_check(path, path_n);
    if (status == TENON_OK)
        status = tenoni_timestamp_check(timestamp, timestamp_n);
    if (status == TENON_OK)
        status = tenoni_stream_begin(request->opaque, TENONI_STREAM_REQUEST);
    if (status == TENON_OK)
        status = add_line(request, method, method_n);
    if (status == TENON_OK)
        status = add_line(request, path, path_n);
    if (status == TENON_OK)
        status = add_line(request, timestamp, timestamp_n);
    return status;
}

tenon_status tenon_request_update(tenon_request *request, const uint8_t *body, size_t n)
{
    if (request == NULL || (body == NULL && n != 0))
        return TENON_ERROR_NULL;
    return tenoni_stream_update(request->opaque, TENONI_STREAM_REQUEST, body, n);
}

tenon_status tenon_request_finish(tenon_request *request, tenon_digest *out)
{
    if (out != NULL)
        memset(out, 0, sizeof *out);
    if (request == NULL || out == NULL)
        return TENON_ERROR_NULL;
    return tenoni_stream_finish(request->opaque, TENONI_STREAM_REQUEST, out);
}

/* RFC 9562, 5.4. */
tenon_status tenon_request_nonce(char *out, size_t n, size_t *written)
{
    uint8_t random[16];
    char hex[2 * sizeof random];
    char uuid[TENON_UUID_SIZE];
    size_t hex_n;
    if (written != NULL)
        *written = 0;
    tenon_status status = tenoni_random(random, sizeof random);
    if (status != TENON_OK)
        return status;
    random[6] = (uint8_t)((random[6] & 0x0f) | 0x40);
    random[8] = (uint8_t)((random[8] & 0x3f) | 0x80);
    status = tenon_hex_encode(hex, sizeof hex, &hex_n, random, sizeof random);
    if (status != TENON_OK)
        return status;
    for (size_t i = 0, from = 0; i < sizeof uuid; i++)
        uuid[i] = i == 8 || i == 13 || i == 18 || i == 23 ? '-' : hex[from++];
    return tenoni_output_copy(out, n, written, uuid, sizeof uuid);
}

/* base64 of DER, which may be 70 or 72 bytes and more rarely less. */
static tenon_status signature_text(char *out, size_t size, size_t *n, const tenon_signature *signature)
{
    uint8_t der[TENON_SIGNATURE_DER_MAX];
    size_t der_n;
    tenon_status status = tenon_signature_encode_der(der, sizeof der, &der_n, signature);
    return status == TENON_OK ? tenon_base64_encode(out, size, n, der, der_n) : status;
}

static tenon_status check_texts(const char *app_id, size_t app_id_n, const char *device_id, size_t device_id_n,
                                const char *timestamp, size_t timestamp_n, const char *nonce, size_t nonce_n)
{
    tenon_status status = tenoni_app_id_check(app_id, app_id_n);
    if (status == TENON_OK)
        status = tenoni_device_id_check(device_id, device_id_n);
    if (status == TENON_OK)
        status = tenoni_timestamp_check(timestamp, timestamp_n);
    return status != TENON_OK ? status : tenoni_nonce_check(nonce, nonce_n);
}

static size_t add_value(tenoni_writer *writer, const char *text, size_t n)
{
    size_t offset = writer->used;
    tenoni_write_bytes(writer, text, n);
    tenoni_write_u8(writer, 0);
    return offset;
}

tenon_status tenon_request_headers(char *out, size_t n, size_t *written, tenon_header_offsets *offsets,
                                   const tenon_signature *signature, const char *app_id, size_t app_id_n,
                                   const char *device_id, size_t device_id_n, const char *timestamp, size_t timestamp_n,
                                   const char *nonce, size_t nonce_n)
{
    char text[(TENON_SIGNATURE_DER_MAX + 2) / 3 * 4];
    size_t text_n;
    uint8_t values[TENON_HEADERS_MAX];
    if (written != NULL)
        *written = 0;
    if (offsets == NULL)
        return TENON_ERROR_NULL;
    memset(offsets, 0, sizeof *offsets);
    if (signature == NULL)
        return TENON_ERROR_NULL;
    tenon_status status = check_texts(app_id, app_id_n, device_id, device_id_n, timestamp, timestamp_n, nonce, nonce_n);
    if (status == TENON_OK)
        status = signature_text(text, sizeof text, &text_n, signature);
    if (status != TENON_OK)
        return status;
    tenoni_writer writer = tenoni_writer_over(values, sizeof values);
    tenon_header_offsets made = {
        .app_id = add_value(&writer, app_id, app_id_n),
        .device_id = add_value(&writer, device_id, device_id_n),
        .signature = add_value(&writer, text, text_n),
        .timestamp = add_value(&writer, timestamp, timestamp_n),
        .nonce = add_value(&writer, nonce, nonce_n),
        .version = add_value(&writer, "1", 1),
    };
    status = tenoni_output_copy(out, n, written, values, writer.used);
    if (status == TENON_OK)
        *offsets = made;
    return status;
}
