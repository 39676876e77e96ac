/* SPDX-License-Identifier: Apache-2.0 */
#include "base/der.h"
#include "test.h"

/* With a head of two bytes, if it is good. */
static tenon_status read_element(int content_n, const char *hex)
{
    size_t n = strlen(hex) / 2;
    uint8_t bytes[400];
    test_hex(bytes, n, hex);
    tenoni_reader reader = tenoni_reader_over(bytes, n), content = tenoni_reader_over(NULL, 99);
    tenon_status status = tenoni_der_read(&reader, TENONI_DER_SEQUENCE, &content);
    if (status == TENON_OK) {
        CHECK_NUMBER(content.left, content_n);
        CHECK_NUMBER(reader.left, n - 2 - (size_t)content_n);
    }
    return status;
}

/* X.690, 8.1.3 and 10.1. */
TEST(der_lengths)
{
    static const test_texts rows[] = {
        {TENON_OK, 0, {"3000", "300000"}},
        {TENON_OK, 2, {"30020102"}},
        {TENON_ERROR_DER_TRUNCATED, 0, {"", "30", "300301", "3081", "308180", "3082", "308201", "30820100"}},
        {TENON_ERROR_DER_TAG, 0, {"3100", "1000"}},
        {TENON_ERROR_DER_LENGTH, 0, {"3080", "30800000", "308100", "30810101", "30817f", "308200ff", "30ff"}},
        {TENON_ERROR_DER_LENGTH, 0, {"3083010000", "3084ffffffff", "3088ffffffffffffffff"}},
    };
    test_each_text(rows, COUNT(rows), read_element);
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

static const uint32_t numbers[] = {0, 0x7f, 0x80, 0x100, 0xffffffff, 0x7fffffff};

/* kind: the place in that list of what it says, if it is good. */
static tenon_status read_integer(int kind, const char *hex)
{
    size_t n = strlen(hex) / 2;
    uint8_t bytes[64], out[4];
    test_hex(bytes, n, hex);
    tenoni_reader reader = tenoni_reader_over(bytes, n);
    tenon_status status = tenoni_der_read_unsigned(&reader, out, sizeof out);
    if (status == TENON_OK) {
        CHECK_NUMBER((uint32_t)out[0] << 24 | (uint32_t)out[1] << 16 | (uint32_t)out[2] << 8 | out[3], numbers[kind]);
        CHECK_NUMBER(reader.left, 0);
    }
    return status;
}

/* X.690, 8.3. */
TEST(der_integers)
{
    static const char *const good[] = {"020100", "02017f", "02020080", "02020100", "020500ffffffff", "02047fffffff"};
    static const test_texts bad[] = {
        {TENON_ERROR_DER_INTEGER, 0, {"0200", "020180", "0201ff", "02020000", "0202007f", "0203000080", "0202ff80"}},
        {TENON_ERROR_DER_INTEGER, 0, {"02050100000000", "0206008000000000"}},
        {TENON_ERROR_DER_TAG, 0, {"0301ff", "8201ff"}},
        {TENON_ERROR_DER_TRUNCATED, 0, {"0202ff"}},
        {TENON_ERROR_DER_LENGTH, 0, {"02810101"}},
    };
    for (int i = 0; i < (int)COUNT(good); i++) {
        test_about("%s", good[i]);
        CHECK_OK(read_integer(i, good[i]));
    }
    test_each_text(bad, COUNT(bad), read_integer);
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
