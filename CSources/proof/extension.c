/* SPDX-License-Identifier: Apache-2.0 */
#include "proof/certificate.h"

#include "base/der.h"
#include "proof/name.h"

/* Comparing each with those before it is quadratic. No maker's certificate has half as many. */
enum { EXTENSIONS_MAX = 32 };

typedef struct {
    tenoni_reader oid;
    bool critical;
    tenoni_reader value;
} extension;

/*
 * X.690, 11.1 has one TRUE, and 11.5 leaves a default FALSE out; makers write it, so it is taken: the bytes are under a
 * signature, and the meaning is the same.
 */
static bool read_boolean(tenoni_reader *reader, bool *out)
{
    tenoni_reader content;
    *out = false;
    if (!tenoni_der_is_next(reader, TENONI_DER_BOOLEAN))
        return true;
    if (tenoni_der_read(reader, TENONI_DER_BOOLEAN, &content) != TENON_OK || content.left != 1 ||
        (content.at[0] != 0 && content.at[0] != 0xff))
        return false;
    *out = content.at[0] != 0;
    return true;
}

/* The content of the one element that the value is. */
static bool read_whole(const extension *from, uint8_t tag, tenoni_reader *content)
{
    tenoni_reader value = from->value;
    return tenoni_der_read(&value, tag, content) == TENON_OK && value.left == 0;
}

/* RFC 5280, 4.2.1.9. */
static bool read_basic_constraints(tenoni_certificate *certificate, const extension *from)
{
    tenoni_reader content;
    uint8_t length[4];
    if (!read_whole(from, TENONI_DER_SEQUENCE, &content) || !read_boolean(&content, &certificate->authority))
        return false;
    if (content.left == 0)
        return true;
    if (!certificate->authority || tenoni_der_read_unsigned(&content, length, sizeof length) != TENON_OK)
        return false;
    tenoni_reader number = tenoni_reader_over(length, sizeof length);
    certificate->has_path_length = true;
    return tenoni_read_u32(&number, &certificate->path_length) && content.left == 0;
}

/* RFC 5280, 4.2.1.3. Trailing zero bits, which X.690, 11.2.2 leaves out, are taken: makers write whole bytes. */
static bool read_key_usage(tenoni_certificate *certificate, const extension *from)
{
    tenoni_reader content;
    uint8_t unused, first, second = 0;
    if (!read_whole(from, TENONI_DER_BIT_STRING, &content) || !tenoni_read_u8(&content, &unused) ||
        !tenoni_read_u8(&content, &first) || (content.left != 0 && !tenoni_read_u8(&content, &second)) ||
        content.left != 0 || unused > 7)
        return false;
    uint8_t last = from->value.at[from->value.left - 1];
    certificate->has_key_usage = true;
    certificate->key_usage = (uint16_t)(first << 8 | second);
    return (last & ((1u << unused) - 1)) == 0 && certificate->key_usage != 0;
}

/* RFC 5280, 4.2.1.12. */
static bool read_extended_usage(tenoni_certificate *certificate, const extension *from)
{
    tenoni_reader usages, usage;
    if (!read_whole(from, TENONI_DER_SEQUENCE, &usages) || usages.left == 0)
        return false;
    certificate->extended_usage = usages;
    while (usages.left != 0)
        if (!tenoni_oid_read(&usages, &usage))
            return false;
    return true;
}

/* RFC 5280, 4.2.1.6: GeneralNames, of which directoryName [4] is looked into. */
static bool read_alternative_name(tenoni_certificate *certificate, const extension *from)
{
    enum { DIRECTORY_NAME = TENONI_DER_CONTEXT_CONSTRUCTED + 4, LAST = 8, NUMBER = 0x1f, CLASS = 0xc0 };
    tenoni_reader names, name, content;
    uint8_t tag;
    if (!read_whole(from, TENONI_DER_SEQUENCE, &names) || names.left == 0)
        return false;
    certificate->alternative_name = names;
    certificate->alternative_name_critical = from->critical;
    while (names.left != 0) {
        if (tenoni_der_read_any(&names, &tag, &name) != TENON_OK || (tag & CLASS) != TENONI_DER_CONTEXT ||
            (tag & NUMBER) > LAST)
            return false;
        if (tag == DIRECTORY_NAME && (tenoni_der_read(&name, TENONI_DER_SEQUENCE, &content) != TENON_OK ||
                                      name.left != 0 || !tenoni_name_walk(content, NULL, NULL)))
            return false;
    }
    return true;
}

