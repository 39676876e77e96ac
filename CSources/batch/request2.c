/* SPDX-License-Identifier: Apache-2.0 */
#include "batch/request2.h"

#include <stdbool.h>
#include <string.h>

#include "base/bytes.h"
#include "base/public64.h"
#include "base/secure.h"
#include "base/target.h"
#include "base/text.h"
#include "crypto/hash.h"
#include "crypto/signing_key.h"
#include "tenon/encoding.h"

#define LITERAL(text) (text), (sizeof(text) - 1)

bool tenoni_is_same(const void *a, const void *b, size_t n)
{
    const uint8_t *left = a, *right = b;
    uint64_t differs = 0, one, other;
    size_t i = 0;
    for (; n - i >= sizeof one; i += sizeof one) {
        memcpy(&one, left + i, sizeof one);
        memcpy(&other, right + i, sizeof other);
        differs |= one ^ other;
    }
    for (; i < n; i++)
        differs |= (uint64_t)(left[i] ^ right[i]);
    return differs == 0;
}

/* ---- The forms of its texts ---- */

static bool are_digits(const char *text, size_t n)
{
    bool good = true;
    for (size_t i = 0; i < n; i++)
        good &= (uint8_t)(text[i] - '0') <= 9 || (uint8_t)(text[i] - 'a') <= 5;
    return good;
}

/* RFC 9562, 5.4, in lower case: version 4, variant 10. */
tenon_status tenoni_nonce2_check(const char *nonce, size_t n)
{
    if (nonce == NULL && n != 0)
        return TENON_ERROR_NULL;
    if (n != TENON_UUID_SIZE)
        return TENON_ERROR_NONCE;
    const char variant = nonce[19];
    bool good = nonce[8] == '-' && nonce[13] == '-' && nonce[14] == '4' && nonce[18] == '-' && nonce[23] == '-' &&
                (variant == '8' || variant == '9' || variant == 'a' || variant == 'b');
    good = good && are_digits(nonce, 8) && are_digits(nonce + 9, 4) && are_digits(nonce + 15, 3) &&
           are_digits(nonce + 20, 3) && are_digits(nonce + 24, 12);
    return good ? TENON_OK : TENON_ERROR_NONCE;
}

static tenon_status check_keyid(const tenon_text *keyid)
{
    uint8_t thumbprint[TENON_DIGEST_SIZE];
    if (keyid->text == NULL && keyid->n != 0)
        return TENON_ERROR_NULL;
    bool good = tenoni_public64_decode(thumbprint, sizeof thumbprint, keyid->text, keyid->n, true);
    return good ? TENON_OK : TENON_ERROR_KEYID;
}

/* RFC 9110, 5.5, without what is obsolete there: bytes that no hop changes. */
static tenon_status check_header(const tenon_text *value)
{
    if (value->text == NULL)
        return value->n == 0 ? TENON_OK : TENON_ERROR_NULL;
    if (value->n < 1 || value->n > TENON_CONTENT_TYPE_MAX)
        return TENON_ERROR_COMPONENT;
    for (size_t i = 0; i < value->n; i++)
        if (value->text[i] < 0x20 || value->text[i] > 0x7e)
            return TENON_ERROR_COMPONENT;
    return value->text[0] != ' ' && value->text[value->n - 1] != ' ' ? TENON_OK : TENON_ERROR_COMPONENT;
}

static bool is_time(uint64_t time)
{
    return time >= TENONI_TIME_MIN && time <= TENONI_TIME_MAX;
}

tenon_status tenoni_validity_check(uint64_t created, uint64_t expires)
{
    bool good = is_time(created) && is_time(expires) && expires > created && expires - created <= TENON_VALIDITY_MAX;
    return good ? TENON_OK : TENON_ERROR_VALIDITY;
}

static tenon_status check_target(const tenon_request2 *request)
{
    tenon_status status = tenoni_method_check(request->method.text, request->method.n);
    if (status == TENON_OK)
        status = tenoni_authority_check(request->authority.text, request->authority.n);
    if (status == TENON_OK)
        status = tenoni_normal_path_check(request->path.text, request->path.n);
    return status != TENON_OK ? status : tenoni_query_check(request->query.text, request->query.n);
}

static tenon_status check_texts(const tenon_request2 *request)
{
    tenon_status status = check_target(request);
    if (status == TENON_OK)
        status = check_header(&request->content_type);
    if (status == TENON_OK)
        status = check_header(&request->content_encoding);
    if (status == TENON_OK)
        status = tenoni_app_id_check(request->app_id.text, request->app_id.n);
    return status != TENON_OK ? status : tenoni_device_id_check(request->device_id.text, request->device_id.n);
}

static tenon_status check(const tenon_request2 *request)
{
    if (request == NULL)
        return TENON_ERROR_NULL;
    tenon_status status = check_texts(request);
    if (status == TENON_OK)
        status = tenoni_nonce2_check(request->nonce.text, request->nonce.n);
    if (status == TENON_OK)
        status = check_keyid(&request->keyid);
    if (status == TENON_OK)
        status = tenoni_validity_check(request->created, request->expires);
    if (status != TENON_OK)
        return status;
    return request->form == TENON_FORM_PLAIN || request->form == TENON_FORM_BATCH ? TENON_OK : TENON_ERROR_FLAGS;
}

