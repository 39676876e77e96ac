/* SPDX-License-Identifier: Apache-2.0 */
#include "base/reader.h"

#include <string.h>

tenoni_reader tenoni_reader_over(const uint8_t *bytes, size_t n)
{
    return (tenoni_reader){.at = bytes, .left = n};
}

bool tenoni_read_part(tenoni_reader *reader, tenoni_reader *part, size_t n)
{
    if (n > reader->left)
        return false;
    *part = tenoni_reader_over(reader->at, n);
    /* NULL + 0 is undefined in C, and an empty reader may stand on NULL. */
    if (n != 0)
        reader->at += n;
    reader->left -= n;
    return true;
}

bool tenoni_read_bytes(tenoni_reader *reader, uint8_t *out, size_t n)
{
    tenoni_reader part;
    if (!tenoni_read_part(reader, &part, n))
        return false;
    if (n != 0)
        memcpy(out, part.at, n);
    return true;
}

static bool read_number(tenoni_reader *reader, uint64_t *out, size_t n)
{
    tenoni_reader part;
    if (!tenoni_read_part(reader, &part, n))
        return false;
    *out = 0;
    for (size_t i = 0; i < n; i++)
        *out = *out << 8 | part.at[i];
    return true;
}

bool tenoni_read_u8(tenoni_reader *reader, uint8_t *out)
{
    return tenoni_read_bytes(reader, out, 1);
}

bool tenoni_read_u16(tenoni_reader *reader, uint16_t *out)
{
    uint64_t number;
    if (!read_number(reader, &number, 2))
        return false;
    *out = (uint16_t)number;
    return true;
}

bool tenoni_read_u32(tenoni_reader *reader, uint32_t *out)
{
    uint64_t number;
    if (!read_number(reader, &number, 4))
        return false;
    *out = (uint32_t)number;
    return true;
}

bool tenoni_read_u64(tenoni_reader *reader, uint64_t *out)
{
    return read_number(reader, out, 8);
}
