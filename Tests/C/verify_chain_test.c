/* SPDX-License-Identifier: Apache-2.0 */
#include "proof_rig.h"

/*
 * Rules 22 to 29 where the AK is the leaf of a chain. Tests of the certificates' forms have a file of their own, these
 * are about what the verifier asks of a good form.
 */

/* 2.23.133.2.1 to .2.3 with "id:1", "M", "id:2". */
#define MAKER "310f300d060567810502010c0469643a31"
#define MODEL "310c300a060567810502020c014d"
#define VERSION "310f300d060567810502030c0469643a32"

/* ---- A chain: root R, issuer I, AK ---- */

static const uint8_t root_scalar[TENON_SCALAR_SIZE] = {0x11, 1};
static const uint8_t issuer_scalar[TENON_SCALAR_SIZE] = {0x22, 2};

typedef struct {
    certificate_form root, issuer, leaf;
    bool no_root, no_chain, leaf_only, other_root, wrong_order;
    int64_t now;
    uint32_t flags;
    size_t makers; /* how many of the list */
} chain;

static chain good_chain(void)
{
    chain made = {.now = 1767225600}; /* 2026-01-01 */
    made.root = (certificate_form){.subject = "R",
                                   .issuer = "R",
                                   .key = root_scalar,
                                   .signer = root_scalar,
                                   .from = "2020",
                                   .to = "2040",
                                   .authority = true,
                                   .usage = "0106"};
    made.issuer = made.root;
    made.issuer.subject = "I";
    made.issuer.key = issuer_scalar;
    made.leaf = (certificate_form){.issuer = "I",
                                   .key = rig_ak_scalar,
                                   .signer = issuer_scalar,
                                   .from = "2025",
                                   .to = "2030",
                                   .usage = "0780",
                                   .extended = USAGE_AK,
                                   .name = MAKER MODEL VERSION};
    return made;
}

static const tenon_bytes makers[] = {
    {(const uint8_t *)"id:494E5443", 11}, {NULL, 0},
    {(const uint8_t *)"id:", 3},          {(const uint8_t *)"id:12", 5},
    {(const uint8_t *)"ID:1", 4},         {(const uint8_t *)"id:1", 4}, /* the certificate's */
};

enum { UNLISTED = COUNT(makers) - 1, LISTED };

static chain current; /* what the next rig_build takes */
static uint8_t root_bytes[CERTIFICATE_MADE_MAX];
static tenon_bytes root;

static void with_chain(proof_rig *at)
{
    root = (tenon_bytes){root_bytes, certificate_write(root_bytes, &current.root)};
    at->trust = TENON_TRUST_ROOTS;
    at->roots = current.no_root ? NULL : &root;
    at->roots_count = current.no_root ? 0 : 1;
    at->now = current.now;
    at->flags = current.flags;
    at->makers = makers;
    at->makers_count = current.makers;
    at->x5c_count = current.no_chain ? 0 : current.leaf_only ? 1 : 2;
    at->x5c_n[current.wrong_order] = certificate_write(at->x5c[current.wrong_order], &current.leaf);
    at->x5c_n[!current.wrong_order] = certificate_write(at->x5c[!current.wrong_order], &current.issuer);
    if (current.other_root) {
        current.root.key = current.root.signer = rig_other_scalar;
        root.n = certificate_write(root_bytes, &current.root);
    }
}

enum { EDITS_MAX = 3 };

/* A field of the chain, and the pointer or the number that it gets. */
typedef struct {
    size_t at, size;
    const void *pointer;
    uint64_t number;
} edit;

typedef struct {
    tenon_status rule;
    const char *name;
    edit edits[EDITS_MAX];
} chain_case;

#define GOOD(name, ...)                                                                                                \
    {                                                                                                                  \
        TENON_OK, name, { __VA_ARGS__ }                                                                                \
    }
#define ROW(rule, name, ...)                                                                                           \
    {                                                                                                                  \
        TENON_RULE_##rule, name, { __VA_ARGS__ }                                                                       \
    }
#define POINTER(field, value)                                                                                          \
    {                                                                                                                  \
        offsetof(chain, field), sizeof(void *), value, 0                                                               \
    }
#define NUMBER(field, value)                                                                                           \
    {                                                                                                                  \
        offsetof(chain, field), sizeof(((chain *)NULL)->field), NULL, value                                            \
    }