/* ---- Its bytes ---- */

static void write_time(tenoni_writer *writer, uint64_t time)
{
    char digits[TENON_TIMESTAMP_MAX];
    size_t from = sizeof digits;
    for (; time != 0; time /= 10)
        digits[--from] = (char)('0' + time % 10);
    tenoni_write_bytes(writer, digits + from, sizeof digits - from);
}

/* RFC 9421, 2.3: the value of @signature-params. */
static void write_parameters(tenoni_writer *writer, const tenon_request2 *request)
{
    tenoni_write_bytes(writer, LITERAL(TENONI_COVERED));
    if (request->content_type.text != NULL)
        tenoni_write_bytes(writer, LITERAL(TENONI_CONTENT_TYPE));
    if (request->content_encoding.text != NULL)
        tenoni_write_bytes(writer, LITERAL(TENONI_CONTENT_ENCODING));
    tenoni_write_bytes(writer, LITERAL(TENONI_IDS TENONI_CREATED));
    write_time(writer, request->created);
    tenoni_write_bytes(writer, LITERAL(TENONI_EXPIRES));
    write_time(writer, request->expires);
    tenoni_write_bytes(writer, LITERAL(TENONI_NONCE));
    tenoni_write_bytes(writer, request->nonce.text, request->nonce.n);
    tenoni_write_bytes(writer, LITERAL(TENONI_KEYID));
    tenoni_write_bytes(writer, request->keyid.text, request->keyid.n);
    tenoni_write_bytes(writer, LITERAL(TENONI_TAG));
    if (request->form == TENON_FORM_BATCH)
        tenoni_write_bytes(writer, LITERAL(TENONI_BATCH));
    else
        tenoni_write_bytes(writer, LITERAL(TENONI_PLAIN));
}

static void write_content_digest(char out[TENON_CONTENT_DIGEST_SIZE], const tenon_digest *content)
{
    static const char head[] = "sha-256=:";
    memcpy(out, head, sizeof head - 1);
    tenoni_public64_encode(out + sizeof head - 1, content->bytes, sizeof content->bytes);
    out[TENON_CONTENT_DIGEST_SIZE - 1] = ':';
}

/* Hashes what it is given in pieces that are worth a call of the backend. */
typedef struct {
    uint64_t state[TENONI_SHA256_STATE_SIZE / sizeof(uint64_t)];
    tenon_status status;
    size_t used;
    uint8_t buffer[1024];
} base_hash;

static void flush(base_hash *base)
{
    if (base->status == TENON_OK)
        base->status = tenoni_sha256_update(base->state, base->buffer, base->used);
    base->used = 0;
}

static void add(base_hash *base, const char *text, size_t n)
{
    while (n > sizeof base->buffer - base->used) {
        const size_t room = sizeof base->buffer - base->used;
        memcpy(base->buffer + base->used, text, room);
        base->used = sizeof base->buffer;
        flush(base);
        text += room;
        n -= room;
    }
    memcpy(base->buffer + base->used, text, n);
    base->used += n;
}

static void add_line(base_hash *base, const char *head, size_t head_n, const char *text, size_t n)
{
    add(base, head, head_n);
    add(base, text, n);
}

static void add_components(base_hash *base, const tenon_request2 *request)
{
    char content[TENON_CONTENT_DIGEST_SIZE];
    write_content_digest(content, &request->content);
    add_line(base, LITERAL("\"@method\": "), request->method.text, request->method.n);
    add_line(base, LITERAL("\n\"@authority\": "), request->authority.text, request->authority.n);
    add_line(base, LITERAL("\n\"@path\": "), request->path.text, request->path.n);
    add_line(base, LITERAL("\n\"@query\": "), request->query.text, request->query.n);
    add_line(base, LITERAL("\n\"content-digest\": "), content, sizeof content);
    if (request->content_type.text != NULL)
        add_line(base, LITERAL("\n\"content-type\": "), request->content_type.text, request->content_type.n);
    if (request->content_encoding.text != NULL)
        add_line(base, LITERAL("\n\"content-encoding\": "), request->content_encoding.text,
                 request->content_encoding.n);
    add_line(base, LITERAL("\n\"x-app-id\": "), request->app_id.text, request->app_id.n);
    add_line(base, LITERAL("\n\"x-device-id\": "), request->device_id.text, request->device_id.n);
    add(base, LITERAL("\n\"@signature-params\": "));
}

tenon_status tenon_content_digest(char *out, size_t n, size_t *written, const tenon_digest *content)
{
    if (written != NULL)
        *written = 0;
    if (content == NULL)
        return TENON_ERROR_NULL;
    tenon_status status = tenoni_output_fits(out, n, written, TENON_CONTENT_DIGEST_SIZE);
    if (status == TENON_OK)
        write_content_digest(out, content);
    return status;
}

