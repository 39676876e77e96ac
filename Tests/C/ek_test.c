/* SPDX-License-Identifier: Apache-2.0 */
#include "crypto/quirks.h"
#include "proof_rig.h"

/* The rules up to the broken one, a line each. */
static void check_report(const tenon_report *report, tenon_status verdict)
{
    static const tenon_status rules[] = {TENON_RULE_22_CERTIFICATE,    TENON_RULE_23_CRITICAL, TENON_RULE_33_EK_CHAIN,
                                         TENON_RULE_34_EK_CERTIFICATE, TENON_RULE_35_NOT_OAEP, TENON_RULE_36_EK_KEY,
                                         TENON_RULE_37_EK_ALLOWED};
    size_t count = 0;
    while (count < COUNT(rules) && rules[count] != verdict)
        count++;
    CHECK_NUMBER(report->count, verdict == TENON_OK ? count : count + 1);
    CHECK_NUMBER(report->verdict, verdict);
    for (size_t i = 0; i < report->count && i < COUNT(rules); i++) {
        CHECK_NUMBER(report->checks[i].rule, rules[i]);
        CHECK_NUMBER(report->checks[i].held, rules[i] != verdict);
    }
}

static void check_case(const certificate_case *one)
{
    tenon_ek_policy policy = certificate_case_policy(one);
    tenon_ek ek, again;
    tenon_report report;
    static size_t numbers[CERTIFICATE_RESULTS];
    if (!certificate_case_is_due(one, numbers))
        return;
    memset(&ek, 0xa5, sizeof ek);
    tenon_status found = tenon_ek_verify(&ek, &report, one->chain, one->count, &policy);
    if (one->result != TENON_OK)
        rules_note(one->result, one->result, one->name, found, certificate_case_without(one, one->result));
    if (!CHECK_STATUS(found, one->result))
        return;
    check_report(&report, one->result);
    CHECK_STATUS(tenon_ek_verify(&again, NULL, one->chain, one->count, &policy), one->result);
    CHECK_BYTES(&again, &ek, sizeof ek);
    if (one->result != TENON_OK)
        CHECK_ZERO(&ek, sizeof ek);
}

TEST(ek_cases) { certificate_each_case(check_case); }

static void check_text(const uint8_t *found, size_t n, const char *expected)
{
    CHECK_SAME(found, n, expected, strlen(expected));
}

static void check_found(const char *name, uint32_t kind, size_t key_n, size_t head)
{
    certificate_case one = certificate_case_named(name);
    tenon_ek_policy policy = certificate_case_policy(&one);
    tenon_ek ek;
    tenoni_certificate leaf;
    tenon_digest digest;
    test_about("%s", name);
    CHECK_OK(tenon_ek_verify(&ek, NULL, one.chain, one.count, &policy));
    CHECK_OK(tenoni_certificate_read(&leaf, one.chain[0].bytes, one.chain[0].n));
    CHECK_NUMBER(ek.kind, kind);
    CHECK_NUMBER(ek.key_n, key_n);
    CHECK_NUMBER(leaf.key.modulus_or_point.left, key_n + head);
    CHECK_BYTES(ek.key, leaf.key.modulus_or_point.at + head, key_n);
    CHECK_OK(tenon_sha256(&digest, leaf.key.spki.at, leaf.key.spki.left));
    CHECK_BYTES(&ek.id, &digest, sizeof digest);
    CHECK_OK(tenon_sha256(&digest, one.chain[0].bytes, one.chain[0].n));
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
    tenon_ek_policy policy = certificate_case_policy(&one);
    tenon_ek ek;
    CHECK_OK(tenon_ek_verify(&ek, NULL, one.chain, one.count, &policy));
    tenon_digest denied[3] = {{{1}}, ek.id, {{2}}};
    policy.denied = denied;
    policy.denied_count = 1;
    CHECK_OK(tenon_ek_verify(&ek, NULL, one.chain, one.count, &policy));
    policy.denied_count = 2;
    CHECK_STATUS(tenon_ek_verify(&ek, NULL, one.chain, one.count, &policy), TENON_RULE_37_EK_ALLOWED);
    policy.denied_count = 3;
    CHECK_CLEARS(tenon_ek_verify(&ek, NULL, one.chain, one.count, &policy), TENON_RULE_37_EK_ALLOWED, &ek);
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
    for (size_t i = 0; i < COUNT(eks); i++) {
        tenon_bytes chain[] = {certificate_of_swtpm(eks[i].name), certificate_of_swtpm("issuer"), root};
        tenon_ek ek;
        policy.flags = TENON_EK_REQUIRE_USAGE;
        CHECK_STATUS(tenon_ek_verify(&ek, NULL, chain, 2, &policy), TENON_RULE_37_EK_ALLOWED);
        policy.flags |= TENON_EK_ALLOW_SIMULATOR;
        CHECK_OK(tenon_ek_verify(&ek, NULL, chain, 2, &policy));
        CHECK_NUMBER(ek.kind, eks[i].kind);
        check_text(ek.maker, ek.maker_n, "id:00001014");
        check_text(ek.model, ek.model_n, "swtpm");
        CHECK_OK(tenon_ek_verify(&ek, NULL, chain, 3, &policy));
        CHECK_STATUS(tenon_ek_verify(&ek, NULL, chain, 1, &policy), TENON_RULE_33_EK_CHAIN);
    }
}

