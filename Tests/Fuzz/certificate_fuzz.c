/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"
#include "proof/certificate.h"
#include "tenon/activate.h"

/* A part that was found lies within the certificate. */
static void inside(tenoni_reader part, const uint8_t *der, size_t n)
{
    MUST(part.left == 0 || (part.at >= der && part.at <= der + n && part.left <= (size_t)(der + n - part.at)));
}

static void read_attributes(const tenoni_certificate *certificate, const uint8_t *der, size_t n)
{
    const uint8_t *const oids[] = {tenoni_tpm_maker, tenoni_tpm_model, tenoni_tpm_version};
    for (size_t i = 0; i < sizeof oids / sizeof *oids; i++) {
        tenoni_reader text;
        if (!tenoni_certificate_tpm_attribute(certificate, oids[i], TENONI_TCG_OID_SIZE, &text))
            continue;
        inside(text, der, n);
        MUST(text.left >= 1 && text.left <= TENON_EK_TEXT_MAX);
        for (size_t j = 0; j < text.left; j++)
            MUST(text.at[j] >= 0x20 && text.at[j] <= 0x7e);
    }
}

static void check_key(const tenoni_certified_key *key)
{
    size_t field = tenoni_key_field(key->kind);
    if (field != 0) {
        MUST(key->modulus_or_point.left == 1 + 2 * field && key->modulus_or_point.at[0] == 4);
    } else {
        MUST(key->modulus_or_point.left >= 256 && key->modulus_or_point.left <= 512);
        MUST(key->modulus_or_point.at[0] != 0 && key->exponent >= 3 && key->exponent % 2 == 1);
    }
}

/* A certificate is read to its end, from these bytes only, and only its own issuer matches. */
static void read_any(const uint8_t *der, size_t n)
{
    tenoni_certificate certificate, again;
    tenon_status status = tenoni_certificate_read(&certificate, der, n);
    MUST(status == TENON_OK || status == TENON_RULE_23_CRITICAL || status == TENON_RULE_22_CERTIFICATE);
    if (status == TENON_RULE_22_CERTIFICATE) {
        MUST(fuzz_all(&certificate, sizeof certificate, 0));
        return;
    }
    MUST(n <= TENON_CERTIFICATE_MAX && n > 0);
    inside(certificate.signed_part, der, n);
    inside(certificate.issuer, der, n);
    inside(certificate.subject, der, n);
    inside(certificate.key.spki, der, n);
    inside(certificate.key.modulus_or_point, der, n);
    inside(certificate.signature, der, n);
    inside(certificate.extended_usage, der, n);
    inside(certificate.alternative_name, der, n);
    inside(certificate.key_id, der, n);
    inside(certificate.issuer_key_id, der, n);
    check_key(&certificate.key);
    MUST(certificate.authority || !certificate.has_path_length);
    (void)tenoni_certificate_has_usage(&certificate, tenoni_usage_ek, TENONI_TCG_OID_SIZE);
    read_attributes(&certificate, der, n);
    MUST((status == TENON_OK) == !certificate.asks_for_more);
    MUST(tenoni_certificate_read(&again, der, n - 1) == TENON_RULE_22_CERTIFICATE);
}

static void trim_any(const uint8_t *bytes, size_t n)
{
    tenon_bytes found;
    tenon_status status = tenon_certificate_trim(&found, bytes, n);
    if (status != TENON_OK) {
        MUST(status == TENON_ERROR_CERTIFICATE_FORM && found.bytes == NULL && found.n == 0);
        return;
    }
    inside((tenoni_reader){found.bytes, found.n}, bytes, n);
    MUST(found.bytes == bytes || found.bytes == bytes + 5);
    read_any(found.bytes, found.n);
}

/* No input signs itself: without a root, nothing is accepted, and an input that is its own root is not a leaf below it.
 * */
static void verify_any(const uint8_t *der, size_t n)
{
    tenon_bytes one = {der, n};
    tenon_ek_policy policy = {.size = sizeof policy, .now = 1800000000};
    tenon_ek ek;
    tenon_report report;
    tenon_status status = tenon_ek_verify(&ek, &report, &one, 1, &policy);
    MUST(status == TENON_RULE_22_CERTIFICATE || status == TENON_RULE_23_CRITICAL || status == TENON_RULE_33_EK_CHAIN);
    MUST(report.verdict == status && fuzz_all(&ek, sizeof ek, 0));
}

FUZZ_TARGET(data, n)
{
    read_any(data, n);
    trim_any(data, n);
    verify_any(data, n);
}
