/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/secure.h"
#include "base/signature.h"
#include "crypto/quirks.h"
#include "crypto/structures.h"
#include "proof/rules.h"
#include "tenon/digest.h"
#include "tenon/p256.h"

/* The rules about what was certified, and about the signature. */

bool tenoni_is_bytes(tenoni_reader found, const void *expected, size_t n)
{
    return found.left == n && tenoni_equal(found.at, expected, n);
}

tenon_status tenoni_rule_1_size(tenoni_verification *verification)
{
    bool fits = verification->proof_n <= TENON_PROOF_MAX && tenoni_evidence_fits(&verification->statement.evidence);
    return tenoni_verdict(fits, TENON_RULE_1_SIZE);
}

tenon_status tenoni_rule_2_cbor(tenoni_verification *verification)
{
    return verification->read;
}

tenon_status tenoni_rule_3_version(tenoni_verification *verification)
{
    return tenoni_verdict(tenoni_statement_is_ours(&verification->statement), TENON_ERROR_PROOF_FORM);
}

tenon_status tenoni_rule_4_trailing(tenoni_verification *verification)
{
    return tenoni_verdict(verification->whole, TENON_RULE_4_TRAILING);
}

tenon_status tenoni_rule_5_magic(tenoni_verification *verification)
{
    return tenoni_verdict(verification->attest.magic == TENONI_ATTEST_MAGIC, TENON_RULE_5_MAGIC);
}

tenon_status tenoni_rule_6_type(tenoni_verification *verification)
{
    return tenoni_verdict(verification->attest.type == TENONI_ATTEST_CERTIFY, TENON_RULE_6_TYPE);
}

tenon_status tenoni_rule_7_nonce(tenoni_verification *verification)
{
    const tenon_digest *nonce = verification->nonce;
    return tenoni_verdict(tenoni_is_bytes(verification->attest.extra_data, nonce->bytes, sizeof nonce->bytes),
                          TENON_RULE_7_NONCE);
}

tenon_status tenoni_rule_8_name_algorithm(tenoni_verification *verification)
{
    return tenoni_verdict(verification->area.name_algorithm == TENONI_ALG_SHA256, TENON_RULE_8_NAME_ALGORITHM);
}

tenon_status tenoni_rule_9_name(tenoni_verification *verification)
{
    uint8_t name[TENON_NAME_SIZE];
    const tenon_bytes *area = &verification->statement.evidence.public_area;
    tenon_status status = tenoni_public_name(name, area->bytes, area->n);
    if (status == TENON_OK && !tenoni_is_bytes(verification->attest.name, name, sizeof name))
        status = TENON_RULE_9_NAME;
    return tenoni_as_rule(status, TENON_RULE_9_NAME);
}

/* Part 1, 16: the qualified Name of an object without a parent is its Name. */
tenon_status tenoni_rule_10_qualified_name(tenoni_verification *verification)
{
    tenoni_reader qualified = verification->attest.qualified_name, name = verification->attest.name;
    bool differs = qualified.left == TENON_NAME_SIZE && !tenoni_is_bytes(name, qualified.at, qualified.left);
    return tenoni_verdict(differs, TENON_RULE_10_QUALIFIED_NAME);
}

tenon_status tenoni_qualified_name(uint8_t *out, tenoni_hash hash, tenoni_part parent, tenoni_part name)
{
    const tenoni_part parts[] = {parent, name};
    const uint16_t algorithm = hash == TENONI_SHA256 ? TENONI_ALG_SHA256 : TENONI_ALG_SHA384;
    out[0] = (uint8_t)(algorithm >> 8);
    out[1] = (uint8_t)algorithm;
    return tenoni_hash_parts(hash, out + 2, parts, sizeof parts / sizeof *parts);
}

tenon_status tenoni_rule_11_parent(tenoni_verification *verification)
{
    const tenon_bytes *parent = &verification->policy->parent_qualified_name;
    const tenoni_reader *name = &verification->attest.name;
    uint8_t expected[TENON_NAME_SIZE];
    verification->noted = parent->n == 0;
    if (verification->noted)
        return TENON_OK;
    tenon_status status = tenoni_qualified_name(expected, TENONI_SHA256, (tenoni_part){parent->bytes, parent->n},
                                                (tenoni_part){name->at, name->left});
    if (status == TENON_OK && !tenoni_is_bytes(verification->attest.qualified_name, expected, sizeof expected))
        status = TENON_RULE_11_PARENT;
    return tenoni_as_rule(status, TENON_RULE_11_PARENT);
}

/* Exactly these are set among the bits that rules 12 to 15 speak about. */
static bool has(const tenoni_verification *verification, uint32_t bits, uint32_t set)
{
    return (verification->area.attributes & bits) == set;
}

tenon_status tenoni_rule_12_born_in_tpm(tenoni_verification *verification)
{
    const uint32_t born = TENONI_FIXED_TPM | TENONI_FIXED_PARENT | TENONI_SENSITIVE_DATA_ORIGIN;
    return tenoni_verdict(has(verification, born, born), TENON_RULE_12_BORN_IN_TPM);
}

