/* SPDX-License-Identifier: Apache-2.0 */
#include "proof/certificate.h"

#include <string.h>

#include "base/der.h"
#include "proof/date.h"
#include "proof/name.h"
#include "proof/rules.h"

/* TCG OIDs: 2.23.133 is 67 81 05. */
const uint8_t tenoni_usage_ek[TENONI_TCG_OID_SIZE] = {0x67, 0x81, 0x05, 8, 1};
const uint8_t tenoni_usage_ak[TENONI_TCG_OID_SIZE] = {0x67, 0x81, 0x05, 8, 3};
const uint8_t tenoni_tpm_maker[TENONI_TCG_OID_SIZE] = {0x67, 0x81, 0x05, 2, 1};
const uint8_t tenoni_tpm_model[TENONI_TCG_OID_SIZE] = {0x67, 0x81, 0x05, 2, 2};
const uint8_t tenoni_tpm_version[TENONI_TCG_OID_SIZE] = {0x67, 0x81, 0x05, 2, 3};

static bool take(tenoni_reader *reader, uint8_t tag, tenoni_reader *content)
{
    return tenoni_der_read(reader, tag, content) == TENON_OK;
}

/* The same, and *whole is the element with its header. */
static bool take_whole(tenoni_reader *reader, uint8_t tag, tenoni_reader *whole, tenoni_reader *content)
{
    *whole = *reader;
    if (!take(reader, tag, content))
        return false;
    whole->left -= reader->left;
    return true;
}

/* A BIT STRING of whole bytes. */
static bool take_bytes(tenoni_reader *reader, tenoni_reader *bytes)
{
    uint8_t unused;
    return take(reader, TENONI_DER_BIT_STRING, bytes) && tenoni_read_u8(bytes, &unused) && unused == 0;
}

/* NULL, or nothing where may_be_absent: RFC 4055, 5 has readers take both. */
static bool take_null(tenoni_reader *reader, bool may_be_absent)
{
    tenoni_reader content;
    if (reader->left == 0)
        return may_be_absent;
    return take(reader, TENONI_DER_NULL, &content) && content.left == 0 && reader->left == 0;
}

/* RFC 4055, 5 and RFC 5758, 3.2: what may sign. */
static const struct {
    uint8_t oid[9];
    uint8_t n;
    bool rsa;
    tenoni_hash hash;
} algorithms[] = {
    {{0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 11}, 9, true, TENONI_SHA256},
    {{0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 12}, 9, true, TENONI_SHA384},
    {{0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 13}, 9, true, TENONI_SHA512},
    {{0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2}, 8, false, TENONI_SHA256},
    {{0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 3}, 8, false, TENONI_SHA384},
    {{0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 4}, 8, false, TENONI_SHA512},
};

static bool read_algorithm(tenoni_certificate *out, tenoni_reader fields)
{
    tenoni_reader oid;
    if (!tenoni_oid_read(&fields, &oid))
        return false;
    for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms; i++)
        if (tenoni_oid_is(oid, algorithms[i].oid, algorithms[i].n)) {
            out->signed_with_rsa = algorithms[i].rsa;
            out->hash = algorithms[i].hash;
            return algorithms[i].rsa ? take_null(&fields, true) : fields.left == 0;
        }
    return false;
}

static bool take_name(tenoni_reader *reader, tenoni_reader *whole, bool *empty)
{
    tenoni_reader content;
    if (!take_whole(reader, TENONI_DER_SEQUENCE, whole, &content) || !tenoni_name_walk(content, NULL, NULL))
        return false;
    *empty = content.left == 0;
    return true;
}

/* 2048 to 4096 bits, odd. The zero before it stands where its first bit is set, and only there (X.690, 8.3.2). */
static bool read_modulus(tenoni_reader *fields, tenoni_reader *modulus)
{
    enum { MIN = 256, MAX = 512, HIGH = 0x80 };
    uint8_t first = 0;
    if (!take(fields, TENONI_DER_INTEGER, modulus))
        return false;
    bool padded = modulus->left > 1 && modulus->at[0] == 0 && tenoni_read_u8(modulus, &first);
    if (modulus->left < MIN || modulus->left > MAX)
        return false;
    bool high = modulus->at[0] >= HIGH;
    return padded == high && (high || modulus->left > MIN) && (modulus->at[modulus->left - 1] & 1) == 1;
}

/* RFC 8017, A.1.1. */
static bool read_rsa(tenoni_certified_key *key, tenoni_reader bits)
{
    tenoni_reader fields;
    uint8_t exponent[4];
    if (!take(&bits, TENONI_DER_SEQUENCE, &fields) || bits.left != 0 ||
        !read_modulus(&fields, &key->modulus_or_point) ||
        tenoni_der_read_unsigned(&fields, exponent, sizeof exponent) != TENON_OK || fields.left != 0)
        return false;
    tenoni_reader number = tenoni_reader_over(exponent, sizeof exponent);
    return tenoni_read_u32(&number, &key->exponent) && key->exponent >= 3 && (key->exponent & 1) == 1;
}

