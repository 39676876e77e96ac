/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

/* The arguments of tenon_request_headers, of which each test changes one. */
typedef struct {
    tenon_signature signature;
    const char *texts[4];
    size_t sizes[4];
} values;

enum { APP_ID, DEVICE_ID, TIMESTAMP, NONCE, TEXTS };

static const tenon_status codes[TEXTS] = {TENON_ERROR_APP_ID, TENON_ERROR_DEVICE_ID, TENON_ERROR_TIMESTAMP,
                                          TENON_ERROR_NONCE};

static values good_values(void)
{
    values made = {{{0}}, {"app", "device", "1700000000", "01234567-89ab-4def-8123-456789abcdef"}, {3, 6, 10, 36}};
    made.signature.bytes[31] = made.signature.bytes[63] = 1;
    return made;
}

static tenon_status render(const values *of, char *out, size_t n, size_t *written, tenon_header_offsets *offsets)
{
    return tenon_request_headers(out, n, written, offsets, &of->signature, of->texts[0], of->sizes[0], of->texts[1],
                                 of->sizes[1], of->texts[2], of->sizes[2], of->texts[3], of->sizes[3]);
}

static void refuse(const values *of, tenon_status expected)
{
    char out[TENON_HEADERS_MAX];
    size_t n = 12345;
    tenon_header_offsets offsets;
    memset(out, 0xa5, sizeof out);
    memset(&offsets, 0xa5, sizeof offsets);
    CHECK_STATUS(render(of, out, sizeof out, &n, &offsets), expected);
    CHECK_NUMBER(n, 0);
    CHECK_ZERO(&offsets, sizeof offsets);
    for (size_t i = 0; i < sizeof out; i++)
        CHECK_NUMBER((uint8_t)out[i], 0xa5);
}

TEST(headers_values)
{
    static const char expected[] = "app\0device\0MAYCAQECAQE=\0"
                                   "1700000000\0"
                                   "01234567-89ab-4def-8123-456789abcdef\0"
                                   "1";
    values of = good_values();
    char out[TENON_HEADERS_MAX];
    size_t n = 0;
    tenon_header_offsets offsets;
    CHECK_OK(render(&of, out, sizeof out, &n, &offsets));
    CHECK_SAME(out, n, expected, sizeof expected);
    CHECK(offsets.app_id == 0 && offsets.device_id == 4 && offsets.signature == 11);
    CHECK(offsets.timestamp == 24 && offsets.nonce == 35 && offsets.version == 72);
}

TEST(headers_longest)
{
    static char app[TENON_APP_ID_MAX], device[TENON_DEVICE_ID_MAX];
    values of = good_values();
    char out[TENON_HEADERS_MAX];
    size_t n = 0;
    tenon_header_offsets offsets;
    memset(app, '~', sizeof app);
    memset(device, '!', sizeof device);
    memset(&of.signature, 0xfe, sizeof of.signature);
    of.texts[APP_ID] = app;
    of.sizes[APP_ID] = sizeof app;
    of.texts[DEVICE_ID] = device;
    of.sizes[DEVICE_ID] = sizeof device;
    of.texts[TIMESTAMP] = "170000000000";
    of.sizes[TIMESTAMP] = 12;
    CHECK_OK(render(&of, out, sizeof out, &n, &offsets));
    CHECK_NUMBER(n, 201 + 129 + 97 + 13 + 37 + 2);
    CHECK(n <= TENON_HEADERS_MAX);
    CHECK(memcmp(out, app, sizeof app) == 0 && memcmp(out + offsets.device_id, device, sizeof device) == 0);
    CHECK(strlen(out + offsets.signature) == 96 && strcmp(out + offsets.version, "1") == 0);
}

/* Every character in every text: nothing gets through that could begin another header. */
TEST(headers_characters)
{
    for (int which = APP_ID; which <= DEVICE_ID; which++)
        for (int c = 0; c < 256; c++) {
            values of = good_values();
            const char text[3] = {'a', (char)c, 'b'};
            char out[TENON_HEADERS_MAX];
            size_t n;
            tenon_header_offsets offsets;
            of.texts[which] = text;
            of.sizes[which] = sizeof text;
            test_about("text %d, character %02x", which, (unsigned)c);
            if (c >= 0x21 && c <= 0x7e)
                CHECK_OK(render(&of, out, sizeof out, &n, &offsets));
            else
                refuse(&of, codes[which]);
        }
}

