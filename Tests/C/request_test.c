/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#define NONCE "01234567-89ab-4def-8123-456789abcdef"

static tenon_status begin(const char *method, const char *path, const char *timestamp)
{
    tenon_request request;
    tenon_digest digest;
    memset(&request, 0xa5, sizeof request);
    tenon_status status =
        tenon_request_begin(&request, method, strlen(method), path, strlen(path), timestamp, strlen(timestamp));
    if (status != TENON_OK) {
        CHECK_STATUS(tenon_request_update(&request, (const uint8_t *)"a", 1), TENON_ERROR_STREAM);
        CHECK_STATUS(tenon_request_finish(&request, &digest), TENON_ERROR_STREAM);
    }
    return status;
}

/* The message of the Flutter SDK's RuntimeDeviceSignerTest; its digest is by another SHA-256. */
TEST(request_message_of_the_sdk)
{
    static const char body[] = "{\"a\":1}";
    tenon_request request;
    tenon_digest digest, expected;
    test_hex(&expected, sizeof expected, "232dba6a027ff27dfb68a54271ce7a825be4d912f362002096d37ec2ac76f557");
    for (size_t split = 0; split < sizeof body; split++) {
        CHECK_OK(tenon_request_begin(&request, "POST", 4, "/v1/hsi", 7, "1700000000", 10));
        CHECK_OK(tenon_request_update(&request, (const uint8_t *)body, split));
        CHECK_OK(tenon_request_update(&request, NULL, 0));
        CHECK_OK(tenon_request_update(&request, (const uint8_t *)body + split, sizeof body - 1 - split));
        CHECK_OK(tenon_request_finish(&request, &digest));
        CHECK_BYTES(&digest, &expected, sizeof digest);
        CHECK_ZERO(&request, sizeof request);
    }
    CHECK_OK(tenon_request_begin(&request, "GET", 3, "/", 1, "1700000000", 10));
    CHECK_OK(tenon_request_finish(&request, &digest));
    CHECK_OK(tenon_sha256(&expected, (const uint8_t *)"GET\n/\n1700000000\n", 17));
    CHECK_BYTES(&digest, &expected, sizeof digest);
}

TEST(request_methods)
{
    char method[34];
    CHECK_STATUS(begin("", "/", "1700000000"), TENON_ERROR_METHOD);
    memset(method, 'Z', sizeof method);
    for (size_t n = 1; n <= 33; n++) {
        tenon_request request;
        CHECK_STATUS(tenon_request_begin(&request, method, n, "/", 1, "1700000000", 10),
                     n <= TENON_METHOD_MAX ? TENON_OK : TENON_ERROR_METHOD);
    }
    for (int c = 0; c < 256; c++) {
        char text[4] = {'G', (char)c, 'T'};
        tenon_request request;
        test_about("character %02x", (unsigned)c);
        CHECK_STATUS(tenon_request_begin(&request, text, 3, "/", 1, "1700000000", 10),
                     c >= 'A' && c <= 'Z' ? TENON_OK : TENON_ERROR_METHOD);
    }
}

static tenon_status begin_path(int unused, const char *path) { return begin("GET", path, "1700000000"); }

TEST(request_paths)
{
    static const test_texts bad = {TENON_ERROR_PATH, 0, {"", "v1/hsi", "*", "http://host/", "/a\n1700000000"}};
    static char path[TENON_PATH_MAX + 2];
    tenon_request request;
    test_each_text(&bad, 1, begin_path);
    for (int c = 0; c < 256; c++) {
        char text[3] = {'/', (char)c, 'x'};
        bool good = c >= 0x21 && c <= 0x7e && c != '?' && c != '#';
        test_about("character %02x", (unsigned)c);
        CHECK_STATUS(tenon_request_begin(&request, "GET", 3, text, 3, "1700000000", 10),
                     good ? TENON_OK : TENON_ERROR_PATH);
    }
    test_about(NULL);
    memset(path, '/', sizeof path);
    CHECK_OK(tenon_request_begin(&request, "GET", 3, path, TENON_PATH_MAX, "1700000000", 10));
    CHECK_STATUS(tenon_request_begin(&request, "GET", 3, path, TENON_PATH_MAX + 1, "1700000000", 10), TENON_ERROR_PATH);
}

static tenon_status begin_timestamp(int unused, const char *timestamp) { return begin("GET", "/", timestamp); }

TEST(request_timestamps)
{
    static const test_texts rows[] = {
        {TENON_OK, 0, {"1000000000", "9999999999", "17000000000", "999999999999"}},
        {TENON_ERROR_TIMESTAMP, 0, {"", "1", "999999999", "0999999999", "1000000000000", "-170000000", "+1700000000"}},
        {TENON_ERROR_TIMESTAMP, 0, {" 1700000000", "1700000000 ", "170000000a", "1700000.00", "1700000000\n"}},
    };
    test_each_text(rows, COUNT(rows), begin_timestamp);
}

