/* SPDX-License-Identifier: Apache-2.0 */
#include "proof_rig.h"

static proof_rig built;

/* ---- Arguments ---- */

typedef struct {
    const uint8_t *proof;
    size_t proof_n;
    const tenon_digest *nonce;
    const tenon_public_key *key;
    const tenon_policy *policy;
} arguments;

static void check_argument(arguments given, tenon_status expected)
{
    tenon_report report;
    memset(&report, 0x5a, sizeof report);
    CHECK_STATUS(tenon_proof_verify(&report, given.proof, given.proof_n, given.nonce, given.key, given.policy),
                 expected);
    CHECK_STATUS(report.verdict, expected);
    CHECK_NUMBER(report.count, 0);
    CHECK_STATUS(tenon_proof_verify(NULL, given.proof, given.proof_n, given.nonce, given.key, given.policy), expected);
}

TEST(verify_null_arguments)
{
    rig_build(&built, RIG_AREA, NULL);
    tenon_policy policy = rig_policy(&built);
    const arguments good = {built.proof, built.proof_n, &built.nonce, &built.submitted, &policy};
    check_argument((arguments){NULL, good.proof_n, good.nonce, good.key, good.policy}, TENON_ERROR_NULL);
    check_argument((arguments){good.proof, good.proof_n, NULL, good.key, good.policy}, TENON_ERROR_NULL);
    check_argument((arguments){good.proof, good.proof_n, good.nonce, NULL, good.policy}, TENON_ERROR_NULL);
    check_argument((arguments){good.proof, good.proof_n, good.nonce, good.key, NULL}, TENON_ERROR_NULL);
    policy.ak.bytes = NULL;
    check_argument(good, TENON_ERROR_NULL);
    CHECK_STATUS(tenon_ak_check(NULL, NULL, 1), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_proof_verify(NULL, NULL, 0, &built.nonce, &built.submitted, &policy), TENON_ERROR_NULL);
    policy = rig_policy(&built);
    CHECK_STATUS(tenon_proof_verify(NULL, NULL, 0, &built.nonce, &built.submitted, &policy),
                 TENON_ERROR_CBOR_TRUNCATED);
}

static void check_policy(tenon_policy policy, tenon_status expected)
{
    check_argument((arguments){built.proof, built.proof_n, &built.nonce, &built.submitted, &policy}, expected);
}

/* With these changes, a good policy is refused. */
#define REFUSED(changes, expected) (policy = good, (void)(changes), check_policy(policy, expected))

TEST(verify_policies)
{
    static const uint8_t bytes[64];
    const tenon_bytes some = {bytes, sizeof bytes}, broken = {NULL, 1};
    rig_build(&built, RIG_AREA, NULL);
    const tenon_policy good = rig_policy(&built), zeros = {0};
    tenon_policy policy;
    check_policy(zeros, TENON_ERROR_OPTIONS);
    REFUSED(policy.size--, TENON_ERROR_OPTIONS);
    REFUSED(policy.size++, TENON_ERROR_OPTIONS);
    REFUSED(policy.flags = TENON_POLICY_REQUIRE_MAKER, TENON_ERROR_OPTIONS); /* without makers */
    REFUSED(policy.flags = 2, TENON_ERROR_OPTIONS);
    static const uint32_t trusts[] = {0, TENON_TRUST_ROOTS, 3, 4, 0x80000001};
    for (size_t i = 0; i < COUNT(trusts); i++) {
        test_about("trust %u", (unsigned)trusts[i]);
        REFUSED(policy.trust = trusts[i], TENON_ERROR_OPTIONS); /* for TENON_TRUST_ROOTS as policy.ak is there */
        if (trusts[i] != TENON_TRUST_ROOTS)
            REFUSED((policy.trust = trusts[i], policy.ak.n = 0), TENON_ERROR_OPTIONS);
    }
    REFUSED((policy.roots = &some, policy.roots_count = 1), TENON_ERROR_OPTIONS);
    policy.trust = TENON_TRUST_ROOTS;
    check_policy(policy, TENON_ERROR_OPTIONS);
    policy.ak = (tenon_bytes){NULL, 0};
    policy.roots = &broken;
    check_policy(policy, TENON_ERROR_NULL);
    policy.roots = NULL;
    check_policy(policy, TENON_ERROR_NULL);
    for (size_t n = 1; n < sizeof bytes; n++) {
        test_about("a Name of %zu bytes", n);
        if (n != TENON_NAME_SIZE)
            REFUSED((policy.parent_qualified_name = (tenon_bytes){bytes, n}), TENON_ERROR_OPTIONS);
        if (n != TENON_NAME_SIZE && n != 2 + 48)
            REFUSED((policy.ek_name = (tenon_bytes){bytes, n}), TENON_ERROR_OPTIONS);
    }
    REFUSED((policy.parent_qualified_name = (tenon_bytes){NULL, TENON_NAME_SIZE}), TENON_ERROR_NULL);
}

