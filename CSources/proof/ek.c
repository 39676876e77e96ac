/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "internal/certificate.h"
#include "internal/name.h"
#include "internal/report.h"
#include "internal/roca.h"
#include "internal/secure.h"
#include "tenon/activate.h"
#include "tenon/digest.h"

/* What the rules are asked about, and what they find. */
typedef struct {
    const tenon_bytes *chain;
    size_t count;
    const tenon_ek_policy *policy;
    tenoni_certificate leaf;
    tenon_ek ek;
} question;

static bool take_text(const question *of, const uint8_t *oid, uint8_t *out, size_t *n)
{
    tenoni_reader text;
    if (!tenoni_certificate_tpm_attribute(&of->leaf, oid, TENONI_TCG_OID_SIZE, &text) || text.left > TENON_EK_TEXT_MAX)
        return false;
    memcpy(out, text.at, text.left);
    *n = text.left;
    return true;
}

/* TCG EK Credential Profile, 3.2. A subject that is empty needs its other name, so that is critical then. */
static bool is_named(question *of)
{
    tenon_ek *ek = &of->ek;
    return (!of->leaf.subject_empty || of->leaf.alternative_name_critical) &&
           take_text(of, tenoni_tpm_maker, ek->maker, &ek->maker_n) &&
           take_text(of, tenoni_tpm_model, ek->model, &ek->model_n) &&
           take_text(of, tenoni_tpm_version, ek->version, &ek->version_n);
}

static bool has_usage(const question *of)
{
    const tenoni_certificate *leaf = &of->leaf;
    bool named = tenoni_certificate_has_usage(leaf, tenoni_usage_ek, sizeof tenoni_usage_ek);
    bool may_be_unnamed = leaf->extended_usage.left == 0 && (of->policy->flags & TENON_EK_REQUIRE_USAGE) == 0;
    return (leaf->key_usage & (TENONI_USAGE_KEY_ENCIPHERMENT | TENONI_USAGE_KEY_AGREEMENT)) != 0 &&
           (named || may_be_unnamed) && !tenoni_certificate_has_usage(leaf, tenoni_usage_ak, sizeof tenoni_usage_ak);
}

static tenon_status check_certificate(question *of)
{
    return tenoni_verdict(!of->leaf.authority && has_usage(of) && is_named(of), TENON_RULE_31_EK_CERTIFICATE);
}

/* The modulus, or x || y. */
static void take_key(question *of, uint32_t kind, size_t head)
{
    tenoni_reader key = of->leaf.key.modulus_or_point;
    of->ek.kind = kind;
    of->ek.key_n = key.left - head;
    memcpy(of->ek.key, key.at + head, of->ek.key_n);
}

static tenon_status check_rsa(question *of)
{
    enum { SIZE = 256, HIGH = 0x80 };
    const tenoni_certified_key *key = &of->leaf.key;
    /* TPM 2.0 Part 2, 12.2.3.5: a TPM's exponent is 65537 unless it says so, and a credential is made with that. */
    if (key->modulus_or_point.left != SIZE || key->modulus_or_point.at[0] < HIGH || key->exponent != 65537 ||
        tenoni_roca_matches(key->modulus_or_point))
        return TENON_RULE_33_EK_KEY;
    take_key(of, TENON_EK_RSA_2048, 0);
    return TENON_OK;
}

static tenon_status check_key(question *of)
{
    const tenoni_certified_key *key = &of->leaf.key;
    if (key->kind == TENONI_KEY_RSA)
        return check_rsa(of);
    if (key->kind != TENONI_KEY_P256 && key->kind != TENONI_KEY_P384)
        return TENON_RULE_33_EK_KEY;
    tenon_status status = tenoni_as_rule(tenoni_certified_key_check(key), TENON_RULE_33_EK_KEY);
    if (status == TENON_OK)
        take_key(of, key->kind == TENONI_KEY_P256 ? TENON_EK_P256 : TENON_EK_P384, 1);
    return status;
}

/* What TPMs in software call themselves; NULL: anything. */
static const struct {
    const char *maker;
    const char *model;
} simulators[] = {
    {"id:00001014", NULL},                        /* libtpms */
    {NULL, "swtpm"},       {"id:49424D00", NULL}, /* IBM's software TPM */
    {"id:58595A20", NULL},                        /* XYZ, xCG: the TCG's reference code as it comes */
    {"id:58434720", NULL}, {"id:78434720", NULL},
};

static uint8_t lower(uint8_t c)
{
    return c >= 'A' && c <= 'Z' ? (uint8_t)(c - 'A' + 'a') : c;
}