/* The base point of P-384 (SP 800-186, 3.2.1.4). */
#define P384                                                                                                           \
    "3076301006072a8648ce3d020106052b8104002203620004"                                                                 \
    "aa87ca22be8b05378eb1c71ef320ad746e1d3b628ba79b9859f741e082542a385502f25dbf55296c3a545e3872760ab7"                 \
    "3617de4a96262c6f5d9e98bf9292dc29f8f41dbd289a147ce9da3113b5f0b8c00a60b1ce1d7e819d7a431d7c90ea0e5f"

static uint8_t p384[120];

/* clang-format off */
static const chain_case cases[] = {
    GOOD("nothing", {0}),
    GOOD("no_key_usage", POINTER(leaf.usage, NULL)),
    GOOD("two_usages", POINTER(leaf.extended, "06082b06010505070302" USAGE_AK)),
    GOOD("issued_by_the_root", POINTER(leaf.issuer, "R"), POINTER(leaf.signer, root_scalar), NUMBER(leaf_only, true)),
    GOOD("maker_is_listed", NUMBER(makers, LISTED), NUMBER(flags, TENON_POLICY_REQUIRE_MAKER)),
    GOOD("maker_is_not_listed_which_is_noted", NUMBER(makers, UNLISTED)),
    ROW(22_CERTIFICATE, "no_certificate", NUMBER(no_chain, true)),
    ROW(22_CERTIFICATE, "order_reversed", NUMBER(wrong_order, true)),
    ROW(22_CERTIFICATE, "subject_of_the_issuer", POINTER(leaf.subject, "I")),
    ROW(22_CERTIFICATE, "issued_by_somebody_else", POINTER(leaf.issuer, "X")),
    ROW(23_CRITICAL, "leaf_asks_for_more", NUMBER(leaf.asks_for_more, true)),
    ROW(23_CRITICAL, "issuer_asks_for_more", NUMBER(issuer.asks_for_more, true)),
    GOOD("issuer_for_aks", POINTER(issuer.extended, USAGE_AK)),
    ROW(24_CHAIN, "issuer_for_eks", POINTER(issuer.extended, USAGE_EK)),
    GOOD("root_for_eks", POINTER(root.extended, USAGE_EK)),
    ROW(24_CHAIN, "no_root", NUMBER(no_root, true)),
    ROW(24_CHAIN, "root_of_the_same_name", NUMBER(other_root, true)),
    ROW(24_CHAIN, "leaf_without_its_issuer", NUMBER(leaf_only, true)),
    ROW(24_CHAIN, "leaf_signed_by_another", POINTER(leaf.signer, rig_other_scalar)),
    ROW(24_CHAIN, "leaf_signed_by_itself", POINTER(leaf.signer, rig_ak_scalar)),
    ROW(24_CHAIN, "issuer_signed_by_another", POINTER(issuer.signer, rig_other_scalar)),
    ROW(24_CHAIN, "issuer_is_no_authority", NUMBER(issuer.authority, false)),
    ROW(24_CHAIN, "issuer_may_not_sign", POINTER(issuer.usage, "0780")),
    ROW(24_CHAIN, "leaf_has_ended", POINTER(leaf.from, "2020"), POINTER(leaf.to, "2025")),
    ROW(24_CHAIN, "leaf_has_not_begun", POINTER(leaf.from, "2027")),
    ROW(24_CHAIN, "issuer_has_ended", POINTER(issuer.to, "2025")),
    ROW(24_CHAIN, "root_has_ended", POINTER(root.to, "2025")),
    ROW(25_SUBJECT, "subject_is_there", POINTER(leaf.subject, "S")),
    ROW(25_SUBJECT, "no_name", POINTER(leaf.name, NULL)),
    ROW(25_SUBJECT, "name_is_not_critical", NUMBER(leaf.name_not_critical, true)),
    ROW(25_SUBJECT, "no_maker", POINTER(leaf.name, MODEL VERSION)),
    ROW(25_SUBJECT, "no_model", POINTER(leaf.name, MAKER VERSION)),
    ROW(25_SUBJECT, "no_version", POINTER(leaf.name, MAKER MODEL)),
    ROW(25_SUBJECT, "two_makers", POINTER(leaf.name, MAKER MAKER MODEL VERSION)),
    ROW(26_MAKER, "maker_is_not_listed", NUMBER(makers, UNLISTED), NUMBER(flags, TENON_POLICY_REQUIRE_MAKER)),
    ROW(27_USAGE, "no_usage", POINTER(leaf.extended, NULL)),
    ROW(27_USAGE, "usage_of_a_server", POINTER(leaf.extended, "06082b06010505070301")),
    ROW(27_USAGE, "usage_of_an_ek", POINTER(leaf.extended, USAGE_EK)),
    ROW(27_USAGE, "usage_of_both", POINTER(leaf.extended, USAGE_AK USAGE_EK)),
    ROW(27_USAGE, "key_usage_encipherment", POINTER(leaf.usage, "0520")),
    ROW(28_NOT_A_CA, "leaf_is_an_authority", NUMBER(leaf.authority, true)),
    ROW(29_AK, "key_is_of_p384", POINTER(leaf.spki.bytes, p384), NUMBER(leaf.spki.n, sizeof p384)),
    ROW(32_SIGNATURE, "certificate_of_another_ak", POINTER(leaf.key, rig_other_scalar)),
    ROW(31_ANOTHER_KEY, "certificate_of_the_certified_key", POINTER(leaf.key, rig_key_scalar)),
};
/* clang-format on */

