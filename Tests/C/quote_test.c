/* SPDX-License-Identifier: Apache-2.0 */
#include "proof/quote.h"
#include "proof_rig.h"

/*
 * Each rule of tenon/quote.h is broken, with everything else good: what was changed is signed. Left out, the rule no
 * longer refuses, and at most a later one does. Written by hand, without the core's writers.
 */

typedef struct {
    uint32_t magic;
    uint16_t type;
    support_bytes extra, selection, digest, tail;
    const char *format, *version;
    uint8_t algorithm;
    const uint8_t *signer;
    support_bytes cbor_tail, sig; /* sig: instead of the signature, unless it is empty */
    support_bytes quote;
} made;

static const tenon_digest nonce = {{4, 5, 6}}, values = {{7, 8, 9}};

enum { PCRS = 1u << 0 | 1u << 7 | 1u << 16 };

static void text(support_bytes *out, const char *of)
{
    support_bytes_number(out, 0x60 | strlen(of), 1);
    support_bytes_add(out, of, strlen(of));
}

static void string(support_bytes *out, const char *key, const support_bytes *of)
{
    text(out, key);
    support_bytes_number(out, of->n < 24 ? 0x40 | of->n : 0x5800 | of->n, of->n < 24 ? 1 : 2);
    support_bytes_add(out, of->bytes, of->n);
}

static void begin(made *at)
{
    memset(at, 0, sizeof *at);
    at->magic = 0xff544347;
    at->type = 0x8018;
    support_bytes_set(&at->extra, nonce.bytes, sizeof nonce.bytes);
    rig_hex(&at->selection, "00000001000b03810001");
    support_bytes_set(&at->digest, values.bytes, sizeof values.bytes);
    at->format = "tpm-quote";
    at->version = "2.0";
    at->algorithm = 0x26;
    at->signer = rig_ak_scalar;
}

static support_bytes attest(const made *at)
{
    support_bytes out = {.n = 0}, name = {{0x00, 0x0b}, 2};
    support_bytes_pad(&name, 32);
    support_bytes_number(&out, at->magic, 4);
    support_bytes_number(&out, at->type, 2);
    support_bytes_sized(&out, &name);
    support_bytes_sized(&out, &at->extra);
    support_bytes_number(&out, 12, 8);
    support_bytes_number(&out, 3, 4);
    support_bytes_number(&out, 4, 4);
    support_bytes_number(&out, 1, 1);
    support_bytes_number(&out, 5, 8);
    support_bytes_add(&out, at->selection.bytes, at->selection.n);
    support_bytes_sized(&out, &at->digest);
    support_bytes_add(&out, at->tail.bytes, at->tail.n);
    return out;
}

/* With the change, which may be NULL, and signed. */
static void make(made *at, void (*change)(made *))
{
    begin(at);
    if (change != NULL)
        change(at);
    const support_bytes quoted = attest(at);
    const support_ecdsa signature = support_ecdsa_of(rig_sign(at->signer, quoted.bytes, quoted.n).bytes);
    const support_bytes own = support_ecdsa_write(&signature);
    support_bytes *out = &at->quote;
    support_bytes_number(out, 0xa2, 1);
    text(out, "fmt");
    text(out, at->format);
    text(out, "attStmt");
    support_bytes_number(out, 0xa4, 1);
    text(out, "alg");
    support_bytes_number(out, at->algorithm, 1);
    string(out, "sig", at->sig.n != 0 ? &at->sig : &own);
    text(out, "ver");
    text(out, at->version);
    string(out, "quoted", &quoted);
    support_bytes_add(out, at->cbor_tail.bytes, at->cbor_tail.n);
}

static tenon_quote_policy policy_of(const tenon_digest *digests, size_t count)
{
    return (tenon_quote_policy){
        .size = sizeof(tenon_quote_policy), .pcrs = PCRS, .digests = digests, .digests_count = count};
}