/* RFC 5480, 2: a named curve and an uncompressed point. */
static bool read_point(tenoni_certified_key *key, tenoni_reader parameters, tenoni_reader bits)
{
    static const struct {
        uint8_t oid[8];
        uint8_t n;
        tenoni_key_kind kind;
    } curves[] = {
        {{0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7}, 8, TENONI_KEY_P256},
        {{0x2b, 0x81, 0x04, 0, 34}, 5, TENONI_KEY_P384},
        {{0x2b, 0x81, 0x04, 0, 35}, 5, TENONI_KEY_P521},
    };
    enum { UNCOMPRESSED = 0x04 };
    tenoni_reader oid;
    if (!tenoni_oid_read(&parameters, &oid) || parameters.left != 0)
        return false;
    for (size_t i = 0; i < sizeof curves / sizeof *curves; i++)
        if (tenoni_oid_is(oid, curves[i].oid, curves[i].n)) {
            key->kind = curves[i].kind;
            key->modulus_or_point = bits;
            return bits.left == 1 + 2 * tenoni_key_field(key->kind) && bits.at[0] == UNCOMPRESSED;
        }
    return false;
}

static bool take_key(tenoni_reader *reader, tenoni_certified_key *key)
{
    static const uint8_t rsa[] = {0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1};  /* RFC 3279, 2.3.1 */
    static const uint8_t oaep[] = {0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 7}; /* RFC 4055, 4.1 */
    static const uint8_t curve[] = {0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1};         /* RFC 5480, 2.1.1 */
    tenoni_reader fields, algorithm, oid, bits;
    if (!take_whole(reader, TENONI_DER_SEQUENCE, &key->spki, &fields) ||
        !take(&fields, TENONI_DER_SEQUENCE, &algorithm) || !tenoni_oid_read(&algorithm, &oid) ||
        !take_bytes(&fields, &bits) || fields.left != 0)
        return false;
    if (tenoni_oid_is(oid, curve, sizeof curve))
        return read_point(key, algorithm, bits);
    key->kind = tenoni_oid_is(oid, rsa, sizeof rsa) ? TENONI_KEY_RSA : TENONI_KEY_RSA_OAEP;
    if (key->kind == TENONI_KEY_RSA ? !take_null(&algorithm, false) : !tenoni_oid_is(oid, oaep, sizeof oaep))
        return false;
    return read_rsa(key, bits);
}

/* [0] EXPLICIT INTEGER 2: v3. */
static bool take_version(tenoni_reader *reader)
{
    tenoni_reader field;
    uint8_t version;
    return take(reader, TENONI_DER_CONTEXT_CONSTRUCTED, &field) &&
           tenoni_der_read_unsigned(&field, &version, sizeof version) == TENON_OK && field.left == 0 && version == 2;
}

/* RFC 5280, 4.1.2.2. Makers have written negative ones; nothing hangs on it here, so only the form counts. */
static bool take_serial(tenoni_reader *reader)
{
    enum { MAX = 20 };
    tenoni_reader serial;
    if (!take(reader, TENONI_DER_INTEGER, &serial) || serial.left == 0 || serial.left > MAX + 1 ||
        (serial.left > MAX && serial.at[0] != 0))
        return false;
    /* X.690, 8.3.2: the first nine bits are not all the same. */
    return serial.left == 1 ||
           !((serial.at[0] == 0 && serial.at[1] < 0x80) || (serial.at[0] == 0xff && serial.at[1] >= 0x80));
}

static bool take_dates(tenoni_reader *reader, tenoni_certificate *out)
{
    tenoni_reader dates;
    return take(reader, TENONI_DER_SEQUENCE, &dates) && tenoni_date_read(&dates, &out->not_before) &&
           tenoni_date_read(&dates, &out->not_after) && dates.left == 0;
}

static bool take_extensions(tenoni_reader *reader, tenoni_certificate *out)
{
    tenoni_reader field, extensions;
    if (reader->left == 0)
        return true;
    return take(reader, TENONI_DER_CONTEXT_CONSTRUCTED + 3, &field) && reader->left == 0 &&
           take(&field, TENONI_DER_SEQUENCE, &extensions) && field.left == 0 && extensions.left != 0 &&
           tenoni_extensions_read(out, extensions);
}

