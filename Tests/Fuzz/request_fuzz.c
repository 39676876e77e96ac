/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"
#include "tenon/digest.h"
#include "tenon/encoding.h"
#include "tenon/request.h"

/*
 * Input: fields, each ended by the control character 1F, which no field may hold anyway; the last takes the rest.
 * method, path, timestamp, body, app id, device id, nonce, r || s
 */
enum { SEPARATOR = 0x1F };

typedef struct {
    char *text;
    size_t n;
} field;

/* Each field is a copy of exactly its size, so that a read beyond its end is seen. */
static field next_field(const uint8_t **data, size_t *n)
{
    const uint8_t *end = *n == 0 ? NULL : memchr(*data, SEPARATOR, *n);
    size_t size = end == NULL ? *n : (size_t)(end - *data);
    size_t skip = end == NULL ? size : size + 1;
    field made = {fuzz_copy(*data, size), size};
    *data += skip;
    *n -= skip;
    return made;
}

/* The grammar of tenon/request.h, written independently: the number of characters, and which. */
static bool is_made_of(field f, size_t min, size_t max, const char *letters)
{
    for (size_t i = 0; i < f.n; i++)
        if (f.text[i] == 0 || strchr(letters, f.text[i]) == NULL)
            return false;
    return f.n >= min && f.n <= max;
}

#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"
#define PATH UPPER LOWER DIGITS "!\"$%&'()*+,-./:;<=>@[\\]^_`{|}~"

static tenon_status expected_of_begin(field method, field path, field timestamp)
{
    if (!is_made_of(method, 1, 32, UPPER))
        return TENON_ERROR_METHOD;
    if (!is_made_of(path, 1, 8192, PATH) || path.text[0] != '/')
        return TENON_ERROR_PATH;
    if (!is_made_of(timestamp, 10, 12, DIGITS) || timestamp.text[0] == '0')
        return TENON_ERROR_TIMESTAMP;
    return TENON_OK;
}

static bool is_nonce(field f)
{
    static const char template[] = "hhhhhhhh-hhhh-4hhh-vhhh-hhhhhhhhhhhh";
    if (f.n != sizeof template - 1)
        return false;
    for (size_t i = 0; i < f.n; i++) {
        char of[] = {template[i], 0};
        const char *letters = *of == 'h' ? DIGITS "abcdefABCDEF" : *of == 'v' ? "89abAB" : of;
        if (!is_made_of((field){f.text + i, 1}, 1, 1, letters))
            return false;
    }
    return true;
}

static tenon_status expected_of_headers(field app_id, field device_id, field timestamp, field nonce)
{
    if (!is_made_of(app_id, 1, 200, PATH "?#"))
        return TENON_ERROR_APP_ID;
    if (!is_made_of(device_id, 1, 128, PATH "?#"))
        return TENON_ERROR_DEVICE_ID;
    if (!is_made_of(timestamp, 10, 12, DIGITS) || timestamp.text[0] == '0')
        return TENON_ERROR_TIMESTAMP;
    return is_nonce(nonce) ? TENON_OK : TENON_ERROR_NONCE;
}

static uint8_t *put(uint8_t *at, field f, const char *end)
{
    memcpy(at, f.text, f.n);
    memcpy(at + f.n, end, strlen(end));
    return at + f.n + strlen(end);
}

/* Splitting the message at its first three line feeds gives the fields, so no two requests have one message. */
static void must_split(const uint8_t *message, size_t n, const field *fields)
{
    for (size_t i = 0; i < 3; i++) {
        const uint8_t *end = memchr(message, '\n', n);
        MUST(end != NULL && (size_t)(end - message) == fields[i].n);
        MUST(memcmp(message, fields[i].text, fields[i].n) == 0);
        n -= fields[i].n + 1;
        message = end + 1;
    }
    MUST(n == fields[3].n);
}

