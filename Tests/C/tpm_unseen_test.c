/* SPDX-License-Identifier: Apache-2.0 */
#include "tpm_rig.h"

/*
 * Commands that are left out, as what follows them finds the same faults: the look at a persistent copy, the look at
 * the storage key, and the primary that an earlier operation left.
 */

static const uint32_t first = 0x81080000;

static tpm_pem make_persistent(tpm_rig *rig, const char *auth)
{
    OWNED_TPM_KEY key = tpm_rig_key(rig, auth);
    CHECK_OK(tenon_tpm_key_persist(key, NULL));
    return tpm_rig_export(key);
}

static tenon_tpm_key *load(tpm_rig *rig, const tpm_pem *pem, const char *auth)
{
    tenon_tpm_key *key = NULL;
    size_t n = auth == NULL ? 0 : strlen(auth);
    CHECK_OK(tenon_tpm_key_load(rig->tpm, &key, pem->text, pem->n, (const uint8_t *)auth, n));
    return key;
}

/* In the place of the copy. */
static void replace(tpm_rig *rig, support_template which, const char *pin)
{
    CHECK_NUMBER(support_evict(rig->sw, NULL, first, first), 0);
    tpm_rig_put(rig, first, which, pin);
}

/* The key signs by its blob; what is at the handle stays there, and is not tried again. */
static void check_dropped(tpm_rig *rig, tenon_tpm_key *key)
{
    CHECK_OK(tpm_rig_sign(key));
    CHECK_NUMBER(tenon_tpm_key_handle(key), 0);
    CHECK_OK(tpm_rig_sign(key));
    CHECK_NUMBER(support_persistent_count(rig->sw), 1);
    tpm_pem pem = tpm_rig_export(key);
    CHECK(strstr(pem.text, "tenon-handle") == NULL);
}

TEST(tpm_unseen_copy_of_another_kind)
{
    static const support_template kinds[] = {SUPPORT_SIGNING,       SUPPORT_SIGNING_FOREIGN,
                                             SUPPORT_SIGNING_ECDSA, SUPPORT_SIGNING_RESTRICTED,
                                             SUPPORT_SRK_H2,        SUPPORT_SRK_RSA};
    for (size_t i = 0; i < 2 * COUNT(kinds); i++) {
        OWNED_RIG rig = tpm_rig_start(i < COUNT(kinds) ? NULL : &tpm_salted);
        tpm_pem pem = make_persistent(&rig, NULL);
        test_about("kind %u", (unsigned)i);
        replace(&rig, kinds[i % COUNT(kinds)], NULL);
        tpm_rig_again(&rig, i < COUNT(kinds) ? NULL : &tpm_salted);
        OWNED_TPM_KEY key = load(&rig, &pem, NULL);
        check_dropped(&rig, key);
    }
}

/* Another key with a PIN counts one failed try for all signatures, and none once the new file is kept. */
TEST(tpm_unseen_copy_with_a_pin)
{
    for (int with = 0; with < 2; with++) {
        const char *auth = with != 0 ? "auth" : NULL;
        OWNED_RIG rig = tpm_rig_start(NULL);
        tpm_pem pem = make_persistent(&rig, auth);
        replace(&rig, SUPPORT_SIGNING_DA, "nobody's");
        tpm_rig_again(&rig, NULL);
        tenon_tpm_key *key = load(&rig, &pem, auth);
        CHECK_NUMBER(tpm_rig_failed_tries(&rig), 0);
        check_dropped(&rig, key);
        CHECK_NUMBER(tpm_rig_failed_tries(&rig), 1);
        pem = tpm_rig_export(key);
        tenon_tpm_key_free(&key);
        tpm_rig_again(&rig, NULL);
        key = load(&rig, &pem, auth);
        CHECK_OK(tpm_rig_sign(key));
        tenon_tpm_key_free(&key);
        CHECK_NUMBER(tpm_rig_failed_tries(&rig), 1);
    }
}

