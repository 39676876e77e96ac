/* SPDX-License-Identifier: Apache-2.0 */
#include "tpm_rig.h"

/* security checklist C3.8: a session that is over is never resumed, and never mistaken for another key's. */

static const uint8_t auth_a[] = "the value of a", auth_b[] = "the value of b";

typedef struct {
    tpm_rig rig;
    tenon_tpm_key *a;
    tenon_tpm_key *b;
} pair;

/* Two keys with auth values that have both signed, so that each has a session. */
static pair pair_start(void)
{
    pair keys = {.rig = tpm_rig_start(NULL)};
    CHECK_OK(tenon_tpm_key_create(keys.rig.tpm, &keys.a, auth_a, sizeof auth_a));
    CHECK_OK(tenon_tpm_key_create(keys.rig.tpm, &keys.b, auth_b, sizeof auth_b));
    CHECK_OK(tpm_rig_sign(keys.a));
    CHECK_OK(tpm_rig_sign(keys.b));
    CHECK_OK(tpm_rig_sign(keys.a));
    return keys;
}

static void pair_stop(pair *keys)
{
    tenon_tpm_key_free(&keys->a);
    tenon_tpm_key_free(&keys->b);
    tpm_rig_check_clean(&keys->rig);
    tpm_rig_stop(&keys->rig);
}

static void check_one_command(pair *keys)
{
    tenon_tpm_key *each[] = {keys->a, keys->b, keys->a, keys->b};
    for (size_t i = 0; i < COUNT(each); i++) {
        CHECK_NUMBER(COMMANDS(keys->rig, tpm_rig_sign(each[i])), 1);
    }
}

TEST(tpm_session_each_key_has_its_own_after_a_power_cut)
{
    pair keys = pair_start();
    check_one_command(&keys);
    support_transport_revive(keys.rig.wire, true);
    support_swtpm_power_cut(keys.rig.sw);
    for (int i = 0; i < 2; i++) {
        CHECK_OK(tpm_rig_sign(keys.b));
        CHECK_OK(tpm_rig_sign(keys.a));
    }
    check_one_command(&keys);
    pair_stop(&keys);
}

static void check_begins_anew(pair *keys)
{
    support_transport_reset_counts(keys->rig.wire);
    CHECK_OK(tpm_rig_sign(keys->a));
    CHECK_NUMBER(support_transport_count(keys->rig.wire, SUPPORT_CC_SIGN), 1);
    CHECK_NUMBER(support_transport_count(keys->rig.wire, SUPPORT_CC_START_AUTH_SESSION), 1);
    CHECK_OK(tpm_rig_sign(keys->a));
    check_one_command(keys);
}

/* The TPM has changed its nonce and we have not seen it: the next command begins with a new session, not with an
 * attempt. */
static void check_over_after(void (*plan)(support_transport *wire), tenon_status expected)
{
    pair keys = pair_start();
    plan(keys.rig.wire);
    CHECK_STATUS(tpm_rig_sign(keys.a), expected);
    CHECK_NUMBER(support_transport_pending(keys.rig.wire), 0);
    check_begins_anew(&keys);
    pair_stop(&keys);
}

static void plan_truncated(support_transport *wire) { support_cut(wire, SUPPORT_CC_SIGN, 30); }

static void plan_stripped(support_transport *wire) { support_strip_sessions(wire, support_next(SUPPORT_CC_SIGN)); }
static void plan_forged(support_transport *wire) { support_flip(wire, support_next(SUPPORT_CC_SIGN), 30, 1); }

TEST(tpm_session_is_over_after_a_malformed_answer)
{
    check_over_after(plan_truncated, TENON_ERROR_TPM_ANSWER);
    check_over_after(plan_stripped, TENON_ERROR_TPM_ANSWER);
    check_over_after(plan_forged, TENON_ERROR_SESSION);
}

/* With the transport all slots are emptied: a session's handle may be the next session's by the time it is asked for.
 */
TEST(tpm_session_is_not_used_after_its_flush)
{
    pair keys = pair_start();
    support_fail_before(keys.rig.wire, support_next(SUPPORT_CC_SIGN), TENON_ERROR_TPM_TRANSPORT);
    CHECK_OK(tpm_rig_sign(keys.b));
    CHECK_NUMBER(support_transport_reopens(keys.rig.wire), 1);
    check_begins_anew(&keys);
    pair_stop(&keys);
}

enum { COPY, STORAGE_KEY, PRIMARY, PLACES };
enum { PASSWORD, SALTED, SESSIONS };

/* The commands of a process that opens the TPM, loads a key from its file, signs once and ends. */
static uint32_t cold_commands(tpm_rig *rig, const tpm_pem *pem, uint32_t session)
{
    const tenon_tpm_options options = {.size = sizeof options, .session = session};
    const tenon_tpm_transport table = support_transport_table(rig->wire);
    tenon_tpm_free(&rig->tpm);
    support_transport_reset_counts(rig->wire);
    CHECK_OK(tenon_tpm_open_transport(&rig->tpm, &table, &options));
    CHECK_OK(tpm_rig_use(rig, pem));
    tenon_tpm_free(&rig->tpm);
    uint32_t commands = support_transport_count(rig->wire, SUPPORT_ANY);
    CHECK_OK(tenon_tpm_open_transport(&rig->tpm, &table, &options));
    return commands;
}

static void check_cold(tpm_rig (*start)(const tenon_tpm_options *), const uint32_t expected[PLACES][SESSIONS])
{
    static const uint32_t sessions[SESSIONS] = {TENON_TPM_SESSION_PASSWORD, TENON_TPM_SESSION_SALTED};
    OWNED_RIG rig = start(NULL);
    tpm_pem files[PLACES];
    files[PRIMARY] = tpm_rig_make(&rig);
    CHECK_NUMBER(support_persist_srk(rig.sw, NULL, SUPPORT_SRK_PROVISIONING), 0);
    tenon_tpm_key *key = tpm_rig_key(&rig, NULL);
    files[STORAGE_KEY] = tpm_rig_export(key);
    CHECK_OK(tenon_tpm_key_persist(key, NULL));
    files[COPY] = tpm_rig_export(key);
    tenon_tpm_key_free(&key);
    for (int place = 0; place < PLACES; place++)
        for (int session = 0; session < SESSIONS; session++) {
            test_about("place %d, session %d", place, session);
            CHECK_NUMBER(cold_commands(&rig, &files[place], sessions[session]), expected[place][session]);
        }
}

/* Warm, a session costs no command. Cold it is opened and flushed, and the parent that it is salted to must be known.
 */
TEST(tpm_session_cold_behind_a_resource_manager)
{
    check_cold(tpm_rig_start, (const uint32_t[PLACES][SESSIONS]){{1, 4}, {3, 6}, {5, 7}});
}

TEST(tpm_session_cold_on_a_bare_tpm)
{
    check_cold(tpm_rig_bare, (const uint32_t[PLACES][SESSIONS]){{1, 4}, {3, 6}, {5, 7}});
}
