/* SPDX-License-Identifier: Apache-2.0 */
#include "proof/issue.h"

#include <string.h>

#include "base/der.h"
#include "base/text.h"
#include "crypto/p256.h"
#include "proof/date.h"
#include "proof/name.h"
#include "tenon/digest.h"
#include "tenon/encoding.h"

/* RFC 5280, 4.1 and 4.2, as far as AKs and the authorities above them need it. */

enum {
    EXPLICIT = TENONI_DER_CONTEXT_CONSTRUCTED,
    DIRECTORY_NAME = TENONI_DER_CONTEXT_CONSTRUCTED + 4, /* RFC 5280, 4.2.1.6 */
    KEY_ID_SIZE = 20
};

/* ecdsa-with-SHA256 (RFC 5758, 3.2). */
static const uint8_t algorithm[] = {0x30, 10, 0x06, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2};

static void write_time(tenoni_writer *writer, int64_t not_before, int64_t not_after)
{
    size_t dates = tenoni_der_begin(writer, TENONI_DER_SEQUENCE);
    tenoni_date_write(writer, not_before);
    tenoni_date_write(writer, not_after);
    tenoni_der_end(writer, dates);
}

static tenon_status write_key(tenoni_writer *writer, const tenon_public_key *key)
{
    uint8_t spki[TENON_SPKI_SIZE];
    size_t n;
    tenon_status status = tenon_public_key_encode_spki(spki, sizeof spki, &n, key);
    tenoni_write_bytes(writer, spki, status == TENON_OK ? n : 0);
    return status;
}

/* RFC 7093, 2, method 1: the beginning of SHA-256 of the point. */
static tenon_status make_key_id(uint8_t *out, const tenon_public_key *key)
{
    uint8_t point[TENON_POINT_SIZE];
    size_t n;
    tenon_digest digest;
    tenon_status status = tenon_public_key_encode_point(point, sizeof point, &n, key);
    if (status == TENON_OK)
        status = tenon_sha256(&digest, point, n);
    if (status == TENON_OK)
        memcpy(out, digest.bytes, KEY_ID_SIZE);
    return status;
}

/* An extension of id-ce with this last number, up to and into its value. */
typedef struct {
    size_t sequence;
    size_t value;
} extension;

static extension begin_extension(tenoni_writer *writer, uint8_t number, bool critical)
{
    extension begun;
    begun.sequence = tenoni_der_begin(writer, TENONI_DER_SEQUENCE);
    tenoni_der_write(writer, TENONI_DER_OID, (const uint8_t[]){0x55, 0x1d, number}, 3);
    if (critical)
        tenoni_der_write(writer, TENONI_DER_BOOLEAN, (const uint8_t[]){0xff}, 1);
    begun.value = tenoni_der_begin(writer, TENONI_DER_OCTET_STRING);
    return begun;
}

static void end_extension(tenoni_writer *writer, extension begun)
{
    tenoni_der_end(writer, begun.value);
    tenoni_der_end(writer, begun.sequence);
}

/* 4.2.1.9: an authority has a path length here, and a certificate of no authority has an empty sequence. */
static void write_basic_constraints(tenoni_writer *writer, const uint8_t *path_length)
{
    extension begun = begin_extension(writer, 19, true);
    size_t sequence = tenoni_der_begin(writer, TENONI_DER_SEQUENCE);
    if (path_length != NULL) {
        tenoni_der_write(writer, TENONI_DER_BOOLEAN, (const uint8_t[]){0xff}, 1);
        tenoni_der_write_unsigned(writer, path_length, 1);
    }
    tenoni_der_end(writer, sequence);
    end_extension(writer, begun);
}

/* 4.2.1.3, for bits of the first byte. */
static void write_key_usage(tenoni_writer *writer, uint16_t usage)
{
    uint8_t bits = (uint8_t)(usage >> 8), unused = 0;
    while ((bits >> unused & 1) == 0)
        unused++;
    extension begun = begin_extension(writer, 15, true);
    tenoni_der_write(writer, TENONI_DER_BIT_STRING, (const uint8_t[]){unused, bits}, 2);
    end_extension(writer, begun);
}

static void write_extended_usage(tenoni_writer *writer)
{
    extension begun = begin_extension(writer, 37, false);
    size_t sequence = tenoni_der_begin(writer, TENONI_DER_SEQUENCE);
    tenoni_der_write(writer, TENONI_DER_OID, tenoni_usage_ak, sizeof tenoni_usage_ak);
    tenoni_der_end(writer, sequence);
    end_extension(writer, begun);
}