static tenon_status verify_without(const made *at, tenon_status rule)
{
    enum { RULES = 13 };
    tenoni_quote_rule rules[RULES];
    const tenon_quote_policy policy = policy_of(&values, 1);
    const tenon_public_key ak = rig_public(rig_ak_scalar);
    size_t count = 0;
    if (!CHECK_NUMBER(tenoni_quote_rules_count, RULES))
        return rule;
    for (size_t i = 0; i < RULES; i++)
        if (tenoni_quote_rules[i].code != rule)
            rules[count++] = tenoni_quote_rules[i];
    return tenoni_quote_verify(NULL, at->quote.bytes, at->quote.n, &nonce, &ak, &policy, rules, count);
}

static tenon_status verify(tenon_report *report, const made *at)
{
    const tenon_quote_policy policy = policy_of(&values, 1);
    const tenon_public_key ak = rig_public(rig_ak_scalar);
    return tenon_quote_verify(report, at->quote.bytes, at->quote.n, &nonce, &ak, &policy);
}

/* The name of each case, the rule that refuses it, and what is changed. */
/* clang-format off */
#define EACH_CASE(CASE)                                                                                                \
    CASE(long_statement, 7_NONCE, support_bytes_pad(&at->extra, 100)) \
    CASE(bytes_behind_the_cbor, 2_CBOR, support_bytes_pad(&at->cbor_tail, 1)) \
    CASE(format_of_a_proof, 3_VERSION, at->format = "tpm") \
    CASE(other_version, 3_VERSION, at->version = "1.2") \
    CASE(other_algorithm, 3_VERSION, at->algorithm = 0x25) \
    CASE(bytes_behind_the_statement, 4_TRAILING, support_bytes_pad(&at->tail, 1)) \
    CASE(one_bank_said_to_be_two, 4_TRAILING, rig_hex(&at->selection, "00000002000b03810001")) \
    CASE(selection_of_four_bytes, 4_TRAILING, rig_hex(&at->selection, "00000001000b0481000100")) \
    CASE(other_magic, 5_MAGIC, at->magic = 0xff544348) \
    CASE(other_type, 6_TYPE, at->type = 0x801a) \
    CASE(other_nonce, 7_NONCE, at->extra.bytes[31] ^= 1) \
    CASE(short_nonce, 7_NONCE, at->extra.n = 31) \
    CASE(no_nonce, 7_NONCE, at->extra.n = 0) \
    CASE(sha1_bank, 8_BANK, rig_hex(&at->selection, "00000001000403810001")) \
    CASE(two_banks, 8_BANK, rig_hex(&at->selection, "00000002000b03810001000403810001")) \
    CASE(no_bank, 8_BANK, rig_hex(&at->selection, "00000000")) \
    CASE(a_pcr_more, 9_PCRS, rig_hex(&at->selection, "00000001000b03830001")) \
    CASE(a_pcr_fewer, 9_PCRS, rig_hex(&at->selection, "00000001000b03810000")) \
    CASE(other_values, 10_VALUES, at->digest.bytes[0] ^= 1) \
    CASE(longer_digest, 10_VALUES, support_bytes_pad(&at->digest, 1)) \
    CASE(signed_rsa, 11_ALGORITHM, rig_hex(&at->sig, "0014000b000101")) \
    CASE(signed_sha384, 11_ALGORITHM, rig_hex(&at->sig, "0018000c00010100010100")) \
    CASE(r_zero, 12_RANGE, rig_hex(&at->sig, "0018000b000100000101")) \
    CASE(s_too_long, 12_RANGE, rig_hex(&at->sig, "0018000b000101002101" RIG_ORDER)) \
    CASE(other_signer, 13_SIGNATURE, at->signer = rig_other_scalar)
/* clang-format on */

#define CHANGE(name, rule, change)                                                                                     \
    static void name(made *at) { change; }
#define ROW(name, rule, change) {#name, name, TENON_QUOTE_##rule},

