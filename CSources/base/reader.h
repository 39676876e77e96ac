/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_READER_H
#define TENONI_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The only way to read bytes that somebody else made: a cursor that cannot leave its bounds. A read that does not fit
 * answers false, moves nothing and leaves its output alone. Numbers are big-endian.
 */
typedef struct {
    const uint8_t *at;
    size_t left;
} tenoni_reader;

tenoni_reader tenoni_reader_over(const uint8_t *bytes, size_t n);
bool tenoni_read_u8(tenoni_reader *reader, uint8_t *out);
bool tenoni_read_u16(tenoni_reader *reader, uint16_t *out);
bool tenoni_read_u32(tenoni_reader *reader, uint32_t *out);
bool tenoni_read_u64(tenoni_reader *reader, uint64_t *out);

/* Copies the next n bytes. */
bool tenoni_read_bytes(tenoni_reader *reader, uint8_t *out, size_t n);

/* Splits the next n bytes off as a reader of their own. */
bool tenoni_read_part(tenoni_reader *reader, tenoni_reader *part, size_t n);

#endif
