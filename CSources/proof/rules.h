/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_RULES_H
#define TENONI_RULES_H

#include <stdbool.h>

#include "crypto/hash.h"
#include "crypto/structures.h"
#include "proof/certificate.h"
#include "proof/statement.h"
#include "tenon/verify.h"

/* Writes the report while a proof is checked; report may be NULL. */

/* tenon_check.held */
enum { TENONI_NOT_HELD = 0, TENONI_HELD = 1, TENONI_NOTED = 2 };

/* Until tenoni_report_end sets it, the verdict is a refusal. */
void tenoni_report_begin(tenon_report *report);
void tenoni_report_add(tenon_report *report, tenon_status rule, uint32_t held);

/* Returns the verdict. */
tenon_status tenoni_report_end(tenon_report *report, tenon_status verdict);

tenon_status tenoni_verdict(bool holds, tenon_status rule);

/*
 * A refusal by another module becomes the refusal of this rule, but an internal error, which is not the proof's fault,
 * keeps its code.
 */
tenon_status tenoni_as_rule(tenon_status status, tenon_status rule);

/* A proof that is being verified: the arguments, and what was read. */
typedef struct {
    const tenon_policy *policy;
    const tenon_digest *nonce;
    const tenon_public_key *key;
    size_t proof_n;
    tenon_status read; /* of the CBOR */
    tenoni_statement statement;
    bool whole; /* the next three were read to their ends */
    tenoni_area area;
    tenoni_attest attest;
    tenoni_tpm_signature signature;
    tenon_public_key point; /* of area */
    tenon_public_key ak;    /* all zeros without an AK */
    bool chain_was_checked;
    tenon_status chain;
    tenoni_certificate leaf; /* once the chain was checked and its forms are good */
    bool noted;              /* by the rule that is asked: it did not judge */
} tenoni_verification;

/*
 * A rule of tenon/verify.h. holds returns TENON_OK or the reason: the rule's code, except for rules 2 and 3 and for
 * what is not the proof's fault. Each rule is independent: it relies on nothing that holds only because of another
 * rule.
 */
typedef struct {
    tenon_status code;
    uint32_t trust; /* TENON_TRUST_*, both or one */
    tenon_status (*holds)(tenoni_verification *verification);
} tenoni_rule;

/* All of them in order, for tenon_proof_verify. */
extern const tenoni_rule tenoni_rules[];
extern const size_t tenoni_rules_count;

/* tenon_proof_verify with these rules; a test leaves one out. */
tenon_status tenoni_proof_verify(tenon_report *report, const uint8_t *proof, size_t proof_n, const tenon_digest *nonce,
                                 const tenon_public_key *key, const tenon_policy *policy, const tenoni_rule *rules,
                                 size_t count);

/*
 * Part 1, 16: the qualified Name of the object with this Name under a parent with this qualified Name, or in a
 * hierarchy. out takes the hash and two bytes more.
 */
tenon_status tenoni_qualified_name(uint8_t *out, tenoni_hash hash, tenoni_part parent, tenoni_part name);

/* Whether these are the bytes; compares in constant time. */
bool tenoni_is_bytes(tenoni_reader found, const void *expected, size_t n);

/* The rules about the evidence, and about who the AK is. */
tenon_status tenoni_rule_1_size(tenoni_verification *verification);
tenon_status tenoni_rule_2_cbor(tenoni_verification *verification);
tenon_status tenoni_rule_3_version(tenoni_verification *verification);
tenon_status tenoni_rule_4_trailing(tenoni_verification *verification);
tenon_status tenoni_rule_5_magic(tenoni_verification *verification);
tenon_status tenoni_rule_6_type(tenoni_verification *verification);
tenon_status tenoni_rule_7_nonce(tenoni_verification *verification);
tenon_status tenoni_rule_8_name_algorithm(tenoni_verification *verification);
tenon_status tenoni_rule_9_name(tenoni_verification *verification);
tenon_status tenoni_rule_10_qualified_name(tenoni_verification *verification);
tenon_status tenoni_rule_11_parent(tenoni_verification *verification);
tenon_status tenoni_rule_12_born_in_tpm(tenoni_verification *verification);
tenon_status tenoni_rule_13_signs_only(tenoni_verification *verification);
tenon_status tenoni_rule_14_authorised_by_user(tenoni_verification *verification);
tenon_status tenoni_rule_15_attributes(tenoni_verification *verification);
tenon_status tenoni_rule_16_p256(tenoni_verification *verification);
tenon_status tenoni_rule_17_coordinates(tenoni_verification *verification);
tenon_status tenoni_rule_18_on_curve(tenoni_verification *verification);
tenon_status tenoni_rule_19_public_key(tenoni_verification *verification);
tenon_status tenoni_rule_20_algorithm(tenoni_verification *verification);
tenon_status tenoni_rule_21_range(tenoni_verification *verification);
tenon_status tenoni_rule_22_certificate(tenoni_verification *verification);
tenon_status tenoni_rule_23_critical(tenoni_verification *verification);
tenon_status tenoni_rule_24_chain(tenoni_verification *verification);
tenon_status tenoni_rule_25_subject(tenoni_verification *verification);
tenon_status tenoni_rule_26_maker(tenoni_verification *verification);
tenon_status tenoni_rule_27_usage(tenoni_verification *verification);
tenon_status tenoni_rule_28_not_a_ca(tenoni_verification *verification);
tenon_status tenoni_rule_29_ak(tenoni_verification *verification);
tenon_status tenoni_rule_30_firmware(tenoni_verification *verification);
tenon_status tenoni_rule_31_another_key(tenoni_verification *verification);
tenon_status tenoni_rule_32_signature(tenoni_verification *verification);

#endif
