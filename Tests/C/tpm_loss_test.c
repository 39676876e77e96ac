/* SPDX-License-Identifier: Apache-2.0 */
#include "tpm_rig.h"

/* A loss that is found in each kind of session, and keys that only seem lost. */

/* After the judgement, the loss is reported at once; reopening belongs to the wait of two seconds. */
static void sign_when_gone(const tenon_tpm_options *options, const char *auth)
{
    OWNED_RIG rig = tpm_rig_start(options);
    OWNED_TPM_KEY key = tpm_rig_key(&rig, auth);
    CHECK_OK(tpm_rig_sign(key));
    CHECK_OK(tpm_rig_sign(key));
    CHECK_NUMBER(support_clear(rig.sw, SUPPORT_RH_LOCKOUT, NULL), 0);
    support_transport_reset_counts(rig.wire);
    CHECK_STATUS(tpm_rig_sign(key), TENON_ERROR_KEY_GONE);
    CHECK_NUMBER(support_transport_reopens(rig.wire), 1);
    CHECK_NUMBER(support_transport_count(rig.wire, SUPPORT_CC_LOAD), 4);
    support_transport_reset_counts(rig.wire);
    for (int i = 0; i < 3; i++)
        CHECK_STATUS(tpm_rig_sign(key), TENON_ERROR_KEY_GONE);
    CHECK_STATUS(tenon_tpm_key_check(key), TENON_ERROR_KEY_GONE);
    /* The last primary that was tried is flushed, and nothing is asked. */
    CHECK_NUMBER(support_transport_count(rig.wire, SUPPORT_ANY),
                 support_transport_count(rig.wire, SUPPORT_CC_FLUSH_CONTEXT));
    CHECK(support_transport_count(rig.wire, SUPPORT_ANY) <= 1);
    CHECK_STATUS(tenon_tpm_key_persist(key, NULL), TENON_ERROR_KEY_GONE);
    CHECK_NUMBER(support_transport_reopens(rig.wire), 0);
    CHECK_NUMBER(support_transport_count(rig.wire, SUPPORT_CC_LOAD), 0);
    CHECK_NUMBER(support_transport_count(rig.wire, SUPPORT_CC_SIGN), 0);
}

TEST(tpm_loss_found_without_a_session) { sign_when_gone(NULL, NULL); }
TEST(tpm_loss_found_with_an_auth_value) { sign_when_gone(NULL, "auth"); }

TEST(tpm_loss_found_in_a_salted_session) { sign_when_gone(&tpm_salted, NULL); }

/* An object that is not a parent, at a parent's handle, does not count as a parent that could not be tried. */
TEST_RIG(tpm_loss_found_beside_a_signing_key)
{
    tpm_pem pem = tpm_rig_make(rig);
    CHECK_NUMBER(support_clear(rig->sw, SUPPORT_RH_LOCKOUT, NULL), 0);
    tpm_rig_put(rig, SUPPORT_HANDLE_SRK, SUPPORT_SIGNING, NULL);
    tpm_rig_again(rig, NULL);
    CHECK_STATUS(tpm_rig_use(rig, &pem), TENON_ERROR_KEY_GONE);
    CHECK_NUMBER(support_transport_reopens(rig->wire), 1);
    CHECK_NUMBER(support_persistent_count(rig->sw), 1);
}

/* The primary cannot be made again, as the owner's auth is not known; but it has been made persistent. */
TEST_RIG(tpm_loss_not_for_want_of_the_owner)
{
    tpm_pem pem = tpm_rig_make(rig);
    CHECK_NUMBER(support_persist_srk(rig->sw, NULL, SUPPORT_SRK_H2), 0);
    CHECK_NUMBER(support_change_auth(rig->sw, SUPPORT_RH_OWNER, NULL, "owner"), 0);
    tpm_rig_again(rig, NULL);
    CHECK_OK(tpm_rig_use(rig, &pem));
    CHECK(support_transport_count(rig->wire, SUPPORT_CC_CREATE_PRIMARY) >= 1);
    /* The persistent object is another one: then the error says that the owner's auth is missing. */
    CHECK_NUMBER(support_evict_srk(rig->sw, "owner"), 0);
    CHECK_NUMBER(support_persist_srk(rig->sw, "owner", SUPPORT_SRK_RSA), 0);
    CHECK_RC(tpm_rig_use(rig, &pem), TENON_CATEGORY_AUTH, 0x9a2);
    CHECK_NUMBER(support_transport_reopens(rig->wire), 0);
}

