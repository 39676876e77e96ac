/* SPDX-License-Identifier: Apache-2.0 */
#include "tpm_rig.h"

/* The persistent copy is a cache whose Name is checked; the blob counts. */

static const uint32_t first = 0x81080000;

/* The number of commands that a fresh process sends before the key can sign. */
static uint32_t commands_to_load(tpm_rig *rig, const tpm_pem *pem)
{
    tpm_rig_again(rig, NULL);
    OWNED_TPM_KEY key = tpm_rig_loaded(rig, pem);
    uint32_t commands = support_transport_count(rig->wire, SUPPORT_ANY);
    CHECK_OK(tpm_rig_sign(key));
    CHECK_OK(tpm_rig_sign(key));
    CHECK_NUMBER(support_transport_count(rig->wire, SUPPORT_CC_SIGN), 2);
    return commands;
}

static tpm_pem make_persistent(tpm_rig *rig)
{
    OWNED_TPM_KEY key = tpm_rig_key(rig, NULL);
    uint32_t handle = 0;
    CHECK_OK(tenon_tpm_key_persist(key, &handle));
    CHECK(handle >= first && handle < first + 8);
    return tpm_rig_export(key);
}

/* A key with a persistent copy that another process made. */
static tenon_tpm_key *load_persistent(tpm_rig *rig, const tenon_tpm_options *options)
{
    const tpm_pem pem = make_persistent(rig);
    tpm_rig_again(rig, options);
    return tpm_rig_loaded(rig, &pem);
}

static void swap(tpm_rig *rig) { CHECK_NUMBER(support_swap_persistent(rig->sw, NULL, first), 0); }

TEST_RIG(tpm_persist_commands_before_the_first_signature)
{
    tpm_pem under_primary = tpm_rig_make(rig);
    CHECK_NUMBER(commands_to_load(rig, &under_primary), 2);
    CHECK_NUMBER(support_persist_srk(rig->sw, NULL, SUPPORT_SRK_PROVISIONING), 0);
    tpm_pem under_srk = tpm_rig_make(rig);
    CHECK_NUMBER(commands_to_load(rig, &under_srk), 1);
    tpm_pem persistent = make_persistent(rig);
    CHECK_NUMBER(commands_to_load(rig, &persistent), 0);
}

/* What loses one key's object may have exchanged another key's copy: the handle is looked at once more. */
TEST_RIG(tpm_persist_looked_at_after_a_loss)
{
    OWNED_TPM_KEY copied = load_persistent(rig, NULL);
    OWNED_TPM_KEY loaded = tpm_rig_key(rig, NULL);
    CHECK_OK(tpm_rig_sign(copied));
    CHECK_OK(tpm_rig_sign(loaded));
    CHECK_NUMBER(COMMANDS(*rig, tpm_rig_sign(copied)), 1);
    support_fail_code(rig->wire, support_next(SUPPORT_CC_SIGN), 0x18b); /* TPM_RC_HANDLE */
    CHECK_OK(tpm_rig_sign(loaded));
    support_transport_reset_counts(rig->wire);
    CHECK_OK(tpm_rig_sign(copied));
    CHECK_NUMBER(support_transport_count(rig->wire, SUPPORT_CC_READ_PUBLIC), 1);
}

/* Another key is at the handle when the key is loaded: it is not used, and not evicted. */
TEST_RIG(tpm_persist_swapped_before_load)
{
    tpm_pem pem = make_persistent(rig);
    swap(rig);
    tpm_rig_again(rig, NULL);
    tenon_tpm_key *key = tpm_rig_loaded(rig, &pem);
    CHECK_STATUS(tenon_tpm_key_evict(key), TENON_ERROR_KEY_NAME);
    tenon_tpm_key_free(&key);
    key = tpm_rig_loaded(rig, &pem);
    CHECK_OK(tpm_rig_sign(key));
    CHECK_STATUS(tenon_tpm_key_evict(key), TENON_ERROR_NOT_PERSISTENT);
    CHECK_NUMBER(support_persistent_count(rig->sw), 1);
    CHECK_OK(tpm_rig_sign(key));
    tenon_tpm_key_free(&key);
}

/* The handle holds an RSA key, or nothing. */
TEST_RIG(tpm_persist_something_else_or_nothing)
{
    tpm_pem pem = make_persistent(rig);
    CHECK_NUMBER(support_evict(rig->sw, NULL, first, first), 0);
    CHECK_OK(tpm_rig_use(rig, &pem));
    tpm_rig_put(rig, first, SUPPORT_SRK_RSA, NULL);
    CHECK_OK(tpm_rig_use(rig, &pem));
    pem = make_persistent(rig);
    CHECK_OK(tpm_rig_use(rig, &pem));
    CHECK_NUMBER(support_persistent_count(rig->sw), 2);
}