TEST(ek_arguments)
{
    certificate_case one = certificate_case_named("below the root");
    tenon_ek_policy good = certificate_case_policy(&one), policy = good;
    tenon_bytes broken[] = {{NULL, 3}};
    tenon_ek ek;
    tenon_report report;
#define VERIFIED(change) (policy = good, (void)(change), tenon_ek_verify(&ek, NULL, one.chain, one.count, &policy))
    CHECK_STATUS(tenon_ek_verify(NULL, &report, one.chain, one.count, &policy), TENON_ERROR_NULL);
    CHECK_NUMBER(report.verdict, TENON_ERROR_NULL);
    CHECK_NUMBER(report.count, 0);
    CHECK_CLEARS(tenon_ek_verify(&ek, NULL, one.chain, one.count, NULL), TENON_ERROR_NULL, &ek);
    CHECK_STATUS(tenon_ek_verify(&ek, NULL, NULL, 1, &policy), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_ek_verify(&ek, NULL, broken, 1, &policy), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_ek_verify(&ek, NULL, NULL, 0, &policy), TENON_RULE_22_CERTIFICATE);
    CHECK_STATUS(tenon_ek_verify(&ek, NULL, one.chain, SIZE_MAX, &policy), TENON_RULE_22_CERTIFICATE);
    CHECK_STATUS(VERIFIED(policy.roots = broken), TENON_ERROR_NULL);
    CHECK_STATUS(VERIFIED(policy.roots = NULL), TENON_ERROR_NULL);
    CHECK_STATUS(VERIFIED((policy.roots = NULL, policy.roots_count = 0)), TENON_RULE_33_EK_CHAIN);
    CHECK_STATUS(VERIFIED(policy.denied_count = 1), TENON_ERROR_NULL);
    CHECK_STATUS(VERIFIED(policy.flags = 4), TENON_ERROR_FLAGS);
    CHECK_STATUS(VERIFIED(policy.size--), TENON_ERROR_OPTIONS);
}

/* Keys that have the pattern, some of each size; and numbers that lack it modulo one of the primes only. */
TEST(ek_roca_pattern)
{
    char *text = test_vectors("roca.txt"), *at = text, *name, *value;
    size_t patterns = 0, others = 0;
    while (test_line(&at, &name, &value)) {
        size_t n;
        OWNED uint8_t *bytes = test_hex_all(value, &n);
        bool matches = strcmp(name, "Pattern") == 0;
        test_about("%.40s...", value);
        CHECK_NUMBER(tenoni_roca_matches(tenoni_reader_over(bytes, n)), matches);
        *(matches ? &patterns : &others) += 1;
    }
    CHECK(patterns == 10 && others == 38);
    free(text);
}

