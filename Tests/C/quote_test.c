/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

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

static void number(support_bytes *out, uint64_t value, size_t n)
{
    while (n-- > 0) {
        const uint8_t byte = (uint8_t)(value >> 8 * n);
        support_bytes_add(out, &byte, 1);
    }
}

static void sized(support_bytes *out, const support_bytes *part)
{
    number(out, part->n, 2);
    support_bytes_add(out, part->bytes, part->n);
}

static void text(support_bytes *out, const char *of)
{
    number(out, 0x60 | strlen(of), 1);
    support_bytes_add(out, of, strlen(of));
}

static void string(support_bytes *out, const char *key, const support_bytes *of)
{
    text(out, key);
    number(out, of->n < 24 ? 0x40 | of->n : 0x5800 | of->n, of->n < 24 ? 1 : 2);
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
    number(&out, at->magic, 4);
    number(&out, at->type, 2);
    sized(&out, &name);
    sized(&out, &at->extra);
    number(&out, 12, 8);
    number(&out, 3, 4);
    number(&out, 4, 4);
    number(&out, 1, 1);
    number(&out, 5, 8);
    support_bytes_add(&out, at->selection.bytes, at->selection.n);
    sized(&out, &at->digest);
    support_bytes_add(&out, at->tail.bytes, at->tail.n);
    return out;
}

