/* SPDX-License-Identifier: Apache-2.0 */
#include "base/der.h"
#include "fuzz.h"
#include "proof/certificate.h"
#include "tenon/tenon.h"

/*
 * Input: how many certificates there are, which signatures are good, and then each certificate field by field, from the
 * root to the leaf. A field is one byte of choice: one of the forms that makers write, or a tag and bytes out of the
 * input. So what the fuzzer changes is one field of a chain that is whole otherwise. An empty input is a good chain.
 *
 * A signature is good when the input says so: the linker puts the function below in place of the real one.
 */
enum { CHAIN_MAX = 4, ROOM = 2 * TENON_CERTIFICATE_MAX, RAW = 0x80, NOW = 1800000000 };

typedef struct {
    const uint8_t *at;
    size_t left;
} choices;

static uint32_t good_signatures, signatures;
static const uint8_t *first_message;

tenon_status __wrap_tenoni_certified_key_verify(const tenoni_certified_key *key, bool with_rsa, tenoni_hash hash,
                                                tenoni_reader message, tenoni_reader signature);

tenon_status __wrap_tenoni_certified_key_verify(const tenoni_certified_key *key, bool with_rsa, tenoni_hash hash,
                                                tenoni_reader message, tenoni_reader signature)
{
    MUST(message.left != 0 && signature.left != 0 && (with_rsa || hash <= TENONI_SHA512));
    MUST(key->modulus_or_point.left != 0);
    if (signatures++ == 0)
        first_message = message.at;
    return (good_signatures >> (signatures - 1) % 8 & 1) == 0 ? TENON_OK : TENON_ERROR_SIGNATURE_INVALID;
}

static uint8_t next(choices *from)
{
    if (from->left == 0)
        return 0;
    from->left--;
    return *from->at++;
}

static void write_rest(tenoni_writer *out, choices *from)
{
    size_t n = next(from);
    n = n < from->left ? n : from->left;
    tenoni_write_bytes(out, from->at, n);
    from->at += n;
    from->left -= n;
}

/* Reads bytes of the input that replace a form; false if the input chooses a form, whose number is *form. */
static bool write_raw(tenoni_writer *out, choices *from, uint8_t *form)
{
    *form = next(from);
    if (*form < RAW)
        return false;
    size_t begun = tenoni_der_begin(out, next(from));
    write_rest(out, from);
    tenoni_der_end(out, begun);
    return true;
}

static void write_element(tenoni_writer *out, uint8_t tag, const void *bytes, size_t n)
{
    tenoni_der_write(out, tag, bytes, n);
}

static void write_oid(tenoni_writer *out, const char *oid) { write_element(out, TENONI_DER_OID, oid, strlen(oid)); }

#define ECDSA_SHA256 "\x2a\x86\x48\xce\x3d\x04\x03\x02"

static void write_algorithm(tenoni_writer *out, choices *from)
{
    static const char *const oids[] = {ECDSA_SHA256, "\x2a\x86\x48\xce\x3d\x04\x03\x03",
                                       "\x2a\x86\x48\xce\x3d\x04\x03\x04", "\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0b",
                                       "\x2a\x86\x48\x86\xf7\x0d\x01\x01\x05"};
    uint8_t form;
    if (write_raw(out, from, &form))
        return;
    size_t begun = tenoni_der_begin(out, TENONI_DER_SEQUENCE), which = form % (sizeof oids / sizeof *oids);
    write_oid(out, oids[which]);
    if (which >= 3)
        write_element(out, TENONI_DER_NULL, "", 0);
    tenoni_der_end(out, begun);
}

/* "0" to "3" as a common name, empty, or one whose text the input gives. */
static void write_name(tenoni_writer *out, choices *from, size_t level, bool may_be_empty)
{
    uint8_t form, text = (uint8_t)('0' + level);
    if (write_raw(out, from, &form))
        return;
    size_t name = tenoni_der_begin(out, TENONI_DER_SEQUENCE);
    if (!(may_be_empty ? form == 0 : form == 1)) {
        size_t set = tenoni_der_begin(out, TENONI_DER_SET), pair = tenoni_der_begin(out, TENONI_DER_SEQUENCE);
        write_oid(out, "\x55\x04\x03");
        if (form < 3) {
            write_element(out, TENONI_DER_UTF8_STRING, &text, 1);
        } else {
            size_t value = tenoni_der_begin(out, next(from));
            write_rest(out, from);
            tenoni_der_end(out, value);
        }
        tenoni_der_end(out, pair);
        tenoni_der_end(out, set);
    }
    tenoni_der_end(out, name);
}

