/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes.h"
#include "test.h"

static const uint8_t bytes[8] = {1, 2, 3, 4, 5, 6, 7, 0xff};

TEST(reader_numbers_are_big_endian)
{
    tenoni_reader reader = tenoni_reader_over(bytes, sizeof bytes);
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
    CHECK(tenoni_read_u8(&reader, &u8) && u8 == 1);
    CHECK(tenoni_read_u16(&reader, &u16) && u16 == 0x0203);
    CHECK(tenoni_read_u32(&reader, &u32) && u32 == 0x04050607);
    CHECK(tenoni_read_u8(&reader, &u8) && u8 == 0xff);
    CHECK_NUMBER(reader.left, 0);
    reader = tenoni_reader_over(bytes, sizeof bytes);
    CHECK(tenoni_read_u64(&reader, &u64) && u64 == UINT64_C(0x01020304050607ff));
    CHECK(reader.left == 0 && reader.at == bytes + 8);
}

/* A read that does not fit answers false, moves nothing and leaves its output alone. */
TEST(reader_never_leaves_its_bounds)
{
    for (size_t n = 0; n < 8; n++) {
        tenoni_reader reader = tenoni_reader_over(bytes, n), part = {NULL, 77};
        uint8_t u8 = 0xa5, out[9];
        uint16_t u16 = 0xa5a5;
        uint32_t u32 = 0xa5a5a5a5;
        uint64_t u64 = 0xa5;
        memset(out, 0xa5, sizeof out);
        test_about("%zu bytes", n);
        CHECK(n >= 1 || (!tenoni_read_u8(&reader, &u8) && u8 == 0xa5));
        CHECK(n >= 2 || (!tenoni_read_u16(&reader, &u16) && u16 == 0xa5a5));
        CHECK(n >= 4 || (!tenoni_read_u32(&reader, &u32) && u32 == 0xa5a5a5a5));
        CHECK(!tenoni_read_u64(&reader, &u64) && u64 == 0xa5);
        CHECK(!tenoni_read_bytes(&reader, out, n + 1) && out[0] == 0xa5);
        CHECK(!tenoni_read_bytes(&reader, out, SIZE_MAX) && out[0] == 0xa5);
        CHECK(!tenoni_read_part(&reader, &part, n + 1) && part.left == 77);
        CHECK(!tenoni_read_part(&reader, &part, SIZE_MAX) && part.left == 77);
        CHECK(reader.at == bytes && reader.left == n);
        CHECK(tenoni_read_bytes(&reader, out, n) && out[n] == 0xa5);
        CHECK_BYTES(out, bytes, n);
        CHECK_NUMBER(reader.left, 0);
    }
}

TEST(reader_parts_and_nothing)
{
    tenoni_reader reader = tenoni_reader_over(bytes, 5), part, nothing = tenoni_reader_over(NULL, 0);
    uint8_t out[4] = {0};
    CHECK(tenoni_read_part(&reader, &part, 3));
    CHECK(part.at == bytes && part.left == 3 && reader.at == bytes + 3 && reader.left == 2);
    CHECK(!tenoni_read_bytes(&part, out, 4));
    CHECK(tenoni_read_bytes(&part, out, 3) && part.left == 0 && out[2] == 3);
    CHECK(tenoni_read_part(&nothing, &part, 0) && part.left == 0);
    CHECK(tenoni_read_bytes(&nothing, NULL, 0));
    CHECK(!tenoni_read_u8(&nothing, out));
}

TEST(writer_numbers_are_big_endian)
{
    static const uint8_t expected[15] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    uint8_t buffer[16];
    memset(buffer, 0xa5, sizeof buffer);
    tenoni_writer writer = tenoni_writer_over(buffer, 15);
    tenoni_write_u8(&writer, 1);
    tenoni_write_u16(&writer, 0x0203);
    tenoni_write_u32(&writer, 0x04050607);
    tenoni_write_u64(&writer, UINT64_C(0x08090a0b0c0d0e0f));
    CHECK(!writer.overflowed && writer.used == 15);
    CHECK_BYTES(buffer, expected, sizeof expected);
    tenoni_write_bytes(&writer, NULL, 0);
    CHECK(!writer.overflowed);
    tenoni_write_u8(&writer, 99);
    CHECK(writer.overflowed && writer.used == 15 && buffer[15] == 0xa5);
}

/* Bytes that do not fit are not written in part, and the writer then refuses even bytes that would fit. */
TEST(writer_never_leaves_its_buffer)
{
    for (size_t n = 0; n < 8; n++) {
        uint8_t buffer[9];
        memset(buffer, 0xa5, sizeof buffer);
        tenoni_writer writer = tenoni_writer_over(buffer, n);
        tenoni_write_u64(&writer, 0);
        test_about("%zu bytes", n);
        CHECK(writer.overflowed && writer.used == 0);
        tenoni_write_u8(&writer, 0);
        tenoni_write_bytes(&writer, "", 0);
        tenoni_write_bytes(&writer, "", SIZE_MAX);
        CHECK(writer.overflowed && writer.used == 0);
        for (size_t i = 0; i < sizeof buffer; i++)
            CHECK_NUMBER(buffer[i], 0xa5);
    }
    uint8_t one[1];
    tenoni_writer writer = tenoni_writer_over(one, sizeof one);
    tenoni_write_u8(&writer, 1);
    tenoni_write_bytes(&writer, "", SIZE_MAX); /* 1 + SIZE_MAX is 0 */
    CHECK(writer.overflowed && writer.used == 1);
    writer = tenoni_writer_over(NULL, 0);
    tenoni_write_bytes(&writer, NULL, 0);
    CHECK(!writer.overflowed);
    tenoni_write_u8(&writer, 1);
    CHECK(writer.overflowed);
}

OUTPUT(copy) { return tenoni_output_copy(out, n, written, input, 5); }

OUTPUT(copy_nothing) { return tenoni_output_copy(out, n, written, input, 0); }

/* tenoni_output_fits leaves *written alone when a pointer is NULL: its callers have set it to 0. */
TEST(writer_output_rule)
{
    uint8_t out[5];
    size_t written = 0;
    memset(out, 0xa5, sizeof out);
    CHECK_STATUS(copy("abcde", out, 4, &written), TENON_ERROR_BUFFER_TOO_SMALL);
    CHECK(written == 5 && out[0] == 0xa5);
    CHECK_OK(copy("abcde", out, 5, &written));
    CHECK(written == 5 && memcmp(out, "abcde", 5) == 0);
    CHECK_STATUS(copy("abcde", NULL, 0, &written), TENON_ERROR_BUFFER_TOO_SMALL);
    CHECK_STATUS(copy("abcde", NULL, 5, &written), TENON_ERROR_NULL);
    CHECK_STATUS(copy("abcde", out, 5, NULL), TENON_ERROR_NULL);
    CHECK_OK(copy_nothing(NULL, NULL, 0, &written));
    CHECK_NUMBER(written, 0);
}
