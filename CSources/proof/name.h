/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_NAME_H
#define TENONI_NAME_H

#include "base/bytes.h"

/* One AttributeTypeAndValue of a Name. */
typedef struct {
    tenoni_reader oid;
    uint8_t tag; /* of the value */
    tenoni_reader value;
} tenoni_attribute;

/*
 * Walks a Name (RFC 5280, 4.1.2.4): name is the content of its SEQUENCE. Calls visit, which may be NULL, for each
 * attribute. false: it is not a Name, or the value of an attribute is not a string.
 */
bool tenoni_name_walk(tenoni_reader name, void (*visit)(void *context, const tenoni_attribute *attribute),
                      void *context);

/* Writes a RelativeDistinguishedName of one attribute, a UTF8String. */
void tenoni_attribute_write(tenoni_writer *writer, const uint8_t *oid, size_t oid_n, const void *text, size_t n);

/* An OBJECT IDENTIFIER; false: none, or not in its one form (X.690, 8.19). */
bool tenoni_oid_read(tenoni_reader *reader, tenoni_reader *oid);

/* Whether the two hold the same bytes. Nothing of a certificate is secret. */
bool tenoni_same(tenoni_reader left, tenoni_reader right);

/* Whether an OID has these content bytes. */
bool tenoni_oid_is(tenoni_reader oid, const uint8_t *bytes, size_t n);

#endif
