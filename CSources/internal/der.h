/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_DER_H
#define TENONI_DER_H

#include "internal/reader.h"
#include "internal/writer.h"
#include "tenon/status.h"

enum { TENONI_DER_INTEGER = 0x02, TENONI_DER_SEQUENCE = 0x30 };

/* Reads one element of X.690 DER: this tag, a definite length in its shortest form, at most 65535 bytes of content. */
tenon_status tenoni_der_read(tenoni_reader *reader, uint8_t tag, tenoni_reader *content);

/* Reads a non-negative INTEGER in its shortest form into n big-endian bytes, padded with zeros on the left. */
tenon_status tenoni_der_read_unsigned(tenoni_reader *reader, uint8_t *out, size_t n);

/* Writes n big-endian bytes, read as an unsigned number, as an INTEGER. n is at most 126. */
void tenoni_der_write_unsigned(tenoni_writer *writer, const uint8_t *number, size_t n);

#endif
