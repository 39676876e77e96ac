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
