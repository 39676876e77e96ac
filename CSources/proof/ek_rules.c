/* SPDX-License-Identifier: Apache-2.0 */
#include "proof/ek_rules.h"

#include <string.h>

#include "base/secure.h"
#include "crypto/quirks.h"
#include "proof/name.h"
#include "proof/rules.h"
#include "tenon/digest.h"

static void take_text(const tenoni_ek_verification *of, const uint8_t *oid, uint8_t *out, size_t *n)
{
    tenoni_reader text;
    if (!tenoni_certificate_tpm_attribute(&of->leaf, oid, TENONI_TCG_OID_SIZE, &text) || text.left > TENON_EK_TEXT_MAX)
        return;
    memcpy(out, text.at, text.left);
    *n = text.left;
}

/* Takes names and digests from a leaf whose form is good. */
static tenon_status take_leaf(tenoni_ek_verification *of)
{
    tenon_ek *ek = &of->ek;
    tenoni_reader spki = of->leaf.key.spki;
    take_text(of, tenoni_tpm_maker, ek->maker, &ek->maker_n);
    take_text(of, tenoni_tpm_model, ek->model, &ek->model_n);
    take_text(of, tenoni_tpm_version, ek->version, &ek->version_n);
    tenon_status status = tenon_sha256(&ek->id, spki.at, spki.left);
    return status == TENON_OK ? tenon_sha256(&ek->certificate, of->chain[0].bytes, of->chain[0].n) : status;
}

/* One walk over the chain answers three rules. */
static void walk(tenoni_ek_verification *of)
{
    const tenon_ek_policy *policy = of->policy;
    of->walked = tenoni_chain_verify(&of->leaf, of->chain, of->count, policy->roots, policy->roots_count, policy->now,
                                     tenoni_usage_ek, TENON_RULE_33_EK_CHAIN);
    tenon_status status = of->walked == TENON_RULE_22_CERTIFICATE ? TENON_OK : take_leaf(of);
    if (status != TENON_OK)
        of->walked = status;
}

static tenon_status check_forms(tenoni_ek_verification *of)
{
    return tenoni_verdict(of->walked != TENON_RULE_22_CERTIFICATE, TENON_RULE_22_CERTIFICATE);
}

static tenon_status check_critical(tenoni_ek_verification *of)
{
    return tenoni_verdict(of->walked != TENON_RULE_23_CRITICAL, TENON_RULE_23_CRITICAL);
}

static tenon_status check_chain(tenoni_ek_verification *of)
{
    return tenoni_as_rule(of->walked, TENON_RULE_33_EK_CHAIN);
}

/* TCG EK Credential Profile, 3.2. If the subject is empty, the alternative name stands for it, and must be critical. */
static bool is_named(const tenoni_ek_verification *of)
{
    return (!of->leaf.subject_empty || of->leaf.alternative_name_critical) && of->ek.maker_n != 0 &&
           of->ek.model_n != 0 && of->ek.version_n != 0;
}

static bool has_usage(const tenoni_ek_verification *of)
{
    const tenoni_certificate *leaf = &of->leaf;
    bool named = tenoni_certificate_has_usage(leaf, tenoni_usage_ek, sizeof tenoni_usage_ek);
    bool may_be_unnamed = leaf->extended_usage.left == 0 && (of->policy->flags & TENON_EK_REQUIRE_USAGE) == 0;
    return (leaf->key_usage & (TENONI_USAGE_KEY_ENCIPHERMENT | TENONI_USAGE_KEY_AGREEMENT)) != 0 &&
           (named || may_be_unnamed) && !tenoni_certificate_has_usage(leaf, tenoni_usage_ak, sizeof tenoni_usage_ak);
}

static tenon_status check_certificate(tenoni_ek_verification *of)
{
    return tenoni_verdict(!of->leaf.authority && has_usage(of) && is_named(of), TENON_RULE_34_EK_CERTIFICATE);
}

static tenon_status check_not_oaep(tenoni_ek_verification *of)
{
    return tenoni_verdict(of->leaf.key.kind != TENONI_KEY_RSA_OAEP, TENON_RULE_35_NOT_OAEP);
}

/* The modulus, or x || y. */
static void take_key(tenoni_ek_verification *of, uint32_t kind, size_t head)
{
    tenoni_reader key = of->leaf.key.modulus_or_point;
    of->ek.kind = kind;
    of->ek.key_n = key.left - head;
    memcpy(of->ek.key, key.at + head, of->ek.key_n);
}

static tenon_status check_rsa(tenoni_ek_verification *of)
{
    enum { SIZE = 256, HIGH = 0x80 };
    const tenoni_certified_key *key = &of->leaf.key;
    /* TPM 2.0 Part 2, 12.2.3.5: a TPM's exponent is 65537 unless it says so, and a credential is made with that. */
    if (key->modulus_or_point.left != SIZE || key->modulus_or_point.at[0] < HIGH || key->exponent != 65537 ||
        tenoni_roca_matches(key->modulus_or_point))
        return TENON_RULE_36_EK_KEY;
    take_key(of, TENON_EK_RSA_2048, 0);
    return TENON_OK;
}

static tenon_status check_key(tenoni_ek_verification *of)
{
    const tenoni_certified_key *key = &of->leaf.key;
    if (key->kind == TENONI_KEY_RSA)
        return check_rsa(of);
    if (key->kind != TENONI_KEY_P256 && key->kind != TENONI_KEY_P384)
        return TENON_RULE_36_EK_KEY;
    tenon_status status = tenoni_as_rule(tenoni_certified_key_check(key), TENON_RULE_36_EK_KEY);
    if (status == TENON_OK)
        take_key(of, key->kind == TENONI_KEY_P256 ? TENON_EK_P256 : TENON_EK_P384, 1);
    return status;
}

