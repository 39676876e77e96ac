/* SPDX-License-Identifier: Apache-2.0 */
#include "tpm_rig.h"

/* TPM2_Quote: what a verifier says of it, its cost, and every wrong answer. */

typedef struct {
    uint8_t bytes[TENON_QUOTE_MAX];
    size_t n;
} quote;

static const tenon_digest nonce = {{1, 2, 3}};

enum { PCRS = 1u << 0 | 1u << 7 };

static tenon_status make(tpm_stage *at, quote *out)
{
    return tenon_tpm_ak_quote(at->ak, out->bytes, sizeof out->bytes, &out->n, nonce.bytes, sizeof nonce.bytes, PCRS);
}

static tenon_status verify(const tpm_stage *at, const quote *made, uint32_t pcrs, const tenon_digest *digests,
                           size_t count)
{
    const tenon_quote_policy policy = {.size = sizeof policy, .pcrs = pcrs, .digests = digests, .digests_count = count};
    tenon_public_key ak;
    CHECK_OK(tenon_tpm_key_public_key(at->ak, &ak));
    return tenon_quote_verify(NULL, made->bytes, made->n, &nonce, &ak, &policy);
}

static void check_quotes(tpm_stage *at)
{
    quote made;
    CHECK_OK(make(at, &made));
    CHECK_OK(verify(at, &made, PCRS, NULL, 0));
}

/* PCRs 0 and 7 of a software TPM that was only started are zeros. */
TEST_STAGE(tpm_quote_works)
{
    const uint8_t zeros[64] = {0};
    tenon_digest values[2] = {{{1}}};
    quote made;
    CHECK_OK(tenon_sha256(&values[1], zeros, sizeof zeros));
    CHECK_NUMBER(COMMANDS(at->rig, make(at, &made)), 1);
    CHECK_NUMBER(support_transport_count(at->rig.wire, SUPPORT_CC_QUOTE), 1);
    CHECK_OK(verify(at, &made, PCRS, values, 2));
    CHECK_STATUS(verify(at, &made, PCRS, values, 1), TENON_QUOTE_10_VALUES);
    CHECK_STATUS(verify(at, &made, 1u << 0, values, 2), TENON_QUOTE_9_PCRS);
    CHECK_STATUS(verify(at, &made, PCRS | 1u << 23, values, 2), TENON_QUOTE_9_PCRS);
}

TEST_STAGE(tpm_quote_each_pcr)
{
    quote made;
    for (uint32_t i = 0; i < TENON_PCRS_MAX; i++) {
        test_about("PCR %u", (unsigned)i);
        CHECK_OK(tenon_tpm_ak_quote(at->ak, made.bytes, sizeof made.bytes, &made.n, nonce.bytes, sizeof nonce.bytes,
                                    1u << i));
        CHECK_OK(verify(at, &made, 1u << i, NULL, 0));
    }
}

/* A proof of another key by the same AK, and a quote by another AK, are no quotes of this one. */
TEST_STAGE(tpm_quote_is_no_proof)
{
    OWNED_TPM_KEY other = tpm_rig_ak(at->key);
    static uint8_t proof[TENON_PROOF_MAX];
    tenon_public_key key;
    quote made;
    size_t n;
    CHECK_OK(make(at, &made));
    CHECK_OK(tenon_tpm_key_attest(at->key, at->ak, proof, sizeof proof, &n, nonce.bytes, sizeof nonce.bytes, NULL, 0));
    CHECK_OK(tenon_tpm_key_public_key(other, &key));
    const tenon_quote_policy policy = {.size = sizeof policy, .pcrs = PCRS};
    CHECK_STATUS(tenon_quote_verify(NULL, made.bytes, made.n, &nonce, &key, &policy), TENON_QUOTE_13_SIGNATURE);
    CHECK(tenon_quote_verify(NULL, proof, n, &nonce, &key, &policy) != TENON_OK);
}

OUTPUT(quote_output)
{
    const tpm_stage *at = input;
    return tenon_tpm_ak_quote(at->ak, out, n, written, nonce.bytes, sizeof nonce.bytes, PCRS);
}

