/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "certificate_rig.h"
#include "internal/roca.h"
#include "rules_rig.h"

static tenon_ek_policy policy_of(const certificate_case *one)
{
    return (tenon_ek_policy){
        .size = sizeof(tenon_ek_policy),
        .flags = (one->requires_usage ? (uint32_t)TENON_EK_REQUIRE_USAGE : 0) |
                 (one->allows_simulator ? (uint32_t)TENON_EK_ALLOW_SIMULATOR : 0),
        .roots = one->roots,
        .roots_count = one->roots_count,
        .now = one->now,
    };
}

/* The rules up to the one that does not hold, each with a line. */
static void check_report(const tenon_report *report, tenon_status verdict)
{
    static const tenon_status rules[] = {TENON_RULE_24_CERTIFICATE,    TENON_RULE_24A_CRITICAL, TENON_RULE_32_EK_CHAIN,
                                         TENON_RULE_31_EK_CERTIFICATE, TENON_RULE_33B_NOT_OAEP, TENON_RULE_33_EK_KEY,
                                         TENON_RULE_33A_EK_ALLOWED};
    size_t count = 0;
    while (count < sizeof rules / sizeof *rules && rules[count] != verdict)
        count++;
    CHECK_NUMBER(report->count, verdict == TENON_OK ? count : count + 1);
    CHECK_NUMBER(report->verdict, verdict);
    for (size_t i = 0; i < report->count && i < sizeof rules / sizeof *rules; i++) {
        CHECK_NUMBER(report->checks[i].rule, rules[i]);
        CHECK_NUMBER(report->checks[i].held, rules[i] != verdict);
    }
}

static void check_case(const certificate_case *one)
{
    tenon_ek_policy policy = policy_of(one);
    tenon_ek ek, again;
    tenon_report report;
    memset(&ek, 0xa5, sizeof ek);
    tenon_status found = tenon_ek_verify(&ek, &report, one->chain, one->count, &policy);
    rules_note(one->result, one->result, one->name, found, RULES_NOT_TRIED);
    if (!CHECK_STATUS(found, one->result))
        return;
    check_report(&report, one->result);
    CHECK_STATUS(tenon_ek_verify(&again, NULL, one->chain, one->count, &policy), one->result);
    CHECK_BYTES(&again, &ek, sizeof ek);
    if (one->result != TENON_OK)
        CHECK_ZERO(&ek, sizeof ek);
}

TEST(ek_cases)
{
    certificate_each_case(check_case);
}

static void check_text(const uint8_t *found, size_t n, const char *expected)
{
    CHECK_NUMBER(n, strlen(expected));
    CHECK_BYTES(found, expected, strlen(expected));
}

static void check_found(const char *name, uint32_t kind, size_t key_n, size_t head)
{
    certificate_case one = certificate_case_named(name);
    tenon_ek_policy policy = policy_of(&one);
    tenon_ek ek;
    tenoni_certificate leaf;
    tenon_digest digest;
    test_about("%s", name);
    CHECK_STATUS(tenon_ek_verify(&ek, NULL, one.chain, one.count, &policy), TENON_OK);
    CHECK_STATUS(tenoni_certificate_read(&leaf, one.chain[0].bytes, one.chain[0].n), TENON_OK);
    CHECK_NUMBER(ek.kind, kind);
    CHECK_NUMBER(ek.key_n, key_n);
    CHECK_NUMBER(leaf.key.modulus_or_point.left, key_n + head);
    CHECK_BYTES(ek.key, leaf.key.modulus_or_point.at + head, key_n);
    CHECK_STATUS(tenon_sha256(&digest, leaf.key.spki.at, leaf.key.spki.left), TENON_OK);
    CHECK_BYTES(&ek.id, &digest, sizeof digest);
    CHECK_STATUS(tenon_sha256(&digest, one.chain[0].bytes, one.chain[0].n), TENON_OK);
    CHECK_BYTES(&ek.certificate, &digest, sizeof digest);
    check_text(ek.maker, ek.maker_n, "id:54454E4F");
    check_text(ek.model, ek.model_n, "Tenon");
    check_text(ek.version, ek.version_n, "id:00010002");
}

TEST(ek_is_copied)
{
    check_found("RSA-2048 below RSA-3072 below RSA-4096", TENON_EK_RSA_2048, 256, 0);
    check_found("P-256 below P-384 below P-521", TENON_EK_P256, 64, 1);
    check_found("P-384 below RSA with exponent 3 below P-256", TENON_EK_P384, 96, 1);
}

TEST(ek_denied)
{
    certificate_case one = certificate_case_named("below the root");
    tenon_ek_policy policy = policy_of(&one);
    tenon_ek ek;
    CHECK_STATUS(tenon_ek_verify(&ek, NULL, one.chain, one.count, &policy), TENON_OK);
    tenon_digest denied[3] = {{{1}}, ek.id, {{2}}};
    policy.denied = denied;
    policy.denied_count = 1;
    CHECK_STATUS(tenon_ek_verify(&ek, NULL, one.chain, one.count, &policy), TENON_OK);
    policy.denied_count = 2;
    CHECK_STATUS(tenon_ek_verify(&ek, NULL, one.chain, one.count, &policy), TENON_RULE_33A_EK_ALLOWED);
    policy.denied_count = 3;
    CHECK_STATUS(tenon_ek_verify(&ek, NULL, one.chain, one.count, &policy), TENON_RULE_33A_EK_ALLOWED);
    CHECK_ZERO(&ek, sizeof ek);
}

