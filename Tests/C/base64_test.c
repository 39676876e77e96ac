/* SPDX-License-Identifier: Apache-2.0 */
#include "base/public64.h"
#include "test.h"

typedef tenon_status encoder(char *out, size_t n, size_t *written, const uint8_t *data, size_t data_n);
typedef tenon_status decoder(uint8_t *out, size_t n, size_t *written, const char *text, size_t text_n);

typedef struct {
    const char *name;
    encoder *encode;
    decoder *decode;
    const char *letters;
    bool padded;
} form;

static const form standard = {"base64", tenon_base64_encode, tenon_base64_decode,
                              "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", true};
static const form url_safe = {"base64url", tenon_base64url_encode, tenon_base64url_decode,
                              "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", false};

/* Bit by bit, unlike the core. */
static size_t model(const form *with, char *out, const uint8_t *data, size_t n)
{
    size_t length = 0;
    for (size_t bit = 0; bit < 8 * n; bit += 6) {
        unsigned value = 0;
        for (size_t i = bit; i < bit + 6; i++)
            value = value << 1 | (i < 8 * n ? (unsigned)data[i / 8] >> (7 - i % 8) & 1u : 0u);
        out[length++] = with->letters[value];
    }
    while (with->padded && length % 4 != 0)
        out[length++] = '=';
    return length;
}

static void round_trip(const form *with, const uint8_t *data, size_t n)
{
    char text[400], expected[400];
    uint8_t back[300];
    size_t text_n = 0, back_n = 0, expected_n = model(with, expected, data, n);
    test_about("%s of %zu bytes", with->name, n);
    CHECK_OK(with->encode(text, sizeof text, &text_n, data, n));
    CHECK_SAME(text, text_n, expected, expected_n);
    if (with->padded)
        tenoni_public64_encode(text, data, n);
    CHECK_SAME(text, text_n, expected, expected_n);
    CHECK_OK(with->decode(back, sizeof back, &back_n, text, text_n));
    CHECK_SAME(back, back_n, data, n);
}

TEST(base64_every_length_and_byte)
{
    uint8_t data[256];
    uint64_t state = 5;
    for (size_t n = 0; n <= sizeof data; n++) {
        test_random_fill(&state, data, n);
        round_trip(&standard, data, n);
        round_trip(&url_safe, data, n);
    }
    for (unsigned i = 0; i < 256; i++) {
        memset(data, (int)i, 3);
        for (size_t n = 1; n <= 3; n++) {
            round_trip(&standard, data, n);
            round_trip(&url_safe, data, n);
        }
    }
}

static void check_text(const form *with, const char *data, const char *text)
{
    char out[16];
    size_t n = 0;
    test_about("%s of %s", with->name, data);
    CHECK_OK(with->encode(out, sizeof out, &n, (const uint8_t *)data, strlen(data)));
    CHECK_SAME(out, n, text, strlen(text));
}

/* RFC 4648, 10. */
TEST(base64_rfc_4648)
{
    check_text(&standard, "", "");
    check_text(&standard, "f", "Zg==");
    check_text(&standard, "fo", "Zm8=");
    check_text(&standard, "foo", "Zm9v");
    check_text(&standard, "foob", "Zm9vYg==");
    check_text(&standard, "fooba", "Zm9vYmE=");
    check_text(&standard, "foobar", "Zm9vYmFy");
    check_text(&url_safe, "fooba", "Zm9vYmE");
    check_text(&standard, "\xfb\xff\xbf", "+/+/");
    check_text(&url_safe, "\xfb\xff\xbf", "-_-_");
}

static void check_refused(const form *with, const char *text, size_t n, tenon_status expected)
{
    uint8_t out[64];
    size_t written = 12345;
    memset(out, 0xa5, sizeof out);
    CHECK_STATUS(with->decode(out, sizeof out, &written, text, n), expected);
    CHECK_NUMBER(written, 0);
    for (size_t i = 0; i < sizeof out; i++)
        CHECK_NUMBER(out[i], 0xa5);
    CHECK_STATUS(with->decode(NULL, 0, &written, text, n), expected);
    CHECK_NUMBER(written, 0);
}

enum { STANDARD, URL_SAFE };

