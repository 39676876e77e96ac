/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/secure.h"
#include "crypto/structures.h"
#include "proof/rules.h"
#include "tenon/p256.h"

/* The rules about who the AK is: a public area that is known, or the leaf of a chain. */

/* SEC 1, 2.3.3: 04 || x || y. */
static void take_key(tenoni_verification *verification)
{
    tenoni_reader point = verification->leaf.key.modulus_or_point;
    if (verification->leaf.key.kind == TENONI_KEY_P256 && point.left == TENON_POINT_SIZE)
        memcpy(verification->ak.bytes, point.at + 1, TENON_PUBLIC_KEY_SIZE);
}

static tenon_status check_chain(const tenoni_verification *verification, tenoni_certificate *leaf)
{
    const tenon_evidence *evidence = &verification->statement.evidence;
    const tenon_policy *policy = verification->policy;
    if (evidence->x5c_count == 0)
        return TENON_RULE_22_CERTIFICATE;
    tenon_status status = tenoni_chain_verify(leaf, evidence->x5c, evidence->x5c_count, policy->roots,
                                              policy->roots_count, policy->now, tenoni_usage_ak, TENON_RULE_24_CHAIN);
    return status == TENON_OK && policy->roots_count == 0 ? TENON_RULE_24_CHAIN : status;
}

/* One walk over the chain answers two rules. */
static tenon_status chain_of(tenoni_verification *verification)
{
    if (verification->chain_was_checked)
        return verification->chain;
    verification->chain_was_checked = true;
    verification->chain = check_chain(verification, &verification->leaf);
    take_key(verification);
    return verification->chain;
}

tenon_status tenoni_rule_22_certificate(tenoni_verification *verification)
{
    if (verification->policy->trust == TENON_TRUST_AK)
        return tenoni_verdict(verification->statement.evidence.x5c_count == 0, TENON_RULE_22_CERTIFICATE);
    return tenoni_verdict(chain_of(verification) != TENON_RULE_22_CERTIFICATE, TENON_RULE_22_CERTIFICATE);
}

tenon_status tenoni_rule_23_critical(tenoni_verification *verification)
{
    return tenoni_verdict(chain_of(verification) != TENON_RULE_23_CRITICAL, TENON_RULE_23_CRITICAL);
}

tenon_status tenoni_rule_24_chain(tenoni_verification *verification)
{
    return tenoni_as_rule(chain_of(verification), TENON_RULE_24_CHAIN);
}

static bool names_tpm(const tenoni_certificate *leaf)
{
    const uint8_t *const attributes[] = {tenoni_tpm_maker, tenoni_tpm_model, tenoni_tpm_version};
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
        tenoni_reader text;
        if (!tenoni_certificate_tpm_attribute(leaf, attributes[i], TENONI_TCG_OID_SIZE, &text))
            return false;
    }
    return true;
}

tenon_status tenoni_rule_25_subject(tenoni_verification *verification)
{
    const tenoni_certificate *leaf = &verification->leaf;
    bool named = leaf->subject_empty && leaf->alternative_name_critical && names_tpm(leaf);
    return tenoni_verdict(named, TENON_RULE_25_SUBJECT);
}

static bool is_listed(const tenoni_verification *verification)
{
    const tenon_policy *policy = verification->policy;
    tenoni_reader maker;
    if (!tenoni_certificate_tpm_attribute(&verification->leaf, tenoni_tpm_maker, sizeof tenoni_tpm_maker, &maker))
        return false;
    for (size_t i = 0; i < policy->makers_count; i++)
        if (tenoni_is_bytes(maker, policy->makers[i].bytes, policy->makers[i].n))
            return true;
    return false;
}

tenon_status tenoni_rule_26_maker(tenoni_verification *verification)
{
    bool listed = is_listed(verification);
    verification->noted = !listed && (verification->policy->flags & TENON_POLICY_REQUIRE_MAKER) == 0;
    return tenoni_verdict(listed || verification->noted, TENON_RULE_26_MAKER);
}

tenon_status tenoni_rule_27_usage(tenoni_verification *verification)
{
    const tenoni_certificate *leaf = &verification->leaf;
    bool is_for_ak = tenoni_certificate_has_usage(leaf, tenoni_usage_ak, TENONI_TCG_OID_SIZE) &&
                     !tenoni_certificate_has_usage(leaf, tenoni_usage_ek, TENONI_TCG_OID_SIZE) &&
                     (!leaf->has_key_usage || (leaf->key_usage & TENONI_USAGE_DIGITAL_SIGNATURE) != 0);
    return tenoni_verdict(is_for_ak, TENON_RULE_27_USAGE);
}