static void write_dates(tenoni_writer *out, choices *from)
{
    static const char *const dates[] = {"200101000000Z", "20200101000000Z", "99991231235959Z", "491231235959Z",
                                        "500101000000Z", "300230000000Z",   "20300229000000Z"};
    uint8_t form;
    if (write_raw(out, from, &form))
        return;
    size_t begun = tenoni_der_begin(out, TENONI_DER_SEQUENCE);
    for (size_t i = 0; i < 2; i++) {
        uint8_t which = form == 0 ? (uint8_t)(2 * i) : next(from) % 9;
        if (which < 7) {
            uint8_t tag = strlen(dates[which]) == 13 ? TENONI_DER_UTC_TIME : TENONI_DER_GENERALIZED_TIME;
            write_element(out, tag, dates[which], strlen(dates[which]));
        } else {
            size_t date = tenoni_der_begin(out, which == 7 ? TENONI_DER_UTC_TIME : TENONI_DER_GENERALIZED_TIME);
            write_rest(out, from);
            tenoni_der_end(out, date);
        }
    }
    tenoni_der_end(out, begun);
}

/* A key of the right form each: its numbers come from the choice, so that a pattern in them can be found. */
static void write_rsa(tenoni_writer *out, choices *from, size_t size)
{
    uint8_t modulus[513] = {0}, seed = next(from);
    for (size_t i = 1; i <= size; i++)
        modulus[i] = (uint8_t)(seed + 7 * i * i);
    for (size_t i = 1; i < 9 && from->left != 0; i++)
        modulus[size - i] = next(from);
    modulus[1] |= 0x80;
    modulus[size] |= 1;
    size_t begun = tenoni_der_begin(out, TENONI_DER_SEQUENCE);
    write_element(out, TENONI_DER_INTEGER, modulus, size + 1);
    write_element(out, TENONI_DER_INTEGER, "\x01\x00\x01", 3);
    tenoni_der_end(out, begun);
}

static const tenon_key *point_key(void)
{
    static const uint8_t scalar[TENON_SCALAR_SIZE] = {0xa1, 1, 2, 3};
    static tenon_key *key;
    if (key == NULL)
        MUST(tenon_software_key_import(&key, scalar, sizeof scalar, TENON_KEY_SIGNS_DIGESTS) == TENON_OK);
    return key;
}

static void write_point(tenoni_writer *out)
{
    tenon_public_key point;
    MUST(tenon_key_public_key(point_key(), &point) == TENON_OK);
    tenoni_write_u8(out, 0x04);
    tenoni_write_bytes(out, point.bytes, sizeof point.bytes);
}

static void write_key(tenoni_writer *out, choices *from)
{
    enum { P256, RSA_2048, RSA_3072, OAEP, P384, FORMS };
    uint8_t form;
    if (write_raw(out, from, &form))
        return;
    form %= FORMS;
    size_t spki = tenoni_der_begin(out, TENONI_DER_SEQUENCE), algorithm = tenoni_der_begin(out, TENONI_DER_SEQUENCE);
    bool is_rsa = form == RSA_2048 || form == RSA_3072;
    write_oid(out, is_rsa         ? "\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01"
                   : form == OAEP ? "\x2a\x86\x48\x86\xf7\x0d\x01\x01\x07"
                                  : "\x2a\x86\x48\xce\x3d\x02\x01");
    if (is_rsa)
        write_element(out, TENONI_DER_NULL, "", 0);
    else if (form != OAEP)
        write_oid(out, form == P256 ? "\x2a\x86\x48\xce\x3d\x03\x01\x07" : "\x2b\x81\x04\x00\x22");
    tenoni_der_end(out, algorithm);
    size_t bits = tenoni_der_begin(out, TENONI_DER_BIT_STRING);
    tenoni_write_u8(out, 0);
    if (form == P256) {
        write_point(out);
    } else if (form == P384) {
        uint8_t point[97] = {4};
        point[96] = next(from);
        tenoni_write_bytes(out, point, sizeof point);
    } else {
        write_rsa(out, from, form == RSA_3072 ? 384 : 256);
    }
    tenoni_der_end(out, bits);
    tenoni_der_end(out, spki);
}