static bool is_called(const uint8_t *text, size_t n, const char *name)
{
    if (name == NULL)
        return true;
    if (strlen(name) != n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (lower(text[i]) != lower((uint8_t)name[i]))
            return false;
    return true;
}

static bool is_simulator(const tenon_ek *ek)
{
    for (size_t i = 0; i < sizeof simulators / sizeof *simulators; i++)
        if (is_called(ek->maker, ek->maker_n, simulators[i].maker) &&
            is_called(ek->model, ek->model_n, simulators[i].model))
            return true;
    return false;
}

static tenon_status take_digests(question *of)
{
    tenoni_reader spki = of->leaf.key.spki;
    tenon_status status = tenon_sha256(&of->ek.id, spki.at, spki.left);
    return status == TENON_OK ? tenon_sha256(&of->ek.certificate, of->chain[0].bytes, of->chain[0].n) : status;
}

static tenon_status check_allowed(question *of)
{
    const tenon_ek_policy *policy = of->policy;
    tenon_status status = take_digests(of);
    bool allowed = (policy->flags & TENON_EK_ALLOW_SIMULATOR) != 0 || !is_simulator(&of->ek);
    for (size_t i = 0; i < policy->denied_count; i++)
        allowed = allowed && !tenoni_equal(policy->denied[i].bytes, of->ek.id.bytes, sizeof of->ek.id.bytes);
    return status == TENON_OK ? tenoni_verdict(allowed, TENON_RULE_33A_EK_ALLOWED) : status;
}

static const struct {
    tenon_status rule;
    tenon_status (*check)(question *of);
} rules[] = {
    {TENON_RULE_31_EK_CERTIFICATE, check_certificate},
    {TENON_RULE_33_EK_KEY, check_key},
    {TENON_RULE_33A_EK_ALLOWED, check_allowed},
};

static void note(tenon_report *report, tenon_status rule, bool held)
{
    tenoni_report_add(report, rule, held ? TENONI_HELD : TENONI_NOT_HELD);
}

/* One walk over the chain answers two rules. */
static tenon_status check_chain(question *of, tenon_report *report)
{
    const tenon_ek_policy *policy = of->policy;
    tenon_status status = tenoni_chain_verify(&of->leaf, of->chain, of->count, policy->roots, policy->roots_count,
                                              policy->now, TENON_RULE_32_EK_CHAIN);
    note(report, TENON_RULE_24_CERTIFICATE, status != TENON_RULE_24_CERTIFICATE);
    if (status != TENON_RULE_24_CERTIFICATE)
        note(report, TENON_RULE_32_EK_CHAIN, status == TENON_OK);
    return status;
}

static bool has_null(const tenon_bytes *bytes, size_t count)
{
    if (bytes == NULL)
        return count != 0;
    for (size_t i = 0; i < count; i++)
        if (bytes[i].bytes == NULL && bytes[i].n != 0)
            return true;
    return false;
}

static tenon_status check_arguments(const tenon_ek *out, const tenon_bytes *chain, size_t count,
                                    const tenon_ek_policy *policy)
{
    const uint32_t known = TENON_EK_REQUIRE_USAGE | TENON_EK_ALLOW_SIMULATOR;
    if (out == NULL || policy == NULL)
        return TENON_ERROR_NULL;
    if (policy->size != sizeof *policy)
        return TENON_ERROR_OPTIONS;
    if ((policy->flags & ~known) != 0)
        return TENON_ERROR_FLAGS;
    /* More than are taken are refused by their number, without a look at them. */
    bool many = count > TENON_CERTIFICATES_MAX;
    bool null = has_null(chain, many ? 0 : count) || has_null(policy->roots, policy->roots_count) ||
                (policy->denied == NULL && policy->denied_count != 0);
    return null ? TENON_ERROR_NULL : TENON_OK;
}

tenon_status tenon_ek_verify(tenon_ek *out, tenon_report *report, const tenon_bytes *chain, size_t count,
                             const tenon_ek_policy *policy)
{
    tenoni_report_begin(report);
    if (out != NULL)
        memset(out, 0, sizeof *out);
    tenon_status status = check_arguments(out, chain, count, policy);
    if (status != TENON_OK)
        return tenoni_report_end(report, status);
    question of = {.chain = chain, .count = count, .policy = policy};
    status = check_chain(&of, report);
    for (size_t i = 0; status == TENON_OK && i < sizeof rules / sizeof *rules; i++) {
        status = rules[i].check(&of);
        note(report, rules[i].rule, status == TENON_OK);
    }
    if (status == TENON_OK)
        *out = of.ek;
    return tenoni_report_end(report, status);
}

tenon_status tenon_ek_read(tenon_ek *out, const uint8_t *certificate, size_t n)
{
    const tenon_bytes chain = {certificate, n};
    question of = {.chain = &chain, .count = 1};
    if (out == NULL)
        return TENON_ERROR_NULL;
    memset(out, 0, sizeof *out);
    if (certificate == NULL && n != 0)
        return TENON_ERROR_NULL;
    tenon_status status = tenoni_certificate_read(&of.leaf, certificate, n);
    if (status == TENON_OK)
        status = check_key(&of);
    if (status == TENON_OK)
        status = take_digests(&of);
    if (status != TENON_OK)
        return status;
    (void)is_named(&of);
    *out = of.ek;
    return TENON_OK;
}