/* RFC 5280, 4.1.2. No unique identifiers, [1] and [2]: 4.1.2.8 forbids them. */
static bool read_signed_part(tenoni_certificate *out, tenoni_reader fields, tenoni_reader *algorithm)
{
    tenoni_reader content;
    bool no_issuer;
    return take_version(&fields) && take_serial(&fields) &&
           take_whole(&fields, TENONI_DER_SEQUENCE, algorithm, &content) &&
           take_name(&fields, &out->issuer, &no_issuer) && !no_issuer && take_dates(&fields, out) &&
           take_name(&fields, &out->subject, &out->subject_empty) && take_key(&fields, &out->key) &&
           take_extensions(&fields, out);
}

static bool signature_has_form(const tenoni_certificate *certificate)
{
    uint8_t r[TENONI_FIELD_MAX], s[TENONI_FIELD_MAX];
    return certificate->signed_with_rsa || tenoni_ecdsa_signature_read(certificate->signature, r, s, sizeof r);
}

static bool read_certificate(tenoni_certificate *out, tenoni_reader reader)
{
    tenoni_reader fields, part, inner, outer, algorithm;
    return take(&reader, TENONI_DER_SEQUENCE, &fields) && reader.left == 0 &&
           take_whole(&fields, TENONI_DER_SEQUENCE, &out->signed_part, &part) && read_signed_part(out, part, &inner) &&
           take_whole(&fields, TENONI_DER_SEQUENCE, &outer, &algorithm) && tenoni_same(inner, outer) &&
           read_algorithm(out, algorithm) && take_bytes(&fields, &out->signature) && fields.left == 0 &&
           signature_has_form(out);
}

tenon_status tenoni_certificate_read(tenoni_certificate *out, const uint8_t *der, size_t n)
{
    memset(out, 0, sizeof *out);
    if (n <= TENON_CERTIFICATE_MAX && read_certificate(out, tenoni_reader_over(der, n)))
        return tenoni_verdict(!out->asks_for_more, TENON_RULE_23_CRITICAL);
    memset(out, 0, sizeof *out);
    return TENON_RULE_22_CERTIFICATE;
}

bool tenoni_certificate_has_usage(const tenoni_certificate *certificate, const uint8_t *oid, size_t n)
{
    tenoni_reader usages = certificate->extended_usage, usage;
    while (usages.left != 0 && tenoni_oid_read(&usages, &usage))
        if (tenoni_oid_is(usage, oid, n))
            return true;
    return false;
}

/* RFC 5280, 4.2.1.12: anyExtendedKeyUsage. */
bool tenoni_certificate_allows(const tenoni_certificate *certificate, const uint8_t *usage)
{
    static const uint8_t any[] = {0x55, 0x1d, 37, 0};
    return certificate->extended_usage.left == 0 ||
           tenoni_certificate_has_usage(certificate, usage, TENONI_TCG_OID_SIZE) ||
           tenoni_certificate_has_usage(certificate, any, sizeof any);
}

bool tenoni_certificate_may_sign(const tenoni_certificate *certificate, size_t between)
{
    return certificate->authority &&
           (!certificate->has_key_usage || (certificate->key_usage & TENONI_USAGE_CERT_SIGN) != 0) &&
           (!certificate->has_path_length || between <= certificate->path_length);
}

typedef struct {
    tenoni_reader oid;
    size_t count;
    tenoni_attribute last;
} search;

static void look(void *context, const tenoni_attribute *attribute)
{
    search *for_one = context;
    if (!tenoni_same(attribute->oid, for_one->oid))
        return;
    for_one->count++;
    for_one->last = *attribute;
}

static bool is_printable(const tenoni_attribute *attribute)
{
    enum { MAX = 64 };
    bool text = attribute->tag == TENONI_DER_UTF8_STRING || attribute->tag == TENONI_DER_PRINTABLE_STRING ||
                attribute->tag == TENONI_DER_IA5_STRING;
    for (size_t i = 0; i < attribute->value.left; i++)
        text = text && attribute->value.at[i] >= 0x20 && attribute->value.at[i] <= 0x7e;
    return text && attribute->value.left >= 1 && attribute->value.left <= MAX;
}

bool tenoni_certificate_tpm_attribute(const tenoni_certificate *certificate, const uint8_t *oid, size_t n,
                                      tenoni_reader *text)
{
    enum { DIRECTORY_NAME = TENONI_DER_CONTEXT_CONSTRUCTED + 4 };
    search for_one = {.oid = tenoni_reader_over(oid, n)};
    tenoni_reader names = certificate->alternative_name, name, content;
    uint8_t tag;
    while (names.left != 0 && tenoni_der_read_any(&names, &tag, &name) == TENON_OK)
        if (tag == DIRECTORY_NAME && take(&name, TENONI_DER_SEQUENCE, &content))
            tenoni_name_walk(content, look, &for_one);
    if (for_one.count != 1 || !is_printable(&for_one.last))
        return false;
    *text = for_one.last.value;
    return true;
}