/* The value of a TPM's names, with a text from the input in place of one of them. */
static void write_tpm_names(tenoni_writer *out, choices *from, uint8_t form)
{
    static const char *const oids[] = {"\x67\x81\x05\x02\x01", "\x67\x81\x05\x02\x02", "\x67\x81\x05\x02\x03"};
    static const char *const texts[] = {"id:54454E4F", "Tenon", "id:00010002"};
    size_t names = tenoni_der_begin(out, TENONI_DER_SEQUENCE), choice = tenoni_der_begin(out, 0xA4);
    size_t name = tenoni_der_begin(out, TENONI_DER_SEQUENCE), set = tenoni_der_begin(out, TENONI_DER_SET);
    for (size_t i = 0; i < 3; i++) {
        size_t pair = tenoni_der_begin(out, TENONI_DER_SEQUENCE);
        write_oid(out, oids[i]);
        if (form == i + 1) {
            size_t value = tenoni_der_begin(out, next(from));
            write_rest(out, from);
            tenoni_der_end(out, value);
        } else {
            write_element(out, TENONI_DER_UTF8_STRING, texts[i], strlen(texts[i]));
        }
        tenoni_der_end(out, pair);
    }
    tenoni_der_end(out, set);
    tenoni_der_end(out, name);
    tenoni_der_end(out, choice);
    tenoni_der_end(out, names);
}

enum { BASIC, USAGE, EXTENDED, NAMES, OWN_ID, ISSUER_ID, POLICIES, CONSTRAINTS, UNKNOWN, EXTENSIONS };

static const char *const extension_oids[EXTENSIONS] = {
    "\x55\x1d\x13", "\x55\x1d\x0f", "\x55\x1d\x25",
    "\x55\x1d\x11", "\x55\x1d\x0e", "\x55\x1d\x23",
    "\x55\x1d\x20", "\x55\x1d\x1e", "\x2b\x06\x01\x04\x01\x83\xb2\x03\x01"};

/* The value of an extension in the form that makers write. */
static void write_value(tenoni_writer *out, choices *from, size_t level, bool of_ak, uint8_t which, uint8_t form)
{
    static const uint8_t ca[] = {0x01, 0x01, 0xff}, sign[] = {0x01, 0x06}, decrypt[] = {0x03, 0x08},
                         attest[] = {0x07, 0x80};
    const uint8_t *usage = level != 0 ? sign : of_ak ? attest : decrypt;
    const uint8_t id = (uint8_t)level, above = (uint8_t)(level + 1);
    size_t begun;
    switch (which) {
    case BASIC:
        write_element(out, TENONI_DER_SEQUENCE, ca, level != 0 ? sizeof ca : 0);
        break;
    case USAGE:
        write_element(out, TENONI_DER_BIT_STRING, usage, 2);
        break;
    case EXTENDED:
        begun = tenoni_der_begin(out, TENONI_DER_SEQUENCE);
        write_oid(out, (form & 1) != (of_ak ? 1 : 0) ? "\x67\x81\x05\x08\x03" : "\x67\x81\x05\x08\x01");
        tenoni_der_end(out, begun);
        break;
    case NAMES:
        write_tpm_names(out, from, form);
        break;
    case OWN_ID:
        write_element(out, TENONI_DER_OCTET_STRING, &id, 1);
        break;
    case ISSUER_ID:
        begun = tenoni_der_begin(out, TENONI_DER_SEQUENCE);
        write_element(out, TENONI_DER_CONTEXT, &above, 1);
        tenoni_der_end(out, begun);
        break;
    default:
        write_rest(out, from);
    }
}

static void write_extension(tenoni_writer *out, choices *from, size_t level, bool of_ak, uint8_t which)
{
    uint8_t form, flags = next(from);
    size_t begun = tenoni_der_begin(out, TENONI_DER_SEQUENCE);
    write_oid(out, extension_oids[which]);
    bool critical = which == BASIC || which == USAGE || which == NAMES;
    if ((flags & 4) != 0)
        write_element(out, TENONI_DER_BOOLEAN, &flags, 1);
    else if (critical != ((flags & 1) != 0))
        write_element(out, TENONI_DER_BOOLEAN, "\xff", 1);
    size_t value = tenoni_der_begin(out, TENONI_DER_OCTET_STRING);
    if (!write_raw(out, from, &form))
        write_value(out, from, level, of_ak, which, form);
    tenoni_der_end(out, value);
    tenoni_der_end(out, begun);
}

/* The extensions that the certificate's place in the chain needs, of which one may be left out, and some more. */
static void write_extensions(tenoni_writer *out, choices *from, size_t level, bool of_ak)
{
    uint8_t form;
    if (write_raw(out, from, &form))
        return;
    size_t field = tenoni_der_begin(out, TENONI_DER_CONTEXT_CONSTRUCTED + 3);
    size_t list = tenoni_der_begin(out, TENONI_DER_SEQUENCE);
    for (uint8_t which = BASIC; which < POLICIES; which++) {
        bool wanted = level == 0 || (which != EXTENDED && which != NAMES);
        if (wanted && form != which + 1)
            write_extension(out, from, level, of_ak, which);
    }
    for (uint8_t more = form >> 4 & 7; more != 0; more--)
        write_extension(out, from, level, of_ak, next(from) % EXTENSIONS);
    tenoni_der_end(out, list);
    tenoni_der_end(out, field);
}