static void finish(made *at)
{
    const support_bytes quoted = attest(at);
    const support_ecdsa signature = support_ecdsa_of(rig_sign(at->signer, quoted.bytes, quoted.n).bytes);
    const support_bytes own = support_ecdsa_write(&signature);
    support_bytes *out = &at->quote;
    number(out, 0xa2, 1);
    text(out, "fmt");
    text(out, at->format);
    text(out, "attStmt");
    number(out, 0xa4, 1);
    text(out, "alg");
    number(out, at->algorithm, 1);
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

static void long_extra(made *at) { support_bytes_pad(&at->extra, 100); }
static void trailing_cbor(made *at) { support_bytes_pad(&at->cbor_tail, 1); }
static void proof_format(made *at) { at->format = "tpm"; }
static void version(made *at) { at->version = "1.2"; }
static void algorithm(made *at) { at->algorithm = 0x25; }
static void trailing(made *at) { support_bytes_pad(&at->tail, 1); }
static void cut_digest(made *at) { rig_hex(&at->selection, "00000002000b03810001"); }
static void long_selection(made *at) { rig_hex(&at->selection, "00000001000b0481000100"); }
static void magic(made *at) { at->magic = 0xff544348; }
static void certify_type(made *at) { at->type = 0x801a; }
static void other_nonce(made *at) { at->extra.bytes[31] ^= 1; }
static void short_nonce(made *at) { at->extra.n = 31; }
static void no_nonce(made *at) { at->extra.n = 0; }
static void sha1(made *at) { rig_hex(&at->selection, "00000001000403810001"); }
static void two_banks(made *at) { rig_hex(&at->selection, "00000002000b03810001000403810001"); }
static void no_bank(made *at) { rig_hex(&at->selection, "00000000"); }
static void more_pcrs(made *at) { rig_hex(&at->selection, "00000001000b03830001"); }
static void fewer_pcrs(made *at) { rig_hex(&at->selection, "00000001000b03810000"); }
static void other_values(made *at) { at->digest.bytes[0] ^= 1; }
static void long_values(made *at) { support_bytes_pad(&at->digest, 1); }
static void other_signer(made *at) { at->signer = rig_other_scalar; }
static void rsa(made *at) { rig_hex(&at->sig, "0014000b000101"); }
static void sha384(made *at) { rig_hex(&at->sig, "0018000c00010100010100"); }
static void zero_r(made *at) { rig_hex(&at->sig, "0018000b000100000101"); }
static void long_s(made *at) { rig_hex(&at->sig, "0018000b000101002101" RIG_ORDER); }

static const struct {
    const char *name;
    void (*change)(made *);
    tenon_status expected, rule;
} cases[] = {
    {"a long statement", long_extra, TENON_QUOTE_7_NONCE, TENON_QUOTE_7_NONCE},
    {"bytes behind the CBOR", trailing_cbor, TENON_ERROR_CBOR_TRAILING, TENON_QUOTE_2_CBOR},
    {"the format of a proof", proof_format, TENON_QUOTE_3_VERSION, TENON_QUOTE_3_VERSION},
    {"another version", version, TENON_QUOTE_3_VERSION, TENON_QUOTE_3_VERSION},
    {"another algorithm", algorithm, TENON_QUOTE_3_VERSION, TENON_QUOTE_3_VERSION},
    {"bytes behind the statement", trailing, TENON_QUOTE_4_TRAILING, TENON_QUOTE_4_TRAILING},
    {"one bank said to be two", cut_digest, TENON_QUOTE_4_TRAILING, TENON_QUOTE_4_TRAILING},
    {"a selection of four bytes", long_selection, TENON_QUOTE_4_TRAILING, TENON_QUOTE_4_TRAILING},
    {"another magic", magic, TENON_QUOTE_5_MAGIC, TENON_QUOTE_5_MAGIC},
    {"another type", certify_type, TENON_QUOTE_6_TYPE, TENON_QUOTE_6_TYPE},
    {"another nonce", other_nonce, TENON_QUOTE_7_NONCE, TENON_QUOTE_7_NONCE},
    {"a short nonce", short_nonce, TENON_QUOTE_7_NONCE, TENON_QUOTE_7_NONCE},
    {"no nonce", no_nonce, TENON_QUOTE_7_NONCE, TENON_QUOTE_7_NONCE},
    {"SHA-1's bank", sha1, TENON_QUOTE_8_BANK, TENON_QUOTE_8_BANK},
    {"two banks", two_banks, TENON_QUOTE_8_BANK, TENON_QUOTE_8_BANK},
    {"no bank", no_bank, TENON_QUOTE_8_BANK, TENON_QUOTE_8_BANK},
    {"a PCR more", more_pcrs, TENON_QUOTE_9_PCRS, TENON_QUOTE_9_PCRS},
    {"a PCR fewer", fewer_pcrs, TENON_QUOTE_9_PCRS, TENON_QUOTE_9_PCRS},
    {"other values", other_values, TENON_QUOTE_10_VALUES, TENON_QUOTE_10_VALUES},
    {"a longer digest", long_values, TENON_QUOTE_10_VALUES, TENON_QUOTE_10_VALUES},
    {"RSA", rsa, TENON_QUOTE_11_ALGORITHM, TENON_QUOTE_11_ALGORITHM},
    {"SHA-384", sha384, TENON_QUOTE_11_ALGORITHM, TENON_QUOTE_11_ALGORITHM},
    {"r is 0", zero_r, TENON_QUOTE_12_RANGE, TENON_QUOTE_12_RANGE},
    {"s is too long", long_s, TENON_QUOTE_12_RANGE, TENON_QUOTE_12_RANGE},
    {"another signer", other_signer, TENON_QUOTE_13_SIGNATURE, TENON_QUOTE_13_SIGNATURE},
};

TEST(quote_each_rule)
{
    for (size_t i = 0; i < COUNT(cases); i++) {
        made at;
        tenon_report report;
        begin(&at);
        cases[i].change(&at);
        finish(&at);
        test_about("%s", cases[i].name);
        CHECK_STATUS(verify(&report, &at), cases[i].expected);
        CHECK_STATUS(report.verdict, cases[i].expected);
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
    begin(&at);
    finish(&at);
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
    begin(&at);
    finish(&at);
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
    begin(&at);
    other_values(&at);
    finish(&at);
    CHECK_OK(tenon_quote_verify(&report, at.quote.bytes, at.quote.n, &nonce, &ak, &policy));
    CHECK_NUMBER(report.checks[9].held, 2);
    policy = policy_of(several, 3);
    CHECK_STATUS(tenon_quote_verify(NULL, at.quote.bytes, at.quote.n, &nonce, &ak, &policy), TENON_QUOTE_10_VALUES);
    begin(&at);
    finish(&at);
    CHECK_OK(tenon_quote_verify(NULL, at.quote.bytes, at.quote.n, &nonce, &ak, &policy));
}

TEST(quote_arguments)
{
    made at;
    const tenon_public_key ak = rig_public(rig_ak_scalar);
    const tenon_quote_policy good = policy_of(&values, 1);
    tenon_quote_policy policy = good;
    size_t n;
    begin(&at);
    finish(&at);
    const uint8_t *quote = at.quote.bytes;
    CHECK_STATUS(tenon_quote_verify(NULL, NULL, 1, &nonce, &ak, &good), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_quote_verify(NULL, quote, at.quote.n, NULL, &ak, &good), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_quote_verify(NULL, quote, at.quote.n, &nonce, NULL, &good), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_quote_verify(NULL, quote, at.quote.n, &nonce, &ak, NULL), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_quote_encode(NULL, 0, &n, NULL, 1, quote, 1), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_quote_encode(NULL, 0, &n, quote, 1, NULL, 1), TENON_ERROR_NULL);
    policy.digests = NULL;
    CHECK_STATUS(tenon_quote_verify(NULL, quote, at.quote.n, &nonce, &ak, &policy), TENON_ERROR_NULL);
    policy = good;
    policy.size--;
    CHECK_STATUS(tenon_quote_verify(NULL, quote, at.quote.n, &nonce, &ak, &policy), TENON_ERROR_OPTIONS);
    policy = good;
    policy.pcrs = 0;
    CHECK_STATUS(tenon_quote_verify(NULL, quote, at.quote.n, &nonce, &ak, &policy), TENON_ERROR_OPTIONS);
    policy.pcrs = 1u << 24;
    CHECK_STATUS(tenon_quote_verify(NULL, quote, at.quote.n, &nonce, &ak, &policy), TENON_ERROR_OPTIONS);
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
