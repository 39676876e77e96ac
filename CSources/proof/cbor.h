/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_CBOR_H
#define TENONI_CBOR_H

#include "base/bytes.h"
#include "tenon/status.h"

/*
 * Deterministic CBOR (RFC 8949, 4.2.1) as far as a proof needs it: integers, strings, arrays and maps with text keys.
 * There is one encoding of a value, so each departure is refused with its own TENON_ERROR_CBOR_* code. Each item is
 * read by a function that knows what the item must be, so nothing recurses, and no memory depends on a count.
 */

/* A number from -2^64 to 2^64-1: n, or -1-n when it is negative. */
typedef struct {
    uint64_t n;
    bool negative;
} tenoni_cbor_integer;

void tenoni_cbor_write_integer(tenoni_writer *writer, tenoni_cbor_integer integer);
void tenoni_cbor_write_bytes(tenoni_writer *writer, const uint8_t *bytes, size_t n);
void tenoni_cbor_write_text(tenoni_writer *writer, const char *text);
void tenoni_cbor_write_array(tenoni_writer *writer, size_t count);
void tenoni_cbor_write_map(tenoni_writer *writer, size_t count);

/* A number that is refused is read as 0. */
tenon_status tenoni_cbor_read_integer(tenoni_reader *reader, tenoni_cbor_integer *out);
tenon_status tenoni_cbor_read_bytes(tenoni_reader *reader, tenoni_reader *out);
tenon_status tenoni_cbor_read_text(tenoni_reader *reader, tenoni_reader *out);

/* The head of an array of at most max items. */
tenon_status tenoni_cbor_read_array(tenoni_reader *reader, size_t *count, size_t max);

/* The head of a map with exactly this many entries; then its keys, which the caller names in the order of 4.2.1. */
tenon_status tenoni_cbor_read_map(tenoni_reader *reader, size_t count);
tenon_status tenoni_cbor_read_key(tenoni_reader *reader, const char *key);

/* Whether the bytes that were read are this text. */
bool tenoni_cbor_is_text(tenoni_reader found, const char *text);

#endif
