/* SPDX-License-Identifier: Apache-2.0 */
#include "crypto/structures.h"
#include "tpm_rig.h"

/* TPM2_Certify as a proof: its contents, its cost, and every wrong answer. */

typedef struct {
    uint8_t bytes[TENON_PROOF_MAX];
    size_t n;
} proof;

static const tenon_digest nonce = {{1, 2, 3}};

static tenon_status attest_x5c(tpm_stage *at, proof *out, const tenon_bytes *x5c, size_t count)
{
    return tenon_tpm_key_attest(at->key, at->ak, out->bytes, sizeof out->bytes, &out->n, nonce.bytes,
                                sizeof nonce.bytes, x5c, count);
}

/* With this nonce, of any size. */
static tenon_status attest_of(tenon_tpm_key *key, tenon_tpm_key *ak, proof *out, const uint8_t *data, size_t n)
{
    return tenon_tpm_key_attest(key, ak, out->bytes, sizeof out->bytes, &out->n, data, n, NULL, 0);
}

static tenon_status attest(tpm_stage *at, proof *out) { return attest_x5c(at, out, NULL, 0); }

static void check_verifies(const tpm_stage *at, const proof *found, const uint8_t *qualifying)
{
    uint8_t area[TENON_AREA_MAX];
    size_t n;
    tenon_public_key key;
    tenon_digest wanted;
    CHECK_OK(tenon_tpm_key_public_area(at->ak, area, sizeof area, &n));
    CHECK_OK(tenon_tpm_key_public_key(at->key, &key));
    memcpy(wanted.bytes, qualifying, sizeof wanted.bytes);
    const tenon_policy policy = {.size = sizeof policy, .trust = TENON_TRUST_AK, .ak = {area, n}};
    CHECK_OK(tenon_proof_verify(NULL, found->bytes, found->n, &wanted, &key, &policy));
}

/* By hand, and by the verifier: the statement is the key's, for the nonce, and the AK signed it. */
static void check_proof(const tpm_stage *at, const proof *found, const uint8_t *qualifying, size_t qualifying_n)
{
    tenon_evidence evidence;
    tenoni_attest says;
    tenon_signature signature;
    tenon_public_key ak;
    tenon_digest digest;
    uint8_t area[TENON_AREA_MAX], name[TENON_NAME_SIZE];
    size_t n;
    if (!CHECK_OK(tenon_proof_decode(&evidence, found->bytes, found->n)))
        return;
    CHECK(tenoni_attest_read(&says, evidence.certified.bytes, evidence.certified.n));
    CHECK_NUMBER(says.magic, 0xff544347);
    CHECK_NUMBER(says.type, 0x8017);
    CHECK_SAME(says.extra_data.at, says.extra_data.left, qualifying, qualifying_n);
    CHECK_OK(tenon_tpm_key_name(at->key, name, sizeof name, &n));
    CHECK_SAME(says.name.at, says.name.left, name, n);
    CHECK_OK(tenon_tpm_key_public_area(at->key, area, sizeof area, &n));
    CHECK_SAME(evidence.public_area.bytes, evidence.public_area.n, area, n);
    CHECK_OK(tenon_evidence_signature(&signature, &evidence));
    CHECK_OK(tenon_tpm_key_public_key(at->ak, &ak));
    CHECK_OK(tenon_sha256(&digest, evidence.certified.bytes, evidence.certified.n));
    CHECK_OK(tenon_p256_verify(&ak, &digest, &signature));
    if (qualifying_n == sizeof digest.bytes)
        check_verifies(at, found, qualifying);
}

static void check_attests(tpm_stage *at)
{
    proof found;
    CHECK_OK(attest(at, &found));
    check_proof(at, &found, nonce.bytes, sizeof nonce.bytes);
}

TEST_STAGE(tpm_attest_works)
{
    check_attests(at);
    CHECK_NUMBER(support_transport_count(at->rig.wire, SUPPORT_ANY), 1);
    CHECK_NUMBER(support_transport_count(at->rig.wire, SUPPORT_CC_CERTIFY), 1);
}

/* No room is made by flushing what the command names. */
TEST_STAGE(tpm_attest_lacks_room)
{
    check_attests(at);
    support_transport_reset_counts(at->rig.wire);
    support_fail_code(at->rig.wire, support_next(SUPPORT_CC_CERTIFY), 0x902);
    check_attests(at);
    CHECK_NUMBER(support_transport_count(at->rig.wire, SUPPORT_CC_CERTIFY), 2);
}