TEST(request_bad_input)
{
    tenon_request request;
    tenon_digest digest;
    const char *none = NULL;
    CHECK_STATUS(tenon_request_begin(NULL, "GET", 3, "/", 1, "1700000000", 10), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_request_begin(&request, none, 3, "/", 1, "1700000000", 10), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_request_begin(&request, "GET", 3, none, 1, "1700000000", 10), TENON_ERROR_NULL);
    CHECK_CLEARS(tenon_request_begin(&request, "GET", 3, "/", 1, none, 10), TENON_ERROR_NULL, &request);
    CHECK_STATUS(tenon_request_begin(&request, none, 0, "/", 1, "1700000000", 10), TENON_ERROR_METHOD);
    CHECK_STATUS(tenon_request_begin(&request, "GET", 3, none, 0, "1700000000", 10), TENON_ERROR_PATH);
    CHECK_STATUS(tenon_request_begin(&request, "GET", 3, "/", 1, none, 0), TENON_ERROR_TIMESTAMP);
    CHECK_STATUS(tenon_request_begin(&request, "GET", SIZE_MAX, "/", 1, "1700000000", 10), TENON_ERROR_METHOD);
    CHECK_STATUS(tenon_request_begin(&request, "GET", 3, "/", SIZE_MAX, "1700000000", 10), TENON_ERROR_PATH);
    CHECK_STATUS(tenon_request_begin(&request, "GET", 3, "/", 1, "1700000000", SIZE_MAX), TENON_ERROR_TIMESTAMP);
    CHECK_OK(tenon_request_begin(&request, "GET", 3, "/", 1, "1700000000", 10));
    CHECK_STATUS(tenon_request_update(NULL, (const uint8_t *)"a", 1), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_request_update(&request, NULL, 1), TENON_ERROR_NULL);
    CHECK_CLEARS(tenon_request_finish(NULL, &digest), TENON_ERROR_NULL, &digest);
    CHECK_STATUS(tenon_request_finish(&request, NULL), TENON_ERROR_NULL);
    CHECK_OK(tenon_request_finish(&request, &digest));
    CHECK_CLEARS(tenon_request_finish(&request, &digest), TENON_ERROR_STREAM, &digest);
}

/* SHA-256("challenge" "key"), by another SHA-256: the concatenated texts. */
TEST(request_binding_nonce)
{
    tenon_digest nonce, expected;
    const char *none = NULL;
    test_hex(&expected, sizeof expected, "ae8912370d9311758e7a50789fbc5d3e776fe926eaea0c3754be1e00bbd6d29f");
    CHECK_OK(tenon_binding_nonce(&nonce, "Y2hhbGxlbmdl", 12, "MFkwEwYH", 8));
    CHECK_BYTES(&nonce, &expected, sizeof nonce);
    CHECK_STATUS(tenon_binding_nonce(NULL, "a", 1, "b", 1), TENON_ERROR_NULL);
    CHECK_CLEARS(tenon_binding_nonce(&nonce, none, 1, "b", 1), TENON_ERROR_NULL, &nonce);
    CHECK_STATUS(tenon_binding_nonce(&nonce, "a", 1, none, 1), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_binding_nonce(&nonce, none, SIZE_MAX, "b", 1), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_binding_nonce(&nonce, "a", 1, none, SIZE_MAX), TENON_ERROR_NULL);
    CHECK_CLEARS(tenon_binding_nonce(&nonce, none, 0, "b", 1), TENON_ERROR_EMPTY, &nonce);
    CHECK_STATUS(tenon_binding_nonce(&nonce, "a", 1, none, 0), TENON_ERROR_EMPTY);
    CHECK_STATUS(tenon_binding_nonce(&nonce, "", 0, "", 0), TENON_ERROR_EMPTY);
}

OUTPUT(nonce) { return tenon_request_nonce((char *)out, n, written); }

/* RFC 9562, 5.4; each of the 122 random bits is seen as 0 and as 1. */
TEST(request_nonce_is_a_fresh_uuid)
{
    static const char digits[] = "0123456789abcdef";
    size_t rounds = test_rounds(2000, 100);
    unsigned ones[36] = {0}, zeros[36] = {0};
    char last[36] = {0};
    for (size_t i = 0; i < rounds; i++) {
        char text[36];
        size_t n;
        CHECK_OK(tenon_request_nonce(text, sizeof text, &n));
        CHECK(n == 36 && memcmp(text, last, 36) != 0);
        CHECK(text[14] == '4' && strchr("89ab", text[19]) != NULL);
        for (size_t at = 0; at < 36; at++) {
            bool hyphen = at == 8 || at == 13 || at == 18 || at == 23;
            const char *digit = memchr(digits, text[at], 16);
            CHECK(hyphen ? text[at] == '-' : digit != NULL);
            unsigned value = digit == NULL ? 0 : (unsigned)(digit - digits);
            ones[at] |= value;
            zeros[at] |= ~value & 0xf;
        }
        memcpy(last, text, sizeof last);
    }
    for (size_t at = 0; at < 36; at++)
        if (at != 8 && at != 13 && at != 14 && at != 18 && at != 23)
            CHECK((ones[at] & zeros[at]) == (at == 19 ? 3 : 15));
    test_output_rule("request_nonce", nonce, NULL, NULL, TENON_UUID_SIZE);
}
