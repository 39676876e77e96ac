/* SPDX-License-Identifier: Apache-2.0 */
#include "proof/quote.h"

#include <string.h>

#include "base/secure.h"
#include "crypto/structures.h"
#include "proof/certificate.h"
#include "proof/rules.h"
#include "tenon/digest.h"
#include "tenon/encoding.h"
#include "tenon/p256.h"

/* A quote as bytes. */

static const char format[] = "tpm-quote";

enum { QUOTE_KEYS = 2, STATEMENT_KEYS = 4 };

/* RFC 8949, 4.2.1: keys in the order of their encodings. */
static void write_quote(tenoni_writer *writer, const tenon_bytes *quoted, const tenon_bytes *signature)
{
    tenoni_cbor_write_map(writer, QUOTE_KEYS);
    tenoni_cbor_write_text(writer, "fmt");
    tenoni_cbor_write_text(writer, format);
    tenoni_cbor_write_text(writer, "attStmt");
    tenoni_cbor_write_map(writer, STATEMENT_KEYS);
    tenoni_cbor_write_text(writer, "alg");
    tenoni_cbor_write_integer(writer, tenoni_statement_es256);
    tenoni_statement_write_field(writer, "sig", signature);
    tenoni_cbor_write_text(writer, "ver");
    tenoni_cbor_write_text(writer, tenoni_statement_version);
    tenoni_statement_write_field(writer, "quoted", quoted);
}

tenon_status tenon_quote_encode(uint8_t *out, size_t n, size_t *written, const uint8_t *quoted, size_t quoted_n,
                                const uint8_t *signature, size_t signature_n)
{
    uint8_t quote[TENON_QUOTE_MAX];
    const tenon_bytes statement = {quoted, quoted_n}, sig = {signature, signature_n};
    if (written != NULL)
        *written = 0;
    if ((quoted == NULL && quoted_n != 0) || (signature == NULL && signature_n != 0))
        return TENON_ERROR_NULL;
    if (quoted_n > TENON_AREA_MAX || signature_n > TENON_AREA_MAX)
        return TENON_ERROR_TOO_LARGE;
    tenoni_writer writer = tenoni_writer_over(quote, sizeof quote);
    write_quote(&writer, &statement, &sig);
    return tenoni_output_copy(out, n, written, quote, writer.used);
}

static tenon_status read_quote(tenoni_reader *reader, tenoni_quote *out)
{
    tenon_status status = tenoni_cbor_read_map(reader, QUOTE_KEYS);
    if (status == TENON_OK)
        status = tenoni_statement_read_text(reader, "fmt", &out->format);
    if (status == TENON_OK)
        status = tenoni_cbor_read_key(reader, "attStmt");
    if (status == TENON_OK)
        status = tenoni_cbor_read_map(reader, STATEMENT_KEYS);
    if (status == TENON_OK)
        status = tenoni_statement_read_algorithm(reader, &out->algorithm);
    if (status == TENON_OK)
        status = tenoni_statement_read_field(reader, "sig", &out->signature);
    if (status == TENON_OK)
        status = tenoni_statement_read_text(reader, "ver", &out->version);
    if (status == TENON_OK)
        status = tenoni_statement_read_field(reader, "quoted", &out->quoted);
    return status == TENON_OK && reader->left != 0 ? TENON_ERROR_CBOR_TRAILING : status;
}

/* Everything is read before the first rule is checked; what cannot be read is empty. */
static void read_all(tenoni_quote *out, const uint8_t *quote, size_t n)
{
    tenon_evidence evidence = {0};
    tenoni_reader reader = tenoni_reader_over(quote, n);
    out->n = n;
    out->read = n <= TENON_QUOTE_MAX ? read_quote(&reader, out) : TENON_ERROR_CBOR_TRUNCATED;
    evidence.signature = out->signature;
    out->whole = tenoni_attest_read(&out->attest, out->quoted.bytes, out->quoted.n);
    if (out->attest.type == TENONI_ATTEST_QUOTE)
        out->whole = out->whole && tenoni_quoted_read(&out->info, out->attest.attested);
    out->form = tenon_evidence_signature(&out->parsed, &evidence);
}