EACH_CASE(CHANGE)

static const struct {
    const char *name;
    void (*change)(made *);
    tenon_status rule;
} cases[] = {EACH_CASE(ROW)};

TEST(quote_each_rule)
{
    for (size_t i = 0; i < COUNT(cases); i++) {
        made at;
        tenon_report report;
        make(&at, cases[i].change);
        test_about("%s", cases[i].name);
        tenon_status expected = cases[i].rule == TENON_QUOTE_2_CBOR ? TENON_ERROR_CBOR_TRAILING : cases[i].rule;
        CHECK_STATUS(verify(&report, &at), expected);
        CHECK_STATUS(report.verdict, expected);
        CHECK_STATUS(report.checks[report.count - 1].rule, cases[i].rule);
        CHECK_NUMBER(report.checks[report.count - 1].held, 0);
        tenon_status later = verify_without(&at, cases[i].rule);
        CHECK(later == TENON_OK || (later >= TENON_QUOTE_1_SIZE && later > cases[i].rule));
    }
}

TEST(quote_good)
{
    made at;
    tenon_report report;
    make(&at, NULL);
    CHECK_OK(verify(&report, &at));
    CHECK_NUMBER(report.count, 13);
    CHECK_NUMBER(report.clock_safe, 1);
    CHECK_NUMBER(report.hierarchy_known, 0);
    for (size_t i = 0; i < report.count; i++)
        CHECK_NUMBER(report.checks[i].held, 1);
    for (size_t i = 0; i < at.quote.n; i++) {
        test_about("without the last %u bytes", (unsigned)(at.quote.n - i));
        CHECK(tenon_quote_verify(NULL, at.quote.bytes, i, &nonce, &(tenon_public_key){{0}},
                                 &(tenon_quote_policy){.size = sizeof(tenon_quote_policy), .pcrs = PCRS}) != TENON_OK);
    }
}

/* One bit after the other is flipped: the quote is never accepted, except where a second encoding is not possible. */
TEST(quote_each_bit)
{
    made at;
    make(&at, NULL);
    for (size_t i = 0; i < 8 * at.quote.n; i += test_rounds(7, 61)) {
        at.quote.bytes[i / 8] ^= (uint8_t)(1 << i % 8);
        test_about("bit %u", (unsigned)i);
        CHECK(verify(NULL, &at) != TENON_OK);
        at.quote.bytes[i / 8] ^= (uint8_t)(1 << i % 8);
    }
    CHECK_OK(verify(NULL, &at));
}

/* A part that is too large, and a quote that is. */
TEST(quote_sizes)
{
    static uint8_t bytes[TENON_QUOTE_MAX + 1];
    static const uint8_t head[] = "\xa2\x63"
                                  "fmt\x69"
                                  "tpm-quote\x67"
                                  "attStmt\xa4\x63"
                                  "alg\x26\x63"
                                  "sig\x59\x01\x01";
    const tenon_quote_policy policy = policy_of(NULL, 0);
    const tenon_public_key ak = rig_public(rig_ak_scalar);
    size_t at = sizeof head - 1 + 257, n;
    memcpy(bytes, head, sizeof head - 1);
    memcpy(bytes + at,
           "\x63ver\x63"
           "2.0\x66quoted\x40",
           16);
    CHECK_STATUS(tenon_quote_verify(NULL, bytes, at + 16, &nonce, &ak, &policy), TENON_QUOTE_1_SIZE);
    CHECK_STATUS(tenon_quote_verify(NULL, bytes, sizeof bytes, &nonce, &ak, &policy), TENON_QUOTE_1_SIZE);
    CHECK_STATUS(tenon_quote_encode(bytes, sizeof bytes, &n, bytes, 257, bytes, 1), TENON_ERROR_TOO_LARGE);
    CHECK_STATUS(tenon_quote_encode(bytes, sizeof bytes, &n, bytes, 1, bytes, 257), TENON_ERROR_TOO_LARGE);
    CHECK_NUMBER(n, 0);
}