/* One modulus of 2^27 has it by chance. */
TEST(ek_roca_pattern_is_rare)
{
    uint64_t state = 17;
    for (size_t i = 0; i < test_rounds(1000, 50); i++) {
        uint8_t modulus[256];
        test_random_fill(&state, modulus, sizeof modulus);
        modulus[0] |= 0x80;
        modulus[255] |= 1;
        CHECK(!tenoni_roca_matches(tenoni_reader_over(modulus, sizeof modulus)));
    }
}

static tenon_status read_named(int kind, const char *name)
{
    tenon_bytes der = certificate_named(name);
    tenon_ek ek;
    memset(&ek, 0xa5, sizeof ek);
    tenon_status status = tenon_ek_read(&ek, der.bytes, der.n);
    CHECK_NUMBER(ek.kind, kind);
    CHECK(status == TENON_OK || CHECK_ZERO(&ek, sizeof ek));
    return status;
}

TEST(ek_read_without_trust)
{
    static const test_texts rows[] = {
        {TENON_OK, TENON_EK_RSA_2048, {"ek-rsa"}},
        {TENON_OK, TENON_EK_P256, {"ek-p256", "ek-forged"}},
        {TENON_OK, TENON_EK_P384, {"ek-p384"}},
        {TENON_RULE_22_CERTIFICATE, 0, {"ek-form-v1", "ek-form-a-byte-behind-the-end", "ek-4097"}},
        {TENON_RULE_23_CRITICAL, 0, {"ek-ext-an-unknown-one-that-is-critical"}},
        {TENON_RULE_35_NOT_OAEP, 0, {"ek-oaep"}},
        {TENON_RULE_36_EK_KEY, 0, {"ek-p521", "ek-rsa3072", "ek-e3", "ek-roca", "ek-off-p256", "ek-off-p384"}},
    };
    test_each_text(rows, COUNT(rows), read_named);
}

/* The values are those that a service finds once it trusts the certificate. */
TEST(ek_read_is_what_is_verified)
{
    static const char *const names[] = {"RSA-2048 below RSA-3072 below RSA-4096", "P-256 below P-384 below P-521",
                                        "P-384 below RSA with exponent 3 below P-256"};
    for (size_t i = 0; i < COUNT(names); i++) {
        certificate_case one = certificate_case_named(names[i]);
        tenon_ek_policy policy = certificate_case_policy(&one);
        tenon_ek read, verified;
        test_about("%s", names[i]);
        CHECK_OK(tenon_ek_verify(&verified, NULL, one.chain, one.count, &policy));
        CHECK_OK(tenon_ek_read(&read, one.chain[0].bytes, one.chain[0].n));
        CHECK_BYTES(&read, &verified, sizeof read);
    }
}

TEST(ek_read_without_names)
{
    tenon_bytes none = certificate_named("ek-leaf-no-alternative-name"), two = certificate_named("ek-leaf-two-makers");
    tenon_ek ek;
    CHECK_OK(tenon_ek_read(&ek, none.bytes, none.n));
    CHECK(ek.kind == TENON_EK_P256 && ek.key_n == 64 && ek.maker_n == 0 && ek.model_n == 0 && ek.version_n == 0);
    CHECK_ZERO(ek.maker, sizeof ek.maker);
    CHECK_OK(tenon_ek_read(&ek, two.bytes, two.n));
    CHECK(ek.maker_n == 0 && ek.model_n == 5);
}