static void write_tpm_name(tenoni_writer *writer, const tenon_ek *ek)
{
    extension begun = begin_extension(writer, 17, true);
    size_t names = tenoni_der_begin(writer, TENONI_DER_SEQUENCE);
    size_t directory = tenoni_der_begin(writer, DIRECTORY_NAME);
    size_t name = tenoni_der_begin(writer, TENONI_DER_SEQUENCE);
    tenoni_attribute_write(writer, tenoni_tpm_maker, sizeof tenoni_tpm_maker, ek->maker, ek->maker_n);
    tenoni_attribute_write(writer, tenoni_tpm_model, sizeof tenoni_tpm_model, ek->model, ek->model_n);
    tenoni_attribute_write(writer, tenoni_tpm_version, sizeof tenoni_tpm_version, ek->version, ek->version_n);
    tenoni_der_end(writer, name);
    tenoni_der_end(writer, directory);
    tenoni_der_end(writer, names);
    end_extension(writer, begun);
}

static tenon_status write_key_id(tenoni_writer *writer, const tenon_public_key *key)
{
    uint8_t id[KEY_ID_SIZE];
    tenon_status status = make_key_id(id, key);
    extension begun = begin_extension(writer, 14, false);
    tenoni_der_write(writer, TENONI_DER_OCTET_STRING, id, sizeof id);
    end_extension(writer, begun);
    return status;
}

/* The key id that the issuer's certificate states; if it states none, ours. */
static tenon_status write_issuer_key_id(tenoni_writer *writer, const tenoni_certificate *issuer,
                                        const tenon_public_key *issuer_key)
{
    uint8_t own[KEY_ID_SIZE];
    tenoni_reader id = issuer->key_id.left != 0 ? issuer->key_id : tenoni_reader_over(own, sizeof own);
    tenon_status status = make_key_id(own, issuer_key);
    extension begun = begin_extension(writer, 35, false);
    size_t sequence = tenoni_der_begin(writer, TENONI_DER_SEQUENCE);
    tenoni_der_write(writer, TENONI_DER_CONTEXT, id.at, id.left);
    tenoni_der_end(writer, sequence);
    end_extension(writer, begun);
    return status;
}

static bool is_self_signed(const tenoni_plan *of)
{
    return of->issuer.subject.left == 0;
}

static tenon_status write_extensions(tenoni_writer *writer, const tenoni_plan *of)
{
    tenon_status status = TENON_OK;
    const uint8_t path_length = is_self_signed(of) ? 1 : 0;
    size_t field = tenoni_der_begin(writer, EXPLICIT + 3);
    size_t sequence = tenoni_der_begin(writer, TENONI_DER_SEQUENCE);
    write_basic_constraints(writer, of->ek == NULL ? &path_length : NULL);
    write_key_usage(writer,
                    of->ek == NULL ? TENONI_USAGE_CERT_SIGN | TENONI_USAGE_CRL_SIGN : TENONI_USAGE_DIGITAL_SIGNATURE);
    write_extended_usage(writer);
    if (of->ek != NULL)
        write_tpm_name(writer, of->ek);
    else
        status = write_key_id(writer, of->key);
    if (status == TENON_OK && !is_self_signed(of))
        status = write_issuer_key_id(writer, &of->issuer, &of->signing_public);
    tenoni_der_end(writer, sequence);
    tenoni_der_end(writer, field);
    return status;
}

static tenon_status write_signed_part(tenoni_writer *writer, const tenoni_plan *of)
{
    tenoni_reader issuer =
        is_self_signed(of) ? tenoni_reader_over(of->subject.bytes, of->subject.n) : of->issuer.subject;
    size_t part = tenoni_der_begin(writer, TENONI_DER_SEQUENCE);
    size_t version = tenoni_der_begin(writer, EXPLICIT);
    tenoni_der_write_unsigned(writer, (const uint8_t[]){2}, 1);
    tenoni_der_end(writer, version);
    tenoni_der_write_unsigned(writer, of->serial, TENON_SERIAL_SIZE);
    tenoni_write_bytes(writer, algorithm, sizeof algorithm);
    tenoni_write_bytes(writer, issuer.at, issuer.left);
    write_time(writer, of->not_before, of->not_after);
    tenoni_write_bytes(writer, of->subject.bytes, of->subject.n);
    tenon_status status = write_key(writer, of->key);
    if (status == TENON_OK)
        status = write_extensions(writer, of);
    tenoni_der_end(writer, part);
    return status;
}

