/* SPDX-License-Identifier: Apache-2.0 */
#include "tpm_rig.h"

/* A TPM has few places for objects and sessions. Our objects make room for each other; those of others are never
 * flushed. */

enum { KEYS = 5 };

TEST(tpm_slots_filled_by_others)
{
    OWNED_RIG rig = tpm_rig_start(&tpm_hurried);
    tpm_pem pem = tpm_rig_make(&rig);
    tenon_tpm_key *key;
    CHECK_NUMBER(support_fill_transient(rig.sw), 0);
    uint32_t filled = support_transient_count(rig.sw);
    CHECK(filled >= 3);
    CHECK_RC(tpm_rig_use(&rig, &pem), TENON_CATEGORY_TRANSIENT, 0x902);
    CHECK_RC(tenon_tpm_key_create(rig.tpm, &key, NULL, 0), TENON_CATEGORY_TRANSIENT, 0x902);
    CHECK_NUMBER(support_transient_count(rig.sw), filled);
    CHECK_NUMBER(support_flush_all(rig.sw), 0);
    CHECK_OK(tpm_rig_use(&rig, &pem));
}

TEST(tpm_slots_sessions_filled_by_others)
{
    static const tenon_tpm_options salted = {
        .size = sizeof salted, .session = TENON_TPM_SESSION_SALTED, .deadline_ms = 5};
    OWNED_RIG rig = tpm_rig_start(&salted);
    tpm_pem pem = tpm_rig_make(&rig);
    CHECK_NUMBER(support_fill_sessions(rig.sw), 0);
    uint32_t filled = support_session_count(rig.sw);
    CHECK_RC(tpm_rig_use(&rig, &pem), TENON_CATEGORY_TRANSIENT, 0x903);
    CHECK_NUMBER(support_session_count(rig.sw), filled);
    CHECK_NUMBER(support_flush_all(rig.sw), 0);
    CHECK_OK(tpm_rig_use(&rig, &pem));
}

/* In turn, with others in between; with and without auth values; under the primary and under an SRK. */
static void use_in_turn(bool with_auth, bool srk, uint32_t others)
{
    OWNED_RIG rig = tpm_rig_start(NULL);
    tenon_tpm_key *keys[KEYS] = {NULL};
    uint32_t handle = 0;
    size_t rounds = test_rounds(4, 2);
    test_about("%s, %s, %u others", with_auth ? "auth" : "no auth", srk ? "SRK" : "primary", (unsigned)others);
    if (srk)
        CHECK_NUMBER(support_persist_srk(rig.sw, NULL, SUPPORT_SRK_PROVISIONING), 0);
    for (uint32_t i = 0; i < others; i++)
        CHECK_NUMBER(support_create_primary(rig.sw, SUPPORT_RH_NULL, NULL, SUPPORT_SIGNING, &handle), 0);
    for (int i = 0; i < KEYS; i++)
        if (!CHECK_OK(tenon_tpm_key_create(rig.tpm, &keys[i], (const uint8_t *)"auth", with_auth ? 4 : 0)))
            break;
    for (size_t round = 0; round < rounds && keys[KEYS - 1] != NULL; round++)
        for (int i = 0; i < KEYS; i++)
            CHECK_OK(tpm_rig_sign(keys[(i * 2) % KEYS]));
    for (int i = 0; i < KEYS; i++)
        tenon_tpm_key_free(&keys[i]);
    tenon_tpm_free(&rig.tpm);
    CHECK_NUMBER(support_transient_count(rig.sw), others);
    support_flush_all(rig.sw);
}

TEST(tpm_slots_many_keys)
{
    use_in_turn(false, false, 0);
    use_in_turn(false, true, 0);
    use_in_turn(false, true, 1);
    use_in_turn(false, false, 1);
}

TEST(tpm_slots_many_keys_with_auth)
{
    use_in_turn(true, false, 0);
    use_in_turn(true, true, 0);
}

/* Objects that the command does not need make room: a key is loaded under a parent, and another key is flushed. */
TEST_RIG(tpm_slots_parent_is_kept)
{
    tenon_tpm_key *loaded, *key;
    uint32_t others;
    tpm_pem pem = tpm_rig_make(rig), first = tpm_rig_make(rig);
    tpm_rig_again(rig, NULL);
    CHECK_NUMBER(support_create_primary(rig->sw, SUPPORT_RH_NULL, NULL, SUPPORT_SIGNING, &others), 0);
    CHECK_OK(tpm_rig_load(rig, &loaded, &first));
    CHECK_OK(tpm_rig_sign(loaded));
    CHECK_NUMBER(support_transient_count(rig->sw), 2);
    support_transport_reset_counts(rig->wire);
    CHECK_OK(tpm_rig_load(rig, &key, &pem));
    /* CreatePrimary, Load in vain, FlushContext, Load. */
    CHECK_NUMBER(support_transport_count(rig->wire, SUPPORT_ANY), 4);
    CHECK_NUMBER(support_transport_count(rig->wire, SUPPORT_CC_LOAD), 2);
    CHECK_OK(tpm_rig_sign(loaded));
    CHECK_OK(tpm_rig_sign(key));
    tenon_tpm_key_free(&loaded);
    tenon_tpm_key_free(&key);
    CHECK_NUMBER(support_flush(rig->sw, others), 0);
}

