/* SPDX-License-Identifier: Apache-2.0 */
#include "tpm_rig.h"

/* A TPM without a resource manager: three places for all programs, and objects that a program leaves stay. */

static void check_empty(const tpm_rig *rig, const char *after)
{
    test_about("after %s", after);
    CHECK_NUMBER(support_transient_count(rig->sw), 0);
    CHECK_NUMBER(support_session_count(rig->sw), 0);
}

/* A program that ends without closing, by returning from main, leaves nothing. */
TEST(tpm_bare_nothing_stays)
{
    static const uint8_t nonce[32] = {1};
    OWNED_RIG rig = tpm_rig_bare(NULL);
    uint8_t proof[TENON_PROOF_MAX];
    size_t n;
    OWNED_TPM_KEY key = tpm_rig_key(&rig, NULL);
    check_empty(&rig, "create");
    CHECK_OK(tpm_rig_sign(key));
    check_empty(&rig, "sign");
    OWNED_TPM_KEY sealed = tpm_rig_key(&rig, "auth");
    CHECK_OK(tpm_rig_sign(sealed));
    check_empty(&rig, "sign in a session");
    OWNED_TPM_KEY ak = tpm_rig_ak(key);
    CHECK_OK(tenon_tpm_key_attest(key, ak, proof, sizeof proof, &n, nonce, sizeof nonce, NULL, 0));
    check_empty(&rig, "attest");
    tpm_pem pem = tpm_rig_export(key);
    OWNED_TPM_KEY again = tpm_rig_loaded(&rig, &pem);
    CHECK_OK(tenon_tpm_key_check(again));
    check_empty(&rig, "load and check");
    CHECK_OK(tpm_rig_sign(again));
    CHECK_OK(tenon_tpm_key_persist(again, NULL));
    check_empty(&rig, "persist");
    CHECK_OK(tpm_rig_sign(again));
    CHECK_OK(tenon_tpm_key_evict(again));
    check_empty(&rig, "evict");
}

/* The cost of that; a persistent copy costs nothing. */
TEST(tpm_bare_commands)
{
    OWNED_RIG rig = tpm_rig_bare(NULL);
    OWNED_TPM_KEY key = tpm_rig_key(&rig, NULL);
    /* CreatePrimary, Load, Sign, FlushContext of both. */
    CHECK_NUMBER(COMMANDS(rig, tpm_rig_sign(key)), 5);
    CHECK_NUMBER(COMMANDS(rig, tpm_rig_sign(key)), 5);
    CHECK_NUMBER(support_persist_srk(rig.sw, NULL, SUPPORT_SRK_PROVISIONING), 0);
    OWNED_TPM_KEY under_srk = tpm_rig_key(&rig, NULL);
    /* Load, Sign, FlushContext. */
    CHECK_NUMBER(COMMANDS(rig, tpm_rig_sign(under_srk)), 3);
    CHECK_OK(tenon_tpm_key_persist(key, NULL));
    CHECK_OK(tpm_rig_sign(key));
    CHECK_NUMBER(COMMANDS(rig, tpm_rig_sign(key)), 1);
}

/* A program that has the key's file: loading it sends nothing, as nothing would stay (decision: unseen-key). */
TEST(tpm_bare_key_is_loaded_once)
{
    OWNED_RIG rig = tpm_rig_bare(NULL);
    tpm_pem pem = tpm_rig_make(&rig);
    CHECK_NUMBER(COMMANDS(rig, tpm_rig_use(&rig, &pem)), 5);
    CHECK_NUMBER(support_persist_srk(rig.sw, NULL, SUPPORT_SRK_PROVISIONING), 0);
    pem = tpm_rig_make(&rig);
    CHECK_NUMBER(COMMANDS(rig, tpm_rig_use(&rig, &pem)), 3);
    support_transport_reset_counts(rig.wire);
    OWNED_TPM_KEY key = tpm_rig_loaded(&rig, &pem);
    CHECK_NUMBER(support_transport_count(rig.wire, SUPPORT_ANY), 0);
    /* Load, FlushContext: the answer for a caller who must know now. */
    CHECK_NUMBER(COMMANDS(rig, tenon_tpm_key_check(key)), 2);
}

/* What that load found is found by the first use, whatever it is, and by a look: here that the key is gone. */
TEST(tpm_bare_lost_key_is_found_by_its_use)
{
    OWNED_RIG rig = tpm_rig_bare(NULL);
    tpm_pem pem = tpm_rig_make(&rig);
    CHECK_NUMBER(support_clear(rig.sw, SUPPORT_RH_LOCKOUT, NULL), 0);
    OWNED_TPM_KEY key = tpm_rig_loaded(&rig, &pem);
    support_transport_reset_counts(rig.wire);
    CHECK_STATUS(tpm_rig_sign(key), TENON_ERROR_KEY_GONE);
    CHECK_NUMBER(support_transport_count(rig.wire, SUPPORT_CC_SIGN), 0);
    CHECK_STATUS(tenon_tpm_key_check(key), TENON_ERROR_KEY_GONE);
    check_empty(&rig, "a lost key");
    OWNED_TPM_KEY looked_at = tpm_rig_loaded(&rig, &pem);
    CHECK_STATUS(tenon_tpm_key_check(looked_at), TENON_ERROR_KEY_GONE);
    OWNED_TPM_KEY persisted = tpm_rig_loaded(&rig, &pem);
    CHECK_STATUS(tenon_tpm_key_persist(persisted, NULL), TENON_ERROR_KEY_GONE);
    CHECK_NUMBER(support_persistent_count(rig.sw), 0);
}