/* Without digests in the policy the values are noted; with several, each of them is accepted. */
TEST(quote_values_of_the_policy)
{
    made at;
    tenon_report report;
    const tenon_digest several[] = {{{1}}, {{2}}, values};
    const tenon_public_key ak = rig_public(rig_ak_scalar);
    tenon_quote_policy policy = policy_of(NULL, 0);
    make(&at, other_values);
    CHECK_OK(tenon_quote_verify(&report, at.quote.bytes, at.quote.n, &nonce, &ak, &policy));
    CHECK_NUMBER(report.checks[9].held, 2);
    policy = policy_of(several, 3);
    CHECK_STATUS(tenon_quote_verify(NULL, at.quote.bytes, at.quote.n, &nonce, &ak, &policy), TENON_QUOTE_10_VALUES);
    make(&at, NULL);
    CHECK_OK(tenon_quote_verify(NULL, at.quote.bytes, at.quote.n, &nonce, &ak, &policy));
}

TEST(quote_arguments)
{
    made at;
    const tenon_public_key ak = rig_public(rig_ak_scalar);
    const tenon_quote_policy good = policy_of(&values, 1);
    tenon_quote_policy policy;
    size_t n;
    make(&at, NULL);
    const uint8_t *quote = at.quote.bytes;
    CHECK_STATUS(tenon_quote_verify(NULL, NULL, 1, &nonce, &ak, &good), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_quote_verify(NULL, quote, at.quote.n, NULL, &ak, &good), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_quote_verify(NULL, quote, at.quote.n, &nonce, NULL, &good), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_quote_verify(NULL, quote, at.quote.n, &nonce, &ak, NULL), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_quote_encode(NULL, 0, &n, NULL, 1, quote, 1), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_quote_encode(NULL, 0, &n, quote, 1, NULL, 1), TENON_ERROR_NULL);
#define VERIFIED(change)                                                                                               \
    (policy = good, (void)(change), tenon_quote_verify(NULL, quote, at.quote.n, &nonce, &ak, &policy))
    CHECK_STATUS(VERIFIED(policy.digests = NULL), TENON_ERROR_NULL);
    CHECK_STATUS(VERIFIED(policy.size--), TENON_ERROR_OPTIONS);
    CHECK_STATUS(VERIFIED(policy.pcrs = 0), TENON_ERROR_OPTIONS);
    CHECK_STATUS(VERIFIED(policy.pcrs = 1u << 24), TENON_ERROR_OPTIONS);
}

/* The attestation key of a certificate is that of its leaf. */
TEST(quote_key_of_a_certificate)
{
    const certificate_form form = {.subject = "leaf",
                                   .issuer = "ca",
                                   .key = rig_ak_scalar,
                                   .signer = rig_other_scalar,
                                   .from = "2020",
                                   .to = "9999",
                                   .leaf = true};
    uint8_t der[CERTIFICATE_MADE_MAX];
    const size_t n = certificate_write(der, &form);
    const tenon_public_key ak = rig_public(rig_ak_scalar);
    const tenon_bytes rsa = certificate_of_swtpm("root");
    tenon_public_key found;
    CHECK_OK(tenon_certificate_public_key(&found, der, n));
    CHECK_BYTES(&found, &ak, sizeof ak);
    CHECK_STATUS(tenon_certificate_public_key(&found, der, n - 1), TENON_ERROR_CERTIFICATE_FORM);
    CHECK_STATUS(tenon_certificate_public_key(&found, NULL, 0), TENON_ERROR_CERTIFICATE_FORM);
    CHECK_STATUS(tenon_certificate_public_key(&found, rsa.bytes, rsa.n), TENON_ERROR_CERTIFICATE_FORM);
    CHECK_STATUS(tenon_certificate_public_key(&found, NULL, 1), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_certificate_public_key(NULL, der, n), TENON_ERROR_NULL);
}
