/* SPDX-License-Identifier: Apache-2.0 */
#include "proof/cbor.h"

#include <string.h>

#include "base/secure.h"

/* RFC 8949, 3.1: the major types. */
enum { UNSIGNED = 0, NEGATIVE = 1, BYTES = 2, TEXT = 3, ARRAY = 4, MAP = 5 };

/* RFC 8949, 3: what the low five bits of the first byte say. */
enum { IN_8_BITS = 24, IN_16_BITS = 25, IN_32_BITS = 26, IN_64_BITS = 27, INDEFINITE = 31 };

static void write_head(tenoni_writer *writer, uint8_t major, uint64_t number)
{
    uint8_t type = (uint8_t)(major << 5);
    if (number < IN_8_BITS) {
        tenoni_write_u8(writer, (uint8_t)(type | number));
    } else if (number <= UINT8_MAX) {
        tenoni_write_u8(writer, type | IN_8_BITS);
        tenoni_write_u8(writer, (uint8_t)number);
    } else if (number <= UINT16_MAX) {
        tenoni_write_u8(writer, type | IN_16_BITS);
        tenoni_write_u16(writer, (uint16_t)number);
    } else if (number <= UINT32_MAX) {
        tenoni_write_u8(writer, type | IN_32_BITS);
        tenoni_write_u32(writer, (uint32_t)number);
    } else {
        tenoni_write_u8(writer, type | IN_64_BITS);
        tenoni_write_u64(writer, number);
    }
}

void tenoni_cbor_write_integer(tenoni_writer *writer, tenoni_cbor_integer integer)
{
    write_head(writer, integer.negative ? NEGATIVE : UNSIGNED, integer.n);
}

void tenoni_cbor_write_bytes(tenoni_writer *writer, const uint8_t *bytes, size_t n)
{
    write_head(writer, BYTES, n);
    tenoni_write_bytes(writer, bytes, n);
}

void tenoni_cbor_write_text(tenoni_writer *writer, const char *text)
{
    write_head(writer, TEXT, strlen(text));
    tenoni_write_bytes(writer, text, strlen(text));
}

void tenoni_cbor_write_array(tenoni_writer *writer, size_t count)
{
    write_head(writer, ARRAY, count);
}

void tenoni_cbor_write_map(tenoni_writer *writer, size_t count)
{
    write_head(writer, MAP, count);
}

/* RFC 8949, 4.2.1: a number is as short as it can be. */
static tenon_status read_number(tenoni_reader *reader, uint8_t size, uint64_t *number)
{
    static const uint64_t least[] = {IN_8_BITS, UINT8_MAX + 1, UINT16_MAX + 1, (uint64_t)UINT32_MAX + 1};
    tenoni_reader part;
    *number = size;
    if (size < IN_8_BITS)
        return TENON_OK;
    if (size == INDEFINITE)
        return TENON_ERROR_CBOR_INDEFINITE;
    if (size > IN_64_BITS)
        return TENON_ERROR_CBOR_TYPE;
    if (!tenoni_read_part(reader, &part, (size_t)1 << (size - IN_8_BITS)))
        return TENON_ERROR_CBOR_TRUNCATED;
    *number = 0;
    for (size_t i = 0; i < part.left; i++)
        *number = *number << 8 | part.at[i];
    return *number < least[size - IN_8_BITS] ? TENON_ERROR_CBOR_NOT_MINIMAL : TENON_OK;
}

/* other is a major type that would do as well. */
static tenon_status read_head(tenoni_reader *reader, uint8_t major, uint8_t other, uint8_t *found, uint64_t *number)
{
    uint8_t first;
    if (!tenoni_read_u8(reader, &first))
        return TENON_ERROR_CBOR_TRUNCATED;
    *found = first >> 5;
    if (*found != major && *found != other)
        return TENON_ERROR_CBOR_TYPE;
    return read_number(reader, first & 0x1f, number);
}

tenon_status tenoni_cbor_read_integer(tenoni_reader *reader, tenoni_cbor_integer *out)
{
    uint8_t found;
    uint64_t number;
    *out = (tenoni_cbor_integer){0};
    tenon_status status = read_head(reader, UNSIGNED, NEGATIVE, &found, &number);
    if (status == TENON_OK)
        *out = (tenoni_cbor_integer){number, found == NEGATIVE};
    return status;
}

static tenon_status read_string(tenoni_reader *reader, uint8_t major, tenoni_reader *out)
{
    uint8_t found;
    uint64_t n;
    tenon_status status = read_head(reader, major, major, &found, &n);
    if (status != TENON_OK)
        return status;
    return n <= reader->left && tenoni_read_part(reader, out, (size_t)n) ? TENON_OK : TENON_ERROR_CBOR_TRUNCATED;
}

tenon_status tenoni_cbor_read_bytes(tenoni_reader *reader, tenoni_reader *out)
{
    return read_string(reader, BYTES, out);
}

tenon_status tenoni_cbor_read_text(tenoni_reader *reader, tenoni_reader *out)
{
    return read_string(reader, TEXT, out);
}

tenon_status tenoni_cbor_read_array(tenoni_reader *reader, size_t *count, size_t max)
{
    uint8_t found;
    uint64_t number;
    tenon_status status = read_head(reader, ARRAY, ARRAY, &found, &number);
    if (status == TENON_OK && number > max)
        status = TENON_ERROR_CBOR_COUNT;
    *count = status == TENON_OK ? (size_t)number : 0;
    return status;
}

tenon_status tenoni_cbor_read_map(tenoni_reader *reader, size_t count)
{
    uint8_t found;
    uint64_t number;
    tenon_status status = read_head(reader, MAP, MAP, &found, &number);
    return status == TENON_OK && number != count ? TENON_ERROR_CBOR_COUNT : status;
}

bool tenoni_cbor_is_text(tenoni_reader found, const char *text)
{
    return found.left == strlen(text) && tenoni_equal(found.at, text, found.left);
}

tenon_status tenoni_cbor_read_key(tenoni_reader *reader, const char *key)
{
    tenoni_reader found;
    tenon_status status = tenoni_cbor_read_text(reader, &found);
    return status == TENON_OK && !tenoni_cbor_is_text(found, key) ? TENON_ERROR_CBOR_KEY : status;
}
