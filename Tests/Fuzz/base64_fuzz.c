/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"
#include "tenon/encoding.h"

typedef tenon_status encoder(char *out, size_t n, size_t *written, const uint8_t *data, size_t data_n);
typedef tenon_status decoder(uint8_t *out, size_t n, size_t *written, const char *text, size_t text_n);

static void must_refuse_short_room(decoder *decode, const char *text, size_t text_n, size_t needed)
{
    size_t written = 0;
    OWNED uint8_t *room = fuzz_room(needed - 1);
    MUST(decode(room, needed - 1, &written, text, text_n) == TENON_ERROR_BUFFER_TOO_SMALL);
    MUST(written == needed);
    MUST(fuzz_all(room, needed - 1, FUZZ_FILL));
}

/* A text that decodes equals the encoder's text for the result; a refused text writes nothing. */
static void decode_any(encoder *encode, decoder *decode, const char *text, size_t n)
{
    size_t written, again;
    OWNED uint8_t *bytes = fuzz_room(n);
    tenon_status status = decode(bytes, n, &written, text, n);
    if (status == TENON_OK) {
        OWNED char *copy = fuzz_room(n);
        MUST(encode(copy, n, &again, bytes, written) == TENON_OK);
        MUST(again == n && memcmp(copy, text, n) == 0);
        MUST(fuzz_all(bytes + written, n - written, FUZZ_FILL));
        if (written != 0)
            must_refuse_short_room(decode, text, n, written);
    } else {
        MUST(tenon_status_category(status) == TENON_CATEGORY_FORMAT);
        MUST(written == 0 && fuzz_all(bytes, n, FUZZ_FILL));
    }
}

static void encode_any(encoder *encode, decoder *decode, const uint8_t *data, size_t n)
{
    size_t needed, written;
    tenon_status asked = encode(NULL, 0, &needed, data, n);
    MUST(asked == (n == 0 ? TENON_OK : TENON_ERROR_BUFFER_TOO_SMALL));
    OWNED char *text = fuzz_room(needed);
    OWNED uint8_t *bytes = fuzz_room(n);
    MUST(encode(text, needed, &written, data, n) == TENON_OK && written == needed);
    MUST(decode(bytes, n, &written, text, needed) == TENON_OK);
    MUST(written == n && memcmp(bytes, data, n) == 0);
}

FUZZ_TARGET(data, n)
{
    const char *text = (const char *)data;
    decode_any(tenon_base64_encode, tenon_base64_decode, text, n);
    decode_any(tenon_base64url_encode, tenon_base64url_decode, text, n);
    encode_any(tenon_base64_encode, tenon_base64_decode, data, n);
    encode_any(tenon_base64url_encode, tenon_base64url_decode, data, n);
}