TEST(ek_read_arguments)
{
    tenon_bytes der = certificate_named("ek");
    tenon_ek ek;
    CHECK_STATUS(tenon_ek_read(NULL, der.bytes, der.n), TENON_ERROR_NULL);
    CHECK_CLEARS(tenon_ek_read(&ek, NULL, 1), TENON_ERROR_NULL, &ek);
    CHECK_STATUS(tenon_ek_read(&ek, NULL, 0), TENON_RULE_22_CERTIFICATE);
    CHECK_STATUS(tenon_ek_read(&ek, der.bytes, 0), TENON_RULE_22_CERTIFICATE);
    for (size_t n = 1; n < der.n; n++)
        CHECK_STATUS(tenon_ek_read(&ek, der.bytes, n), TENON_RULE_22_CERTIFICATE);
}

static tenon_bytes text(const char *of) { return (tenon_bytes){(const uint8_t *)of, of == NULL ? 0 : strlen(of)}; }

/* The TPM is id:54454E4F, Tenon, id:00010002. */
TEST(ek_denied_models)
{
    static const struct {
        const char *maker, *model, *version;
        bool denied;
    } patterns[] = {
        {"id:54454E4F", NULL, NULL, true},
        {"id:54454e4f", NULL, NULL, true},
        {NULL, "tenon", NULL, true},
        {NULL, NULL, "id:00010002", true},
        {"id:54454E4F", "Tenon", NULL, true},
        {"id:54454E4F", "Tenon", "ID:00010002", true},
        {NULL, NULL, NULL, true},
        {"id:54454E4", NULL, NULL, false},
        {"id:54454E4FF", NULL, NULL, false},
        {NULL, "Tenom", NULL, false},
        {NULL, NULL, "id:00010003", false},
        {"id:54454E4F", "Other", NULL, false},
        {"Tenon", "id:54454E4F", NULL, false},
        {"id:54454E4F", "Tenon", "id:00010003", false},
    };
    certificate_case one = certificate_case_named("below the root");
    tenon_ek_policy policy = certificate_case_policy(&one);
    for (size_t i = 0; i < COUNT(patterns); i++) {
        tenon_ek_pattern list[] = {
            {text("id:other"), text("other"), text("other")},
            {text(patterns[i].maker), text(patterns[i].model), text(patterns[i].version)},
            {text(NULL), text("more"), text(NULL)},
        };
        tenon_ek ek;
        policy.denied_models = list;
        policy.denied_models_count = 3;
        test_about("pattern %zu", i);
        CHECK_STATUS(tenon_ek_verify(&ek, NULL, one.chain, one.count, &policy),
                     patterns[i].denied ? TENON_RULE_37_EK_ALLOWED : TENON_OK);
        policy.flags = TENON_EK_ALLOW_SIMULATOR; /* which allows no more than that */
        CHECK_STATUS(tenon_ek_verify(&ek, NULL, one.chain, one.count, &policy),
                     patterns[i].denied ? TENON_RULE_37_EK_ALLOWED : TENON_OK);
        policy.flags = 0;
        policy.denied_models_count = 1;
        CHECK_OK(tenon_ek_verify(&ek, NULL, one.chain, one.count, &policy));
    }
}

TEST(ek_denied_models_arguments)
{
    certificate_case one = certificate_case_named("below the root");
    tenon_ek_policy policy = certificate_case_policy(&one);
    tenon_ek ek;
    policy.denied_models_count = 1;
    CHECK_STATUS(tenon_ek_verify(&ek, NULL, one.chain, one.count, &policy), TENON_ERROR_NULL);
    for (size_t i = 0; i < 3; i++) {
        tenon_bytes texts[3] = {text("a"), text("a"), text("a")};
        texts[i].bytes = NULL;
        tenon_ek_pattern broken = {texts[0], texts[1], texts[2]};
        policy.denied_models = &broken;
        CHECK_STATUS(tenon_ek_verify(&ek, NULL, one.chain, one.count, &policy), TENON_ERROR_NULL);
    }
}