/* The rules of tenon/quote.h. Each relies on nothing that holds only because of another one. */

static tenon_status rule_1_size(const tenoni_quote *quote)
{
    bool fits =
        quote->n <= TENON_QUOTE_MAX && quote->quoted.n <= TENON_AREA_MAX && quote->signature.n <= TENON_AREA_MAX;
    return tenoni_verdict(fits, TENON_QUOTE_1_SIZE);
}

static tenon_status rule_2_cbor(const tenoni_quote *quote)
{
    return quote->read;
}

static tenon_status rule_3_version(const tenoni_quote *quote)
{
    return tenoni_verdict(tenoni_statement_is_of(format, quote->format, quote->version, quote->algorithm),
                          TENON_QUOTE_3_VERSION);
}

static tenon_status rule_4_trailing(const tenoni_quote *quote)
{
    return tenoni_verdict(quote->whole, TENON_QUOTE_4_TRAILING);
}

static tenon_status rule_5_magic(const tenoni_quote *quote)
{
    return tenoni_verdict(quote->attest.magic == TENONI_ATTEST_MAGIC, TENON_QUOTE_5_MAGIC);
}

static tenon_status rule_6_type(const tenoni_quote *quote)
{
    return tenoni_verdict(quote->attest.type == TENONI_ATTEST_QUOTE, TENON_QUOTE_6_TYPE);
}

static tenon_status rule_7_nonce(const tenoni_quote *quote)
{
    return tenoni_verdict(tenoni_is_bytes(quote->attest.extra_data, quote->nonce->bytes, sizeof quote->nonce->bytes),
                          TENON_QUOTE_7_NONCE);
}

static tenon_status rule_8_bank(const tenoni_quote *quote)
{
    return tenoni_verdict(quote->info.banks == 1 && quote->info.bank == TENONI_ALG_SHA256, TENON_QUOTE_8_BANK);
}

static tenon_status rule_9_pcrs(const tenoni_quote *quote)
{
    return tenoni_verdict(quote->info.pcrs == quote->policy->pcrs, TENON_QUOTE_9_PCRS);
}

static tenon_status rule_10_values(const tenoni_quote *quote)
{
    const tenon_quote_policy *policy = quote->policy;
    if (policy->digests_count == 0)
        return tenoni_verdict(quote->info.digest.left == TENON_DIGEST_SIZE, TENON_QUOTE_10_VALUES);
    for (size_t i = 0; i < policy->digests_count; i++)
        if (tenoni_is_bytes(quote->info.digest, policy->digests[i].bytes, sizeof policy->digests[i].bytes))
            return TENON_OK;
    return TENON_QUOTE_10_VALUES;
}

static tenon_status rule_11_algorithm(const tenoni_quote *quote)
{
    return tenoni_verdict(quote->form == TENON_OK || quote->form == TENON_ERROR_SIGNATURE_RANGE,
                          TENON_QUOTE_11_ALGORITHM);
}

static tenon_status rule_12_range(const tenoni_quote *quote)
{
    return tenoni_verdict(quote->form != TENON_ERROR_SIGNATURE_RANGE, TENON_QUOTE_12_RANGE);
}

static tenon_status rule_13_signature(const tenoni_quote *quote)
{
    tenon_digest digest;
    tenon_status status = tenon_sha256(&digest, quote->quoted.bytes, quote->quoted.n);
    if (status == TENON_OK)
        status = tenon_p256_verify(quote->ak, &digest, &quote->parsed);
    return tenoni_as_rule(status, TENON_QUOTE_13_SIGNATURE);
}

const tenoni_quote_rule tenoni_quote_rules[] = {
    {TENON_QUOTE_1_SIZE, rule_1_size},
    {TENON_QUOTE_2_CBOR, rule_2_cbor},
    {TENON_QUOTE_3_VERSION, rule_3_version},
    {TENON_QUOTE_4_TRAILING, rule_4_trailing},
    {TENON_QUOTE_5_MAGIC, rule_5_magic},
    {TENON_QUOTE_6_TYPE, rule_6_type},
    {TENON_QUOTE_7_NONCE, rule_7_nonce},
    {TENON_QUOTE_8_BANK, rule_8_bank},
    {TENON_QUOTE_9_PCRS, rule_9_pcrs},
    {TENON_QUOTE_10_VALUES, rule_10_values},
    {TENON_QUOTE_11_ALGORITHM, rule_11_algorithm},
    {TENON_QUOTE_12_RANGE, rule_12_range},
    {TENON_QUOTE_13_SIGNATURE, rule_13_signature},
};

