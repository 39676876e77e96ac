/* SPDX-License-Identifier: Apache-2.0 */
#include "proof/rules.h"

#include <string.h>

#include "base/secure.h"
#include "crypto/quirks.h"
#include "crypto/structures.h"
#include "tenon/verify.h"

void tenoni_report_begin(tenon_report *report)
{
    if (report == NULL)
        return;
    memset(report, 0, sizeof *report);
    report->verdict = TENON_RULE_32_SIGNATURE;
}

void tenoni_report_add(tenon_report *report, tenon_status rule, uint32_t held)
{
    if (report != NULL && report->count < TENON_REPORT_MAX)
        report->checks[report->count++] = (tenon_check){.rule = rule, .held = held};
}

tenon_status tenoni_report_end(tenon_report *report, tenon_status verdict)
{
    if (report != NULL)
        report->verdict = verdict;
    return verdict;
}

tenon_status tenoni_verdict(bool holds, tenon_status rule)
{
    return holds ? TENON_OK : rule;
}

tenon_status tenoni_as_rule(tenon_status status, tenon_status rule)
{
    return status == TENON_OK || tenon_status_category(status) == TENON_CATEGORY_INTERNAL ? status : rule;
}

enum { ANY = TENON_TRUST_AK | TENON_TRUST_ROOTS };

/* In the order of tenon/verify.h. */
const tenoni_rule tenoni_rules[] = {
    {TENON_RULE_1_SIZE, ANY, tenoni_rule_1_size},
    {TENON_RULE_2_CBOR, ANY, tenoni_rule_2_cbor},
    {TENON_RULE_3_VERSION, ANY, tenoni_rule_3_version},
    {TENON_RULE_4_TRAILING, ANY, tenoni_rule_4_trailing},
    {TENON_RULE_5_MAGIC, ANY, tenoni_rule_5_magic},
    {TENON_RULE_6_TYPE, ANY, tenoni_rule_6_type},
    {TENON_RULE_7_NONCE, ANY, tenoni_rule_7_nonce},
    {TENON_RULE_8_NAME_ALGORITHM, ANY, tenoni_rule_8_name_algorithm},
    {TENON_RULE_9_NAME, ANY, tenoni_rule_9_name},
    {TENON_RULE_10_QUALIFIED_NAME, ANY, tenoni_rule_10_qualified_name},
    {TENON_RULE_11_PARENT, ANY, tenoni_rule_11_parent},
    {TENON_RULE_12_BORN_IN_TPM, ANY, tenoni_rule_12_born_in_tpm},
    {TENON_RULE_13_SIGNS_ONLY, ANY, tenoni_rule_13_signs_only},
    {TENON_RULE_14_AUTHORISED_BY_USER, ANY, tenoni_rule_14_authorised_by_user},
    {TENON_RULE_15_ATTRIBUTES, ANY, tenoni_rule_15_attributes},
    {TENON_RULE_16_P256, ANY, tenoni_rule_16_p256},
    {TENON_RULE_17_COORDINATES, ANY, tenoni_rule_17_coordinates},
    {TENON_RULE_18_ON_CURVE, ANY, tenoni_rule_18_on_curve},
    {TENON_RULE_19_PUBLIC_KEY, ANY, tenoni_rule_19_public_key},
    {TENON_RULE_20_ALGORITHM, ANY, tenoni_rule_20_algorithm},
    {TENON_RULE_21_RANGE, ANY, tenoni_rule_21_range},
    {TENON_RULE_22_CERTIFICATE, ANY, tenoni_rule_22_certificate},
    {TENON_RULE_23_CRITICAL, TENON_TRUST_ROOTS, tenoni_rule_23_critical},
    {TENON_RULE_24_CHAIN, TENON_TRUST_ROOTS, tenoni_rule_24_chain},
    {TENON_RULE_25_SUBJECT, TENON_TRUST_ROOTS, tenoni_rule_25_subject},
    {TENON_RULE_26_MAKER, TENON_TRUST_ROOTS, tenoni_rule_26_maker},
    {TENON_RULE_27_USAGE, TENON_TRUST_ROOTS, tenoni_rule_27_usage},
    {TENON_RULE_28_NOT_A_CA, TENON_TRUST_ROOTS, tenoni_rule_28_not_a_ca},
    {TENON_RULE_29_AK, ANY, tenoni_rule_29_ak},
    {TENON_RULE_30_FIRMWARE, TENON_TRUST_AK, tenoni_rule_30_firmware},
    {TENON_RULE_31_ANOTHER_KEY, ANY, tenoni_rule_31_another_key},
    {TENON_RULE_32_SIGNATURE, ANY, tenoni_rule_32_signature},
};

