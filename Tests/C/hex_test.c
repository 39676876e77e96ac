/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

TEST(hex_every_byte)
{
    for (unsigned i = 0; i < 256; i++) {
        uint8_t byte = (uint8_t)i, back;
        char text[2], lower[3], upper[3];
        size_t n;
        snprintf(lower, sizeof lower, "%02x", i);
        snprintf(upper, sizeof upper, "%02X", i);
        CHECK_OK(tenon_hex_encode(text, sizeof text, &n, &byte, 1));
        CHECK_SAME(text, n, lower, 2);
        CHECK_OK(tenon_hex_decode(&back, 1, &n, lower, 2));
        CHECK(n == 1 && back == byte);
        CHECK_OK(tenon_hex_decode(&back, 1, &n, upper, 2));
        CHECK(n == 1 && back == byte);
    }
}

TEST(hex_every_character)
{
    for (unsigned i = 0; i < 256; i++) {
        char first[2] = {(char)i, '0'}, second[2] = {'0', (char)i};
        bool good = i != 0 && strchr("0123456789abcdefABCDEF", (int)i) != NULL;
        tenon_status expected = good ? TENON_OK : TENON_ERROR_HEX_ALPHABET;
        uint8_t out = 0xa5;
        size_t n;
        test_about("character %02x", i);
        CHECK_STATUS(tenon_hex_decode(&out, 1, &n, first, 2), expected);
        CHECK_NUMBER(n, good);
        CHECK(good || out == 0xa5);
        CHECK_STATUS(tenon_hex_decode(&out, 1, &n, second, 2), expected);
    }
}

OUTPUT(encode) { return tenon_hex_encode((char *)out, n, written, input, 3); }

OUTPUT(decode) { return tenon_hex_decode(out, n, written, input, 6); }

OUTPUT(encode_nothing) { return tenon_hex_encode((char *)out, n, written, input, 0); }

OUTPUT(decode_nothing) { return tenon_hex_decode(out, n, written, input, 0); }

TEST(hex_output_rule)
{
    static const uint8_t data[3] = {0xab, 0x00, 0xff};
    test_output_rule("hex_encode", encode, data, "ab00ff", 6);
    test_output_rule("hex_decode", decode, "ab00ff", data, 3);
    test_output_rule("hex_encode of nothing", encode_nothing, NULL, NULL, 0);
    test_output_rule("hex_decode of nothing", decode_nothing, NULL, NULL, 0);
}

TEST(hex_bad_input)
{
    char text[8];
    uint8_t data[8] = {0};
    size_t n = 12345;
    CHECK_STATUS(tenon_hex_decode(data, sizeof data, &n, "abc", 3), TENON_ERROR_HEX_LENGTH);
    CHECK_NUMBER(n, 0);
    CHECK_STATUS(tenon_hex_decode(data, sizeof data, &n, "a", 1), TENON_ERROR_HEX_LENGTH);
    CHECK_STATUS(tenon_hex_decode(data, sizeof data, &n, "a", SIZE_MAX), TENON_ERROR_HEX_LENGTH);
    CHECK_STATUS(tenon_hex_decode(data, sizeof data, &n, NULL, 2), TENON_ERROR_NULL);
    n = 12345;
    CHECK_STATUS(tenon_hex_encode(text, sizeof text, &n, NULL, 1), TENON_ERROR_NULL);
    CHECK_NUMBER(n, 0);
    n = 12345;
    CHECK_STATUS(tenon_hex_encode(text, sizeof text, &n, data, SIZE_MAX), TENON_ERROR_TOO_LARGE);
    CHECK_NUMBER(n, 0);
    CHECK_STATUS(tenon_hex_encode(text, sizeof text, &n, data, SIZE_MAX / 2 + 1), TENON_ERROR_TOO_LARGE);
    CHECK_STATUS(tenon_hex_encode(text, sizeof text, &n, data, SIZE_MAX / 2), TENON_ERROR_BUFFER_TOO_SMALL);
    CHECK_NUMBER(n, SIZE_MAX - 1);
    CHECK_STATUS(tenon_hex_encode(text, sizeof text, NULL, data, 1), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_hex_decode(data, sizeof data, NULL, "00", 2), TENON_ERROR_NULL);
}