TEST_STAGE(tpm_attest_qualifying_data)
{
    uint8_t data[33] = {9, 8, 7};
    proof found;
    for (size_t n = 0; n <= 32; n += n == 1 ? 29 : 1) {
        test_about("%u bytes", (unsigned)n);
        CHECK_OK(tenon_tpm_key_attest(at->key, at->ak, found.bytes, sizeof found.bytes, &found.n, n == 0 ? NULL : data,
                                      n, NULL, 0));
        check_proof(at, &found, data, n);
    }
    support_transport_reset_counts(at->rig.wire);
    CHECK_STATUS(attest_of(at->key, at->ak, &found, data, sizeof data), TENON_ERROR_TOO_LARGE);
    CHECK_NUMBER(found.n, 0);
    CHECK_NUMBER(support_transport_count(at->rig.wire, SUPPORT_ANY), 0);
}

/* Certificates are carried unchanged, whatever their bytes are. */
TEST_STAGE(tpm_attest_certificates)
{
    static uint8_t bytes[TENON_CERTIFICATE_MAX + 1];
    const tenon_bytes whole = {bytes, TENON_CERTIFICATE_MAX}, over = {bytes, sizeof bytes}, none = {NULL, 1};
    const tenon_bytes three[] = {whole, whole, whole}, five[TENON_CERTIFICATES_MAX + 1] = {{bytes, 1}};
    const tenon_bytes total[] = {whole, whole, whole, {bytes, 1}};
    tenon_evidence evidence;
    proof found;
    CHECK_OK(attest_x5c(at, &found, three, 3));
    CHECK_OK(tenon_proof_decode(&evidence, found.bytes, found.n));
    CHECK_NUMBER(evidence.x5c_count, 3);
    CHECK_NUMBER(evidence.x5c[2].n, TENON_CERTIFICATE_MAX);
    support_transport_reset_counts(at->rig.wire);
    CHECK_STATUS(attest_x5c(at, &found, &over, 1), TENON_ERROR_TOO_LARGE);
    CHECK_STATUS(attest_x5c(at, &found, five, 5), TENON_ERROR_TOO_LARGE);
    CHECK_STATUS(attest_x5c(at, &found, total, 4), TENON_ERROR_TOO_LARGE);
    CHECK_STATUS(attest_x5c(at, &found, &none, 1), TENON_ERROR_NULL);
    CHECK_STATUS(attest_x5c(at, &found, NULL, 1), TENON_ERROR_NULL);
    CHECK_NUMBER(support_transport_count(at->rig.wire, SUPPORT_ANY), 0);
}

OUTPUT(attest_output)
{
    const tpm_stage *both = input;
    return tenon_tpm_key_attest(both->key, both->ak, out, n, written, nonce.bytes, sizeof nonce.bytes, NULL, 0);
}

TEST(tpm_attest_arguments)
{
    tpm_stage at = tpm_stage_start(NULL, NULL), other = tpm_stage_start(NULL, NULL);
    proof found;
    CHECK_OK(attest(&at, &found));
    test_output_rule("tenon_tpm_key_attest", attest_output, &at, NULL, found.n);
    support_transport_reset_counts(at.rig.wire);
    CHECK_STATUS(attest_of(NULL, at.ak, &found, NULL, 0), TENON_ERROR_NULL);
    CHECK_STATUS(attest_of(at.key, NULL, &found, NULL, 0), TENON_ERROR_NULL);
    CHECK_STATUS(attest_of(at.key, at.ak, &found, NULL, 1), TENON_ERROR_NULL);
    CHECK_STATUS(attest_of(at.key, at.key, &found, NULL, 0), TENON_ERROR_KEY_ATTRIBUTES);
    CHECK_STATUS(attest_of(at.ak, at.ak, &found, NULL, 0), TENON_ERROR_KEY_ATTRIBUTES);
    CHECK_STATUS(attest_of(at.key, other.ak, &found, NULL, 0), TENON_ERROR_OPTIONS);
    CHECK_NUMBER(support_transport_count(at.rig.wire, SUPPORT_ANY), 0);
    tpm_stage_stop(&other);
    tpm_stage_stop(&at);
}

/* A key with an auth value is certified in its session: the value does not cross the bus, and a wrong one is refused.
 */
