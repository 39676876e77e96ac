/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "rules_rig.h"
#include "verify_rig.h"

/*
 * Rules 24 to 29 where the AK is the leaf of a chain. The certificates are written here, by code that is not the
 * core's: tests of their forms have a file of their own, these are about what the verifier asks of a good form.
 */

typedef struct {
    uint8_t bytes[1024];
    size_t n;
} der;

static void add(der *out, const void *bytes, size_t n)
{
    CHECK(out->n + n <= sizeof out->bytes);
    if (n != 0)
        memcpy(out->bytes + out->n, bytes, n);
    out->n += n;
}

static void add_hex(der *out, const char *hex)
{
    size_t n;
    uint8_t *bytes = test_hex_all(hex, &n);
    add(out, bytes, n);
    free(bytes);
}

/* X.690, 8.1: the whole content becomes one element. */
static der wrap(uint8_t tag, der content)
{
    der out = {.n = 0};
    const uint8_t head[] = {tag, 0x82, (uint8_t)(content.n >> 8), (uint8_t)content.n};
    const uint8_t middle[] = {tag, 0x81, (uint8_t)content.n}, shortest[] = {tag, (uint8_t)content.n};
    if (content.n < 128)
        add(&out, shortest, sizeof shortest);
    else if (content.n < 256)
        add(&out, middle, sizeof middle);
    else
        add(&out, head, sizeof head);
    add(&out, content.bytes, content.n);
    return out;
}

static void add_wrapped(der *out, uint8_t tag, der content)
{
    der whole = wrap(tag, content);
    add(out, whole.bytes, whole.n);
}

static der of_hex(const char *hex)
{
    der out = {.n = 0};
    add_hex(&out, hex);
    return out;
}

typedef struct {
    const char *subject, *issuer; /* common names of one letter; NULL: empty */
    const uint8_t *key, *signer;  /* scalars */
    const char *p384;             /* a P-384 SubjectPublicKeyInfo instead of the key */
    const char *from, *to;        /* years */
    bool authority;
    const char *usage;    /* key usage, BIT STRING content; NULL: none */
    const char *extended; /* OIDs, the SEQUENCE's content; NULL: none */
    const char *name;     /* the alternative name's directory name: attributes; NULL: none */
    bool name_not_critical;
    bool asks_for_more; /* by a critical extension 1.2.3 */
} certificate;

/* 2.23.133.8.3, .8.1, .2.1 to .2.3 with "id:1", "M", "id:2". */
#define USAGE_AK "06056781050803"
#define USAGE_EK "06056781050801"
#define MAKER "310f300d060567810502010c0469643a31"
#define MODEL "310c300a060567810502020c014d"
#define VERSION "310f300d060567810502030c0469643a32"

static der name_of(const char *letter)
{
    der out = {.n = 0};
    if (letter != NULL) {
        add_hex(&out, "310a300806035504030c01");
        add(&out, letter, 1);
    }
    return wrap(0x30, out);
}

static void add_extension(der *out, const char *oid, bool critical, der value)
{
    der fields = of_hex(oid);
    if (critical)
        add_hex(&fields, "0101ff");
    add_wrapped(&fields, 0x04, value);
    add_wrapped(out, 0x30, fields);
}

static der extensions_of(const certificate *from)
{
    der all = {.n = 0};
    if (from->authority)
        add_extension(&all, "0603551d13", true, of_hex("30030101ff"));
    if (from->usage != NULL)
        add_extension(&all, "0603551d0f", true, wrap(0x03, of_hex(from->usage)));
    if (from->extended != NULL)
        add_extension(&all, "0603551d25", false, wrap(0x30, of_hex(from->extended)));
    if (from->name != NULL)
        add_extension(&all, "0603551d11", !from->name_not_critical,
                      wrap(0x30, wrap(0xa4, wrap(0x30, of_hex(from->name)))));
    if (from->asks_for_more)
        add_extension(&all, "06022a03", true, of_hex("0500"));
    return wrap(0xa3, wrap(0x30, all));
}

