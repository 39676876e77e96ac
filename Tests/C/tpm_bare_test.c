/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* pthread_barrier_t */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tpm_rig.h"

/* A TPM without a resource manager: three places for all, and what somebody leaves there stays. */

static tpm_rig start_bare(const tenon_tpm_options *options)
{
    tpm_rig rig = {.sw = support_swtpm_start(NULL)};
    if (rig.sw == NULL)
        exit(2);
    rig.wire = support_transport_new(rig.sw);
    support_transport_bare(rig.wire, true);
    tenon_tpm_transport table = support_transport_table(rig.wire);
    CHECK_STATUS(tenon_tpm_open_transport(&rig.tpm, &table, options), TENON_OK);
    return rig;
}

static void check_empty(const tpm_rig *rig, const char *after)
{
    test_about("after %s", after);
    CHECK_NUMBER(support_transient_count(rig->sw), 0);
    CHECK_NUMBER(support_session_count(rig->sw), 0);
}

/* Whoever ends without a word, as a program that returns from main, leaves nothing. */
TEST(tpm_bare_nothing_stays)
{
    static const uint8_t nonce[32] = {1};
    tpm_rig rig = start_bare(NULL);
    tenon_tpm_key *key, *sealed, *ak, *again;
    uint8_t proof[TENON_PROOF_MAX];
    size_t n;
    CHECK_STATUS(tenon_tpm_key_create(rig.tpm, &key, NULL, 0), TENON_OK);
    check_empty(&rig, "create");
    CHECK_STATUS(tpm_rig_sign(key), TENON_OK);
    check_empty(&rig, "sign");
    CHECK_STATUS(tenon_tpm_key_create(rig.tpm, &sealed, (const uint8_t *)"auth", 4), TENON_OK);
    CHECK_STATUS(tpm_rig_sign(sealed), TENON_OK);
    check_empty(&rig, "sign in a session");
    CHECK_STATUS(tenon_tpm_ak_create(key, &ak), TENON_OK);
    CHECK_STATUS(tenon_tpm_key_attest(key, ak, proof, sizeof proof, &n, nonce, sizeof nonce, NULL, 0), TENON_OK);
    check_empty(&rig, "attest");
    tpm_pem pem = tpm_rig_export(key);
    CHECK_STATUS(tpm_rig_load(&rig, &again, &pem), TENON_OK);
    CHECK_STATUS(tenon_tpm_key_check(again), TENON_OK);
    check_empty(&rig, "load and check");
    CHECK_STATUS(tpm_rig_sign(again), TENON_OK);
    CHECK_STATUS(tenon_tpm_key_persist(again, NULL), TENON_OK);
    check_empty(&rig, "persist");
    CHECK_STATUS(tpm_rig_sign(again), TENON_OK);
    CHECK_STATUS(tenon_tpm_key_evict(again), TENON_OK);
    check_empty(&rig, "evict");
    tenon_tpm_key_free(&again);
    tenon_tpm_key_free(&ak);
    tenon_tpm_key_free(&sealed);
    tenon_tpm_key_free(&key);
    tpm_rig_stop(&rig);
}

static uint32_t commands_of_a_signature(tpm_rig *rig, tenon_tpm_key *key)
{
    support_transport_reset_counts(rig->wire);
    CHECK_STATUS(tpm_rig_sign(key), TENON_OK);
    return support_transport_count(rig->wire, SUPPORT_ANY);
}

/* What that costs; and that a persistent copy costs nothing. */
TEST(tpm_bare_commands)
{
    tpm_rig rig = start_bare(NULL);
    tenon_tpm_key *key, *under_srk;
    CHECK_STATUS(tenon_tpm_key_create(rig.tpm, &key, NULL, 0), TENON_OK);
    /* CreatePrimary, Load, Sign, FlushContext of both. */
    CHECK_NUMBER(commands_of_a_signature(&rig, key), 5);
    CHECK_NUMBER(commands_of_a_signature(&rig, key), 5);
    CHECK_NUMBER(support_persist_srk(rig.sw, NULL, SUPPORT_SRK_PROVISIONING), 0);
    CHECK_STATUS(tenon_tpm_key_create(rig.tpm, &under_srk, NULL, 0), TENON_OK);
    /* ReadPublic of the parent, Load, Sign, FlushContext. */
    CHECK_NUMBER(commands_of_a_signature(&rig, under_srk), 4);
    CHECK_STATUS(tenon_tpm_key_persist(key, NULL), TENON_OK);
    CHECK_STATUS(tpm_rig_sign(key), TENON_OK);
    CHECK_NUMBER(commands_of_a_signature(&rig, key), 1);
    tenon_tpm_key_free(&under_srk);
    tenon_tpm_key_free(&key);
    tpm_rig_stop(&rig);
}

/* As processes do: a handle and a connection each, at one TPM. */
typedef struct {
    support_swtpm *sw;
    const tpm_pem *pem;
    pthread_barrier_t *start;
    size_t rounds;
} program;

