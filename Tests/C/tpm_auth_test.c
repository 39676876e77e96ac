/* SPDX-License-Identifier: Apache-2.0 */
#include "tpm_rig.h"

/* Auth values of keys and hierarchies, and the sessions that prove them. */

static const uint8_t value[] = "0123456789abcdef0123456789abcdef";
static const uint8_t other[] = "fedcba9876543210fedcba9876543210";
enum { VALUE = 32 };

static tenon_status use(tpm_rig *rig, const tpm_pem *pem, const uint8_t *auth, size_t n)
{
    tenon_tpm_key *key;
    tenon_status status = tenon_tpm_key_load(rig->tpm, &key, pem->text, pem->n, auth, n);
    if (status == TENON_OK)
        status = tpm_rig_sign(key);
    if (status == TENON_OK)
        status = tpm_rig_sign(key);
    tenon_tpm_key_free(&key);
    return status;
}

static tpm_pem make(tpm_rig *rig, const uint8_t *auth, size_t n)
{
    tenon_tpm_key *key;
    tpm_pem pem = {.n = 0};
    if (CHECK_OK(tenon_tpm_key_create(rig->tpm, &key, auth, n))) {
        CHECK_OK(tpm_rig_sign(key));
        pem = tpm_rig_export(key);
    }
    tenon_tpm_key_free(&key);
    return pem;
}

/* Under the primary, under an SRK, in each kind of session: the value is not on the wire, not in the exported key. */
TEST(tpm_auth_never_crosses_the_wire)
{
    for (uint32_t session = 0; session <= TENON_TPM_SESSION_ENCRYPTED; session++)
        for (int srk = 0; srk < 2; srk++) {
            tenon_tpm_options options = {.size = sizeof options, .session = session};
            OWNED_RIG rig = tpm_rig_start(&options);
            test_about("session %u%s", (unsigned)session, srk != 0 ? ", SRK" : "");
            if (srk != 0)
                CHECK_NUMBER(support_persist_srk(rig.sw, NULL, SUPPORT_SRK_PROVISIONING), 0);
            support_transport_watch(rig.wire, value, VALUE);
            tpm_pem pem = make(&rig, value, VALUE);
            CHECK(strstr(pem.text, (const char *)value) == NULL);
            CHECK_OK(use(&rig, &pem, value, VALUE));
            CHECK_NUMBER(support_transport_watched(rig.wire), 0);
            CHECK_RC(use(&rig, &pem, other, VALUE), TENON_CATEGORY_AUTH, 0x9A2);
            CHECK_NUMBER(support_transport_watched(rig.wire), 0);
        }
}

/* The watch does see a value that crosses the bus: the owner's is a password. */
TEST(tpm_auth_watch_sees)
{
    static const tenon_tpm_options owner = {
        .size = sizeof owner, .owner_auth = (const uint8_t *)"ownersecret", .owner_auth_n = 11};
    OWNED_RIG rig = tpm_rig_start(&owner);
    CHECK_NUMBER(support_change_auth(rig.sw, SUPPORT_RH_OWNER, NULL, "ownersecret"), 0);
    support_transport_watch(rig.wire, owner.owner_auth, owner.owner_auth_n);
    (void)make(&rig, NULL, 0);
    CHECK(support_transport_watched(rig.wire) > 0);
}

/* The key has no dictionary attack protection: any number of wrong values locks nobody out. */
TEST_RIG(tpm_auth_wrong_value)
{
    tpm_pem pem = make(rig, value, VALUE);
    CHECK_NUMBER(support_lockout_parameters(rig->sw, NULL, 2, 86400, 86400), 0);
    for (int i = 0; i < 5; i++) {
        CHECK_CATEGORY(use(rig, &pem, other, VALUE), TENON_CATEGORY_AUTH);
        CHECK_CATEGORY(use(rig, &pem, NULL, 0), TENON_CATEGORY_AUTH);
        CHECK_CATEGORY(use(rig, &pem, value, VALUE - 1), TENON_CATEGORY_AUTH);
    }
    CHECK_NUMBER(tpm_rig_failed_tries(rig), 0);
    CHECK_OK(use(rig, &pem, value, VALUE));
}

TEST_RIG(tpm_auth_zeros_at_the_end)
{
    static const uint8_t zeros[VALUE] = {'a', 'b'};
    tpm_pem pem = make(rig, zeros, 2);
    CHECK_OK(use(rig, &pem, zeros, VALUE));
    CHECK_OK(use(rig, &pem, zeros, 3));
    pem = make(rig, zeros, VALUE);
    CHECK_OK(use(rig, &pem, zeros, 2));
}

/* Zeros alone would be the empty value, which nobody asks for with 32 bytes; and a value that is there has to be given.
 */
