/* SPDX-License-Identifier: Apache-2.0 */
#include "base/writer.h"

#include <string.h>

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