tenon_status tenon_content_digest_read(tenon_digest *out, const char *text, size_t n)
{
    char again[TENON_CONTENT_DIGEST_SIZE];
    enum { HEAD = 9, TEXT = 44 };
    tenon_digest digest;
    if (out == NULL)
        return TENON_ERROR_NULL;
    memset(out, 0, sizeof *out);
    if (text == NULL && n != 0)
        return TENON_ERROR_NULL;
    if (n != sizeof again || !tenoni_public64_decode(digest.bytes, sizeof digest.bytes, text + HEAD, TEXT, false))
        return TENON_ERROR_CONTENT_DIGEST;
    write_content_digest(again, &digest);
    if (!tenoni_equal(again, text, n))
        return TENON_ERROR_CONTENT_DIGEST;
    *out = digest;
    return TENON_OK;
}

static tenon_status digest_of(tenon_digest *out, const tenon_request2 *request, const void *parameters, size_t n)
{
    base_hash base;
    base.used = 0;
    base.status = tenoni_sha256_begin(base.state);
    add_components(&base, request);
    add(&base, parameters, n);
    flush(&base);
    return base.status == TENON_OK ? tenoni_sha256_finish(base.state, out->bytes) : base.status;
}

static tenon_status digest_and_input(tenon_digest *out, tenoni_writer *input, const tenon_request2 *request)
{
    tenoni_write_bytes(input, LITERAL(TENONI_LABEL));
    const size_t label = input->used;
    write_parameters(input, request);
    return out == NULL ? TENON_OK : digest_of(out, request, input->start + label, input->used - label);
}

tenon_status tenon_request2_input(char *out, size_t n, size_t *written, tenon_digest *digest,
                                  const tenon_request2 *request)
{
    uint8_t text[TENON_SIGNATURE_INPUT_MAX];
    tenoni_writer writer = tenoni_writer_over(text, sizeof text);
    if (written != NULL)
        *written = 0;
    if (digest != NULL)
        memset(digest, 0, sizeof *digest);
    tenon_status status = check(request);
    if (status == TENON_OK)
        status = digest_and_input(digest, &writer, request);
    if (status == TENON_OK)
        status = tenoni_output_copy(out, n, written, text, writer.used);
    if (status != TENON_OK && digest != NULL)
        memset(digest, 0, sizeof *digest);
    return status;
}

static tenon_status digest_alone(tenon_digest *out, const tenon_request2 *request)
{
    uint8_t text[TENON_SIGNATURE_INPUT_MAX];
    tenoni_writer writer = tenoni_writer_over(text, sizeof text);
    write_parameters(&writer, request);
    return digest_of(out, request, text, writer.used);
}

tenon_status tenon_request2_digest(tenon_digest *out, const tenon_request2 *request)
{
    if (out == NULL)
        return TENON_ERROR_NULL;
    memset(out, 0, sizeof *out);
    tenon_status status = check(request);
    return status == TENON_OK ? digest_alone(out, request) : status;
}

tenon_status tenoni_request2_digest(tenon_digest *out, const tenon_request2 *request)
{
    tenon_status status = check_texts(request);
    return status == TENON_OK ? digest_alone(out, request) : status;
}

tenon_status tenon_key_sign_request2(const tenon_key *key, tenon_signature *out, const tenon_request2 *request)
{
    char thumbprint[TENON_THUMBPRINT_SIZE];
    tenon_public_key public_key;
    tenon_digest digest;
    size_t n;
    if (out != NULL)
        memset(out, 0, sizeof *out);
    if (key == NULL || out == NULL || request == NULL)
        return TENON_ERROR_NULL;
    if (request->form != TENON_FORM_PLAIN)
        return TENON_ERROR_FLAGS;
    tenon_status status = tenon_request2_digest(&digest, request);
    if (status == TENON_OK)
        status = tenon_key_public_key(key, &public_key);
    if (status == TENON_OK)
        status = tenon_public_key_thumbprint(thumbprint, sizeof thumbprint, &n, &public_key);
    if (status == TENON_OK && !tenoni_equal(thumbprint, request->keyid.text, sizeof thumbprint))
        status = TENON_ERROR_KEYID;
    return status == TENON_OK ? tenoni_key_sign_own(key, out, &digest) : status;
}

tenon_status tenoni_signature_value(char *out, size_t n, size_t *written, const uint8_t *bytes, size_t bytes_n)
{
    static const char head[] = TENONI_SIGNATURE_HEAD;
    const size_t text_n = (bytes_n + 2) / 3 * 4;
    tenon_status status =
        tenoni_output_fits(out, n, written, sizeof head - 1 + text_n + sizeof TENONI_SIGNATURE_TAIL - 1);
    if (status == TENON_OK) {
        memcpy(out, head, sizeof head - 1);
        tenoni_public64_encode(out + sizeof head - 1, bytes, bytes_n);
        out[*written - 1] = TENONI_SIGNATURE_TAIL[0];
    }
    return status;
}

tenon_status tenon_signature2(char *out, size_t n, size_t *written, const tenon_signature *signature)
{
    if (written != NULL)
        *written = 0;
    if (signature == NULL)
        return TENON_ERROR_NULL;
    return tenoni_signature_value(out, n, written, signature->bytes, sizeof signature->bytes);
}