TEST_RIG(tpm_auth_none_by_mistake)
{
    static const uint8_t zeros[VALUE], some[] = {'a', 'b'};
    tenon_tpm_key *key;
    CHECK_STATUS(tenon_tpm_key_create(rig->tpm, &key, zeros, sizeof zeros), TENON_ERROR_AUTH_VALUE);
    CHECK(key == NULL);
    tpm_pem pem = make(rig, some, sizeof some);
    CHECK_STATUS(use(rig, &pem, zeros, sizeof zeros), TENON_ERROR_AUTH_VALUE);
    support_transport_reset_counts(rig->wire);
    CHECK_STATUS(use(rig, &pem, NULL, 0), TENON_ERROR_AUTH_NEEDED);
    CHECK_NUMBER(support_transport_count(rig->wire, SUPPORT_ANY), 0);
    CHECK_OK(use(rig, &pem, some, sizeof some));
}

TEST_RIG(tpm_auth_too_long)
{
    static const uint8_t bytes[VALUE + 1] = {1};
    tenon_tpm_key *key;
    tpm_pem pem = make(rig, bytes, VALUE);
    uint32_t commands = support_transport_count(rig->wire, SUPPORT_ANY);
    CHECK_STATUS(tenon_tpm_key_create(rig->tpm, &key, bytes, sizeof bytes), TENON_ERROR_AUTH_VALUE);
    CHECK(key == NULL);
    CHECK_STATUS(tenon_tpm_key_load(rig->tpm, &key, pem.text, pem.n, bytes, sizeof bytes), TENON_ERROR_AUTH_VALUE);
    CHECK_STATUS(tenon_tpm_key_import(rig->tpm, &key, pem.text, pem.n, bytes, sizeof bytes), TENON_ERROR_AUTH_VALUE);
    CHECK(key == NULL);
    CHECK_NUMBER(support_transport_count(rig->wire, SUPPORT_ANY), commands);
    tenon_tpm_options options = {.size = sizeof options, .owner_auth = bytes, .owner_auth_n = sizeof bytes};
    tenon_tpm *tpm;
    tenon_tpm_transport table = support_transport_table(rig->wire);
    CHECK_STATUS(tenon_tpm_open_transport(&tpm, &table, &options), TENON_ERROR_AUTH_VALUE);
    CHECK(tpm == NULL);
}

/* The TPM forgot the session, the key or both: there are new ones, once. */
TEST_RIG(tpm_auth_session_lost)
{
    static const uint32_t codes[] = {0x918, 0x91E, 0x901, 0xB0918};
    OWNED_TPM_KEY key = NULL;
    CHECK_OK(tenon_tpm_key_create(rig->tpm, &key, value, VALUE));
    CHECK_OK(tpm_rig_sign(key));
    for (size_t i = 0; i < COUNT(codes); i++) {
        test_about("0x%x", (unsigned)codes[i]);
        support_transport_reset_counts(rig->wire);
        support_fail_code(rig->wire, support_next(SUPPORT_CC_SIGN), codes[i]);
        CHECK_OK(tpm_rig_sign(key));
        CHECK_NUMBER(support_transport_count(rig->wire, SUPPORT_CC_START_AUTH_SESSION), 1);
        CHECK_NUMBER(support_transport_count(rig->wire, SUPPORT_CC_SIGN), 2);
        support_fail_code(rig->wire, support_times(SUPPORT_CC_SIGN, 1, 2), codes[i]);
        CHECK_RC(tpm_rig_sign(key), TENON_CATEGORY_TRANSIENT, codes[i]);
        CHECK_NUMBER(support_session_count(rig->sw), 1);
    }
    support_flush_all(rig->sw);
    CHECK_OK(tpm_rig_sign(key));
}

/* Each with an auth value and without. The transport goes on as a node does whose TPM was reset under it. */
TEST(tpm_auth_power_cuts)
{
    for (int with = 0; with < 2; with++)
        for (int follow = 0; follow < 2; follow++) {
            OWNED_RIG rig = tpm_rig_start(NULL);
            OWNED_TPM_KEY key = NULL;
            test_about("%s, %s", with != 0 ? "auth" : "no auth", follow != 0 ? "follows" : "reopened");
            support_transport_follow(rig.wire, follow != 0);
            CHECK_OK(tenon_tpm_key_create(rig.tpm, &key, value, with != 0 ? VALUE : 0));
            for (int i = 0; i < 3; i++) {
                CHECK_OK(tpm_rig_sign(key));
                support_swtpm_power_cut(rig.sw);
                CHECK(support_swtpm_power_on(rig.sw));
            }
            CHECK_OK(tpm_rig_sign(key));
            CHECK_NUMBER(tpm_rig_failed_tries(&rig), 0);
        }
}

/* Other auth values do not affect a signing key. */
TEST_RIG(tpm_auth_of_hierarchies)
{
    tenon_tpm_key *key;
    tpm_pem pem = make(rig, NULL, 0), sealed = make(rig, value, VALUE);
    CHECK_NUMBER(support_change_auth(rig->sw, SUPPORT_RH_ENDORSEMENT, NULL, "endorsement"), 0);
    CHECK_OK(use(rig, &pem, NULL, 0));
    CHECK_OK(use(rig, &sealed, value, VALUE));
    CHECK_NUMBER(support_hierarchy_control(rig->sw, SUPPORT_RH_ENDORSEMENT, false), 0);
    CHECK_OK(use(rig, &pem, NULL, 0));
    CHECK_NUMBER(support_change_auth(rig->sw, SUPPORT_RH_OWNER, NULL, "owner"), 0);
    CHECK_RC(use(rig, &pem, NULL, 0), TENON_CATEGORY_AUTH, 0x9A2);
    CHECK_RC(tenon_tpm_key_create(rig->tpm, &key, NULL, 0), TENON_CATEGORY_AUTH, 0x9A2);
    tpm_rig_again(rig, &tpm_owner);
    CHECK_OK(use(rig, &pem, NULL, 0));
    CHECK_OK(use(rig, &sealed, value, VALUE));
    (void)make(rig, value, VALUE);
}

