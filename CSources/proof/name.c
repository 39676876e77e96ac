/* SPDX-License-Identifier: Apache-2.0 */
#include "proof/name.h"

#include "base/der.h"
#include "base/text.h"

bool tenoni_same(tenoni_reader left, tenoni_reader right)
{
    if (left.left != right.left)
        return false;
    for (size_t i = 0; i < left.left; i++)
        if (left.at[i] != right.at[i])
            return false;
    return true;
}

bool tenoni_oid_is(tenoni_reader oid, const uint8_t *bytes, size_t n)
{
    return tenoni_same(oid, tenoni_reader_over(bytes, n));
}

bool tenoni_oid_read(tenoni_reader *reader, tenoni_reader *oid)
{
    if (tenoni_der_read(reader, TENONI_DER_OID, oid) != TENON_OK || oid->left == 0)
        return false;
    /* X.690, 8.19.2: a number begins without a byte 80, and its last byte has no continuation bit. */
    bool begins = true;
    for (size_t i = 0; i < oid->left; i++) {
        if (begins && oid->at[i] == 0x80)
            return false;
        begins = oid->at[i] < 0x80;
    }
    return begins;
}

/* RFC 5280, 4.1.2.4 and appendix A: the strings that a name is made of. */
static bool is_text(const tenoni_attribute *attribute)
{
    enum { UNIVERSAL_SIZE = 4, BMP_SIZE = 2 };
    switch (attribute->tag) {
    case TENONI_DER_UTF8_STRING:
        return tenoni_is_utf8(attribute->value.at, attribute->value.left);
    case TENONI_DER_UNIVERSAL_STRING:
        return attribute->value.left % UNIVERSAL_SIZE == 0;
    case TENONI_DER_BMP_STRING:
        return attribute->value.left % BMP_SIZE == 0;
    case TENONI_DER_NUMERIC_STRING:
    case TENONI_DER_PRINTABLE_STRING:
    case TENONI_DER_TELETEX_STRING:
    case TENONI_DER_IA5_STRING:
        return true;
    default:
        return false;
    }
}

static bool read_attribute(tenoni_reader *set, tenoni_attribute *attribute)
{
    tenoni_reader pair;
    return tenoni_der_read(set, TENONI_DER_SEQUENCE, &pair) == TENON_OK && tenoni_oid_read(&pair, &attribute->oid) &&
           tenoni_der_read_any(&pair, &attribute->tag, &attribute->value) == TENON_OK && pair.left == 0 &&
           is_text(attribute);
}

bool tenoni_name_walk(tenoni_reader name, void (*visit)(void *context, const tenoni_attribute *attribute),
                      void *context)
{
    while (name.left != 0) {
        tenoni_reader set;
        if (tenoni_der_read(&name, TENONI_DER_SET, &set) != TENON_OK || set.left == 0)
            return false;
        while (set.left != 0) {
            tenoni_attribute attribute;
            if (!read_attribute(&set, &attribute))
                return false;
            if (visit != NULL)
                visit(context, &attribute);
        }
    }
    return true;
}

void tenoni_attribute_write(tenoni_writer *writer, const uint8_t *oid, size_t oid_n, const void *text, size_t n)
{
    size_t set = tenoni_der_begin(writer, TENONI_DER_SET);
    size_t pair = tenoni_der_begin(writer, TENONI_DER_SEQUENCE);
    tenoni_der_write(writer, TENONI_DER_OID, oid, oid_n);
    tenoni_der_write(writer, TENONI_DER_UTF8_STRING, text, n);
    tenoni_der_end(writer, pair);
    tenoni_der_end(writer, set);
}