TEST(ek_of_swtpm)
{
    static const struct {
        const char *name;
        uint32_t kind;
    } eks[] = {{"ek-rsa2048", TENON_EK_RSA_2048}, {"ek-p384", TENON_EK_P384}};
    tenon_bytes root = certificate_of_swtpm("root");
    tenon_ek_policy policy = {.size = sizeof policy,
                              .flags = TENON_EK_REQUIRE_USAGE,
                              .roots = &root,
                              .roots_count = 1,
                              .now = CERTIFICATE_NOW};
    for (size_t i = 0; i < sizeof eks / sizeof *eks; i++) {
        tenon_bytes chain[] = {certificate_of_swtpm(eks[i].name), certificate_of_swtpm("issuer"), root};
        tenon_ek ek;
        policy.flags = TENON_EK_REQUIRE_USAGE;
        CHECK_STATUS(tenon_ek_verify(&ek, NULL, chain, 2, &policy), TENON_RULE_33A_EK_ALLOWED);
        policy.flags |= TENON_EK_ALLOW_SIMULATOR;
        CHECK_STATUS(tenon_ek_verify(&ek, NULL, chain, 2, &policy), TENON_OK);
        CHECK_NUMBER(ek.kind, eks[i].kind);
        check_text(ek.maker, ek.maker_n, "id:00001014");
        check_text(ek.model, ek.model_n, "swtpm");
        CHECK_STATUS(tenon_ek_verify(&ek, NULL, chain, 3, &policy), TENON_OK);
        CHECK_STATUS(tenon_ek_verify(&ek, NULL, chain, 1, &policy), TENON_RULE_32_EK_CHAIN);
    }
}

TEST(ek_arguments)
{
    certificate_case one = certificate_case_named("below the root");
    tenon_ek_policy good = policy_of(&one), policy = good;
    tenon_bytes broken[] = {{NULL, 3}};
    tenon_ek ek;
    tenon_report report;
    CHECK_STATUS(tenon_ek_verify(NULL, &report, one.chain, one.count, &policy), TENON_ERROR_NULL);
    CHECK_NUMBER(report.verdict, TENON_ERROR_NULL);
    CHECK_NUMBER(report.count, 0);
    CHECK_STATUS(tenon_ek_verify(&ek, NULL, one.chain, one.count, NULL), TENON_ERROR_NULL);
    CHECK_ZERO(&ek, sizeof ek);
    CHECK_STATUS(tenon_ek_verify(&ek, NULL, NULL, 1, &policy), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_ek_verify(&ek, NULL, broken, 1, &policy), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_ek_verify(&ek, NULL, NULL, 0, &policy), TENON_RULE_24_CERTIFICATE);
    CHECK_STATUS(tenon_ek_verify(&ek, NULL, one.chain, SIZE_MAX, &policy), TENON_RULE_24_CERTIFICATE);
    policy.roots = broken;
    CHECK_STATUS(tenon_ek_verify(&ek, NULL, one.chain, one.count, &policy), TENON_ERROR_NULL);
    policy.roots = NULL;
    CHECK_STATUS(tenon_ek_verify(&ek, NULL, one.chain, one.count, &policy), TENON_ERROR_NULL);
    policy.roots_count = 0;
    CHECK_STATUS(tenon_ek_verify(&ek, NULL, one.chain, one.count, &policy), TENON_RULE_32_EK_CHAIN);
    policy = good;
    policy.denied_count = 1;
    CHECK_STATUS(tenon_ek_verify(&ek, NULL, one.chain, one.count, &policy), TENON_ERROR_NULL);
    policy = good;
    policy.flags = 4;
    CHECK_STATUS(tenon_ek_verify(&ek, NULL, one.chain, one.count, &policy), TENON_ERROR_FLAGS);
    policy = good;
    policy.size--;
    CHECK_STATUS(tenon_ek_verify(&ek, NULL, one.chain, one.count, &policy), TENON_ERROR_OPTIONS);
}

/* 65537^a modulo 2 * 3 * ... * 53, and numbers beside it. */
TEST(ek_roca_pattern)
{
    static const struct {
        const char *modulus;
        bool matches;
    } numbers[] = {{"01", true},     /* 65537^0 */
                   {"010001", true}, /* 65537 */
                   {"0100020001", true} /* its square */,
                   {"02", false}, /* no power modulo 17, of which 65537 is 2 */
                   {"010003", false},
                   {"0b", false}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        size_t n;
        uint8_t *bytes = test_hex_all(numbers[i].modulus, &n);
        test_about("%s", numbers[i].modulus);
        CHECK_NUMBER(tenoni_roca_matches(tenoni_reader_over(bytes, n)), numbers[i].matches);
        free(bytes);
    }
}