TEST(tpm_attest_key_with_auth)
{
    OWNED_STAGE at = tpm_stage_start(NULL, "a very secret value");
    tenon_tpm_key *wrong;
    proof found;
    support_transport_watch(at.rig.wire, (const uint8_t *)"a very secret", 13);
    check_attests(&at);
    CHECK_OK(attest(&at, &found)); /* and the flush of the parent that the session was salted to */
    CHECK_NUMBER(COMMANDS(at.rig, attest(&at, &found)), 1);
    CHECK_NUMBER(support_transport_watched(at.rig.wire), 0);
    tpm_pem pem = tpm_rig_export(at.key);
    CHECK_OK(tenon_tpm_key_load(at.rig.tpm, &wrong, pem.text, pem.n, (const uint8_t *)"other", 5));
    CHECK_RC(attest_of(wrong, at.ak, &found, NULL, 0), TENON_CATEGORY_AUTH, 0x9A2);
    tenon_tpm_key_free(&wrong);
    CHECK_OK(attest(&at, &found));
}

TEST(tpm_attest_salted_sessions)
{
    static const uint32_t kinds[] = {TENON_TPM_SESSION_SALTED, TENON_TPM_SESSION_ENCRYPTED};
    for (size_t i = 0; i < 2; i++) {
        const tenon_tpm_options options = {.size = sizeof options, .session = kinds[i]};
        OWNED_STAGE at = tpm_stage_start(&options, NULL);
        proof found;
        test_about("session %u", (unsigned)kinds[i]);
        support_transport_watch(at.rig.wire, nonce.bytes, sizeof nonce.bytes);
        check_attests(&at);
        /* The answer contains it; only the command hides it. */
        CHECK_NUMBER(support_transport_watched(at.rig.wire), kinds[i] == TENON_TPM_SESSION_SALTED ? 2 : 1);
        /* Somebody on the bus cannot have another key certified, nor another statement believed. */
        support_tamper(at.rig.wire, support_times(SUPPORT_CC_CERTIFY, 1, 2), -3, 1);
        CHECK_RC(attest(&at, &found), TENON_CATEGORY_AUTH, 0x9A2);
        CHECK_NUMBER(support_transport_pending(at.rig.wire), 0);
        support_flip(at.rig.wire, support_next(SUPPORT_CC_CERTIFY), 60, 1);
        CHECK_STATUS(attest(&at, &found), TENON_ERROR_SESSION);
        CHECK_OK(attest(&at, &found));
    }
}

/* A fresh process: under an SRK each of the two is found and loaded, and then certified. */
TEST(tpm_attest_cold)
{
    static const uint32_t most[] = {3, 4};
    for (int primary = 0; primary < 2; primary++) {
        tpm_rig rig = tpm_rig_start(NULL);
        tpm_stage at = {.rig = rig};
        test_about(primary ? "under the primary" : "under an SRK");
        if (!primary)
            CHECK_NUMBER(support_persist_srk(rig.sw, NULL, SUPPORT_SRK_PROVISIONING), 0);
        CHECK_OK(tenon_tpm_key_create(rig.tpm, &at.key, NULL, 0));
        CHECK_OK(tenon_tpm_ak_create(at.key, &at.ak));
        tpm_pem key = tpm_rig_export(at.key), ak = tpm_rig_export(at.ak);
        tenon_tpm_key_free(&at.ak);
        tenon_tpm_key_free(&at.key);
        tpm_rig_again(&at.rig, NULL);
        CHECK_OK(tpm_rig_load(&at.rig, &at.key, &key));
        CHECK_OK(tenon_tpm_ak_load(at.rig.tpm, &at.ak, ak.text, ak.n));
        check_attests(&at);
        CHECK_NUMBER(support_transport_count(at.rig.wire, SUPPORT_ANY), most[primary]);
        tpm_stage_stop(&at);
    }
}

/* Each may be lost, or at a persistent handle, or squeezed out by what others loaded. */
TEST_STAGE(tpm_attest_lost_objects)
{
    uint32_t handle;
    for (int round = 0; round < 4; round++) {
        test_about("round %d", round);
        support_flush_all(at->rig.sw);
        if (round == 1)
            CHECK_OK(tenon_tpm_key_persist(at->key, &handle));
        if (round == 2)
            CHECK_OK(tenon_tpm_key_persist(at->ak, &handle));
        if (round == 3)
            CHECK_NUMBER(support_evict(at->rig.sw, NULL, handle, handle), 0);
        check_attests(at);
    }
    CHECK_OK(tenon_tpm_key_evict(at->key));
}