/* Another key has replaced the copy. The next signature, if it is made before any check. */
static void check_swapped(const tenon_tpm_options *options, tenon_status (*look)(tpm_rig *rig, tenon_tpm_key *key))
{
    OWNED_RIG rig = tpm_rig_start(options);
    OWNED_TPM_KEY key = load_persistent(&rig, options);
    CHECK_OK(tpm_rig_sign(key));
    swap(&rig);
    CHECK_OK(look(&rig, key));
    CHECK_OK(tpm_rig_sign(key));
    CHECK_OK(tenon_tpm_key_check(key));
}

/* A password does not bind the Name: until a check, like that of VERIFIED, the other key signs. */
static tenon_status sign_and_check(tpm_rig *rig, tenon_tpm_key *key)
{
    CHECK_STATUS(tpm_rig_sign(key), TENON_ERROR_SIGNATURE_INVALID);
    return tenon_tpm_key_check(key);
}

static tenon_status verify(tpm_rig *rig, tenon_tpm_key *key) { return tpm_rig_sign_flags(key, TENON_TPM_KEY_VERIFIED); }

/* After the transport was reopened, the Name is checked without being asked. */
static tenon_status reopen(tpm_rig *rig, tenon_tpm_key *key)
{
    support_fail_before(rig->wire, support_next(SUPPORT_CC_SIGN), TENON_ERROR_TPM_TRANSPORT);
    CHECK_OK(tpm_rig_sign(key));
    CHECK_NUMBER(support_transport_reopens(rig->wire), 1);
    return TENON_OK;
}

/* In a session the Name is in what is authenticated: another key cannot sign. */
static tenon_status sign_in_a_session(tpm_rig *rig, tenon_tpm_key *key)
{
    CHECK(tpm_rig_sign(key) != TENON_ERROR_SIGNATURE_INVALID);
    return tenon_tpm_key_check(key);
}

TEST(tpm_persist_swapped_after_load)
{
    check_swapped(NULL, sign_and_check);
    check_swapped(NULL, verify);
    check_swapped(NULL, reopen);
    check_swapped(&tpm_salted, sign_in_a_session);
}

TEST_RIG(tpm_persist_makes_one_copy)
{
    uint32_t handle = 0, handles[4];
    size_t n;
    OWNED_TPM_KEY key = tpm_rig_key(rig, NULL);
    support_fail_after(rig->wire, support_next(SUPPORT_CC_EVICT_CONTROL), TENON_ERROR_TPM_TRANSPORT);
    CHECK_OK(tenon_tpm_key_persist(key, &handle));
    CHECK_NUMBER(handle, first);
    CHECK_OK(tenon_tpm_key_persist(key, &handle));
    CHECK_NUMBER(handle, first);
    tpm_pem pem = tpm_rig_export(key);
    tenon_tpm_key_free(&key);
    /* The answer and the process were lost: the exported key does not know of its copy. */
    CHECK_OK(tpm_rig_load(rig, &key, &pem));
    CHECK_OK(tenon_tpm_key_evict(key));
    CHECK_STATUS(tenon_tpm_key_evict(key), TENON_ERROR_NOT_PERSISTENT);
    pem = tpm_rig_export(key);
    CHECK_OK(tenon_tpm_key_persist(key, &handle));
    tenon_tpm_key_free(&key);
    CHECK_OK(tpm_rig_load(rig, &key, &pem));
    CHECK_OK(tenon_tpm_key_persist(key, &handle));
    CHECK_OK(tenon_tpm_handles(rig->tpm, handles, 4, &n));
    CHECK_NUMBER(n, 1);
    CHECK_NUMBER(handles[0], first);
    CHECK_OK(tenon_tpm_key_evict(key));
    CHECK_NUMBER(support_persistent_count(rig->sw), 0);
    CHECK_OK(tpm_rig_sign(key));
}

/* Answers, as an outdated listing would, that the TPM has no persistent object. */
static size_t none_there(void *context, uint8_t *answer, size_t n, size_t size)
{
    enum { COUNT_AT = 15, VALUES_AT = 19 };
    if (n < VALUES_AT)
        return n;
    memset(answer + COUNT_AT, 0, VALUES_AT - COUNT_AT);
    answer[4] = 0;
    answer[5] = VALUES_AT;
    return VALUES_AT;
}

