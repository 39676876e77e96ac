/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"
#include "tenon/encoding.h"

static bool is_lower_case_of(const char *lower, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bool upper = text[i] >= 'A' && text[i] <= 'F';
        if (lower[i] != (upper ? text[i] - 'A' + 'a' : text[i]))
            return false;
    }
    return true;
}

/* A text that decodes equals, except for case, the encoder's text for the result; a refused text writes nothing. */
static void decode_any(const char *text, size_t n)
{
    size_t written, again;
    OWNED uint8_t *bytes = fuzz_room(n / 2);
    tenon_status status = tenon_hex_decode(bytes, n / 2, &written, text, n);
    if (status == TENON_OK) {
        OWNED char *copy = fuzz_room(n);
        MUST(written == n / 2);
        MUST(tenon_hex_encode(copy, n, &again, bytes, written) == TENON_OK);
        MUST(again == n && is_lower_case_of(copy, text, n));
    } else {
        MUST(tenon_status_category(status) == TENON_CATEGORY_FORMAT);
        MUST(written == 0 && fuzz_all(bytes, n / 2, FUZZ_FILL));
    }
}

static void encode_any(const uint8_t *data, size_t n)
{
    size_t written;
    OWNED char *text = fuzz_room(2 * n);
    OWNED uint8_t *bytes = fuzz_room(n);
    MUST(tenon_hex_encode(text, 2 * n, &written, data, n) == TENON_OK && written == 2 * n);
    MUST(tenon_hex_decode(bytes, n, &written, text, 2 * n) == TENON_OK);
    MUST(written == n && memcmp(bytes, data, n) == 0);
}

FUZZ_TARGET(data, n)
{
    const char *text = (const char *)data;
    decode_any(text, n);
    encode_any(data, n);
}