tenon_status tenoni_rule_28_not_a_ca(tenoni_verification *verification)
{
    return tenoni_verdict(!verification->leaf.authority, TENON_RULE_28_NOT_A_CA);
}

/* The area of an AK with this point. Only noDA is free: it may be set or not. */
static size_t write_expected(uint8_t *out, size_t n, const tenoni_public *found)
{
    tenoni_public expected = tenoni_attestation_template;
    expected.attributes &= found->attributes | ~(uint32_t)TENONI_NO_DA;
    expected.x = found->x;
    expected.y = found->y;
    tenoni_writer writer = tenoni_writer_over(out, n);
    tenoni_public_write(&writer, &expected);
    return writer.used;
}

static tenon_status check_area(const uint8_t *area, size_t n)
{
    uint8_t expected[TENONI_PUBLIC_MAX];
    tenoni_public found;
    tenon_public_key point;
    if (tenoni_public_read(&found, area, n) != TENON_OK || write_expected(expected, sizeof expected, &found) != n ||
        !tenoni_equal(area, expected, n))
        return TENON_RULE_29_AK;
    return tenoni_as_rule(tenoni_public_point(&point, &found), TENON_RULE_29_AK);
}

tenon_status tenoni_rule_29_ak(tenoni_verification *verification)
{
    const tenon_policy *policy = verification->policy;
    if (policy->trust == TENON_TRUST_AK)
        return check_area(policy->ak.bytes, policy->ak.n);
    return tenoni_as_rule(tenon_p256_check(&verification->ak), TENON_RULE_29_AK);
}

/* The qualified Name that the policy's AK has if its parent is the policy's EK, which is a primary key. */
static tenon_status qualify(uint8_t *out, const tenon_policy *policy)
{
    static const uint8_t endorsement[] = {0x40, 0x00, 0x00, 0x0b}; /* Part 2, 7.4 TPM_RH_ENDORSEMENT */
    const tenoni_part name = {policy->ek_name.bytes, policy->ek_name.n};
    const tenoni_hash hash = name.n == TENON_NAME_SIZE ? TENONI_SHA256 : TENONI_SHA384;
    uint8_t ek[2 + TENONI_HASH_MAX], ak[TENON_NAME_SIZE];
    tenon_status status = tenoni_public_name(ak, policy->ak.bytes, policy->ak.n);
    if (status == TENON_OK)
        status = tenoni_qualified_name(ek, hash, (tenoni_part){endorsement, sizeof endorsement}, name);
    if (status == TENON_OK)
        status = tenoni_qualified_name(out, TENONI_SHA256, (tenoni_part){ek, name.n}, (tenoni_part){ak, sizeof ak});
    return status;
}

/* Part 2, 10.12.12: what a signer of another hierarchy says is obfuscated. */
tenon_status tenoni_rule_30_firmware(tenoni_verification *verification)
{
    const tenon_policy *policy = verification->policy;
    const tenoni_attest *attest = &verification->attest;
    uint8_t expected[TENON_NAME_SIZE];
    verification->noted = true;
    if (policy->ek_name.n == 0)
        return TENON_OK;
    tenon_status status = qualify(expected, policy);
    if (status == TENON_ERROR_KEY_PUBLIC)
        return policy->firmware_min == 0 ? TENON_OK : TENON_ERROR_OPTIONS;
    if (status != TENON_OK)
        return status;
    verification->noted = !tenoni_is_bytes(attest->signer, expected, sizeof expected);
    /*
     * The policy demands a version that this AK cannot state, because it is in another hierarchy or below another EK.
     * That is an error, not a pass.
     */
    if (verification->noted)
        return policy->firmware_min == 0 ? TENON_OK : TENON_ERROR_OPTIONS;
    return tenoni_verdict(attest->firmware_version >= policy->firmware_min, TENON_RULE_30_FIRMWARE);
}

tenon_status tenon_ak_check(tenon_report *report, const uint8_t *area, size_t n)
{
    tenoni_report_begin(report);
    if (area == NULL && n != 0)
        return tenoni_report_end(report, TENON_ERROR_NULL);
    tenon_status status = check_area(area, n);
    tenoni_report_add(report, TENON_RULE_29_AK, status == TENON_OK ? TENONI_HELD : TENONI_NOT_HELD);
    return tenoni_report_end(report, status);
}