TEST_RIG(tpm_persist_handle_taken_meanwhile)
{
    uint32_t handle;
    (void)make_persistent(rig);
    OWNED_TPM_KEY key = tpm_rig_key(rig, NULL);
    support_edit(rig->wire, support_next(SUPPORT_CC_GET_CAPABILITY), none_there, NULL);
    CHECK_OK(tenon_tpm_key_persist(key, &handle));
    CHECK_NUMBER(handle, first + 1);
    CHECK_NUMBER(support_transport_pending(rig->wire), 0);
    CHECK_NUMBER(support_persistent_count(rig->sw), 2);
    CHECK_OK(tpm_rig_sign(key));
    CHECK_OK(tenon_tpm_key_evict(key));
}

TEST_RIG(tpm_persist_lists_handles)
{
    uint32_t handles[8];
    size_t n = 9;
    CHECK_OK(tenon_tpm_handles(rig->tpm, handles, 8, &n));
    CHECK_NUMBER(n, 0);
    CHECK_OK(tenon_tpm_handles(rig->tpm, NULL, 0, &n));
    CHECK_NUMBER(support_persist_srk(rig->sw, NULL, SUPPORT_SRK_H2), 0);
    (void)make_persistent(rig);
    (void)make_persistent(rig);
    CHECK_OK(tenon_tpm_handles(rig->tpm, handles, 8, &n));
    CHECK_NUMBER(n, 3);
    CHECK(handles[0] == 0x81000001 && handles[1] == first && handles[2] == first + 1);
    handles[0] = handles[1] = handles[2] = 0xa5a5a5a5;
    CHECK_STATUS(tenon_tpm_handles(rig->tpm, handles, 2, &n), TENON_ERROR_BUFFER_TOO_SMALL);
    CHECK_NUMBER(n, 3);
    CHECK_NUMBER(handles[0], 0xa5a5a5a5);
}

TEST_RIG(tpm_persist_needs_the_owner)
{
    static const tenon_tpm_options wrong = {
        .size = sizeof wrong, .owner_auth = (const uint8_t *)"no", .owner_auth_n = 2};
    OWNED_TPM_KEY key = NULL;
    CHECK_NUMBER(support_persist_srk(rig->sw, NULL, SUPPORT_SRK_H2), 0);
    tpm_pem pem = tpm_rig_make(rig);
    CHECK_NUMBER(support_change_auth(rig->sw, SUPPORT_RH_OWNER, NULL, "owner"), 0);
    for (int i = 0; i < 2; i++) {
        tpm_rig_again(rig, i == 0 ? NULL : &wrong);
        CHECK_OK(tpm_rig_load(rig, &key, &pem));
        CHECK_RC(tenon_tpm_key_persist(key, NULL), TENON_CATEGORY_AUTH, 0x9A2);
        CHECK_OK(tpm_rig_sign(key));
        tenon_tpm_key_free(&key);
    }
    tpm_rig_again(rig, &tpm_owner);
    CHECK_OK(tpm_rig_load(rig, &key, &pem));
    CHECK_OK(tenon_tpm_key_persist(key, NULL));
    CHECK_OK(tpm_rig_sign(key));
    pem = tpm_rig_export(key);
    tenon_tpm_key_free(&key);
    tpm_rig_again(rig, NULL);
    CHECK_OK(tpm_rig_load(rig, &key, &pem));
    CHECK_RC(tenon_tpm_key_evict(key), TENON_CATEGORY_AUTH, 0x9A2);
    CHECK_OK(tpm_rig_sign(key));
    CHECK_NUMBER(support_persistent_count(rig->sw), 2);
}

/* The last handle of our range belongs to us. */
TEST_RIG(tpm_persist_at_the_last_handle)
{
    static const uint32_t last = 0x8108ffff;
    uint32_t handle = 0, loaded = 0;
    tpm_pem pem = tpm_rig_make(rig);
    OWNED_TPM_KEY key = tpm_rig_loaded(rig, &pem);
    CHECK_OK(tpm_rig_sign(key));
    /* Another process made the copy there, unknown to this one. */
    size_t n;
    CHECK_NUMBER(support_handles(rig->sw, 0x80000000, &loaded, 1, &n), 0);
    CHECK_NUMBER(n, 1);
    CHECK_NUMBER(support_evict(rig->sw, NULL, loaded, last), 0);
    CHECK_OK(tenon_tpm_key_persist(key, &handle));
    CHECK_NUMBER(handle, last);
    CHECK_NUMBER(support_persistent_count(rig->sw), 1);
    CHECK_OK(tenon_tpm_key_evict(key));
    CHECK_NUMBER(support_persistent_count(rig->sw), 0);
}
