/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_WRITER_H
#define TENONI_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tenon/status.h"

/*
 * Builds bytes in a buffer that it cannot leave. A write that does not fit writes nothing and the writer stays
 * overflowed: the caller asks once, at the end. Numbers are big-endian.
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

/* The rule of tenon.h for outputs: sets *written to what is needed and says whether it fits into out[n]. */
tenon_status tenoni_output_fits(const void *out, size_t n, size_t *written, size_t needed);

/* The same, and copies. */
tenon_status tenoni_output_copy(void *out, size_t n, size_t *written, const void *bytes, size_t needed);

#endif
