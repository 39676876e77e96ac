/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/der.h"
#include "test.h"

static void read_element(const char *hex, tenon_status expected, size_t content_n, size_t left)
{
    size_t n = strlen(hex) / 2;
    uint8_t bytes[400];
    test_about("%s", hex);
    test_hex(bytes, n, hex);
    tenoni_reader reader = tenoni_reader_over(bytes, n), content = tenoni_reader_over(NULL, 99);
    if (CHECK_STATUS(tenoni_der_read(&reader, TENONI_DER_SEQUENCE, &content), expected) && expected == TENON_OK) {
        CHECK_NUMBER(content.left, content_n);
        CHECK_NUMBER(reader.left, left);
    }
}

/* X.690, 8.1.3 and 10.1. */
TEST(der_lengths)
{
    read_element("", TENON_ERROR_DER_TRUNCATED, 0, 0);
    read_element("30", TENON_ERROR_DER_TRUNCATED, 0, 0);
    read_element("3000", TENON_OK, 0, 0);
    read_element("300000", TENON_OK, 0, 1);
    read_element("30020102", TENON_OK, 2, 0);
    read_element("300301", TENON_ERROR_DER_TRUNCATED, 0, 0);
    read_element("3100", TENON_ERROR_DER_TAG, 0, 0);
    read_element("1000", TENON_ERROR_DER_TAG, 0, 0);
    read_element("3080", TENON_ERROR_DER_LENGTH, 0, 0);
    read_element("30800000", TENON_ERROR_DER_LENGTH, 0, 0);
    read_element("3081", TENON_ERROR_DER_TRUNCATED, 0, 0);
    read_element("308100", TENON_ERROR_DER_LENGTH, 0, 0);
    read_element("30810101", TENON_ERROR_DER_LENGTH, 0, 0);
    read_element("30817f", TENON_ERROR_DER_LENGTH, 0, 0);
    read_element("308180", TENON_ERROR_DER_TRUNCATED, 0, 0);
    read_element("3082", TENON_ERROR_DER_TRUNCATED, 0, 0);
    read_element("308201", TENON_ERROR_DER_TRUNCATED, 0, 0);
    read_element("308200ff", TENON_ERROR_DER_LENGTH, 0, 0);
    read_element("30820100", TENON_ERROR_DER_TRUNCATED, 0, 0);
    read_element("3083010000", TENON_ERROR_DER_LENGTH, 0, 0);
    read_element("3084ffffffff", TENON_ERROR_DER_LENGTH, 0, 0);
    read_element("3088ffffffffffffffff", TENON_ERROR_DER_LENGTH, 0, 0);
    read_element("30ff", TENON_ERROR_DER_LENGTH, 0, 0);
}

TEST(der_long_lengths_are_read)
{
    static uint8_t bytes[4 + 65535];
    static const size_t lengths[] = {128, 129, 255, 256, 257, 65535};
    for (size_t i = 0; i < COUNT(lengths); i++) {
        size_t n = lengths[i], head = n < 256 ? 3 : 4;
        uint8_t form[4] = {0x30, 0x81, (uint8_t)n, 0};
        if (n >= 256) {
            form[1] = 0x82;
            form[2] = (uint8_t)(n >> 8);
            form[3] = (uint8_t)n;
        }
        memcpy(bytes, form, head);
        tenoni_reader reader = tenoni_reader_over(bytes, head + n), content;
        test_about("%zu bytes", n);
        CHECK_OK(tenoni_der_read(&reader, 0x30, &content));
        CHECK(content.left == n && content.at == bytes + head && reader.left == 0);
        reader = tenoni_reader_over(bytes, head + n - 1);
        CHECK_STATUS(tenoni_der_read(&reader, 0x30, &content), TENON_ERROR_DER_TRUNCATED);
    }
}

static void read_integer(const char *hex, tenon_status expected, const char *number)
{
    size_t n = strlen(hex) / 2;
    uint8_t bytes[64], out[4], wanted[4];
    test_about("%s", hex);
    test_hex(bytes, n, hex);
    tenoni_reader reader = tenoni_reader_over(bytes, n);
    if (!CHECK_STATUS(tenoni_der_read_unsigned(&reader, out, sizeof out), expected) || expected != TENON_OK)
        return;
    test_hex(wanted, sizeof wanted, number);
    CHECK_BYTES(out, wanted, sizeof out);
    CHECK_NUMBER(reader.left, 0);
}

/* X.690, 8.3. */
TEST(der_integers)
{
    read_integer("020100", TENON_OK, "00000000");
    read_integer("02017f", TENON_OK, "0000007f");
    read_integer("02020080", TENON_OK, "00000080");
    read_integer("02020100", TENON_OK, "00000100");
    read_integer("020500ffffffff", TENON_OK, "ffffffff");
    read_integer("02047fffffff", TENON_OK, "7fffffff");
    read_integer("0200", TENON_ERROR_DER_INTEGER, NULL);
    read_integer("020180", TENON_ERROR_DER_INTEGER, NULL);
    read_integer("0201ff", TENON_ERROR_DER_INTEGER, NULL);
    read_integer("02020000", TENON_ERROR_DER_INTEGER, NULL);
    read_integer("0202007f", TENON_ERROR_DER_INTEGER, NULL);
    read_integer("0203000080", TENON_ERROR_DER_INTEGER, NULL);
    read_integer("0202ff80", TENON_ERROR_DER_INTEGER, NULL);
    read_integer("02050100000000", TENON_ERROR_DER_INTEGER, NULL);
    read_integer("0206008000000000", TENON_ERROR_DER_INTEGER, NULL);
    read_integer("0301ff", TENON_ERROR_DER_TAG, NULL);
    read_integer("8201ff", TENON_ERROR_DER_TAG, NULL);
    read_integer("0202ff", TENON_ERROR_DER_TRUNCATED, NULL);
    read_integer("02810101", TENON_ERROR_DER_LENGTH, NULL);
}

TEST(der_integers_are_written_as_read)
{
    for (size_t zeros = 0; zeros <= 32; zeros++)
        for (unsigned first = 1; first < 256; first += 127) {
            uint8_t number[32] = {0}, back[32], der[40];
            for (size_t i = zeros; i < sizeof number; i++)
                number[i] = (uint8_t)(i == zeros ? first : i);
            tenoni_writer writer = tenoni_writer_over(der, sizeof der);
            tenoni_der_write_unsigned(&writer, number, sizeof number);
            tenoni_reader reader = tenoni_reader_over(der, writer.used);
            test_about("%zu zeros, then %02x", zeros, first);
            CHECK(!writer.overflowed && writer.used <= 35);
            CHECK_OK(tenoni_der_read_unsigned(&reader, back, sizeof back));
            CHECK_NUMBER(reader.left, 0);
            CHECK_BYTES(back, number, sizeof number);
        }
}