/* Demands that could never be enforced, and options of the other kind of trust. */
TEST(verify_policies_of_makers_and_firmware)
{
    static const uint8_t bytes[TENON_NAME_SIZE];
    const tenon_bytes some = {bytes, sizeof bytes}, broken = {NULL, 1};
    rig_build(&built, RIG_AREA, NULL);
    const tenon_policy good = rig_policy(&built), roots = {.size = sizeof roots, .trust = TENON_TRUST_ROOTS};
    tenon_policy policy;
    REFUSED((policy.makers = &some, policy.makers_count = 1), TENON_ERROR_OPTIONS);
    policy.flags = TENON_POLICY_REQUIRE_MAKER;
    check_policy(policy, TENON_ERROR_OPTIONS);
    REFUSED(policy.firmware_min = 1, TENON_ERROR_OPTIONS);
    policy.ek_name = (tenon_bytes){NULL, TENON_NAME_SIZE};
    check_policy(policy, TENON_ERROR_NULL);
    REFUSED((policy = roots, policy.ek_name = some), TENON_ERROR_OPTIONS);
    REFUSED((policy = roots, policy.flags = TENON_POLICY_REQUIRE_MAKER), TENON_ERROR_OPTIONS);
    policy.makers_count = 1;
    check_policy(policy, TENON_ERROR_NULL);
    policy.makers = &broken;
    check_policy(policy, TENON_ERROR_NULL);
}

/* A missing rule never leads to acceptance. */
TEST(verify_without_rules)
{
    rig_build(&built, RIG_AREA, NULL);
    tenon_policy policy = rig_policy(&built);
    CHECK_STATUS(
        tenoni_proof_verify(NULL, built.proof, built.proof_n, &built.nonce, &built.submitted, &policy, NULL, 0),
        TENON_RULE_32_SIGNATURE);
}

/* ---- The report ---- */

static void unsafe_clock(proof_rig *at) { at->attest.safe = 0; }

static void known_parent(proof_rig *at)
{
    rig_hex(&at->parent_qualified_name, "000b");
    support_bytes_pad(&at->parent_qualified_name, 32);
}

/* The rules of this kind of trust, in order, all fulfilled. */
static void check_lines(const tenon_report *report, bool hierarchy_known, bool firmware_known)
{
    size_t line = 0;
    for (size_t i = 0; i < tenoni_rules_count; i++) {
        if ((tenoni_rules[i].trust & TENON_TRUST_AK) == 0)
            continue;
        bool noted = (tenoni_rules[i].code == TENON_RULE_11_PARENT && !hierarchy_known) ||
                     (tenoni_rules[i].code == TENON_RULE_30_FIRMWARE && !firmware_known);
        CHECK_NUMBER(report->checks[line].rule, tenoni_rules[i].code);
        CHECK_NUMBER(report->checks[line++].held, noted ? 2 : 1);
    }
    CHECK_NUMBER(report->count, line);
    CHECK_NUMBER(report->hierarchy_known, hierarchy_known);
    CHECK_OK(report->verdict);
}

TEST(verify_report_of_what_held)
{
    tenon_report report;
    rig_build(&built, RIG_AREA, NULL);
    CHECK_OK(rig_verify(&report, &built));
    check_lines(&report, false, false);
    CHECK_NUMBER(report.clock_safe, 1);
    CHECK_OK(rig_verify(NULL, &built));
    rig_build(&built, RIG_ATTEST, unsafe_clock);
    CHECK_OK(rig_verify(&report, &built));
    CHECK_NUMBER(report.clock_safe, 0);
    rig_build(&built, RIG_AREA, known_parent);
    CHECK_OK(rig_verify(&report, &built));
    check_lines(&report, true, false);
    rig_build(&built, RIG_ATTEST, rig_sign_under_ek);
    CHECK_OK(rig_verify(&report, &built));
    check_lines(&report, false, true);
    CHECK(tenoni_rules_count < TENON_REPORT_MAX);
}

static void other_nonce(proof_rig *at) { at->attest.extra.bytes[0] ^= 0x80; }
static void other_version(proof_rig *at) { at->version = "2.1"; }

TEST(verify_report_ends_where_a_rule_did_not_hold)
{
    tenon_report report;
    rig_build(&built, RIG_ATTEST, other_nonce);
    CHECK_STATUS(rig_verify(&report, &built), TENON_RULE_7_NONCE);
    CHECK_STATUS(report.verdict, TENON_RULE_7_NONCE);
    CHECK(report.count > 1);
    for (size_t i = 0; i < report.count; i++)
        CHECK_NUMBER(report.checks[i].held, i + 1 < report.count);
    CHECK_NUMBER(report.checks[report.count - 1].rule, TENON_RULE_7_NONCE);
    CHECK(report.clock_safe == 0 && report.hierarchy_known == 0);
    /* If the verdict is about the CBOR, the line is the rule's. */
    built.proof_n--;
    CHECK_STATUS(rig_verify(&report, &built), TENON_ERROR_CBOR_TRUNCATED);
    CHECK_STATUS(report.checks[report.count - 1].rule, TENON_RULE_2_CBOR);
    rig_build(&built, RIG_EVIDENCE, other_version);
    CHECK_STATUS(rig_verify(&report, &built), TENON_ERROR_PROOF_FORM);
    CHECK_STATUS(report.checks[report.count - 1].rule, TENON_RULE_3_VERSION);
}