tenon_status tenoni_rule_13_signs_only(tenoni_verification *verification)
{
    const uint32_t uses =
        TENONI_SIGN | TENONI_DECRYPT | TENONI_RESTRICTED | TENONI_ENCRYPTED_DUPLICATION | TENONI_ST_CLEAR;
    return tenoni_verdict(has(verification, uses, TENONI_SIGN), TENON_RULE_13_SIGNS_ONLY);
}

tenon_status tenoni_rule_14_authorised_by_user(tenoni_verification *verification)
{
    const uint32_t roles = TENONI_USER_WITH_AUTH | TENONI_ADMIN_WITH_POLICY;
    bool by_user = has(verification, roles, TENONI_USER_WITH_AUTH) && verification->area.policy.left == 0;
    return tenoni_verdict(by_user, TENON_RULE_14_AUTHORISED_BY_USER);
}

tenon_status tenoni_rule_15_attributes(tenoni_verification *verification)
{
    const uint32_t allowed = TENONI_FIXED_TPM | TENONI_FIXED_PARENT | TENONI_SENSITIVE_DATA_ORIGIN |
                             TENONI_USER_WITH_AUTH | TENONI_NO_DA | TENONI_SIGN;
    return tenoni_verdict(has(verification, ~allowed, 0), TENON_RULE_15_ATTRIBUTES);
}

/* Symmetric, scheme, curve and kdf: of all that there are, these two are taken. */
tenon_status tenoni_rule_16_p256(tenoni_verification *verification)
{
    static const uint8_t unbound[] = {0, TENONI_ALG_NULL, 0, TENONI_ALG_NULL, 0, TENONI_ECC_P256, 0, TENONI_ALG_NULL};
    static const uint8_t ecdsa[] = {0, TENONI_ALG_NULL, 0, TENONI_ALG_ECDSA, 0, TENONI_ALG_SHA256,
                                    0, TENONI_ECC_P256, 0, TENONI_ALG_NULL};
    tenoni_reader found = verification->area.parameters;
    bool is_p256 = verification->area.type == TENONI_ALG_ECC &&
                   (tenoni_is_bytes(found, unbound, sizeof unbound) || tenoni_is_bytes(found, ecdsa, sizeof ecdsa));
    return tenoni_verdict(is_p256, TENON_RULE_16_P256);
}

tenon_status tenoni_rule_17_coordinates(tenoni_verification *verification)
{
    bool fit = tenoni_number_fits(verification->area.x) && tenoni_number_fits(verification->area.y);
    return tenoni_verdict(fit, TENON_RULE_17_COORDINATES);
}

tenon_status tenoni_rule_18_on_curve(tenoni_verification *verification)
{
    return tenoni_as_rule(tenon_p256_check(&verification->point), TENON_RULE_18_ON_CURVE);
}

tenon_status tenoni_rule_19_public_key(tenoni_verification *verification)
{
    return tenoni_verdict(tenoni_equal(&verification->point, verification->key, sizeof verification->point),
                          TENON_RULE_19_PUBLIC_KEY);
}

tenon_status tenoni_rule_20_algorithm(tenoni_verification *verification)
{
    bool is_ecdsa =
        verification->signature.algorithm == TENONI_ALG_ECDSA && verification->signature.hash == TENONI_ALG_SHA256;
    return tenoni_verdict(is_ecdsa, TENON_RULE_20_ALGORITHM);
}

static tenon_signature signature_of(const tenoni_verification *verification)
{
    tenon_signature signature;
    tenoni_number_pad(signature.bytes, TENON_SCALAR_SIZE, verification->signature.r);
    tenoni_number_pad(signature.bytes + TENON_SCALAR_SIZE, TENON_SCALAR_SIZE, verification->signature.s);
    return signature;
}

tenon_status tenoni_rule_21_range(tenoni_verification *verification)
{
    tenon_signature signature = signature_of(verification);
    bool in_range = tenoni_number_fits(verification->signature.r) && tenoni_number_fits(verification->signature.s) &&
                    tenoni_signature_in_range(&signature);
    return tenoni_verdict(in_range, TENON_RULE_21_RANGE);
}

tenon_status tenoni_rule_31_another_key(tenoni_verification *verification)
{
    return tenoni_verdict(!tenoni_equal(&verification->ak, &verification->point, sizeof verification->ak),
                          TENON_RULE_31_ANOTHER_KEY);
}

tenon_status tenoni_rule_32_signature(tenoni_verification *verification)
{
    const tenon_bytes *certified = &verification->statement.evidence.certified;
    tenon_signature signature = signature_of(verification);
    tenon_digest digest;
    tenon_status status = tenon_sha256(&digest, certified->bytes, certified->n);
    if (status == TENON_OK)
        status = tenon_p256_verify(&verification->ak, &digest, &signature);
    return tenoni_as_rule(status, TENON_RULE_32_SIGNATURE);
}
