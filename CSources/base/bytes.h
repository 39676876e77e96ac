/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_BYTES_H
#define TENONI_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tenon/status.h"

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

/* Splits the content of a TPM2B off (Part 2, 10.4), which has at most max bytes. */
bool tenoni_read_sized(tenoni_reader *reader, tenoni_reader *content, size_t max);

/*
 * Builds bytes in a buffer that it cannot leave. A write that does not fit writes nothing, and the writer stays
 * overflowed, so the caller needs to check only once, at the end. Numbers are big-endian.
 */
typedef struct {
    uint8_t *start;
    size_t size;
    size_t used;
    bool overflowed;
} tenoni_writer;

tenoni_writer tenoni_writer_over(uint8_t *buffer, size_t n);
void tenoni_write_u8(tenoni_writer *writer, uint8_t number);
void tenoni_write_u16(tenoni_writer *writer, uint16_t number);
void tenoni_write_u32(tenoni_writer *writer, uint32_t number);
void tenoni_write_u64(tenoni_writer *writer, uint64_t number);
void tenoni_write_bytes(tenoni_writer *writer, const void *bytes, size_t n);

/* Writes a TPM2B with this content. */
void tenoni_write_sized(tenoni_writer *writer, const void *bytes, size_t n);

/*
 * The rule of tenon.h for outputs: sets *written to the size that is needed, and returns whether that fits into out[n].
 */
tenon_status tenoni_output_fits(const void *out, size_t n, size_t *written, size_t needed);

/* The same, and copies. */
tenon_status tenoni_output_copy(void *out, size_t n, size_t *written, const void *bytes, size_t needed);

#endif