const size_t tenoni_quote_rules_count = sizeof tenoni_quote_rules / sizeof *tenoni_quote_rules;

static uint32_t line_of(tenon_status status, const tenoni_quote *quote, tenon_status rule)
{
    if (status != TENON_OK)
        return TENONI_NOT_HELD;
    bool unjudged = rule == TENON_QUOTE_10_VALUES && quote->policy->digests_count == 0;
    return unjudged ? TENONI_NOTED : TENONI_HELD;
}

/* The result is that of the last rule that was checked; without any rule it is a refusal. */
static tenon_status judge(tenon_report *report, const tenoni_quote *quote, const tenoni_quote_rule *rules, size_t count)
{
    tenon_status status = TENON_QUOTE_13_SIGNATURE;
    for (size_t i = 0; i < count; i++) {
        status = rules[i].holds(quote);
        tenoni_report_add(report, rules[i].code, line_of(status, quote, rules[i].code));
        if (status != TENON_OK)
            break;
    }
    return status;
}

/* A policy that asks for no PCR would accept a quote that says nothing. */
static tenon_status check_policy(const tenon_quote_policy *policy)
{
    if (policy->size != sizeof *policy || policy->pcrs == 0 || policy->pcrs >> TENON_PCRS_MAX != 0)
        return TENON_ERROR_OPTIONS;
    return policy->digests == NULL && policy->digests_count != 0 ? TENON_ERROR_NULL : TENON_OK;
}

tenon_status tenoni_quote_verify(tenon_report *report, const uint8_t *quote, size_t quote_n, const tenon_digest *nonce,
                                 const tenon_public_key *ak, const tenon_quote_policy *policy,
                                 const tenoni_quote_rule *rules, size_t count)
{
    tenoni_quote read;
    tenoni_report_begin(report);
    if ((quote == NULL && quote_n != 0) || nonce == NULL || ak == NULL || policy == NULL)
        return tenoni_report_end(report, TENON_ERROR_NULL);
    tenon_status status = check_policy(policy);
    if (status != TENON_OK)
        return tenoni_report_end(report, status);
    memset(&read, 0, sizeof read);
    read.nonce = nonce;
    read.ak = ak;
    read.policy = policy;
    read_all(&read, quote, quote_n);
    status = judge(report, &read, rules, count);
    if (report != NULL && status == TENON_OK)
        report->clock_safe = read.attest.clock_safe;
    return tenoni_report_end(report, status);
}

tenon_status tenon_quote_verify(tenon_report *report, const uint8_t *quote, size_t quote_n, const tenon_digest *nonce,
                                const tenon_public_key *ak, const tenon_quote_policy *policy)
{
    return tenoni_quote_verify(report, quote, quote_n, nonce, ak, policy, tenoni_quote_rules, tenoni_quote_rules_count);
}

tenon_status tenon_certificate_public_key(tenon_public_key *out, const uint8_t *certificate, size_t n)
{
    tenoni_certificate read;
    if (out != NULL)
        memset(out, 0, sizeof *out);
    if (out == NULL || (certificate == NULL && n != 0))
        return TENON_ERROR_NULL;
    tenon_status status =
        n <= TENON_CERTIFICATE_MAX ? tenoni_certificate_read(&read, certificate, n) : TENON_RULE_22_CERTIFICATE;
    const tenoni_reader *point = &read.key.modulus_or_point;
    if ((status != TENON_OK && status != TENON_RULE_23_CRITICAL) || read.key.kind != TENONI_KEY_P256)
        return TENON_ERROR_CERTIFICATE_FORM;
    return tenon_public_key_decode_point(out, point->at, point->left);
}
