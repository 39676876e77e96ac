/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

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
        CHECK_STATUS(tenon_request_begin(&request, "POST", 4, "/v1/hsi", 7, "1700000000", 10), TENON_OK);
        CHECK_STATUS(tenon_request_update(&request, (const uint8_t *)body, split), TENON_OK);
        CHECK_STATUS(tenon_request_update(&request, NULL, 0), TENON_OK);
        CHECK_STATUS(tenon_request_update(&request, (const uint8_t *)body + split, sizeof body - 1 - split), TENON_OK);
        CHECK_STATUS(tenon_request_finish(&request, &digest), TENON_OK);
        CHECK_BYTES(&digest, &expected, sizeof digest);
        CHECK_ZERO(&request, sizeof request);
    }
    CHECK_STATUS(tenon_request_begin(&request, "GET", 3, "/", 1, "1700000000", 10), TENON_OK);
    CHECK_STATUS(tenon_request_finish(&request, &digest), TENON_OK);
    CHECK_STATUS(tenon_sha256(&expected, (const uint8_t *)"GET\n/\n1700000000\n", 17), TENON_OK);
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

TEST(request_paths)
{
    static char path[TENON_PATH_MAX + 2];
    tenon_request request;
    CHECK_STATUS(begin("GET", "", "1700000000"), TENON_ERROR_PATH);
    CHECK_STATUS(begin("GET", "v1/hsi", "1700000000"), TENON_ERROR_PATH);
    CHECK_STATUS(begin("GET", "*", "1700000000"), TENON_ERROR_PATH);
    CHECK_STATUS(begin("GET", "http://host/", "1700000000"), TENON_ERROR_PATH);
    CHECK_STATUS(begin("GET", "/a\n1700000000", "1700000000"), TENON_ERROR_PATH);
    for (int c = 0; c < 256; c++) {
        char text[3] = {'/', (char)c, 'x'};
        bool good = c >= 0x21 && c <= 0x7e && c != '?' && c != '#';
        test_about("character %02x", (unsigned)c);
        CHECK_STATUS(tenon_request_begin(&request, "GET", 3, text, 3, "1700000000", 10),
                     good ? TENON_OK : TENON_ERROR_PATH);
    }
    test_about(NULL);
    memset(path, '/', sizeof path);
    CHECK_STATUS(tenon_request_begin(&request, "GET", 3, path, TENON_PATH_MAX, "1700000000", 10), TENON_OK);
    CHECK_STATUS(tenon_request_begin(&request, "GET", 3, path, TENON_PATH_MAX + 1, "1700000000", 10), TENON_ERROR_PATH);
}