TEST_STAGE(tpm_attest_after_a_reset)
{
    support_transport_follow(at->rig.wire, true);
    CHECK(support_swtpm_power_on(at->rig.sw));
    check_attests(at);
}

/* Both must be loaded at once. With one place too few, the error says so, and it works when there is room again. */
TEST_STAGE(tpm_attest_without_room)
{
    uint32_t handle, taken = 0;
    proof found;
    tenon_status status = TENON_OK;
    while (status == TENON_OK && taken < 16) {
        tenon_tpm_key_free(&at->ak);
        CHECK_NUMBER(support_create_primary(at->rig.sw, SUPPORT_RH_NULL, NULL, SUPPORT_SIGNING, &handle), 0);
        taken++;
        status = tenon_tpm_ak_create(at->key, &at->ak);
        if (status == TENON_OK)
            status = attest(at, &found);
        if (status == TENON_OK)
            check_proof(at, &found, nonce.bytes, sizeof nonce.bytes);
    }
    CHECK_CATEGORY(status, TENON_CATEGORY_TRANSIENT);
    CHECK(taken >= 1 && taken < 16);
    CHECK_NUMBER(support_flush_all(at->rig.sw), 0);
    if (at->ak == NULL)
        CHECK_OK(tenon_tpm_ak_create(at->key, &at->ak));
    CHECK_OK(attest(at, &found));
}

/* A handle now holds another key: the statement or its signature shows that, and the blob is used. */
TEST(tpm_attest_another_key)
{
    for (int which = 0; which < 2; which++) {
        OWNED_STAGE at = tpm_stage_start(NULL, NULL);
        tenon_tpm_key *persistent = which == 0 ? at.key : at.ak;
        uint32_t handle;
        proof found;
        test_about(which == 0 ? "the key" : "the AK");
        CHECK_OK(tenon_tpm_key_persist(persistent, &handle));
        CHECK_OK(attest(&at, &found));
        CHECK_NUMBER(support_swap_persistent(at.rig.sw, NULL, handle), 0);
        check_attests(&at);
        CHECK_NUMBER(support_flush_all(at.rig.sw), 0);
        CHECK_NUMBER(support_evict(at.rig.sw, NULL, handle, handle), 0);
    }
}

/* If the other key has an auth value, its refusal says nothing about ours. */
TEST_STAGE(tpm_attest_another_key_with_auth)
{
    uint32_t handle;
    proof found;
    CHECK_OK(tenon_tpm_key_persist(at->ak, &handle));
    CHECK_OK(attest(at, &found));
    CHECK_OK(attest(at, &found)); /* and the flush of the parent */
    CHECK_NUMBER(support_evict(at->rig.sw, NULL, handle, handle), 0);
    tpm_rig_put(&at->rig, handle, SUPPORT_SIGNING_RESTRICTED, "theirs");
    check_attests(at);
    CHECK_NUMBER(support_flush_all(at->rig.sw), 0);
    CHECK_NUMBER(support_evict(at->rig.sw, NULL, handle, handle), 0);
}

/* Another key is at the AK's handle, and the key's value is wrong: the TPM counts one guess, so there is no second. */
TEST_STAGE(tpm_attest_guesses_once)
{
    OWNED_TPM_KEY guarded = NULL;
    uint32_t handle;
    proof found;
    CHECK_OK(tenon_tpm_key_create_guarded(at->rig.tpm, &guarded, (const uint8_t *)"1234", 4));
    CHECK_OK(tenon_tpm_key_persist(at->ak, &handle));
    CHECK_NUMBER(support_swap_persistent(at->rig.sw, NULL, handle), 0);
    CHECK_OK(tenon_tpm_key_authorize(guarded, (const uint8_t *)"1235", 4));
    CHECK_CATEGORY(attest_of(guarded, at->ak, &found, NULL, 0), TENON_CATEGORY_AUTH);
    CHECK_NUMBER(tpm_rig_failed_tries(&at->rig), 1);
    CHECK_NUMBER(support_flush_all(at->rig.sw), 0);
    CHECK_NUMBER(support_evict(at->rig.sw, NULL, handle, handle), 0);
}

static tenon_status ask(tpm_stage *at)
{
    proof found;
    tenon_status status = attest(at, &found);
    CHECK(status == TENON_OK || found.n == 0);
    return status;
}

/*
 * The answer: 14 bytes before the TPM2B_ATTEST of 2 + 173 bytes, then the TPMT_SIGNATURE of 72, then two authorizations
 * of 5. Twice, as a statement about another key, or of another, is asked for once more.
 */