TEST(verify_report_of_an_ak)
{
    tenon_report report;
    rig_build(&built, RIG_AREA, NULL);
    CHECK_OK(tenon_ak_check(&report, built.ak.bytes, built.ak.n));
    CHECK(report.count == 1 && report.checks[0].rule == TENON_RULE_29_AK && report.checks[0].held == 1);
    CHECK_OK(report.verdict);
    CHECK_STATUS(tenon_ak_check(&report, built.public_area.bytes, built.public_area.n), TENON_RULE_29_AK);
    CHECK(report.count == 1 && report.checks[0].held == 0 && report.verdict == TENON_RULE_29_AK);
    CHECK_STATUS(tenon_ak_check(NULL, NULL, 0), TENON_RULE_29_AK);
    for (size_t n = 0; n < built.ak.n; n++)
        CHECK_STATUS(tenon_ak_check(NULL, built.ak.bytes, n), TENON_RULE_29_AK);
}

/* ---- Numbers of a TPM ---- */

/* A TPM may write a number without its leading zeros. The scalar is one whose x, or y, begins with a zero byte. */
static void short_x(proof_rig *at)
{
    uint8_t scalar[TENON_SCALAR_SIZE] = {0};
    uint64_t state = 11;
    do {
        test_random_fill(&state, scalar + 8, sizeof scalar - 8);
        at->submitted = rig_public(scalar);
    } while (at->submitted.bytes[0] != 0);
    support_bytes_set(&at->area.x, at->submitted.bytes + 1, TENON_SCALAR_SIZE - 1);
    support_bytes_set(&at->area.y, at->submitted.bytes + TENON_SCALAR_SIZE, TENON_SCALAR_SIZE);
}

static void short_x_padded(proof_rig *at)
{
    short_x(at);
    support_bytes_set(&at->area.x, at->submitted.bytes, TENON_SCALAR_SIZE);
}

TEST(verify_coordinates_without_their_zeros)
{
    tenon_public_key key;
    rig_build(&built, RIG_AREA, short_x);
    CHECK_NUMBER(built.area.x.n, 31);
    CHECK_OK(rig_verify(NULL, &built));
    CHECK_OK(tenon_object_public_key(&key, built.public_area.bytes, built.public_area.n));
    CHECK_BYTES(&key, &built.submitted, sizeof key);
    rig_build(&built, RIG_AREA, short_x_padded);
    CHECK_OK(rig_verify(NULL, &built));
}

/* ---- Changes ---- */

TEST(verify_no_bit_may_differ)
{
    rig_build(&built, RIG_AREA, NULL);
    rig_flip_bits(&built, test_rounds(1, 37));
    rig_build(&built, RIG_EVIDENCE, rig_der);
    rig_flip_bits(&built, test_rounds(3, 101));
}

/* The same for the trusted values. */
TEST(verify_no_bit_of_the_ak_may_differ)
{
    rig_build(&built, RIG_AREA, NULL);
    for (size_t bit = 0; bit < 8 * built.ak.n; bit++) {
        const size_t no_da = 8 * 6 + 2; /* the one bit that is free */
        built.ak.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        test_about("bit %zu", bit);
        CHECK_STATUS(rig_verify(NULL, &built), bit == no_da ? TENON_OK : TENON_RULE_29_AK);
        built.ak.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
}

/* Each part cut at every byte, with the CBOR around it right. */
static size_t kept;
static void cut_area(proof_rig *at) { at->public_area.n = kept; }
static void cut_certified(proof_rig *at) { at->certified.n = kept; }
static void cut_signature(proof_rig *at) { at->signature.n = kept; }

TEST(verify_no_byte_of_a_part_may_be_missing)
{
    static void (*const cuts[])(proof_rig *) = {cut_area, cut_certified, cut_signature};
    static const size_t sizes[] = {86, 173, 72};
    for (size_t i = 0; i < COUNT(cuts); i++)
        for (kept = 0; kept < sizes[i]; kept += test_rounds(1, 7)) {
            test_about("part %zu, %zu bytes", i, kept);
            rig_build(&built, RIG_EVIDENCE, cuts[i]);
            CHECK_STATUS(rig_verify(NULL, &built), TENON_RULE_4_TRAILING);
        }
    rig_build(&built, RIG_AREA, NULL);
    CHECK(built.public_area.n == sizes[0] && built.certified.n == sizes[1] && built.signature.n == sizes[2]);
}