static void *run_program(void *context)
{
    static const tenon_tpm_options patient = {.size = sizeof patient, .deadline_ms = 20000};
    const program *mine = context;
    tpm_rig rig = {.sw = mine->sw, .wire = support_transport_new(mine->sw)};
    support_transport_bare(rig.wire, true);
    tenon_tpm_transport table = support_transport_table(rig.wire);
    pthread_barrier_wait(mine->start);
    for (size_t i = 0; i < mine->rounds; i++) {
        CHECK_STATUS(tenon_tpm_open_transport(&rig.tpm, &table, &patient), TENON_OK);
        CHECK_STATUS(tpm_rig_use(&rig, mine->pem), TENON_OK);
        tenon_tpm_free(&rig.tpm);
    }
    support_transport_free(rig.wire);
    return NULL;
}

TEST(tpm_bare_eight_at_once)
{
    enum { PROGRAMS = 8 };
    tpm_rig rig = start_bare(NULL);
    tpm_pem pem = tpm_rig_make(&rig);
    pthread_barrier_t start;
    pthread_t threads[PROGRAMS];
    program all = {.sw = rig.sw, .pem = &pem, .start = &start, .rounds = test_rounds(8, 2)};
    CHECK_NUMBER(pthread_barrier_init(&start, NULL, PROGRAMS), 0);
    for (int i = 0; i < PROGRAMS; i++)
        CHECK_NUMBER(pthread_create(&threads[i], NULL, run_program, &all), 0);
    for (int i = 0; i < PROGRAMS; i++)
        CHECK_NUMBER(pthread_join(threads[i], NULL), 0);
    pthread_barrier_destroy(&start);
    tpm_rig_stop(&rig);
}

/* Part 3, 11.1 TPM2_StartAuthSession: a policy session, which stands among HMAC sessions where a TPM lists them. */
static uint32_t start_policy_session(support_swtpm *sw)
{
    static const uint8_t command[43] = {0x80, 1,    0, 0, 0, 43, 0,  0,        1, 0x76, 0x40, 0,   0,
                                        7,    0x40, 0, 0, 7, 0,  16, [38] = 1, 0, 0x10, 0,    0x0b};
    uint8_t answer[256];
    size_t n;
    CHECK_STATUS(support_swtpm_exchange(sw, answer, sizeof answer, &n, command, sizeof command), TENON_OK);
    CHECK_NUMBER(answer[10], 3);
    return (uint32_t)answer[10] << 24 | (uint32_t)answer[13];
}

/* What a dead program left is waited for, and then it is named. */
TEST(tpm_bare_left_by_others_is_named)
{
    static const tenon_tpm_options short_wait = {.size = sizeof short_wait, .deadline_ms = 5};
    tpm_rig rig = start_bare(&short_wait);
    tpm_pem pem = tpm_rig_make(&rig);
    uint32_t found[8], expected[8];
    size_t n, expected_n;
    CHECK_STATUS(tenon_tpm_loaded_handles(rig.tpm, found, 8, &n), TENON_OK);
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
    CHECK_STATUS(tenon_tpm_loaded_handles(rig.tpm, found, 8, &n), TENON_OK);
    CHECK_NUMBER(n, expected_n + 1);
    CHECK_BYTES(found, expected, expected_n * sizeof *found);
    CHECK_NUMBER(found[expected_n], session);
    CHECK_NUMBER(support_flush_all(rig.sw), 0);
    CHECK_STATUS(tpm_rig_use(&rig, &pem), TENON_OK);
    tpm_rig_stop(&rig);
}

/* What this handle has loaded behind a resource manager is not others'. */
TEST(tpm_bare_own_is_not_named)
{
    tpm_rig rig = tpm_rig_start(NULL);
    tenon_tpm_key *key;
    uint32_t found[8], other;
    size_t n;
    CHECK_STATUS(tenon_tpm_key_create(rig.tpm, &key, (const uint8_t *)"auth", 4), TENON_OK);
    CHECK_STATUS(tpm_rig_sign(key), TENON_OK);
    CHECK_STATUS(tenon_tpm_loaded_handles(rig.tpm, found, 8, &n), TENON_OK);
    CHECK_NUMBER(n, 0);
    CHECK_NUMBER(support_create_primary(rig.sw, SUPPORT_RH_NULL, NULL, SUPPORT_SIGNING, &other), 0);
    CHECK_STATUS(tenon_tpm_loaded_handles(rig.tpm, found, 8, &n), TENON_OK);
    CHECK_NUMBER(n, 1);
    CHECK_NUMBER(found[0], other);
    CHECK_STATUS(tenon_tpm_loaded_handles(NULL, found, 8, &n), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_tpm_loaded_handles(rig.tpm, found, 8, NULL), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_tpm_loaded_handles(rig.tpm, NULL, 8, &n), TENON_ERROR_NULL);
    CHECK_NUMBER(support_flush(rig.sw, other), 0);
    tenon_tpm_key_free(&key);
    tpm_rig_stop(&rig);
}