TEST(request_timestamps)
{
    static const char *const good[] = {"1000000000", "9999999999", "17000000000", "999999999999"};
    static const char *const bad[] = {"",           "1",           "999999999",   "0999999999",  "1000000000000",
                                      "-170000000", "+1700000000", " 1700000000", "1700000000 ", "170000000a",
                                      "1700000.00", "1700000000\n"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        CHECK_STATUS(begin("GET", "/", good[i]), TENON_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        test_about("\"%s\"", bad[i]);
        CHECK_STATUS(begin("GET", "/", bad[i]), TENON_ERROR_TIMESTAMP);
    }
}

TEST(request_bad_input)
{
    tenon_request request;
    tenon_digest digest;
    const char *none = NULL;
    CHECK_STATUS(tenon_request_begin(NULL, "GET", 3, "/", 1, "1700000000", 10), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_request_begin(&request, none, 3, "/", 1, "1700000000", 10), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_request_begin(&request, "GET", 3, none, 1, "1700000000", 10), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_request_begin(&request, "GET", 3, "/", 1, none, 10), TENON_ERROR_NULL);
    CHECK_ZERO(&request, sizeof request);
    CHECK_STATUS(tenon_request_begin(&request, none, 0, "/", 1, "1700000000", 10), TENON_ERROR_METHOD);
    CHECK_STATUS(tenon_request_begin(&request, "GET", 3, none, 0, "1700000000", 10), TENON_ERROR_PATH);
    CHECK_STATUS(tenon_request_begin(&request, "GET", 3, "/", 1, none, 0), TENON_ERROR_TIMESTAMP);
    CHECK_STATUS(tenon_request_begin(&request, "GET", SIZE_MAX, "/", 1, "1700000000", 10), TENON_ERROR_METHOD);
    CHECK_STATUS(tenon_request_begin(&request, "GET", 3, "/", SIZE_MAX, "1700000000", 10), TENON_ERROR_PATH);
    CHECK_STATUS(tenon_request_begin(&request, "GET", 3, "/", 1, "1700000000", SIZE_MAX), TENON_ERROR_TIMESTAMP);
    CHECK_STATUS(tenon_request_begin(&request, "GET", 3, "/", 1, "1700000000", 10), TENON_OK);
    CHECK_STATUS(tenon_request_update(NULL, (const uint8_t *)"a", 1), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_request_update(&request, NULL, 1), TENON_ERROR_NULL);
    memset(&digest, 0xa5, sizeof digest);
    CHECK_STATUS(tenon_request_finish(NULL, &digest), TENON_ERROR_NULL);
    CHECK_ZERO(&digest, sizeof digest);
    CHECK_STATUS(tenon_request_finish(&request, NULL), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_request_finish(&request, &digest), TENON_OK);
    memset(&digest, 0xa5, sizeof digest);
    CHECK_STATUS(tenon_request_finish(&request, &digest), TENON_ERROR_STREAM);
    CHECK_ZERO(&digest, sizeof digest);
}

/* SHA-256("challenge" "key"), by another SHA-256: texts, one behind the other. */
TEST(request_binding_nonce)
{
    tenon_digest nonce, expected;
    const char *none = NULL;
    test_hex(&expected, sizeof expected, "ae8912370d9311758e7a50789fbc5d3e776fe926eaea0c3754be1e00bbd6d29f");
    CHECK_STATUS(tenon_binding_nonce(&nonce, "Y2hhbGxlbmdl", 12, "MFkwEwYH", 8), TENON_OK);
    CHECK_BYTES(&nonce, &expected, sizeof nonce);
    CHECK_STATUS(tenon_binding_nonce(NULL, "a", 1, "b", 1), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_binding_nonce(&nonce, none, 1, "b", 1), TENON_ERROR_NULL);
    CHECK_ZERO(&nonce, sizeof nonce);
    CHECK_STATUS(tenon_binding_nonce(&nonce, "a", 1, none, 1), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_binding_nonce(&nonce, none, SIZE_MAX, "b", 1), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_binding_nonce(&nonce, "a", 1, none, SIZE_MAX), TENON_ERROR_NULL);
    memset(&nonce, 0xa5, sizeof nonce);
    CHECK_STATUS(tenon_binding_nonce(&nonce, none, 0, "b", 1), TENON_ERROR_EMPTY);
    CHECK_ZERO(&nonce, sizeof nonce);
    CHECK_STATUS(tenon_binding_nonce(&nonce, "a", 1, none, 0), TENON_ERROR_EMPTY);
    CHECK_STATUS(tenon_binding_nonce(&nonce, "", 0, "", 0), TENON_ERROR_EMPTY);
}

/* IT-Wallet: the client data of each dialect, hashed. */
TEST(request_client_data_of_the_wallet)
{
    static const struct {
        const char *text, *digest;
    } dialects[] = {
        {"{\"nonce\":\"i4ThI2Jhbu81i8mqyWEuDG5t\",\"jwk_thumbprint\":\"vbeXJksM45xphtANnCiG6mCyuU4jfGNzopGuKvogg9c\"}",
         "99fb91ec57df4d7980666adc94da91c46dd50829c8e6c19e680b9cfd5529e14d"},
        {"{\"challenge\":\"i4ThI2Jhbu81i8mqyWEuDG5t\",\"jwk_thumbprint\":"
         "\"vbeXJksM45xphtANnCiG6mCyuU4jfGNzopGuKvogg9c\"}",
         "c8a4230aa3e09ef1e7572dd9286664cd1ce1094fe0e416e2c292377e90db289c"},
        {"{\"nonce\":\"i4ThI2Jhbu81i8mqyWEuDG5t\",\"jwk_thumbprints\":[\"vbeXJksM45xphtANnCiG6mCyuU4jfGNzopGuKvogg9c\"]"
         "}",
         "2294342f70e556e7351576e3bc29d370e4f829451a8a20278731d630ca4ae045"},
        {"{\"challenge\":\"i4ThI2Jhbu81i8mqyWEuDG5t\",\"jwk_thumbprints\":["
         "\"vbeXJksM45xphtANnCiG6mCyuU4jfGNzopGuKvogg9c\"]}",
         "7828bfcf815138e97395c4f55a11f1766ed624273ff8895c74cc04b43b08c8f8"},
        {"d2JhY2NhbG91cmVqdWFuZGFt", "67f828058b567914d141fa5ff3796c70ae4bd7d2049322aadb09fd086933a433"},
        {"{\"nonce\":\"d2JhY2NhbG91cmVqdWFuZGFt\",\"hardware_key_tag\":\"WQhyDymFKsP95iFqpzdEDWW4l7aVna2Fn4JCeWHYtbU\","
         "\"jwk_thumbprint\":\"abTZ-kT0nKIpG_6-cE2tx5DdeWQWpeqedXz6H2b2u7M\"}",
         "bd338777e89973719484bc70c8a1d2333a05627c981923dff4bef5673a8e9817"},
    };
    for (size_t i = 0; i < sizeof dialects / sizeof *dialects; i++) {
        tenon_digest digest, expected;
        test_about("dialect %zu", i);
        test_hex(&expected, sizeof expected, dialects[i].digest);
        CHECK_STATUS(tenon_sha256(&digest, (const uint8_t *)dialects[i].text, strlen(dialects[i].text)), TENON_OK);
        CHECK_BYTES(&digest, &expected, sizeof digest);
    }
}

static tenon_status nonce(const void *input, uint8_t *out, size_t n, size_t *written)
{
    (void)input;
    return tenon_request_nonce((char *)out, n, written);
}

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
        CHECK_STATUS(tenon_request_nonce(text, sizeof text, &n), TENON_OK);
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