static tenon_status sign_part(tenoni_writer *writer, const tenoni_plan *of, size_t start)
{
    tenon_digest digest;
    tenon_signature signature;
    uint8_t der[1 + TENON_SIGNATURE_DER_MAX] = {0}; /* the number of unused bits comes first */
    size_t n = 0;
    tenon_status status = tenon_sha256(&digest, writer->start + start, writer->used - start);
    if (status == TENON_OK)
        status = tenon_key_sign_digest(of->signing_key, &signature, &digest);
    if (status == TENON_OK)
        status = tenon_signature_encode_der(der + 1, sizeof der - 1, &n, &signature);
    tenoni_write_bytes(writer, algorithm, sizeof algorithm);
    tenoni_der_write(writer, TENONI_DER_BIT_STRING, der, 1 + n);
    return status;
}

tenon_status tenoni_plan_issue(uint8_t *out, size_t n, size_t *written, const tenoni_plan *of)
{
    enum { SIGNATURE_MAX = sizeof algorithm + 3 + TENON_SIGNATURE_DER_MAX };
    uint8_t made[TENON_CERTIFICATE_MAX];
    tenoni_writer writer = tenoni_writer_over(made, sizeof made);
    size_t whole = tenoni_der_begin(&writer, TENONI_DER_SEQUENCE);
    tenon_status status = write_signed_part(&writer, of);
    if (status == TENON_OK && (writer.overflowed || writer.used + SIGNATURE_MAX > sizeof made - 2))
        status = TENON_ERROR_TOO_LARGE;
    if (status == TENON_OK)
        status = tenoni_output_fits(out, n, written, writer.used + SIGNATURE_MAX + 2);
    if (status != TENON_OK)
        return status;
    status = sign_part(&writer, of, whole);
    tenoni_der_end(&writer, whole);
    *written = 0;
    return status == TENON_OK ? tenoni_output_copy(out, n, written, made, writer.used) : status;
}

static bool is_text(const uint8_t *text, size_t n)
{
    for (size_t i = 0; i < n && n <= TENON_EK_TEXT_MAX; i++)
        if (text[i] < 0x20 || text[i] > 0x7e)
            return false;
    return n >= 1 && n <= TENON_EK_TEXT_MAX;
}

static bool serial_and_dates_fit(const tenoni_plan *of)
{
    uint8_t bits = 0;
    for (size_t i = 0; i < TENON_SERIAL_SIZE; i++)
        bits |= of->serial[i];
    return bits != 0 && of->not_before >= TENONI_DATE_MIN && of->not_before <= of->not_after &&
           of->not_after <= TENONI_DATE_MAX;
}

/* An authority that may have so many below it, and whose key signs. */
static tenon_status take_issuer(tenoni_plan *of, const uint8_t *der, size_t n, size_t between)
{
    tenoni_reader point;
    tenon_status status = tenon_key_public_key(of->signing_key, &of->signing_public);
    if (status != TENON_OK)
        return status;
    if (tenoni_certificate_read(&of->issuer, der, n) != TENON_OK || of->issuer.subject_empty ||
        !tenoni_certificate_may_sign(&of->issuer, between) ||
        !tenoni_certificate_allows(&of->issuer, tenoni_usage_ak) || of->issuer.key.kind != TENONI_KEY_P256)
        return TENON_ERROR_CERTIFICATE_FORM;
    point = of->issuer.key.modulus_or_point;
    bool same = tenoni_same(tenoni_reader_over(point.at + 1, point.left - 1),
                            tenoni_reader_over(of->signing_public.bytes, sizeof of->signing_public.bytes));
    return same ? TENON_OK : TENON_ERROR_CERTIFICATE_FORM;
}

static tenon_status check_ak_request(const tenon_ak_request *request)
{
    if (request->size != sizeof *request)
        return TENON_ERROR_OPTIONS;
    const tenon_ek *ek = request->ek;
    if (ek == NULL)
        return TENON_ERROR_NULL;
    bool named =
        is_text(ek->maker, ek->maker_n) && is_text(ek->model, ek->model_n) && is_text(ek->version, ek->version_n);
    return named ? tenon_ak_check(NULL, request->ak.bytes, request->ak.n) : TENON_ERROR_OPTIONS;
}

