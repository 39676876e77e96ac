/* SPDX-License-Identifier: Apache-2.0 */
#include "base/der.h"
#include "base/text.h"
#include "crypto/point.h"
#include "proof/date.h"
#include "proof/name.h"
#include "proof/plan.h"

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

/* Self-signed is the signing key's own certificate; below an issuer the key is said. */
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

/* What a person reads in a certificate has no control characters. */
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