static der dates_of(const certificate *from)
{
    der dates = {.n = 0};
    add_hex(&dates, "180f");
    add(&dates, from->from, 4);
    add(&dates, "0101000000Z", 11);
    add_hex(&dates, "180f");
    add(&dates, from->to, 4);
    add(&dates, "0101000000Z", 11);
    return wrap(0x30, dates);
}

static der key_of(const certificate *from)
{
    uint8_t spki[TENON_SPKI_SIZE];
    der out = {.n = 0};
    size_t n;
    if (from->p384 != NULL)
        return of_hex(from->p384);
    tenon_public_key point = rig_public(from->key);
    CHECK_STATUS(tenon_public_key_encode_spki(spki, sizeof spki, &n, &point), TENON_OK);
    add(&out, spki, n);
    return out;
}

#define ECDSA_SHA256 "300a06082a8648ce3d040302"

static size_t write_certificate(uint8_t *out, const certificate *from)
{
    uint8_t signature[TENON_SIGNATURE_DER_MAX];
    size_t n;
    der part = of_hex("a003020102020101" ECDSA_SHA256),
        parts[] = {name_of(from->issuer), dates_of(from), name_of(from->subject), key_of(from), extensions_of(from)};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        add(&part, parts[i].bytes, parts[i].n);
    der whole = wrap(0x30, part);
    tenon_signature made = rig_sign(from->signer, whole.bytes, whole.n);
    CHECK_STATUS(tenon_signature_encode_der(signature, sizeof signature, &n, &made), TENON_OK);
    add_hex(&whole, ECDSA_SHA256);
    der bits = of_hex("00");
    add(&bits, signature, n);
    add_wrapped(&whole, 0x03, bits);
    whole = wrap(0x30, whole);
    memcpy(out, whole.bytes, whole.n);
    return whole.n;
}

/* ---- A chain: root R, issuer I, AK ---- */

static const uint8_t root_scalar[TENON_SCALAR_SIZE] = {0x11, 1};
static const uint8_t issuer_scalar[TENON_SCALAR_SIZE] = {0x22, 2};

typedef struct {
    certificate root, issuer, leaf;
    bool no_root, no_chain, leaf_only, other_root, wrong_order;
    int64_t now;
    uint32_t flags;
    size_t makers; /* so many of the list */
} chain;

