/* SPDX-License-Identifier: Apache-2.0 */
#include "proof/cbor.h"
#include "test.h"

/* RFC 8949, appendix A, and the edges of each length. */
static const struct {
    uint64_t n;
    bool negative;
    const char *hex;
} integers[] = {
    {0, false, "00"},
    {1, false, "01"},
    {23, false, "17"},
    {24, false, "1818"},
    {255, false, "18ff"},
    {256, false, "190100"},
    {65535, false, "19ffff"},
    {65536, false, "1a00010000"},
    {UINT32_MAX, false, "1affffffff"},
    {(uint64_t)UINT32_MAX + 1, false, "1b0000000100000000"},
    {UINT64_MAX, false, "1bffffffffffffffff"},
    {0, true, "20"},
    {6, true, "26"},
    {23, true, "37"},
    {24, true, "3818"},
    {999, true, "3903e7"},
    {UINT64_MAX, true, "3bffffffffffffffff"},
};

TEST(cbor_integers)
{
    for (size_t i = 0; i < COUNT(integers); i++) {
        size_t n = strlen(integers[i].hex) / 2;
        uint8_t expected[9], written[9];
        tenoni_cbor_integer found;
        test_about("%s", integers[i].hex);
        test_hex(expected, n, integers[i].hex);
        tenoni_writer writer = tenoni_writer_over(written, sizeof written);
        tenoni_cbor_write_integer(&writer, (tenoni_cbor_integer){integers[i].n, integers[i].negative});
        CHECK_SAME(written, writer.used, expected, n);
        tenoni_reader reader = tenoni_reader_over(expected, n);
        CHECK_OK(tenoni_cbor_read_integer(&reader, &found));
        CHECK(found.n == integers[i].n && found.negative == integers[i].negative && reader.left == 0);
        for (size_t cut = 0; cut < n; cut++) {
            reader = tenoni_reader_over(expected, cut);
            found = (tenoni_cbor_integer){1, true};
            CHECK_STATUS(tenoni_cbor_read_integer(&reader, &found), TENON_ERROR_CBOR_TRUNCATED);
            CHECK(found.n == 0 && !found.negative);
        }
    }
}

enum { INTEGER, BYTES, TEXT, ARRAY_OF_4, MAP_OF_2, KEY_ALG };

static tenon_status read_item(int what, const char *hex)
{
    tenoni_cbor_integer integer;
    tenoni_reader part;
    uint8_t bytes[64];
    size_t n = strlen(hex) / 2, count;
    test_hex(bytes, n, hex);
    tenoni_reader reader = tenoni_reader_over(bytes, n);
    switch (what) {
    case INTEGER:
        return tenoni_cbor_read_integer(&reader, &integer);
    case BYTES:
        return tenoni_cbor_read_bytes(&reader, &part);
    case TEXT:
        return tenoni_cbor_read_text(&reader, &part);
    case ARRAY_OF_4:
        return tenoni_cbor_read_array(&reader, &count, 4);
    case MAP_OF_2:
        return tenoni_cbor_read_map(&reader, 2);
    default:
        return tenoni_cbor_read_key(&reader, "alg");
    }
}

static const test_texts items[] = {
    {TENON_ERROR_CBOR_NOT_MINIMAL, INTEGER, {"1817", "1900ff", "1a0000ffff", "1b00000000ffffffff", "3806"}},
    {TENON_ERROR_CBOR_TYPE, INTEGER, {"1c", "1d", "1e", "40", "ff" /* break */}},
    /* A tag, a bignum, false, null, and -7.0 in each size. */
    {TENON_ERROR_CBOR_TYPE, INTEGER, {"c100", "c24106", "f4", "f6", "f9c700", "fac0e00000", "fbc01c00000000"}},
    {TENON_ERROR_CBOR_INDEFINITE, INTEGER, {"1f"}},
    {TENON_OK, BYTES, {"40", "420102"}},
    {TENON_ERROR_CBOR_TRUNCATED, BYTES, {"", "4201", "5bffffffffffffffff", "5a7fffffff00"}},
    {TENON_ERROR_CBOR_NOT_MINIMAL, BYTES, {"580100"}},
    {TENON_ERROR_CBOR_INDEFINITE, BYTES, {"5f40ff"}},
    {TENON_ERROR_CBOR_TYPE, BYTES, {"60"}},
    {TENON_OK, TEXT, {"60", "6161", "62c328"}}, /* not UTF-8: texts are compared with constants only */
    {TENON_ERROR_CBOR_INDEFINITE, TEXT, {"7f60ff"}},
    {TENON_ERROR_CBOR_TYPE, TEXT, {"40"}},
    {TENON_OK, ARRAY_OF_4, {"80", "84"}},
    {TENON_ERROR_CBOR_COUNT, ARRAY_OF_4, {"85", "9b8000000000000000"}},
    {TENON_ERROR_CBOR_NOT_MINIMAL, ARRAY_OF_4, {"9803"}},
    {TENON_ERROR_CBOR_INDEFINITE, ARRAY_OF_4, {"9fff"}},
    {TENON_ERROR_CBOR_TYPE, ARRAY_OF_4, {"a0"}},
    {TENON_OK, MAP_OF_2, {"a2"}},
    {TENON_ERROR_CBOR_COUNT, MAP_OF_2, {"a1", "a3", "bbffffffffffffffff"}},
    {TENON_ERROR_CBOR_NOT_MINIMAL, MAP_OF_2, {"b802"}},
    {TENON_ERROR_CBOR_INDEFINITE, MAP_OF_2, {"bfff"}},
    {TENON_ERROR_CBOR_TYPE, MAP_OF_2, {"82"}},
    {TENON_OK, KEY_ALG, {"63616c67"}},
    {TENON_ERROR_CBOR_KEY, KEY_ALG, {"63736967", "63616c66", "62616c", "64616c6700", "60"}},
    {TENON_ERROR_CBOR_TYPE, KEY_ALG, {"43616c67", "01"}},
    {TENON_ERROR_CBOR_TRUNCATED, KEY_ALG, {"63616c"}},
};

TEST(cbor_items) { test_each_text(items, COUNT(items), read_item); }

TEST(cbor_strings_are_written_as_read)
{
    static const size_t lengths[] = {0, 1, 23, 24, 255, 256, 4096};
    static uint8_t bytes[4096], written[4096 + 9];
    for (size_t i = 0; i < COUNT(lengths); i++) {
        tenoni_reader part;
        size_t n = lengths[i];
        test_about("%zu bytes", n);
        tenoni_writer writer = tenoni_writer_over(written, sizeof written);
        tenoni_cbor_write_bytes(&writer, bytes, n);
        CHECK_NUMBER(writer.used, n + (n < 24 ? 1 : n < 256 ? 2 : 3));
        tenoni_reader reader = tenoni_reader_over(written, writer.used);
        CHECK_OK(tenoni_cbor_read_bytes(&reader, &part));
        CHECK(part.left == n && reader.left == 0);
        reader = tenoni_reader_over(written, writer.used - 1);
        CHECK_STATUS(tenoni_cbor_read_bytes(&reader, &part), TENON_ERROR_CBOR_TRUNCATED);
    }
}
