/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes.h"

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

bool tenoni_read_sized(tenoni_reader *reader, tenoni_reader *content, size_t max)
{
    uint16_t n;
    return tenoni_read_u16(reader, &n) && n <= max && tenoni_read_part(reader, content, n);
}

tenoni_writer tenoni_writer_over(uint8_t *buffer, size_t n)
{
    return (tenoni_writer){.start = buffer, .size = n, .used = 0, .overflowed = false};
}

void tenoni_write_bytes(tenoni_writer *writer, const void *bytes, size_t n)
{
    if (writer->overflowed || n > writer->size - writer->used) {
        writer->overflowed = true;
        return;
    }
    if (n != 0)
        memcpy(writer->start + writer->used, bytes, n);
    writer->used += n;
}

static void write_number(tenoni_writer *writer, uint64_t number, size_t n)
{
    uint8_t bytes[8];
    for (size_t i = 0; i < n; i++)
        bytes[i] = (uint8_t)(number >> 8 * (n - 1 - i));
    tenoni_write_bytes(writer, bytes, n);
}

void tenoni_write_u8(tenoni_writer *writer, uint8_t number)
{
    write_number(writer, number, 1);
}

void tenoni_write_u16(tenoni_writer *writer, uint16_t number)
{
    write_number(writer, number, 2);
}

void tenoni_write_u32(tenoni_writer *writer, uint32_t number)
{
    write_number(writer, number, 4);
}

void tenoni_write_u64(tenoni_writer *writer, uint64_t number)
{
    write_number(writer, number, 8);
}

void tenoni_write_sized(tenoni_writer *writer, const void *bytes, size_t n)
{
    tenoni_write_u16(writer, (uint16_t)n);
    tenoni_write_bytes(writer, bytes, n);
}

tenon_status tenoni_output_fits(const void *out, size_t n, size_t *written, size_t needed)
{
    if (written == NULL || (out == NULL && n != 0))
        return TENON_ERROR_NULL;
    *written = needed;
    return needed > n ? TENON_ERROR_BUFFER_TOO_SMALL : TENON_OK;
}

tenon_status tenoni_output_copy(void *out, size_t n, size_t *written, const void *bytes, size_t needed)
{
    tenon_status status = tenoni_output_fits(out, n, written, needed);
    if (status == TENON_OK && needed != 0)
        memcpy(out, bytes, needed);
    return status;
}