static void begin(const field *fields)
{
    field method = fields[0], path = fields[1], timestamp = fields[2], body = fields[3];
    tenon_request request;
    tenon_digest digest, expected;
    tenon_status status =
        tenon_request_begin(&request, method.text, method.n, path.text, path.n, timestamp.text, timestamp.n);
    MUST(status == expected_of_begin(method, path, timestamp));
    if (status != TENON_OK) {
        MUST(tenon_request_finish(&request, &digest) == TENON_ERROR_STREAM);
        MUST(fuzz_all(&digest, sizeof digest, 0));
        return;
    }
    size_t n = method.n + path.n + timestamp.n + body.n + 3;
    OWNED uint8_t *message = fuzz_room(n);
    put(put(put(put(message, method, "\n"), path, "\n"), timestamp, "\n"), body, "");
    must_split(message, n, fields);
    /* The body in two pieces, cut at the place that its first byte says. */
    size_t cut = body.n == 0 ? 0 : (uint8_t)body.text[0] % (body.n + 1);
    const uint8_t *bytes = (const uint8_t *)body.text;
    MUST(tenon_request_update(&request, bytes, cut) == TENON_OK);
    MUST(tenon_request_update(&request, bytes + cut, body.n - cut) == TENON_OK);
    MUST(tenon_request_finish(&request, &digest) == TENON_OK);
    MUST(tenon_sha256(&expected, message, n) == TENON_OK);
    MUST(memcmp(&digest, &expected, sizeof digest) == 0);
}

static void must_be_value(const char *out, size_t offset, field f)
{
    MUST(strlen(out + offset) == f.n && memcmp(out + offset, f.text, f.n) == 0);
}

static void must_be_signature(const char *text, const tenon_signature *signature)
{
    uint8_t der[TENON_SIGNATURE_DER_MAX];
    tenon_signature again;
    size_t n;
    MUST(tenon_base64_decode(der, sizeof der, &n, text, strlen(text)) == TENON_OK);
    MUST(tenon_signature_decode_der(&again, der, n) == TENON_OK);
    MUST(memcmp(&again, signature, sizeof again) == 0);
}

/* Six values, six NULs, nothing that could end a header or begin another. */
static void must_be_six(const char *out, size_t n)
{
    size_t nuls = 0;
    for (size_t i = 0; i < n; i++) {
        nuls += out[i] == 0;
        MUST(out[i] == 0 || (out[i] > 0x20 && out[i] < 0x7F));
    }
    MUST(nuls == 6 && out[n - 1] == 0);
}

static tenon_status render(char *out, size_t n, size_t *written, tenon_header_offsets *at,
                           const tenon_signature *signature, const field *fields)
{
    return tenon_request_headers(out, n, written, at, signature, fields[4].text, fields[4].n, fields[5].text,
                                 fields[5].n, fields[2].text, fields[2].n, fields[6].text, fields[6].n);
}

static void headers(const field *fields)
{
    tenon_signature signature = {{0}};
    tenon_header_offsets at;
    size_t n, again;
    memcpy(&signature, fields[7].text, fields[7].n < sizeof signature ? fields[7].n : sizeof signature);
    tenon_status expected = expected_of_headers(fields[4], fields[5], fields[2], fields[6]);
    if (expected == TENON_OK && tenon_signature_encode_der(NULL, 0, &n, &signature) == TENON_ERROR_SIGNATURE_RANGE)
        expected = TENON_ERROR_SIGNATURE_RANGE;
    OWNED char *out = fuzz_room(TENON_HEADERS_MAX);
    MUST(render(out, TENON_HEADERS_MAX, &n, &at, &signature, fields) == expected);
    if (expected != TENON_OK) {
        MUST(n == 0 && fuzz_all(&at, sizeof at, 0) && fuzz_all(out, TENON_HEADERS_MAX, FUZZ_FILL));
    } else {
        must_be_six(out, n);
        must_be_value(out, at.app_id, fields[4]);
        must_be_value(out, at.device_id, fields[5]);
        must_be_signature(out + at.signature, &signature);
        must_be_value(out, at.timestamp, fields[2]);
        must_be_value(out, at.nonce, fields[6]);
        MUST(strcmp(out + at.version, "1") == 0);
        OWNED char *room = fuzz_room(n - 1);
        MUST(render(room, n - 1, &again, &at, &signature, fields) == TENON_ERROR_BUFFER_TOO_SMALL);
        MUST(again == n && fuzz_all(room, n - 1, FUZZ_FILL) && fuzz_all(&at, sizeof at, 0));
    }
}

FUZZ_TARGET(data, n)
{
    enum { FIELDS = 8 };
    field fields[FIELDS];
    for (size_t i = 0; i + 1 < FIELDS; i++)
        fields[i] = next_field(&data, &n);
    fields[FIELDS - 1] = (field){fuzz_copy(data, n), n};
    begin(fields);
    headers(fields);
    for (size_t i = 0; i < FIELDS; i++)
        free(fields[i].text);
}