TEST_STAGE(tpm_quote_arguments)
{
    const uint8_t data[33] = {0};
    quote made;
    CHECK_OK(make(at, &made));
    test_output_rule("tenon_tpm_ak_quote", quote_output, at, NULL, made.n);
    support_transport_reset_counts(at->rig.wire);
    const struct {
        tenon_tpm_key *ak;
        const uint8_t *data;
        size_t n;
        uint32_t pcrs;
        tenon_status status;
    } cases[] = {
        {NULL, data, 1, PCRS, TENON_ERROR_NULL},
        {at->ak, NULL, 1, PCRS, TENON_ERROR_NULL},
        {at->key, data, 1, PCRS, TENON_ERROR_KEY_ATTRIBUTES},
        {at->ak, data, 33, PCRS, TENON_ERROR_TOO_LARGE},
        {at->ak, data, 1, 0, TENON_ERROR_OPTIONS},
        {at->ak, data, 1, 1u << 24, TENON_ERROR_OPTIONS},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        test_about("%u", (unsigned)i);
        CHECK_STATUS(tenon_tpm_ak_quote(cases[i].ak, made.bytes, sizeof made.bytes, &made.n, cases[i].data, cases[i].n,
                                        cases[i].pcrs),
                     cases[i].status);
        CHECK_NUMBER(made.n, 0);
    }
    CHECK_NUMBER(support_transport_count(at->rig.wire, SUPPORT_ANY), 0);
}

static tenon_status ask(tpm_stage *at)
{
    quote made;
    tenon_status status = make(at, &made);
    CHECK(status == TENON_OK || made.n == 0);
    return status;
}

/* The answer: 14 bytes before the TPM2B_ATTEST of 2 + 145 bytes, then the TPMT_SIGNATURE of 72, then 5. */
TEST_STAGE(tpm_quote_answers_that_are_none)
{
    enum { ATTEST_AT = 16, SIGNATURE_AT = ATTEST_AT + 145, ENTRY_AT = SIGNATURE_AT + 72, END = ENTRY_AT + 5 };
    static const tpm_flip flips[] = {
        {"size of parameters", 13, TENON_ERROR_TPM_ANSWER},
        {"size of the statement", ATTEST_AT - 1, TENON_ERROR_TPM_ANSWER},
        {"magic", ATTEST_AT, TENON_ERROR_TPM_ANSWER},
        {"type", ATTEST_AT + 5, TENON_ERROR_TPM_ANSWER},
        {"extra data", ATTEST_AT + 44, TENON_ERROR_TPM_ANSWER},
        {"number of banks", ATTEST_AT + 104, TENON_ERROR_TPM_ANSWER},
        {"bank", ATTEST_AT + 106, TENON_ERROR_PCRS_MISSING},
        {"size of the selection", ATTEST_AT + 107, TENON_ERROR_TPM_ANSWER},
        {"a PCR", ATTEST_AT + 108, TENON_ERROR_PCRS_MISSING},
        {"size of the digest", ATTEST_AT + 112, TENON_ERROR_TPM_ANSWER},
        {"digest", ATTEST_AT + 120, TENON_ERROR_SIGNATURE_INVALID},
        {"clock", ATTEST_AT + 80, TENON_ERROR_SIGNATURE_INVALID},
        {"r", SIGNATURE_AT + 20, TENON_ERROR_SIGNATURE_INVALID},
        {"signature's scheme", SIGNATURE_AT + 1, TENON_ERROR_TPM_ANSWER},
        {"HMAC", ENTRY_AT + 4, TENON_ERROR_TPM_ANSWER},
    };
    tpm_stage_check_answers(at, SUPPORT_CC_QUOTE, END, flips, COUNT(flips), ask);
    check_quotes(at);
}

/* A handle that holds another AK by now: its quote is not given out, and the blob is used. */
TEST_STAGE(tpm_quote_another_ak)
{
    uint32_t handle;
    CHECK_OK(tenon_tpm_key_persist(at->ak, &handle));
    check_quotes(at);
    CHECK_NUMBER(support_swap_persistent(at->rig.sw, NULL, handle), 0);
    check_quotes(at);
    CHECK_NUMBER(support_flush_all(at->rig.sw), 0);
    CHECK_NUMBER(support_evict(at->rig.sw, NULL, handle, handle), 0);
}

TEST_STAGE(tpm_quote_after_a_reset)
{
    support_transport_follow(at->rig.wire, true);
    CHECK(support_swtpm_power_on(at->rig.sw));
    check_quotes(at);
}

/* A cleared TPM has no such AK; that says nothing about the signing key. */
TEST_STAGE(tpm_quote_cleared)
{
    quote made;
    CHECK_NUMBER(support_clear(at->rig.sw, SUPPORT_RH_LOCKOUT, NULL), 0);
    CHECK_CATEGORY(make(at, &made), TENON_CATEGORY_GONE);
}