static chain good_chain(void)
{
    chain made = {.now = 1767225600}; /* 2026-01-01 */
    made.root = (certificate){.subject = "R",
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
    made.leaf = (certificate){.issuer = "I",
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

enum { UNLISTED = sizeof makers / sizeof *makers - 1, LISTED };

static chain current; /* what the next rig_build takes */
static uint8_t root_bytes[1024];
static tenon_bytes root;

static void with_chain(rig *at)
{
    root = (tenon_bytes){root_bytes, write_certificate(root_bytes, &current.root)};
    at->trust = TENON_TRUST_ROOTS;
    at->roots = current.no_root ? NULL : &root;
    at->roots_count = current.no_root ? 0 : 1;
    at->now = current.now;
    at->flags = current.flags;
    at->makers = makers;
    at->makers_count = current.makers;
    at->x5c_count = current.no_chain ? 0 : current.leaf_only ? 1 : 2;
    at->x5c_n[current.wrong_order] = write_certificate(at->x5c[current.wrong_order], &current.leaf);
    at->x5c_n[!current.wrong_order] = write_certificate(at->x5c[!current.wrong_order], &current.issuer);
    if (current.other_root) {
        current.root.key = current.root.signer = rig_other_scalar;
        root.n = write_certificate(root_bytes, &current.root);
    }
}

#define CHANGE(name) static void name(chain *at)

CHANGE(nothing)
{
    (void)at;
}
CHANGE(no_key_usage)
{
    at->leaf.usage = NULL;
}
CHANGE(two_usages)
{
    at->leaf.extended = "06082b06010505070302" USAGE_AK;
}
CHANGE(issued_by_the_root)
{
    at->leaf.issuer = "R";
    at->leaf.signer = root_scalar;
    at->leaf_only = true;
}

/* 24 */
CHANGE(no_certificate)
{
    at->no_chain = true;
}
CHANGE(order_reversed)
{
    at->wrong_order = true;
}
CHANGE(subject_of_the_issuer)
{
    at->leaf.subject = "I";
}
CHANGE(issued_by_somebody_else)
{
    at->leaf.issuer = "X";
}

/* 24a */
CHANGE(leaf_asks_for_more)
{
    at->leaf.asks_for_more = true;
}
CHANGE(issuer_asks_for_more)
{
    at->issuer.asks_for_more = true;
}

/* 28 */
CHANGE(issuer_for_aks)
{
    at->issuer.extended = USAGE_AK;
}
CHANGE(issuer_for_eks)
{
    at->issuer.extended = USAGE_EK;
}
CHANGE(root_for_eks)
{
    at->root.extended = USAGE_EK;
}
CHANGE(no_root)
{
    at->no_root = true;
}
CHANGE(root_of_the_same_name)
{
    at->other_root = true;
}
CHANGE(leaf_without_its_issuer)
{
    at->leaf_only = true;
}
CHANGE(leaf_signed_by_another)
{
    at->leaf.signer = rig_other_scalar;
}
CHANGE(leaf_signed_by_itself)
{
    at->leaf.signer = rig_ak_scalar;
}
CHANGE(issuer_signed_by_another)
{
    at->issuer.signer = rig_other_scalar;
}
CHANGE(issuer_is_no_authority)
{
    at->issuer.authority = false;
}
CHANGE(issuer_may_not_sign)
{
    at->issuer.usage = "0780";
}
CHANGE(leaf_has_ended)
{
    at->leaf.from = "2020";
    at->leaf.to = "2025";
}
CHANGE(leaf_has_not_begun)
{
    at->leaf.from = "2027";
}
CHANGE(issuer_has_ended)
{
    at->issuer.to = "2025";
}
CHANGE(root_has_ended)
{
    at->root.to = "2025";
}

/* 25 */
CHANGE(subject_is_there)
{
    at->leaf.subject = "S";
}
CHANGE(no_name)
{
    at->leaf.name = NULL;
}
CHANGE(name_is_not_critical)
{
    at->leaf.name_not_critical = true;
}
CHANGE(no_maker)
{
    at->leaf.name = MODEL VERSION;
}
CHANGE(no_model)
{
    at->leaf.name = MAKER VERSION;
}
CHANGE(no_version)
{
    at->leaf.name = MAKER MODEL;
}
CHANGE(two_makers)
{
    at->leaf.name = MAKER MAKER MODEL VERSION;
}

/* 25a */
CHANGE(maker_is_listed)
{
    at->makers = LISTED;
    at->flags = TENON_POLICY_REQUIRE_MAKER;
}
CHANGE(maker_is_not_listed_which_is_noted)
{
    at->makers = UNLISTED;
}
CHANGE(maker_is_not_listed)
{
    at->makers = UNLISTED;
    at->flags = TENON_POLICY_REQUIRE_MAKER;
}

/* 26 */
CHANGE(no_usage)
{
    at->leaf.extended = NULL;
}
CHANGE(usage_of_a_server)
{
    at->leaf.extended = "06082b06010505070301";
}
CHANGE(usage_of_an_ek)
{
    at->leaf.extended = USAGE_EK;
}
CHANGE(usage_of_both)
{
    at->leaf.extended = USAGE_AK USAGE_EK;
}
CHANGE(key_usage_encipherment)
{
    at->leaf.usage = "0520";
}

/* 27, 29 */
CHANGE(leaf_is_an_authority)
{
    at->leaf.authority = true;
}

/* The base point of P-384 (SP 800-186, 3.2.1.4). */
#define P384                                                                                                           \
    "3076301006072a8648ce3d020106052b8104002203620004"                                                                 \
    "aa87ca22be8b05378eb1c71ef320ad746e1d3b628ba79b9859f741e082542a385502f25dbf55296c3a545e3872760ab7"                 \
    "3617de4a96262c6f5d9e98bf9292dc29f8f41dbd289a147ce9da3113b5f0b8c00a60b1ce1d7e819d7a431d7c90ea0e5f"

CHANGE(key_is_of_p384)
{
    at->leaf.p384 = P384;
}

/* 30, 23a */
CHANGE(certificate_of_the_certified_key)
{
    at->leaf.key = rig_key_scalar;
}
CHANGE(certificate_of_another_ak)
{
    at->leaf.key = rig_other_scalar;
}

typedef struct {
    tenon_status rule;
    void (*change)(chain *);
    const char *name;
} chain_case;

#define ROW(rule, change)                                                                                              \
    {                                                                                                                  \
        TENON_RULE_##rule, change, #change                                                                             \
    }
#define GOOD(change)                                                                                                   \
    {                                                                                                                  \
        TENON_OK, change, #change                                                                                      \
    }

static const chain_case cases[] = {
    GOOD(nothing),
    GOOD(no_key_usage),
    GOOD(two_usages),
    GOOD(issued_by_the_root),
    GOOD(maker_is_listed),
    GOOD(maker_is_not_listed_which_is_noted),
    ROW(24_CERTIFICATE, no_certificate),
    ROW(24_CERTIFICATE, order_reversed),
    ROW(24_CERTIFICATE, subject_of_the_issuer),
    ROW(24_CERTIFICATE, issued_by_somebody_else),
    ROW(24A_CRITICAL, leaf_asks_for_more),
    ROW(24A_CRITICAL, issuer_asks_for_more),
    GOOD(issuer_for_aks),
    ROW(28_CHAIN, issuer_for_eks),
    GOOD(root_for_eks),
    ROW(28_CHAIN, no_root),
    ROW(28_CHAIN, root_of_the_same_name),
    ROW(28_CHAIN, leaf_without_its_issuer),
    ROW(28_CHAIN, leaf_signed_by_another),
    ROW(28_CHAIN, leaf_signed_by_itself),
    ROW(28_CHAIN, issuer_signed_by_another),
    ROW(28_CHAIN, issuer_is_no_authority),
    ROW(28_CHAIN, issuer_may_not_sign),
    ROW(28_CHAIN, leaf_has_ended),
    ROW(28_CHAIN, leaf_has_not_begun),
    ROW(28_CHAIN, issuer_has_ended),
    ROW(28_CHAIN, root_has_ended),
    ROW(25_SUBJECT, subject_is_there),
    ROW(25_SUBJECT, no_name),
    ROW(25_SUBJECT, name_is_not_critical),
    ROW(25_SUBJECT, no_maker),
    ROW(25_SUBJECT, no_model),
    ROW(25_SUBJECT, no_version),
    ROW(25_SUBJECT, two_makers),
    ROW(25A_MAKER, maker_is_not_listed),
    ROW(26_USAGE, no_usage),
    ROW(26_USAGE, usage_of_a_server),
    ROW(26_USAGE, usage_of_an_ek),
    ROW(26_USAGE, usage_of_both),
    ROW(26_USAGE, key_usage_encipherment),
    ROW(27_NOT_A_CA, leaf_is_an_authority),
    ROW(29_AK, key_is_of_p384),
    ROW(23A_SIGNATURE, certificate_of_another_ak),
    ROW(30_ANOTHER_KEY, certificate_of_the_certified_key),
};

static rig built;

static void build(const chain_case *from)
{
    current = good_chain();
    from->change(&current);
    rig_build(&built, RIG_EVIDENCE, with_chain);
    test_about("%s", from->name);
}

tenon_status rig_verify_chain(void)
{
    static rig good;
    if (good.proof_n == 0) {
        build(&cases[0]);
        good = built;
    }
    return rig_verify(NULL, &good);
}

TEST(verify_each_chain_gets_the_code_of_its_rule)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
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
    for (size_t j = 0; j < sizeof cases / sizeof *cases; j += test_rounds(1, 19)) {
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
        for (size_t j = 0; j < sizeof cases / sizeof *cases; j++)
            count += cases[j].rule == tenoni_rules[i].code;
        test_about("%s", tenon_status_name(tenoni_rules[i].code));
        CHECK(count != 0 || (tenoni_rules[i].trust & TENON_TRUST_AK) != 0);
    }
}

static uint32_t line_of_maker(void (*change)(chain *))
{
    const chain_case one = {TENON_OK, change, "its line in the report"};
    tenon_report report;
    uint32_t held = UINT32_MAX;
    build(&one);
    CHECK_STATUS(rig_verify(&report, &built), TENON_OK);
    for (size_t i = 0; i < report.count; i++)
        if (report.checks[i].rule == TENON_RULE_25A_MAKER)
            held = report.checks[i].held;
    return held;
}

TEST(verify_report_notes_a_maker)
{
    CHECK_NUMBER(line_of_maker(nothing), 2);
    CHECK_NUMBER(line_of_maker(maker_is_not_listed_which_is_noted), 2);
    CHECK_NUMBER(line_of_maker(maker_is_listed), 1);
}

/* What is signed may not differ in a bit, nor what signs it. */
TEST(verify_no_bit_of_a_chain_may_differ)
{
    build(&cases[0]);
    CHECK_STATUS(rig_verify(NULL, &built), TENON_OK);
    size_t step = test_rounds(7, 211);
    for (size_t bit = 0; bit < 8 * built.proof_n; bit += step) {
        built.proof[bit / 8] ^= (uint8_t)(1 << bit % 8);
        test_about("bit %zu", bit);
        tenon_status status = rig_verify(NULL, &built);
        int32_t category = tenon_status_category(status);
        CHECK(category == TENON_CATEGORY_FORMAT || category == TENON_CATEGORY_REJECTED);
        built.proof[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
}

/* ---- The chain alone, before a device keeps it ---- */

static tenon_status verify_certificate(tenon_report *report, const uint8_t *ak)
{
    tenon_bytes x5c[RIG_CERTIFICATES_MAX];
    tenon_policy policy = rig_policy(&built);
    tenon_public_key key = rig_public(ak);
    for (size_t i = 0; i < built.x5c_count; i++)
        x5c[i] = (tenon_bytes){built.x5c[i], built.x5c_n[i]};
    return tenon_ak_certificate_verify(report, x5c, built.x5c_count, &key, &policy);
}

TEST(verify_ak_certificate_gets_the_code_of_its_rule)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tenon_report report;
        bool of_another = cases[i].rule == TENON_RULE_23A_SIGNATURE || cases[i].rule == TENON_RULE_30_ANOTHER_KEY;
        build(&cases[i]);
        tenon_status found = verify_certificate(&report, rig_ak_scalar);
        CHECK_STATUS(found, of_another ? TENON_RULE_20_PUBLIC_KEY : cases[i].rule);
        CHECK_STATUS(verify_certificate(NULL, rig_ak_scalar), found);
        CHECK_STATUS(report.verdict, found);
        CHECK_NUMBER(report.checks[report.count - 1].rule, found == TENON_OK ? TENON_RULE_20_PUBLIC_KEY : found);
        CHECK_NUMBER(report.checks[report.count - 1].held, found == TENON_OK);
    }
    build(&cases[0]);
    CHECK_STATUS(verify_certificate(NULL, rig_other_scalar), TENON_RULE_20_PUBLIC_KEY);
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
    CHECK_STATUS(tenon_ak_certificate_verify(NULL, NULL, 0, &key, &policy), TENON_RULE_24_CERTIFICATE);
    CHECK_STATUS(tenon_ak_certificate_verify(NULL, x5c, TENON_CERTIFICATES_MAX + 1, &key, &policy),
                 TENON_RULE_24_CERTIFICATE);
    ak.trust = TENON_TRUST_AK;
    ak.roots_count = 0;
    CHECK_STATUS(tenon_ak_certificate_verify(&report, x5c, 2, &key, &ak), TENON_ERROR_OPTIONS);
    CHECK_STATUS(report.verdict, TENON_ERROR_OPTIONS);
    policy.size--;
    CHECK_STATUS(tenon_ak_certificate_verify(NULL, x5c, 2, &key, &policy), TENON_ERROR_OPTIONS);
}