/* The answer to that try is lost, or garbled, or the TPM is reset after it: the handle is looked at before another. */
TEST(tpm_unseen_copy_and_a_lost_answer)
{
    static const uint8_t garbled[10] = {0};
    for (int fault = 0; fault < 3; fault++) {
        OWNED_RIG rig = tpm_rig_start(NULL);
        tpm_pem pem = make_persistent(&rig, NULL);
        test_about("fault %d", fault);
        replace(&rig, SUPPORT_SIGNING_DA, "nobody's");
        tpm_rig_again(&rig, NULL);
        OWNED_TPM_KEY key = load(&rig, &pem, NULL);
        if (fault == 0)
            support_fail_after(rig.wire, support_next(SUPPORT_CC_SIGN), TENON_ERROR_TPM_TRANSPORT);
        else if (fault == 1)
            support_replace(rig.wire, support_next(SUPPORT_CC_SIGN), garbled, sizeof garbled);
        else
            support_fail_code(rig.wire, support_next(SUPPORT_CC_SIGN), 0x902);
        check_dropped(&rig, key);
        CHECK(tpm_rig_failed_tries(&rig) <= 1);
        CHECK_NUMBER(support_transport_pending(rig.wire), 0);
    }
}

/* A TPM in lockout says so of the other key; ours has no such protection. */
TEST_RIG(tpm_unseen_copy_in_lockout)
{
    tpm_pem pem = make_persistent(rig, NULL);
    replace(rig, SUPPORT_SIGNING_DA, "nobody's");
    CHECK_NUMBER(support_lock_out(rig->sw, NULL, NULL), 0);
    tpm_rig_again(rig, NULL);
    OWNED_TPM_KEY key = load(rig, &pem, NULL);
    tenon_status status = tpm_rig_sign(key);
    CHECK(status == TENON_OK || tenon_status_category(status) == TENON_CATEGORY_AUTH);
    CHECK_OK(tenon_tpm_key_check(key));
    CHECK_OK(tpm_rig_sign(key));
    CHECK_NUMBER(tenon_tpm_key_handle(key), 0);
}

/* A wrong auth value of our own key is the caller's mistake: it is tried once, and the copy stays. */
TEST_RIG(tpm_unseen_copy_and_a_wrong_value)
{
    tpm_pem pem = make_persistent(rig, "auth");
    tpm_rig_again(rig, NULL);
    OWNED_TPM_KEY key = load(rig, &pem, "wrong");
    CHECK_CATEGORY(tpm_rig_sign(key), TENON_CATEGORY_AUTH);
    CHECK_NUMBER(tenon_tpm_key_handle(key), first);
    CHECK_NUMBER(tpm_rig_failed_tries(rig), 0);
}

/* Once it was ours, each signature is one command, also after one that was not verified. */
TEST_RIG(tpm_unseen_copy_is_ours)
{
    tpm_pem pem = make_persistent(rig, NULL);
    tpm_rig_again(rig, NULL);
    OWNED_TPM_KEY key = load(rig, &pem, NULL);
    CHECK_NUMBER(support_transport_count(rig->wire, SUPPORT_ANY), 0);
    for (uint32_t i = 1; i <= 3; i++) {
        CHECK_OK(tpm_rig_sign(key));
        CHECK_NUMBER(support_transport_count(rig->wire, SUPPORT_ANY), i);
    }
    CHECK_NUMBER(tenon_tpm_key_handle(key), first);
}

/* The storage key was exchanged for another, for a key that stores nothing, or for one with a PIN that counts. */
TEST_RIG(tpm_unseen_parent_exchanged)
{
    CHECK_NUMBER(support_persist_srk(rig->sw, NULL, SUPPORT_SRK_PROVISIONING), 0);
    tpm_pem pem = tpm_rig_make(rig);
    for (int i = 0; i < 4; i++) {
        test_about("round %d", i);
        CHECK_NUMBER(support_evict_srk(rig->sw, NULL), 0);
        if (i == 1)
            CHECK_NUMBER(support_persist_srk(rig->sw, NULL, SUPPORT_SRK_H2), 0);
        if (i > 1)
            tpm_rig_put(rig, SUPPORT_HANDLE_SRK, i == 3 ? SUPPORT_SIGNING_DA : SUPPORT_SIGNING, i == 3 ? "pin" : NULL);
        tpm_rig_again(rig, NULL);
        OWNED_TPM_KEY key = tpm_rig_loaded(rig, &pem);
        for (int n = 0; n < 3; n++) {
            CHECK_OK(tpm_rig_sign(key));
            support_flush_all(rig->sw);
        }
        CHECK(tpm_rig_failed_tries(rig) <= (i == 3 ? 1 : 0));
        if (i == 0)
            CHECK_NUMBER(support_persist_srk(rig->sw, NULL, SUPPORT_SRK_PROVISIONING), 0);
    }
}