const size_t tenoni_rules_count = sizeof tenoni_rules / sizeof *tenoni_rules;

static tenon_status leaf_is_of_key(tenoni_verification *verification)
{
    return tenoni_verdict(tenoni_equal(&verification->ak, verification->key, sizeof verification->ak),
                          TENON_RULE_19_PUBLIC_KEY);
}

static const tenoni_rule ak_certificate_rules[] = {
    {TENON_RULE_22_CERTIFICATE, TENON_TRUST_ROOTS, tenoni_rule_22_certificate},
    {TENON_RULE_23_CRITICAL, TENON_TRUST_ROOTS, tenoni_rule_23_critical},
    {TENON_RULE_24_CHAIN, TENON_TRUST_ROOTS, tenoni_rule_24_chain},
    {TENON_RULE_25_SUBJECT, TENON_TRUST_ROOTS, tenoni_rule_25_subject},
    {TENON_RULE_26_MAKER, TENON_TRUST_ROOTS, tenoni_rule_26_maker},
    {TENON_RULE_27_USAGE, TENON_TRUST_ROOTS, tenoni_rule_27_usage},
    {TENON_RULE_28_NOT_A_CA, TENON_TRUST_ROOTS, tenoni_rule_28_not_a_ca},
    {TENON_RULE_29_AK, TENON_TRUST_ROOTS, tenoni_rule_29_ak},
    {TENON_RULE_19_PUBLIC_KEY, TENON_TRUST_ROOTS, leaf_is_of_key},
};

static bool is_null(const tenon_bytes *bytes)
{
    return bytes->bytes == NULL && bytes->n != 0;
}

static bool has_null(const tenon_bytes *list, size_t count)
{
    if (list == NULL)
        return count != 0;
    for (size_t i = 0; i < count; i++)
        if (is_null(&list[i]))
            return true;
    return false;
}

/* There is exactly one trust, and no field of the other one is set. */
static bool is_one_trust(const tenon_policy *policy)
{
    if (policy->trust == TENON_TRUST_AK)
        return policy->roots_count == 0 && policy->makers_count == 0;
    return policy->trust == TENON_TRUST_ROOTS && policy->ak.n == 0 && policy->ek_name.n == 0;
}

/* A demand that could never be enforced is an error of the caller. */
static bool is_whole(const tenon_policy *policy)
{
    enum { NAME_SHA384 = 2 + 48 }; /* a digest and its algorithm */
    const size_t parent = policy->parent_qualified_name.n, ek = policy->ek_name.n;
    return (policy->flags & ~(uint32_t)TENON_POLICY_REQUIRE_MAKER) == 0 &&
           (policy->flags == 0 || policy->makers_count != 0) && (parent == 0 || parent == TENON_NAME_SIZE) &&
           (ek == TENON_NAME_SIZE || ek == NAME_SHA384 || (ek == 0 && policy->firmware_min == 0));
}

static tenon_status check_policy(const tenon_policy *policy)
{
    if (policy->size != sizeof *policy || !is_one_trust(policy) || !is_whole(policy))
        return TENON_ERROR_OPTIONS;
    bool null = is_null(&policy->ak) || is_null(&policy->parent_qualified_name) || is_null(&policy->ek_name) ||
                has_null(policy->roots, policy->roots_count) || has_null(policy->makers, policy->makers_count);
    return null ? TENON_ERROR_NULL : TENON_OK;
}

/* The AK's point as its area has it; rule 29 checks that it is on the curve. */
static void read_ak(tenoni_verification *verification)
{
    tenoni_area area;
    if (verification->policy->trust != TENON_TRUST_AK)
        return;
    if (!tenoni_area_read(&area, verification->policy->ak.bytes, verification->policy->ak.n))
        return;
    tenoni_number_pad(verification->ak.bytes, TENON_SCALAR_SIZE, area.x);
    tenoni_number_pad(verification->ak.bytes + TENON_SCALAR_SIZE, TENON_SCALAR_SIZE, area.y);
}