TEST(headers_lengths)
{
    static const size_t longest[TEXTS] = {TENON_APP_ID_MAX, TENON_DEVICE_ID_MAX, TENON_TIMESTAMP_MAX, TENON_UUID_SIZE};
    static char text[TENON_APP_ID_MAX + 2];
    memset(text, '1', sizeof text);
    for (int which = 0; which < TEXTS; which++) {
        values of = good_values();
        test_about("text %d", which);
        of.sizes[which] = 0;
        refuse(&of, codes[which]);
        of.texts[which] = NULL;
        refuse(&of, codes[which]);
        of.sizes[which] = 1;
        refuse(&of, TENON_ERROR_NULL);
        of.sizes[which] = SIZE_MAX;
        refuse(&of, TENON_ERROR_NULL);
        of.texts[which] = text;
        refuse(&of, codes[which]);
        of.sizes[which] = longest[which] + 1;
        refuse(&of, codes[which]);
    }
}

TEST(headers_nonces)
{
    static const char *const bad[] = {"01234567-89ab-1def-8123-456789abcdef",  "01234567-89ab-5def-8123-456789abcdef",
                                      "01234567-89ab-4def-7123-456789abcdef",  "01234567-89ab-4def-c123-456789abcdef",
                                      "01234567-89ab-4def-8123-456789abcdeg",  "01234567089ab-4def-8123-456789abcdef",
                                      "0123456-789ab-4def-8123-456789abcdef",  "01234567-89ab-4def-8123-456789abcde",
                                      "01234567-89ab-4def-8123-456789abcdef0", "{1234567-89ab-4def-8123-456789abcde}",
                                      "0123456789ab4def8123456789abcdef",      "00000000-0000-0000-0000-000000000000",
                                      "01234567-89ab-4def-8123-456789abcd\r\n"};
    values of = good_values();
    char out[TENON_HEADERS_MAX];
    size_t n;
    tenon_header_offsets offsets;
    of.texts[NONCE] = "ABCDEF01-89AB-4DEF-B123-456789ABCDEF"; /* the Swift SDK's case */
    CHECK_OK(render(&of, out, sizeof out, &n, &offsets));
    CHECK(strcmp(out + offsets.nonce, of.texts[NONCE]) == 0);
    for (size_t i = 0; i < COUNT(bad); i++) {
        test_about("nonce %s", bad[i]);
        of.texts[NONCE] = bad[i];
        of.sizes[NONCE] = strlen(bad[i]);
        refuse(&of, TENON_ERROR_NONCE);
    }
}

TEST(headers_signatures)
{
    for (int which = 0; which < 2; which++) {
        values of = good_values();
        memset(of.signature.bytes + 32 * which, 0, 32);
        refuse(&of, TENON_ERROR_SIGNATURE_RANGE);
        memset(of.signature.bytes + 32 * which, 0xff, 32);
        refuse(&of, TENON_ERROR_SIGNATURE_RANGE);
    }
}

OUTPUT(output)
{
    tenon_header_offsets offsets;
    memset(&offsets, 0xa5, sizeof offsets);
    tenon_status status = render(input, (char *)out, n, written, &offsets);
    if (status == TENON_OK)
        CHECK_NUMBER(offsets.version, 72);
    else
        CHECK_ZERO(&offsets, sizeof offsets);
    return status;
}

TEST(headers_output_rule)
{
    values of = good_values();
    char out[TENON_HEADERS_MAX];
    size_t n = 12345;
    tenon_header_offsets offsets;
    test_output_rule("request_headers", output, &of, NULL, 74);
    CHECK_STATUS(render(&of, out, sizeof out, &n, NULL), TENON_ERROR_NULL);
    CHECK_NUMBER(n, 0);
    n = 12345;
    memset(&offsets, 0xa5, sizeof offsets);
    CHECK_STATUS(tenon_request_headers(out, sizeof out, &n, &offsets, NULL, "a", 1, "b", 1, "1700000000", 10,
                                       of.texts[NONCE], 36),
                 TENON_ERROR_NULL);
    CHECK_NUMBER(n, 0);
    CHECK_ZERO(&offsets, sizeof offsets);
}