/* The primary of one operation serves the next; when that does not need it, it goes. */
TEST_KEY(tpm_unseen_primary_is_kept)
{
    OWNED_TPM_KEY ak = NULL;
    CHECK_NUMBER(COMMANDS(*rig, tenon_tpm_ak_create(key, &ak)), 2);
    CHECK_NUMBER(support_transport_count(rig->wire, SUPPORT_CC_CREATE_PRIMARY), 0);
    CHECK_NUMBER(support_transient_count(rig->sw), 3);
    CHECK_OK(tpm_rig_sign(key));
    CHECK_NUMBER(support_transient_count(rig->sw), 2);
}

/* A TPM that lost it, as one that was reset, or that is another one by now. */
TEST(tpm_unseen_primary_is_lost)
{
    for (int cleared = 0; cleared < 2; cleared++) {
        OWNED_RIG rig = tpm_rig_start(NULL);
        OWNED_TPM_KEY key = tpm_rig_key(&rig, NULL);
        OWNED_TPM_KEY ak = NULL;
        uint32_t before = tenon_tpm_connection(rig.tpm);
        test_about(cleared != 0 ? "cleared" : "reset");
        if (cleared != 0)
            CHECK_NUMBER(support_clear(rig.sw, SUPPORT_RH_LOCKOUT, NULL), 0);
        else
            CHECK_NUMBER(support_flush_all(rig.sw), 0);
        CHECK_STATUS(tenon_tpm_ak_create(key, &ak), cleared != 0 ? TENON_ERROR_PARENT_MISSING : TENON_OK);
        CHECK(tenon_tpm_connection(rig.tpm) != before);
        if (cleared == 0)
            CHECK_OK(tpm_rig_sign(key));
    }
}

/* Somebody's signing key has the handle of the primary that was lost: it is not taken for a parent. */
TEST_KEY(tpm_unseen_primary_is_something_else)
{
    uint32_t other;
    CHECK_NUMBER(support_flush_all(rig->sw), 0);
    for (int i = 0; i < 2; i++)
        CHECK_NUMBER(support_create_primary(rig->sw, SUPPORT_RH_OWNER, NULL, SUPPORT_SIGNING, &other), 0);
    OWNED_TPM_KEY ak = tpm_rig_ak(key);
    support_flush_all(rig->sw);
    CHECK_OK(tpm_rig_sign(key));
}

/* The transport was opened again, perhaps to another TPM: what a caller kept of the one before is not good any more. */
TEST_KEY(tpm_unseen_connection)
{
    CHECK_OK(tpm_rig_sign(key));
    uint32_t before = tenon_tpm_connection(rig->tpm);
    CHECK_OK(tpm_rig_sign(key));
    CHECK_NUMBER(tenon_tpm_connection(rig->tpm), before);
    support_fail_before(rig->wire, support_next(SUPPORT_CC_SIGN), TENON_ERROR_TPM_TRANSPORT);
    CHECK_OK(tpm_rig_sign(key));
    CHECK(tenon_tpm_connection(rig->tpm) != before);
    before = tenon_tpm_connection(rig->tpm);
    support_flush_all(rig->sw);
    CHECK_OK(tpm_rig_sign(key));
    CHECK(tenon_tpm_connection(rig->tpm) != before);
    CHECK_NUMBER(tenon_tpm_connection(NULL), 0);
    CHECK_NUMBER(tenon_tpm_key_handle(NULL), 0);
}