static uint8_t lower(uint8_t c)
{
    return c >= 'A' && c <= 'Z' ? (uint8_t)(c - 'A' + 'a') : c;
}

static bool is_called(const uint8_t *text, size_t n, tenon_bytes name)
{
    if (name.n != 0 && name.n != n)
        return false;
    for (size_t i = 0; i < name.n; i++)
        if (lower(text[i]) != lower(name.bytes[i]))
            return false;
    return true;
}

static bool fits(const tenon_ek *ek, const tenon_ek_pattern *patterns, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (is_called(ek->maker, ek->maker_n, patterns[i].maker) &&
            is_called(ek->model, ek->model_n, patterns[i].model) &&
            is_called(ek->version, ek->version_n, patterns[i].version))
            return true;
    return false;
}

static tenon_status check_allowed(tenoni_ek_verification *of)
{
    const tenon_ek_policy *policy = of->policy;
    bool allowed =
        !fits(&of->ek, policy->denied_models, policy->denied_models_count) &&
        ((policy->flags & TENON_EK_ALLOW_SIMULATOR) != 0 || !fits(&of->ek, tenoni_simulators, tenoni_simulators_count));
    for (size_t i = 0; i < policy->denied_count; i++)
        allowed = allowed && !tenoni_equal(policy->denied[i].bytes, of->ek.id.bytes, sizeof of->ek.id.bytes);
    return tenoni_verdict(allowed, TENON_RULE_37_EK_ALLOWED);
}

/* The order of tenon/activate.h. */
const tenoni_ek_rule tenoni_ek_rules[] = {
    {TENON_RULE_22_CERTIFICATE, check_forms},  {TENON_RULE_23_CRITICAL, check_critical},
    {TENON_RULE_33_EK_CHAIN, check_chain},     {TENON_RULE_34_EK_CERTIFICATE, check_certificate},
    {TENON_RULE_35_NOT_OAEP, check_not_oaep},  {TENON_RULE_36_EK_KEY, check_key},
    {TENON_RULE_37_EK_ALLOWED, check_allowed},
};

const size_t tenoni_ek_rules_count = sizeof tenoni_ek_rules / sizeof *tenoni_ek_rules;

static bool has_null(const tenon_bytes *bytes, size_t count)
{
    if (bytes == NULL)
        return count != 0;
    for (size_t i = 0; i < count; i++)
        if (bytes[i].bytes == NULL && bytes[i].n != 0)
            return true;
    return false;
}

static bool denials_have_null(const tenon_ek_policy *policy)
{
    if ((policy->denied == NULL && policy->denied_count != 0) ||
        (policy->denied_models == NULL && policy->denied_models_count != 0))
        return true;
    for (size_t i = 0; i < policy->denied_models_count; i++) {
        const tenon_ek_pattern *pattern = &policy->denied_models[i];
        if (has_null(&pattern->maker, 1) || has_null(&pattern->model, 1) || has_null(&pattern->version, 1))
            return true;
    }
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
    /* A chain that is too long is refused by its length; its certificates are not read. */
    bool many = count > TENON_CERTIFICATES_MAX;
    bool null =
        has_null(chain, many ? 0 : count) || has_null(policy->roots, policy->roots_count) || denials_have_null(policy);
    return null ? TENON_ERROR_NULL : TENON_OK;
}

tenon_status tenoni_ek_verify(tenon_ek *out, tenon_report *report, const tenon_bytes *chain, size_t count,
                              const tenon_ek_policy *policy, const tenoni_ek_rule *rules, size_t rules_count)
{
    tenoni_report_begin(report);
    if (out != NULL)
        memset(out, 0, sizeof *out);
    tenon_status status = check_arguments(out, chain, count, policy);
    if (status != TENON_OK)
        return tenoni_report_end(report, status);
    tenoni_ek_verification of = {.chain = chain, .count = count, .policy = policy};
    walk(&of);
    for (size_t i = 0; status == TENON_OK && i < rules_count; i++) {
        status = rules[i].holds(&of);
        tenoni_report_add(report, rules[i].code, status == TENON_OK ? TENONI_HELD : TENONI_NOT_HELD);
    }
    if (status == TENON_OK)
        *out = of.ek;
    return tenoni_report_end(report, status);
}

tenon_status tenon_ek_verify(tenon_ek *out, tenon_report *report, const tenon_bytes *chain, size_t count,
                             const tenon_ek_policy *policy)
{
    return tenoni_ek_verify(out, report, chain, count, policy, tenoni_ek_rules, tenoni_ek_rules_count);
}

tenon_status tenon_ek_read(tenon_ek *out, const uint8_t *certificate, size_t n)
{
    const tenon_bytes chain = {certificate, n};
    tenoni_ek_verification of = {.chain = &chain, .count = 1};
    if (out == NULL)
        return TENON_ERROR_NULL;
    memset(out, 0, sizeof *out);
    if (certificate == NULL && n != 0)
        return TENON_ERROR_NULL;
    tenon_status status = tenoni_certificate_read(&of.leaf, certificate, n);
    if (status == TENON_OK)
        status = check_not_oaep(&of);
    if (status == TENON_OK)
        status = check_key(&of);
    if (status == TENON_OK)
        status = take_leaf(&of);
    if (status == TENON_OK)
        *out = of.ek;
    return status;
}
