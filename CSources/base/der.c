/* SPDX-License-Identifier: Apache-2.0 */
#include "base/der.h"

#include <string.h>

/* X.690, 8.1.3 and 10.1. */
static tenon_status read_length(tenoni_reader *reader, size_t *length)
{
    uint8_t first;
    if (!tenoni_read_u8(reader, &first))
        return TENON_ERROR_DER_TRUNCATED;
    *length = first;
    if (first < 0x80)
        return TENON_OK;
    if (first != 0x81 && first != 0x82)
        return TENON_ERROR_DER_LENGTH;
    *length = 0;
    for (int i = 0; i < first - 0x80; i++) {
        uint8_t byte;
        if (!tenoni_read_u8(reader, &byte))
            return TENON_ERROR_DER_TRUNCATED;
        *length = *length << 8 | byte;
    }
    return *length < (first == 0x81 ? 0x80u : 0x100u) ? TENON_ERROR_DER_LENGTH : TENON_OK;
}

tenon_status tenoni_der_read_any(tenoni_reader *reader, uint8_t *tag, tenoni_reader *content)
{
    enum { NUMBER = 0x1f }; /* X.690, 8.1.2.4: all ones say that the tag goes on */
    size_t length;
    if (!tenoni_read_u8(reader, tag))
        return TENON_ERROR_DER_TRUNCATED;
    if ((*tag & NUMBER) == NUMBER)
        return TENON_ERROR_DER_TAG;
    tenon_status status = read_length(reader, &length);
    if (status != TENON_OK)
        return status;
    return tenoni_read_part(reader, content, length) ? TENON_OK : TENON_ERROR_DER_TRUNCATED;
}

bool tenoni_der_is_next(const tenoni_reader *reader, uint8_t tag)
{
    return reader->left != 0 && reader->at[0] == tag;
}

tenon_status tenoni_der_read(tenoni_reader *reader, uint8_t tag, tenoni_reader *content)
{
    uint8_t found;
    if (reader->left != 0 && !tenoni_der_is_next(reader, tag))
        return TENON_ERROR_DER_TAG;
    return tenoni_der_read_any(reader, &found, content);
}

tenon_status tenoni_der_read_unsigned(tenoni_reader *reader, uint8_t *out, size_t n)
{
    tenoni_reader content;
    tenon_status status = tenoni_der_read(reader, TENONI_DER_INTEGER, &content);
    if (status != TENON_OK)
        return status;
    if (content.left == 0 || content.at[0] >= 0x80)
        return TENON_ERROR_DER_INTEGER;
    /* X.690, 8.3.2: a leading zero stands only before a byte whose first bit is set. */
    if (content.left > 1 && content.at[0] == 0) {
        if (content.at[1] < 0x80)
            return TENON_ERROR_DER_INTEGER;
        content = tenoni_reader_over(content.at + 1, content.left - 1);
    }
    if (content.left > n)
        return TENON_ERROR_DER_INTEGER;
    memset(out, 0, n - content.left);
    memcpy(out + n - content.left, content.at, content.left);
    return TENON_OK;
}

void tenoni_der_write_unsigned(tenoni_writer *writer, const uint8_t *number, size_t n)
{
    size_t skip = 0;
    while (skip + 1 < n && number[skip] == 0)
        skip++;
    bool pad = number[skip] >= 0x80;
    tenoni_write_u8(writer, TENONI_DER_INTEGER);
    tenoni_write_u8(writer, (uint8_t)(n - skip + pad));
    if (pad)
        tenoni_write_u8(writer, 0);
    tenoni_write_bytes(writer, number + skip, n - skip);
}

void tenoni_der_end(tenoni_writer *writer, size_t begun)
{
    if (writer->overflowed)
        return;
    size_t n = writer->used - begun;
    size_t more = n < 0x80 ? 0 : n < 0x100 ? 1 : 2;
    uint8_t length[] = {(uint8_t)n, 0, 0};
    if (more != 0)
        length[0] = (uint8_t)(0x80 + more);
    for (size_t i = 0; i < more; i++)
        length[1 + i] = (uint8_t)(n >> 8 * (more - 1 - i));
    /* begin left one byte for the length; a longer length moves the content. */
    tenoni_write_bytes(writer, length, more);
    if (writer->overflowed)
        return;
    memmove(writer->start + begun + more, writer->start + begun, n);
    memcpy(writer->start + begun - 1, length, 1 + more);
}

size_t tenoni_der_begin(tenoni_writer *writer, uint8_t tag)
{
    tenoni_write_u8(writer, tag);
    tenoni_write_u8(writer, 0);
    return writer->used;
}

void tenoni_der_write(tenoni_writer *writer, uint8_t tag, const void *content, size_t n)
{
    size_t begun = tenoni_der_begin(writer, tag);
    tenoni_write_bytes(writer, content, n);
    tenoni_der_end(writer, begun);
}
