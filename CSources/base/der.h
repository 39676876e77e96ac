/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_DER_H
#define TENONI_DER_H

#include "base/bytes.h"
#include "tenon/status.h"

/* X.680, 8.4: the tags that are read or written, with the bit of constructed ones. */
enum {
    TENONI_DER_BOOLEAN = 0x01,
    TENONI_DER_INTEGER = 0x02,
    TENONI_DER_BIT_STRING = 0x03,
    TENONI_DER_OCTET_STRING = 0x04,
    TENONI_DER_NULL = 0x05,
    TENONI_DER_OID = 0x06,
    TENONI_DER_UTF8_STRING = 0x0C,
    TENONI_DER_NUMERIC_STRING = 0x12,
    TENONI_DER_PRINTABLE_STRING = 0x13,
    TENONI_DER_TELETEX_STRING = 0x14,
    TENONI_DER_IA5_STRING = 0x16,
    TENONI_DER_UTC_TIME = 0x17,
    TENONI_DER_GENERALIZED_TIME = 0x18,
    TENONI_DER_UNIVERSAL_STRING = 0x1C,
    TENONI_DER_BMP_STRING = 0x1E,
    TENONI_DER_SEQUENCE = 0x30,
    TENONI_DER_SET = 0x31,
    TENONI_DER_CONTEXT = 0x80,            /* [0]; [n] is n more */
    TENONI_DER_CONTEXT_CONSTRUCTED = 0xA0 /* the same around other elements */
};

/* Reads one element of X.690 DER: this tag, a definite length in its shortest form, at most 65535 bytes of content. */
tenon_status tenoni_der_read(tenoni_reader *reader, uint8_t tag, tenoni_reader *content);

/* The same with whatever tag stands there, in its one-byte form. */
tenon_status tenoni_der_read_any(tenoni_reader *reader, uint8_t *tag, tenoni_reader *content);

/* Reads a non-negative INTEGER in its shortest form into n big-endian bytes, padded with zeros on the left. */
tenon_status tenoni_der_read_unsigned(tenoni_reader *reader, uint8_t *out, size_t n);

/* Whether this element comes next. Nothing is read. */
bool tenoni_der_is_next(const tenoni_reader *reader, uint8_t tag);

/* Writes n big-endian bytes, read as an unsigned number, as an INTEGER. n is at most 126. */
void tenoni_der_write_unsigned(tenoni_writer *writer, const uint8_t *number, size_t n);

/* Writes one element with this content. */
void tenoni_der_write(tenoni_writer *writer, uint8_t tag, const void *content, size_t n);

/* An element whose content is written between the two calls; pass what begin returns to end. */
size_t tenoni_der_begin(tenoni_writer *writer, uint8_t tag);
void tenoni_der_end(tenoni_writer *writer, size_t begun);

#endif