static void write_integer(tenoni_writer *out, choices *from, uint8_t value)
{
    uint8_t form;
    if (!write_raw(out, from, &form))
        write_element(out, TENONI_DER_INTEGER, &value, 1);
}

static void write_signature(tenoni_writer *out, choices *from)
{
    static const uint8_t pair[] = {0x00, 0x30, 0x06, 0x02, 0x01, 0x01, 0x02, 0x01, 0x01};
    uint8_t form;
    if (!write_raw(out, from, &form))
        write_element(out, TENONI_DER_BIT_STRING, pair, sizeof pair);
}

/* level 0 is the leaf, and each is issued by the level above; the top one by itself. */
static size_t write_certificate(uint8_t *bytes, choices *from, size_t level, size_t top, bool of_ak)
{
    tenoni_writer out = tenoni_writer_over(bytes, ROOM);
    size_t whole = tenoni_der_begin(&out, TENONI_DER_SEQUENCE), part = tenoni_der_begin(&out, TENONI_DER_SEQUENCE);
    size_t version = tenoni_der_begin(&out, TENONI_DER_CONTEXT_CONSTRUCTED);
    write_integer(&out, from, 2);
    tenoni_der_end(&out, version);
    write_integer(&out, from, 77);
    write_algorithm(&out, from);
    write_name(&out, from, level < top ? level + 1 : level, false);
    write_dates(&out, from);
    write_name(&out, from, level, level == 0);
    write_key(&out, from);
    write_extensions(&out, from, level, of_ak);
    tenoni_der_end(&out, part);
    write_algorithm(&out, from);
    write_signature(&out, from);
    tenoni_der_end(&out, whole);
    return out.used <= ROOM ? out.used : 0;
}

/* Forms come before signatures, and signatures from the root down. */
static void must_be_in_order(tenon_status status, const tenon_bytes *chain, size_t count)
{
    if (status == TENON_RULE_22_CERTIFICATE || status == TENON_RULE_23_CRITICAL)
        MUST(signatures == 0);
    if (status == TENON_OK) {
        const tenon_bytes *last = &chain[count - 1];
        MUST(signatures == count && first_message > last->bytes && first_message < last->bytes + last->n);
    }
}

static tenon_status verify_ek(const tenon_bytes *chain, size_t count, const tenon_bytes *root)
{
    tenon_ek_policy policy = {.size = sizeof policy, .roots = root, .roots_count = 1, .now = NOW};
    tenon_ek ek;
    tenon_report report;
    signatures = 0;
    tenon_status status = tenon_ek_verify(&ek, &report, chain, count, &policy);
    MUST(status == TENON_OK || tenon_status_category(status) == TENON_CATEGORY_REJECTED);
    MUST(report.verdict == status && (status == TENON_OK || fuzz_all(&ek, sizeof ek, 0)));
    must_be_in_order(status, chain, count);
    return status;
}

static tenon_status verify_ak(const tenon_bytes *chain, size_t count, const tenon_bytes *root)
{
    tenon_policy policy = {
        .size = sizeof policy, .trust = TENON_TRUST_ROOTS, .roots = root, .roots_count = 1, .now = NOW};
    tenon_report report;
    tenon_public_key point;
    MUST(tenon_key_public_key(point_key(), &point) == TENON_OK);
    signatures = 0;
    tenon_status status = tenon_ak_certificate_verify(&report, chain, count, &point, &policy);
    MUST(status == TENON_OK || tenon_status_category(status) == TENON_CATEGORY_REJECTED);
    MUST(report.verdict == status);
    must_be_in_order(status, chain, count);
    return status;
}

FUZZ_TARGET(data, n)
{
    choices from = {data, n};
    static uint8_t made[CHAIN_MAX + 1][ROOM];
    uint8_t shape = next(&from);
    size_t count = 1 + shape % CHAIN_MAX;
    bool of_ak = (shape & 0x80) != 0;
    tenon_bytes chain[CHAIN_MAX], root = {0};
    good_signatures = next(&from);
    for (size_t level = count + 1; level-- > 0;) {
        size_t size = write_certificate(made[level], &from, level, count, of_ak);
        tenon_bytes one = {fuzz_copy(made[level], size), size};
        if (level == count)
            root = one;
        else
            chain[level] = one;
    }
    tenon_status status = (of_ak ? verify_ak : verify_ek)(chain, count, &root);
    MUST(n > 1 || status == TENON_OK);
    for (size_t i = 0; i < count; i++)
        free((void *)(uintptr_t)chain[i].bytes);
    free((void *)(uintptr_t)root.bytes);
}