/* A field may be smaller than the number: with the most significant byte first its bytes are the last ones. */
static void apply(chain *to, const edit *one)
{
    const uint16_t first = 1;
    const bool big_endian = *(const uint8_t *)&first == 0;
    const uint8_t *number = (const uint8_t *)&one->number;
    uint8_t *field = (uint8_t *)to + one->at;
    if (one->pointer != NULL)
        memcpy(field, &one->pointer, sizeof one->pointer);
    else
        memcpy(field, number + (big_endian ? sizeof one->number - one->size : 0), one->size);
}

static proof_rig built;

static void build(const chain_case *from)
{
    current = good_chain();
    test_hex(p384, sizeof p384, P384);
    for (size_t i = 0; i < EDITS_MAX; i++)
        apply(&current, &from->edits[i]);
    rig_build(&built, RIG_EVIDENCE, with_chain);
    test_about("%s", from->name);
}

tenon_status rig_verify_chain(void)
{
    static proof_rig good;
    if (good.proof_n == 0) {
        build(&cases[0]);
        good = built;
    }
    return rig_verify(NULL, &good);
}

TEST(verify_each_chain_gets_the_code_of_its_rule)
{
    for (size_t i = 0; i < COUNT(cases); i++) {
        tenon_report report;
        build(&cases[i]);
        tenon_status found = rig_verify(&report, &built), without = TENON_OK;
        CHECK_STATUS(found, cases[i].rule);
        if (found != TENON_OK)
            CHECK_NUMBER(report.checks[report.count - 1].rule, found);
        if (cases[i].rule != TENON_OK) {
            without = rig_verify_without(&built, cases[i].rule);
            CHECK(rig_place(without) > rig_place(cases[i].rule));
        }
        rules_note(cases[i].rule, cases[i].rule, cases[i].name, found, without);
    }
}

TEST(verify_no_rule_does_the_work_of_another_for_chains)
{
    for (size_t j = 0; j < COUNT(cases); j += test_rounds(1, 19)) {
        build(&cases[j]);
        for (size_t i = 0; i < tenoni_rules_count; i++)
            if (tenoni_rules[i].code != cases[j].rule)
                CHECK_STATUS(rig_verify_without(&built, tenoni_rules[i].code), cases[j].rule);
    }
}

TEST(verify_each_rule_of_chains_has_a_case)
{
    for (size_t i = 0; i < tenoni_rules_count; i++) {
        size_t count = 0;
        for (size_t j = 0; j < COUNT(cases); j++)
            count += cases[j].rule == tenoni_rules[i].code;
        test_about("%s", tenon_status_name(tenoni_rules[i].code));
        CHECK(count != 0 || (tenoni_rules[i].trust & TENON_TRUST_AK) != 0);
    }
}

static uint32_t line_of_maker(const char *name)
{
    tenon_report report;
    uint32_t held = UINT32_MAX;
    for (size_t i = 0; i < COUNT(cases); i++)
        if (strcmp(cases[i].name, name) == 0)
            build(&cases[i]);
    CHECK_OK(rig_verify(&report, &built));
    for (size_t i = 0; i < report.count; i++)
        if (report.checks[i].rule == TENON_RULE_26_MAKER)
            held = report.checks[i].held;
    return held;
}