/* RFC 5280, 4.2.1.2. */
static bool read_key_id(tenoni_certificate *certificate, const extension *from)
{
    return read_whole(from, TENONI_DER_OCTET_STRING, &certificate->key_id) && certificate->key_id.left != 0;
}

/* RFC 5280, 4.2.1.1: of three optional fields the first. */
static bool read_issuer_key_id(tenoni_certificate *certificate, const extension *from)
{
    tenoni_reader fields, rest;
    uint8_t tag;
    if (!read_whole(from, TENONI_DER_SEQUENCE, &fields))
        return false;
    if (tenoni_der_is_next(&fields, TENONI_DER_CONTEXT) &&
        tenoni_der_read(&fields, TENONI_DER_CONTEXT, &certificate->issuer_key_id) != TENON_OK)
        return false;
    while (fields.left != 0)
        if (tenoni_der_read_any(&fields, &tag, &rest) != TENON_OK)
            return false;
    return true;
}

/* RFC 5280, 4.2.1.4: any policy will do here, so a critical one asks for nothing. */
static bool read_policies(tenoni_certificate *certificate, const extension *from)
{
    tenoni_reader content;
    (void)certificate;
    return read_whole(from, TENONI_DER_SEQUENCE, &content) && content.left != 0;
}

/* RFC 5280, 4.2.1.10: to leave them out would let an authority sign for whom it may not. */
static bool read_name_constraints(tenoni_certificate *certificate, const extension *from)
{
    (void)from;
    certificate->asks_for_more = true;
    return true;
}

/* The extensions that are understood, and so may be critical: id-ce and the last number. */
static const struct {
    uint8_t oid[3];
    bool (*read)(tenoni_certificate *certificate, const extension *from);
} known[] = {
    {{0x55, 0x1d, 14}, read_key_id},           {{0x55, 0x1d, 15}, read_key_usage},
    {{0x55, 0x1d, 17}, read_alternative_name}, {{0x55, 0x1d, 19}, read_basic_constraints},
    {{0x55, 0x1d, 30}, read_name_constraints}, {{0x55, 0x1d, 32}, read_policies},
    {{0x55, 0x1d, 35}, read_issuer_key_id},    {{0x55, 0x1d, 37}, read_extended_usage},
};

static bool take(tenoni_certificate *certificate, const extension *from)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (tenoni_oid_is(from->oid, known[i].oid, sizeof known[i].oid))
            return known[i].read(certificate, from);
    certificate->asks_for_more = certificate->asks_for_more || from->critical;
    return true;
}

static bool read_extension(tenoni_reader *extensions, extension *out)
{
    tenoni_reader fields;
    return tenoni_der_read(extensions, TENONI_DER_SEQUENCE, &fields) == TENON_OK &&
           tenoni_oid_read(&fields, &out->oid) && read_boolean(&fields, &out->critical) &&
           tenoni_der_read(&fields, TENONI_DER_OCTET_STRING, &out->value) == TENON_OK && fields.left == 0;
}

bool tenoni_extensions_read(tenoni_certificate *certificate, tenoni_reader extensions)
{
    tenoni_reader seen[EXTENSIONS_MAX];
    for (size_t count = 0; extensions.left != 0; count++) {
        extension next;
        if (count == EXTENSIONS_MAX || !read_extension(&extensions, &next))
            return false;
        for (size_t i = 0; i < count; i++)
            if (tenoni_same(seen[i], next.oid))
                return false;
        seen[count] = next.oid;
        if (!take(certificate, &next))
            return false;
    }
    return true;
}