/* A transport knows the connection to the TPM, and nothing about keys. */
TEST_KEY(tpm_loss_not_by_the_word_of_a_transport)
{
    static const tenon_status others[] = {TENON_ERROR_KEY_GONE,  TENON_ERROR_KEY_NAME,    TENON_ERROR_AUTH_NEEDED,
                                          TENON_ERROR_PEM_FACT,  TENON_ERROR_OPTIONS,     (tenon_status)-1,
                                          (tenon_status)0x7f000, (tenon_status)0x0b000001};
    static const tenon_status own[] = {TENON_ERROR_TPM_MISSING, TENON_ERROR_TPM_PERMISSION, TENON_ERROR_MEMORY};
    for (size_t i = 0; i < COUNT(others); i++) {
        test_about("0x%08x", (unsigned)others[i]);
        support_fail_before(rig->wire, support_next(SUPPORT_CC_SIGN), others[i]);
        support_transport_fail_reopen(rig->wire, 1, others[i]);
        CHECK_STATUS(tpm_rig_sign(key), TENON_ERROR_TPM_TRANSPORT);
        support_fail_before(rig->wire, support_times(SUPPORT_CC_SIGN, 1, 2), others[i]);
        CHECK_STATUS(tpm_rig_sign(key), TENON_ERROR_TPM_TRANSPORT);
        CHECK_OK(tpm_rig_sign(key));
    }
    for (size_t i = 0; i < COUNT(own); i++) {
        test_about("0x%08x", (unsigned)own[i]);
        support_fail_before(rig->wire, support_next(SUPPORT_CC_SIGN), TENON_ERROR_TPM_TRANSPORT);
        support_transport_fail_reopen(rig->wire, 1, own[i]);
        CHECK_STATUS(tpm_rig_sign(key), own[i]);
        CHECK_OK(tpm_rig_sign(key));
    }
}

/* A primary that differs from the request: neither its Name nor a missing Name is a witness. */
TEST_RIG(tpm_loss_not_by_another_primary)
{
    enum { SIZE_AT = 10 + 4 + 4, TYPE_AT = SIZE_AT + 2, NAME_ALG_AT = TYPE_AT + 2, ATTRIBUTES_AT = NAME_ALG_AT + 2 };
    static const int32_t places[] = {TYPE_AT + 1, NAME_ALG_AT + 1, ATTRIBUTES_AT + 1, ATTRIBUTES_AT + 3};
    tpm_pem pem = tpm_rig_make(rig);
    tenon_tpm_key *key;
    for (size_t i = 0; i < COUNT(places); i++) {
        test_about("byte %d", (int)places[i]);
        tpm_rig_again(rig, NULL);
        support_flip(rig->wire, support_next(SUPPORT_CC_CREATE_PRIMARY), places[i], 7);
        CHECK_STATUS(tenon_tpm_key_create(rig->tpm, &key, NULL, 0), TENON_ERROR_TPM_ANSWER);
        CHECK_NUMBER(support_transient_count(rig->sw), 0);
        support_flip(rig->wire, support_next(SUPPORT_CC_CREATE_PRIMARY), places[i], 7);
        CHECK_STATUS(tpm_rig_use(rig, &pem), TENON_ERROR_TPM_ANSWER);
        CHECK_NUMBER(support_transport_pending(rig->wire), 0);
        CHECK_OK(tpm_rig_use(rig, &pem));
    }
}