tenon_status tenon_ak_certificate_issue(uint8_t *out, size_t n, size_t *written, const tenon_key *issuer_key,
                                        const uint8_t *issuer, size_t issuer_n, const tenon_ak_request *request)
{
    static const uint8_t no_name[] = {TENONI_DER_SEQUENCE, 0};
    tenon_public_key key;
    if (written != NULL)
        *written = 0;
    if (issuer_key == NULL || request == NULL || (issuer == NULL && issuer_n != 0))
        return TENON_ERROR_NULL;
    tenon_status status = check_ak_request(request);
    if (status == TENON_OK)
        status = tenon_object_public_key(&key, request->ak.bytes, request->ak.n);
    if (status != TENON_OK)
        return status;
    tenoni_plan of = {.signing_key = issuer_key,
                      .serial = request->serial,
                      .subject = {no_name, sizeof no_name},
                      .not_before = request->not_before,
                      .not_after = request->not_after,
                      .key = &key,
                      .ek = request->ek};
    if (!serial_and_dates_fit(&of))
        return TENON_ERROR_OPTIONS;
    status = take_issuer(&of, issuer, issuer_n, 0);
    return status == TENON_OK ? tenoni_plan_issue(out, n, written, &of) : status;
}

/* A self-signed certificate is of the signing key; one below an issuer names its key. */
static tenon_status take_key(tenoni_plan *of, const tenon_authority_request *request)
{
    bool self_signed = request->issuer.n == 0;
    of->key = request->key;
    if (!self_signed)
        return request->key == NULL ? TENON_ERROR_OPTIONS : tenoni_point_check(request->key);
    tenon_status status = tenon_key_public_key(of->signing_key, &of->signing_public);
    if (status != TENON_OK)
        return status;
    if (request->key != NULL &&
        !tenoni_same(tenoni_reader_over(request->key->bytes, sizeof request->key->bytes),
                     tenoni_reader_over(of->signing_public.bytes, sizeof of->signing_public.bytes)))
        return TENON_ERROR_OPTIONS;
    of->key = &of->signing_public;
    return TENON_OK;
}

/* A text for people in a certificate has no control characters. */
static bool is_readable(const char *text, size_t n)
{
    enum { FIRST = 0x20, DELETE = 0x7f };
    for (size_t i = 0; i < n; i++)
        if ((uint8_t)text[i] < FIRST || text[i] == DELETE)
            return false;
    return tenoni_is_utf8((const uint8_t *)text, n);
}

static tenon_status check_authority_request(const tenon_authority_request *request)
{
    enum { NAME_MAX = 64 }; /* RFC 5280, appendix A: ub-common-name */
    if (request->size != sizeof *request)
        return TENON_ERROR_OPTIONS;
    if ((request->name == NULL && request->name_n != 0) || (request->issuer.bytes == NULL && request->issuer.n != 0))
        return TENON_ERROR_NULL;
    bool named = request->name_n >= 1 && request->name_n <= NAME_MAX && is_readable(request->name, request->name_n);
    return named ? TENON_OK : TENON_ERROR_OPTIONS;
}

tenon_status tenon_authority_certificate_issue(uint8_t *out, size_t n, size_t *written, const tenon_key *signing_key,
                                               const tenon_authority_request *request)
{
    static const uint8_t common_name[] = {0x55, 4, 3}; /* RFC 5280, appendix A */
    uint8_t subject[128];
    if (written != NULL)
        *written = 0;
    if (signing_key == NULL || request == NULL)
        return TENON_ERROR_NULL;
    tenon_status status = check_authority_request(request);
    if (status != TENON_OK)
        return status;
    tenoni_writer writer = tenoni_writer_over(subject, sizeof subject);
    size_t name = tenoni_der_begin(&writer, TENONI_DER_SEQUENCE);
    tenoni_attribute_write(&writer, common_name, sizeof common_name, request->name, request->name_n);
    tenoni_der_end(&writer, name);
    tenoni_plan of = {.signing_key = signing_key,
                      .serial = request->serial,
                      .subject = {subject, writer.used},
                      .not_before = request->not_before,
                      .not_after = request->not_after};
    if (!serial_and_dates_fit(&of))
        return TENON_ERROR_OPTIONS;
    status = take_key(&of, request);
    if (status == TENON_OK && request->issuer.n != 0)
        status = take_issuer(&of, request->issuer.bytes, request->issuer.n, 1);
    /* No chain is taken in which two have one name. */
    if (status == TENON_OK && tenoni_same(of.issuer.subject, tenoni_reader_over(subject, writer.used)))
        status = TENON_ERROR_OPTIONS;
    return status == TENON_OK ? tenoni_plan_issue(out, n, written, &of) : status;
}