TEST_STAGE(tpm_attest_answers_that_are_none)
{
    enum { ATTEST_AT = 16, SIGNATURE_AT = ATTEST_AT + 173, ENTRIES_AT = SIGNATURE_AT + 72, END = ENTRIES_AT + 10 };
    static const tpm_flip flips[] = {
        {"size of parameters", 13, TENON_ERROR_TPM_ANSWER},
        {"size of the statement", ATTEST_AT - 1, TENON_ERROR_TPM_ANSWER},
        {"magic", ATTEST_AT, TENON_ERROR_TPM_ANSWER},
        {"type", ATTEST_AT + 5, TENON_ERROR_TPM_ANSWER},
        {"size of the signer", ATTEST_AT + 7, TENON_ERROR_TPM_ANSWER},
        {"size of the extra data", ATTEST_AT + 43, TENON_ERROR_TPM_ANSWER},
        {"extra data", ATTEST_AT + 44, TENON_ERROR_TPM_ANSWER},
        {"size of the Name", ATTEST_AT + 102, TENON_ERROR_TPM_ANSWER},
        {"Name", ATTEST_AT + 103, TENON_ERROR_KEY_NAME},
        {"Name's end", ATTEST_AT + 136, TENON_ERROR_KEY_NAME},
        {"size of the qualified Name", ATTEST_AT + 138, TENON_ERROR_TPM_ANSWER},
        {"signature's first byte", SIGNATURE_AT, TENON_ERROR_TPM_ANSWER},
        {"signature's scheme", SIGNATURE_AT + 1, TENON_ERROR_TPM_ANSWER},
        {"signature's hash", SIGNATURE_AT + 3, TENON_ERROR_TPM_ANSWER},
        {"size of r", SIGNATURE_AT + 5, TENON_ERROR_TPM_ANSWER},
        {"size of s", SIGNATURE_AT + 39, TENON_ERROR_TPM_ANSWER},
        {"clock", ATTEST_AT + 80, TENON_ERROR_SIGNATURE_INVALID},
        {"firmware", ATTEST_AT + 100, TENON_ERROR_SIGNATURE_INVALID},
        {"r", SIGNATURE_AT + 20, TENON_ERROR_SIGNATURE_INVALID},
        {"first nonce", ENTRIES_AT + 1, TENON_ERROR_TPM_ANSWER},
        {"first HMAC", ENTRIES_AT + 4, TENON_ERROR_TPM_ANSWER},
        {"second nonce", ENTRIES_AT + 6, TENON_ERROR_TPM_ANSWER},
        {"second HMAC", ENTRIES_AT + 9, TENON_ERROR_TPM_ANSWER},
    };
    proof found;
    tpm_stage_check_answers(at, SUPPORT_CC_CERTIFY, END, flips, COUNT(flips), ask);
    test_about("longer");
    support_extend(at->rig.wire, support_next(SUPPORT_CC_CERTIFY), 1);
    support_fix_size(at->rig.wire, support_next(SUPPORT_CC_CERTIFY));
    CHECK_STATUS(attest(at, &found), TENON_ERROR_TPM_ANSWER);
    CHECK_OK(attest(at, &found));
}

/* The same with a session, for which the parent is searched first. */
TEST(tpm_attest_gone_with_auth)
{
    OWNED_STAGE at = tpm_stage_start(NULL, "auth");
    proof found;
    CHECK_NUMBER(support_clear(at.rig.sw, SUPPORT_RH_LOCKOUT, NULL), 0);
    CHECK_STATUS(tpm_rig_sign(at.key), TENON_ERROR_KEY_GONE);
    CHECK_STATUS(attest(&at, &found), TENON_ERROR_KEY_GONE);
}

/* A cleared TPM has neither; a key of the new seed is not lost with the AK of the old one. */
TEST_STAGE(tpm_attest_gone)
{
    OWNED_TPM_KEY fresh = NULL;
    proof found;
    CHECK_NUMBER(support_clear(at->rig.sw, SUPPORT_RH_LOCKOUT, NULL), 0);
    CHECK_STATUS(attest(at, &found), TENON_ERROR_KEY_GONE);
    CHECK_OK(tenon_tpm_key_create(at->rig.tpm, &fresh, NULL, 0));
    CHECK_STATUS(attest_of(fresh, at->ak, &found, NULL, 0), TENON_ERROR_PARENT_MISSING);
}