/* With an SRK there and the owner's auth unknown a key is made without a witness, works, and is never gone. */
TEST_RIG(tpm_auth_no_witness_without_the_owner)
{
    uint8_t witness[TENON_NAME_SIZE];
    size_t n = 1;
    CHECK_NUMBER(support_persist_srk(rig->sw, NULL, SUPPORT_SRK_H2), 0);
    CHECK_NUMBER(support_change_auth(rig->sw, SUPPORT_RH_OWNER, NULL, "owner"), 0);
    tenon_tpm_key *key = tpm_rig_key(rig, NULL);
    CHECK_OK(tenon_tpm_key_witness(key, witness, sizeof witness, &n));
    CHECK_NUMBER(n, 0);
    CHECK_OK(tpm_rig_sign(key));
    tpm_pem pem = tpm_rig_export(key);
    tenon_tpm_key_free(&key);
    CHECK_OK(tpm_rig_use(rig, &pem));
    CHECK_NUMBER(support_clear(rig->sw, SUPPORT_RH_LOCKOUT, NULL), 0);
    CHECK_STATUS(tpm_rig_use(rig, &pem), TENON_ERROR_PARENT_MISSING);
    CHECK_NUMBER(support_transport_reopens(rig->wire), 0);
}

TEST_RIG(tpm_auth_lockout)
{
    tenon_tpm_info info;
    tpm_pem pem = make(rig, NULL, 0), sealed = make(rig, value, VALUE);
    CHECK_NUMBER(support_lock_out(rig->sw, NULL, NULL), 0);
    CHECK_OK(tenon_tpm_read_info(rig->tpm, &info));
    CHECK_NUMBER(info.in_lockout, 1);
    CHECK_OK(use(rig, &pem, NULL, 0));
    CHECK_OK(use(rig, &sealed, value, VALUE));
    CHECK_CATEGORY(use(rig, &sealed, other, VALUE), TENON_CATEGORY_AUTH);
    (void)make(rig, NULL, 0);
}

/* Sessions without an auth value: a digest in clear, or not, and one command a signature either way. */
TEST(tpm_auth_sessions_without_a_value)
{
    static const tenon_digest digest = {{0xd1, 0x9e, 0x57, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}};
    for (uint32_t session = 0; session <= TENON_TPM_SESSION_ENCRYPTED; session++) {
        tenon_tpm_options options = {.size = sizeof options, .session = session};
        OWNED_RIG rig = tpm_rig_start(&options);
        tenon_signature signature;
        tenon_public_key point;
        test_about("session %u", (unsigned)session);
        OWNED_TPM_KEY key = tpm_rig_key(&rig, NULL);
        OWNED_KEY view = tpm_rig_view(key, TENON_KEY_SIGNS_DIGESTS);
        CHECK_OK(tpm_rig_sign(key));
        CHECK_OK(tpm_rig_sign(key));
        support_transport_reset_counts(rig.wire);
        support_transport_watch(rig.wire, digest.bytes, sizeof digest.bytes);
        CHECK_OK(tenon_key_sign_digest(view, &signature, &digest));
        CHECK_OK(tenon_tpm_key_public_key(key, &point));
        CHECK_OK(tenon_p256_verify(&point, &digest, &signature));
        CHECK_NUMBER(support_transport_watched(rig.wire), session == TENON_TPM_SESSION_ENCRYPTED ? 0 : 1);
        CHECK_NUMBER(support_transport_count(rig.wire, SUPPORT_ANY), 1);
    }
}

/* A TPM in lockout is not asked again: that would be another guess. */
TEST(tpm_auth_lockout_is_not_tried_again)
{
    enum { LOCKOUT = 0x921 };
    for (uint32_t session = TENON_TPM_SESSION_PASSWORD; session <= TENON_TPM_SESSION_ENCRYPTED; session++) {
        tenon_tpm_options options = {.size = sizeof options, .session = session};
        OWNED_RIG rig = tpm_rig_start(&options);
        test_about("session %u", (unsigned)session);
        OWNED_TPM_KEY key = tpm_rig_key(&rig, NULL);
        CHECK_OK(tpm_rig_sign(key));
        support_transport_reset_counts(rig.wire);
        support_fail_code(rig.wire, support_next(SUPPORT_CC_SIGN), LOCKOUT);
        CHECK_RC(tpm_rig_sign(key), TENON_CATEGORY_AUTH, LOCKOUT);
        CHECK_NUMBER(support_transport_count(rig.wire, SUPPORT_CC_SIGN), 1);
    }
    test_about(NULL);
}