/* Like processes: each has a handle and a connection, at one TPM. */
typedef struct {
    support_swtpm *sw;
    const tpm_pem *pem;
    size_t rounds;
} program;

static void run_program(void *context)
{
    static const tenon_tpm_options patient = {.size = sizeof patient, .deadline_ms = 20000};
    const program *mine = context;
    tpm_rig rig = {.sw = mine->sw, .wire = support_transport_new(mine->sw)};
    support_transport_bare(rig.wire, true);
    tenon_tpm_transport table = support_transport_table(rig.wire);
    for (size_t i = 0; i < mine->rounds; i++) {
        CHECK_OK(tenon_tpm_open_transport(&rig.tpm, &table, &patient));
        CHECK_OK(tpm_rig_use(&rig, mine->pem));
        tenon_tpm_free(&rig.tpm);
    }
    support_transport_free(rig.wire);
}

TEST(tpm_bare_eight_at_once)
{
    OWNED_RIG rig = tpm_rig_bare(NULL);
    tpm_pem pem = tpm_rig_make(&rig);
    program each = {.sw = rig.sw, .pem = &pem, .rounds = test_rounds(8, 2)};
    test_threads(8, run_program, &each, 0);
}

/* Part 3, 11.1 TPM2_StartAuthSession: a policy session, which stands among HMAC sessions where a TPM lists them. */
static uint32_t start_policy_session(support_swtpm *sw)
{
    static const uint8_t command[43] = {0x80, 1,    0, 0, 0, 43, 0,  0,        1, 0x76, 0x40, 0,   0,
                                        7,    0x40, 0, 0, 7, 0,  16, [38] = 1, 0, 0x10, 0,    0x0b};
    uint8_t answer[256];
    size_t n;
    CHECK_OK(support_swtpm_exchange(sw, answer, sizeof answer, &n, command, sizeof command));
    CHECK_NUMBER(answer[10], 3);
    return (uint32_t)answer[10] << 24 | (uint32_t)answer[13];
}

/* The core waits for objects that a dead program left, and then names them. */
TEST(tpm_bare_left_by_others_is_named)
{
    OWNED_RIG rig = tpm_rig_bare(&tpm_hurried);
    tpm_pem pem = tpm_rig_make(&rig);
    uint32_t found[8], expected[8];
    size_t n, expected_n;
    CHECK_OK(tenon_tpm_loaded_handles(rig.tpm, found, 8, &n));
    CHECK_NUMBER(n, 0);
    uint32_t session = start_policy_session(rig.sw);
    CHECK_NUMBER(support_fill_transient(rig.sw), 0);
    tenon_status status = tpm_rig_use(&rig, &pem);
    CHECK_RC(status, TENON_CATEGORY_TRANSIENT, 0x902);
    CHECK(strcmp(tenon_status_name(status), "TENON_TPM_FULL") == 0);
    CHECK_NUMBER(support_handles(rig.sw, 0x80000000, expected, 8, &expected_n), 0);
    CHECK_STATUS(tenon_tpm_loaded_handles(rig.tpm, NULL, 0, &n), TENON_ERROR_BUFFER_TOO_SMALL);
    CHECK_NUMBER(n, expected_n + 1);
    CHECK_STATUS(tenon_tpm_loaded_handles(rig.tpm, found, expected_n, &n), TENON_ERROR_BUFFER_TOO_SMALL);
    CHECK_ZERO(found, expected_n * sizeof *found);
    CHECK_OK(tenon_tpm_loaded_handles(rig.tpm, found, 8, &n));
    CHECK_NUMBER(n, expected_n + 1);
    CHECK_BYTES(found, expected, expected_n * sizeof *found);
    CHECK_NUMBER(found[expected_n], session);
    CHECK_NUMBER(support_flush_all(rig.sw), 0);
    CHECK_OK(tpm_rig_use(&rig, &pem));
}

/* Behind a resource manager, this handle's objects are not reported as those of others. */
TEST_RIG(tpm_bare_own_is_not_named)
{
    uint32_t found[8], other;
    size_t n;
    OWNED_TPM_KEY key = tpm_rig_key(rig, "auth");
    CHECK_OK(tpm_rig_sign(key));
    CHECK_OK(tenon_tpm_loaded_handles(rig->tpm, found, 8, &n));
    CHECK_NUMBER(n, 0);
    CHECK_NUMBER(support_create_primary(rig->sw, SUPPORT_RH_NULL, NULL, SUPPORT_SIGNING, &other), 0);
    CHECK_OK(tenon_tpm_loaded_handles(rig->tpm, found, 8, &n));
    CHECK_NUMBER(n, 1);
    CHECK_NUMBER(found[0], other);
    CHECK_STATUS(tenon_tpm_loaded_handles(NULL, found, 8, &n), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_tpm_loaded_handles(rig->tpm, found, 8, NULL), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_tpm_loaded_handles(rig->tpm, NULL, 8, &n), TENON_ERROR_NULL);
    CHECK_NUMBER(support_flush(rig->sw, other), 0);
}