TEST(base64_refused)
{
    static const test_texts rows[] = {
        {TENON_ERROR_BASE64_LENGTH, STANDARD, {"Z", "Zm9vZ"}},
        {TENON_ERROR_BASE64_PADDING, STANDARD, {"Zg", "Zg=", "Zm8", "Zm8==", "Zm9v=", "Zm9v==", "Zm9v===", "=="}},
        {TENON_ERROR_BASE64_PADDING, STANDARD, {"Zg==Zg==", "Z=g=", "=Zg="}},
        {TENON_ERROR_BASE64_STRAY_BITS, STANDARD, {"Zh==", "Zm9="}},
        {TENON_ERROR_BASE64_ALPHABET, STANDARD, {"Zm-v", "Zm_v", "Zm v", "Zm9vZm9\n"}},
        {TENON_ERROR_BASE64_LENGTH, URL_SAFE, {"Z"}},
        {TENON_ERROR_BASE64_PADDING, URL_SAFE, {"Zg==", "Zm8=", "Z=8"}},
        {TENON_ERROR_BASE64_STRAY_BITS, URL_SAFE, {"Zh", "Zm9"}},
        {TENON_ERROR_BASE64_ALPHABET, URL_SAFE, {"Zm+v", "Zm/v", "Zm\tv"}},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        for (const char *const *text = rows[i].texts; *text != NULL; text++) {
            test_about("%d: \"%s\"", rows[i].kind, *text);
            check_refused(rows[i].kind == STANDARD ? &standard : &url_safe, *text, strlen(*text), rows[i].status);
        }
    check_refused(&url_safe, "Zm\0v", 4, TENON_ERROR_BASE64_ALPHABET);
}

/* The coder for what is public takes the same texts. */
static void check_public(const form *with, const char *text, size_t n, const uint8_t *data, size_t data_n)
{
    uint8_t found[16];
    for (size_t size = 0; size <= sizeof found; size++) {
        bool good = tenoni_public64_decode(found, size, text, n, !with->padded);
        CHECK(good == (data != NULL && size == data_n) && (!good || memcmp(found, data, size) == 0));
    }
}

/* An accepted text equals the encoder's: one value has one text. */
static void check_canonical(const form *with, const char *text, size_t n)
{
    uint8_t data[16];
    char again[32];
    size_t data_n, again_n;
    tenon_status status = with->decode(data, sizeof data, &data_n, text, n);
    check_public(with, text, n, status == TENON_OK ? data : NULL, data_n);
    if (status != TENON_OK) {
        CHECK_NUMBER(tenon_status_category(status), TENON_CATEGORY_FORMAT);
        return;
    }
    CHECK_OK(with->encode(again, sizeof again, &again_n, data, data_n));
    CHECK_SAME(again, again_n, text, n);
}

TEST(base64_one_value_one_text)
{
    static const char *const texts[] = {"Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy", "Zm9vYg", "Zm9vYmE"};
    for (size_t i = 0; i < COUNT(texts); i++)
        for (size_t at = 0; at < strlen(texts[i]); at++)
            for (unsigned byte = 0; byte < 256; byte++) {
                char text[16];
                size_t n = strlen(texts[i]);
                memcpy(text, texts[i], n);
                text[at] = (char)byte;
                test_about("%s with %02x at %zu", texts[i], byte, at);
                check_canonical(&standard, text, n);
                check_canonical(&url_safe, text, n);
            }
}

typedef struct {
    const form *with;
    const char *text;
    const uint8_t *data;
    size_t n;
} sample;

OUTPUT(encode_sample)
{
    const sample *of = input;
    return of->with->encode((char *)out, n, written, of->data, of->n);
}

OUTPUT(decode_sample)
{
    const sample *of = input;
    return of->with->decode(out, n, written, of->text, strlen(of->text));
}

TEST(base64_output_rule)
{
    static const uint8_t data[5] = {'f', 'o', 'o', 'b', 'a'};
    sample padded = {&standard, "Zm9vYmE=", data, sizeof data}, plain = {&url_safe, "Zm9vYmE", data, sizeof data};
    sample nothing = {&standard, "", NULL, 0};
    test_output_rule("base64_encode", encode_sample, &padded, padded.text, 8);
    test_output_rule("base64_decode", decode_sample, &padded, data, 5);
    test_output_rule("base64url_encode", encode_sample, &plain, plain.text, 7);
    test_output_rule("base64url_decode", decode_sample, &plain, data, 5);
    test_output_rule("base64_encode of nothing", encode_sample, &nothing, NULL, 0);
    test_output_rule("base64_decode of nothing", decode_sample, &nothing, NULL, 0);
}

static void check_bad_input(const form *with)
{
    char text[8];
    uint8_t data[8] = {0};
    size_t n = 12345;
    test_about("%s", with->name);
    CHECK_STATUS(with->encode(text, sizeof text, &n, NULL, 1), TENON_ERROR_NULL);
    CHECK_NUMBER(n, 0);
    n = 12345;
    CHECK_STATUS(with->decode(data, sizeof data, &n, NULL, 1), TENON_ERROR_NULL);
    CHECK_NUMBER(n, 0);
    n = 12345;
    CHECK_STATUS(with->encode(text, sizeof text, &n, data, SIZE_MAX), TENON_ERROR_TOO_LARGE);
    CHECK_NUMBER(n, 0);
    CHECK_STATUS(with->encode(NULL, 0, &n, data, SIZE_MAX / 4 + 1), TENON_ERROR_TOO_LARGE);
    CHECK_STATUS(with->encode(text, sizeof text, &n, data, SIZE_MAX / 4), TENON_ERROR_BUFFER_TOO_SMALL);
    CHECK(n > SIZE_MAX / 4);
    CHECK_STATUS(with->encode(text, sizeof text, NULL, data, 1), TENON_ERROR_NULL);
    CHECK_STATUS(with->decode(data, sizeof data, NULL, "Zm9v", 4), TENON_ERROR_NULL);
    CHECK_STATUS(with->decode(data, sizeof data, &n, NULL, SIZE_MAX), TENON_ERROR_NULL);
}

TEST(base64_bad_input)
{
    check_bad_input(&standard);
    check_bad_input(&url_safe);
}