/* Everything is read before the first rule is checked; what cannot be read is empty. */
static void read_all(tenoni_verification *verification, const uint8_t *proof, size_t n)
{
    const tenon_evidence *evidence = &verification->statement.evidence;
    verification->proof_n = n;
    verification->read = TENON_RULE_2_CBOR;
    if (n <= TENON_PROOF_MAX)
        verification->read = tenoni_statement_read(&verification->statement, proof, n);
    bool area = tenoni_area_read(&verification->area, evidence->public_area.bytes, evidence->public_area.n);
    bool attest = tenoni_attest_read(&verification->attest, evidence->certified.bytes, evidence->certified.n);
    bool signature =
        tenoni_tpm_signature_read(&verification->signature, evidence->signature.bytes, evidence->signature.n);
    verification->whole = area && attest && signature;
    tenoni_number_pad(verification->point.bytes, TENON_SCALAR_SIZE, verification->area.x);
    tenoni_number_pad(verification->point.bytes + TENON_SCALAR_SIZE, TENON_SCALAR_SIZE, verification->area.y);
    read_ak(verification);
}

static uint32_t line_of(tenon_status status, const tenoni_verification *verification)
{
    if (status != TENON_OK)
        return TENONI_NOT_HELD;
    return verification->noted ? TENONI_NOTED : TENONI_HELD;
}

/* The result is that of the last rule that was checked; without any rule it is a refusal. */
static tenon_status judge(tenon_report *report, tenoni_verification *verification, const tenoni_rule *rules,
                          size_t count)
{
    tenon_status status = TENON_RULE_32_SIGNATURE;
    for (size_t i = 0; i < count; i++) {
        if ((rules[i].trust & verification->policy->trust) == 0)
            continue;
        verification->noted = false;
        status = rules[i].holds(verification);
        tenoni_report_add(report, rules[i].code, line_of(status, verification));
        if (status != TENON_OK)
            return status;
        if (report != NULL && rules[i].code == TENON_RULE_11_PARENT)
            report->hierarchy_known = !verification->noted;
    }
    return status;
}

tenon_status tenoni_proof_verify(tenon_report *report, const uint8_t *proof, size_t proof_n, const tenon_digest *nonce,
                                 const tenon_public_key *key, const tenon_policy *policy, const tenoni_rule *rules,
                                 size_t count)
{
    tenoni_verification verification;
    tenoni_report_begin(report);
    if ((proof == NULL && proof_n != 0) || nonce == NULL || key == NULL || policy == NULL)
        return tenoni_report_end(report, TENON_ERROR_NULL);
    tenon_status status = check_policy(policy);
    if (status != TENON_OK)
        return tenoni_report_end(report, status);
    memset(&verification, 0, sizeof verification);
    verification.policy = policy;
    verification.nonce = nonce;
    verification.key = key;
    read_all(&verification, proof, proof_n);
    status = judge(report, &verification, rules, count);
    if (report != NULL)
        report->clock_safe = status == TENON_OK ? verification.attest.clock_safe : 0;
    return tenoni_report_end(report, status);
}

tenon_status tenon_proof_verify(tenon_report *report, const uint8_t *proof, size_t proof_n, const tenon_digest *nonce,
                                const tenon_public_key *key, const tenon_policy *policy)
{
    return tenoni_proof_verify(report, proof, proof_n, nonce, key, policy, tenoni_rules, tenoni_rules_count);
}

/* A chain that is too long is left empty, and rule 22 refuses an empty chain, too. */
static tenon_status take_chain(tenoni_verification *verification, const tenon_bytes *chain, size_t count)
{
    tenon_evidence *evidence = &verification->statement.evidence;
    for (size_t i = 0; i < count && count <= TENON_CERTIFICATES_MAX; i++) {
        if (is_null(&chain[i]))
            return TENON_ERROR_NULL;
        evidence->x5c[evidence->x5c_count++] = chain[i];
    }
    return TENON_OK;
}

tenon_status tenon_ak_certificate_verify(tenon_report *report, const tenon_bytes *chain, size_t count,
                                         const tenon_public_key *ak, const tenon_policy *policy)
{
    tenoni_verification verification;
    tenoni_report_begin(report);
    if ((chain == NULL && count != 0) || ak == NULL || policy == NULL)
        return tenoni_report_end(report, TENON_ERROR_NULL);
    tenon_status status = check_policy(policy);
    if (status == TENON_OK && policy->trust != TENON_TRUST_ROOTS)
        status = TENON_ERROR_OPTIONS;
    memset(&verification, 0, sizeof verification);
    verification.policy = policy;
    verification.key = ak;
    if (status == TENON_OK)
        status = take_chain(&verification, chain, count);
    if (status == TENON_OK)
        status = judge(report, &verification, ak_certificate_rules,
                       sizeof ak_certificate_rules / sizeof *ak_certificate_rules);
    return tenoni_report_end(report, status);
}