/* If the answer has another Name, the answer is wrong: an object that is no longer recorded is flushed. */
TEST_KEY(tpm_slots_name_that_lies)
{
    enum { LAST_OF_Y = 10 + 2 + 86 - 1 };
    CHECK_OK(tpm_rig_sign(key));
    for (int i = 0; i < 4; i++) {
        support_flip(rig->wire, support_next(SUPPORT_CC_READ_PUBLIC), LAST_OF_Y, 1);
        /* The key is loaded anew: it, and its parent until the next operation. */
        CHECK_OK(tenon_tpm_key_check(key));
        CHECK_NUMBER(support_transient_count(rig->sw), 2);
        CHECK_OK(tpm_rig_sign(key));
        CHECK_NUMBER(support_transient_count(rig->sw), 1);
    }
    CHECK_NUMBER(support_transport_reopens(rig->wire), 0);
}

/* A flush with an unreadable answer may not have happened. */
TEST_RIG(tpm_slots_flush_that_nobody_can_tell)
{
    tenon_tpm_key *key;
    for (int i = 0; i < 4; i++) {
        uint8_t garbled[10] = {0};
        test_about("round %d", i);
        CHECK_OK(tenon_tpm_key_create(rig->tpm, &key, NULL, 0));
        CHECK_OK(tpm_rig_sign(key));
        support_fail_code(rig->wire, support_next(SUPPORT_CC_FLUSH_CONTEXT), 0x101);
        support_replace(rig->wire, support_next(SUPPORT_CC_FLUSH_CONTEXT), garbled, sizeof garbled);
        tenon_tpm_key_free(&key);
        CHECK_NUMBER(support_transient_count(rig->sw), 0);
    }
}

/* A flush that did happen: the next object gets its handle, and stays. */
TEST_KEY(tpm_slots_given_anew_is_not_flushed)
{
    enum { LAST_OF_Y = 10 + 2 + 86 - 1 };
    uint8_t garbled[10] = {0};
    CHECK_OK(tpm_rig_sign(key));
    support_flip(rig->wire, support_next(SUPPORT_CC_READ_PUBLIC), LAST_OF_Y, 1);
    support_replace(rig->wire, support_next(SUPPORT_CC_FLUSH_CONTEXT), garbled, sizeof garbled);
    CHECK_OK(tenon_tpm_key_check(key));
    CHECK_NUMBER(support_transport_pending(rig->wire), 0);
    CHECK_NUMBER(support_transport_reopens(rig->wire), 0);
    CHECK_NUMBER(support_transient_count(rig->sw), 2);
    CHECK_OK(tpm_rig_sign(key));
}

/* If the flush failed when a key was freed, it is tried once more when the TPM is closed. */
TEST_RIG(tpm_slots_closing_flushes_what_was_left)
{
    tenon_tpm_key *key = tpm_rig_key(rig, NULL);
    CHECK_OK(tpm_rig_sign(key));
    support_fail_code(rig->wire, support_times(SUPPORT_CC_FLUSH_CONTEXT, 1, 2), 0x101);
    tenon_tpm_key_free(&key);
    CHECK_NUMBER(support_transport_pending(rig->wire), 0);
    CHECK_NUMBER(support_transient_count(rig->sw), 1);
    tenon_tpm_free(&rig->tpm);
    CHECK_NUMBER(support_transient_count(rig->sw), 0);
}

/* A TPM that flushes nothing: more objects are left than can be noted. Those beyond the limit stay in the TPM, and
 * nothing else is affected. */
TEST_RIG(tpm_slots_more_left_than_noted)
{
    enum { LEFT = 20, HANDLE_AT = 13 };
    tpm_pem pem = tpm_rig_make(rig);
    tenon_tpm_key *key;
    support_fail_code(rig->wire, support_times(SUPPORT_CC_FLUSH_CONTEXT, 1, SUPPORT_ALWAYS), 0x101);
    for (uint32_t i = 0; i < LEFT; i++) {
        test_about("handle %u", (unsigned)i);
        support_flip(rig->wire, support_next(SUPPORT_CC_LOAD), HANDLE_AT, (uint8_t)(0x80 | i));
        CHECK_OK(tpm_rig_load(rig, &key, &pem));
        tenon_tpm_key_free(&key);
        CHECK_NUMBER(support_flush_all(rig->sw), 0);
    }
    support_transport_forget_faults(rig->wire);
    CHECK_OK(tpm_rig_use(rig, &pem));
}

/* An object whose handle is unknown, because the TPM's answer was lost: a resource manager removes it with the
 * connection. */
TEST_RIG(tpm_slots_lost_end_in_a_reopen)
{
    enum { HANDLE_AT = 10 };
    tpm_pem pem = tpm_rig_make(rig);
    support_transport_manage(rig->wire, true);
    for (uint32_t i = 1; i <= 2; i++) {
        test_about("round %u", (unsigned)i);
        support_flip(rig->wire, support_next(SUPPORT_CC_LOAD), HANDLE_AT, 0x01);
        CHECK_STATUS(tpm_rig_use(rig, &pem), TENON_ERROR_TPM_ANSWER);
    }
    CHECK_OK(tpm_rig_use(rig, &pem));
    CHECK(support_transport_reopens(rig->wire) >= 1);
    CHECK_OK(tpm_rig_use(rig, &pem));
}

/* The TPM first, the key after it, the view of it last. */
TEST_RIG(tpm_slots_freed_in_any_order)
{
    tenon_signature signature;
    static const tenon_digest digest = {{1}};
    tenon_tpm_key *key = tpm_rig_key(rig, NULL);
    tenon_key *view = tpm_rig_view(key, TENON_KEY_SIGNS_DIGESTS);
    tenon_tpm_free(&rig->tpm);
    tenon_tpm_key_free(&key);
    CHECK_NUMBER(support_transport_closes(rig->wire), 0);
    CHECK_OK(tenon_key_sign_digest(view, &signature, &digest));
    tenon_key_free(&view);
    CHECK_NUMBER(support_transport_closes(rig->wire), 1);
}