TEST(verify_report_notes_a_maker)
{
    CHECK_NUMBER(line_of_maker("nothing"), 2);
    CHECK_NUMBER(line_of_maker("maker_is_not_listed_which_is_noted"), 2);
    CHECK_NUMBER(line_of_maker("maker_is_listed"), 1);
}

/* Any changed bit of the signed data or of the signing key is refused. */
TEST(verify_no_bit_of_a_chain_may_differ)
{
    build(&cases[0]);
    rig_flip_bits(&built, test_rounds(7, 211));
}

/* ---- The chain alone, before a device keeps it ---- */

static tenon_status verify_certificate(tenon_report *report, const uint8_t *ak)
{
    tenon_bytes x5c[SUPPORT_CERTIFICATES_MAX];
    tenon_policy policy = rig_policy(&built);
    tenon_public_key key = rig_public(ak);
    for (size_t i = 0; i < built.x5c_count; i++)
        x5c[i] = (tenon_bytes){built.x5c[i], built.x5c_n[i]};
    return tenon_ak_certificate_verify(report, x5c, built.x5c_count, &key, &policy);
}

TEST(verify_ak_certificate_gets_the_code_of_its_rule)
{
    for (size_t i = 0; i < COUNT(cases); i++) {
        tenon_report report;
        bool of_another = cases[i].rule == TENON_RULE_32_SIGNATURE || cases[i].rule == TENON_RULE_31_ANOTHER_KEY;
        build(&cases[i]);
        tenon_status found = verify_certificate(&report, rig_ak_scalar);
        CHECK_STATUS(found, of_another ? TENON_RULE_19_PUBLIC_KEY : cases[i].rule);
        CHECK_STATUS(verify_certificate(NULL, rig_ak_scalar), found);
        CHECK_STATUS(report.verdict, found);
        CHECK_NUMBER(report.checks[report.count - 1].rule, found == TENON_OK ? TENON_RULE_19_PUBLIC_KEY : found);
        CHECK_NUMBER(report.checks[report.count - 1].held, found == TENON_OK);
    }
    build(&cases[0]);
    CHECK_STATUS(verify_certificate(NULL, rig_other_scalar), TENON_RULE_19_PUBLIC_KEY);
}

TEST(verify_ak_certificate_checks_its_arguments)
{
    tenon_report report;
    tenon_bytes x5c[TENON_CERTIFICATES_MAX + 1], lies = {NULL, 1};
    build(&cases[0]);
    tenon_policy policy = rig_policy(&built), ak = policy;
    tenon_public_key key = rig_public(rig_ak_scalar);
    for (size_t i = 0; i <= TENON_CERTIFICATES_MAX; i++)
        x5c[i] = (tenon_bytes){built.x5c[i % 2], built.x5c_n[i % 2]};
    CHECK_STATUS(tenon_ak_certificate_verify(&report, NULL, 1, &key, &policy), TENON_ERROR_NULL);
    CHECK_NUMBER(report.count, 0);
    CHECK_STATUS(tenon_ak_certificate_verify(NULL, x5c, 2, NULL, &policy), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_ak_certificate_verify(NULL, x5c, 2, &key, NULL), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_ak_certificate_verify(NULL, &lies, 1, &key, &policy), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_ak_certificate_verify(NULL, NULL, 0, &key, &policy), TENON_RULE_22_CERTIFICATE);
    CHECK_STATUS(tenon_ak_certificate_verify(NULL, x5c, TENON_CERTIFICATES_MAX + 1, &key, &policy),
                 TENON_RULE_22_CERTIFICATE);
    x5c[TENON_CERTIFICATES_MAX - 1] = lies;
    CHECK_STATUS(tenon_ak_certificate_verify(NULL, x5c, TENON_CERTIFICATES_MAX, &key, &policy), TENON_ERROR_NULL);
    ak.trust = TENON_TRUST_AK;
    ak.roots_count = 0;
    CHECK_STATUS(tenon_ak_certificate_verify(&report, x5c, 2, &key, &ak), TENON_ERROR_OPTIONS);
    CHECK_STATUS(report.verdict, TENON_ERROR_OPTIONS);
    policy.size--;
    CHECK_STATUS(tenon_ak_certificate_verify(NULL, x5c, 2, &key, &policy), TENON_ERROR_OPTIONS);
}
