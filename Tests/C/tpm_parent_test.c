/* SPDX-License-Identifier: Apache-2.0 */
#include "tpm_rig.h"

/*
 * Administrators and other tools add and remove storage keys. A key works as long as its parent can be made or found;
 * if it cannot, or if that is unknown, the key is not lost.
 */
static const uint32_t elsewhere = 0x81000005;

TEST_RIG(tpm_parent_srk_comes_and_goes)
{
    /* The last one is no storage key. */
    static const support_template templates[] = {SUPPORT_SRK_H2, SUPPORT_SRK_PROVISIONING, SUPPORT_SRK_RSA,
                                                 SUPPORT_SIGNING};
    tpm_pem before = tpm_rig_make(rig);
    for (size_t i = 0; i < COUNT(templates); i++) {
        test_about("template %u", (unsigned)i);
        CHECK_NUMBER(support_persist_srk(rig->sw, NULL, templates[i]), 0);
        CHECK_OK(tpm_rig_use(rig, &before));
        tpm_pem under = tpm_rig_make(rig);
        CHECK_OK(tpm_rig_use(rig, &under));
        CHECK_NUMBER(support_evict_srk(rig->sw, NULL), 0);
        CHECK_OK(tpm_rig_use(rig, &before));
        CHECK_OK(tpm_rig_use(rig, &under));
        CHECK_NUMBER(support_persist_srk(rig->sw, NULL, templates[(i + 1) % COUNT(templates)]), 0);
        CHECK_OK(tpm_rig_use(rig, &under));
        CHECK_NUMBER(support_evict_srk(rig->sw, NULL), 0);
    }
}

/* While the key is loaded, and then lost: it is searched again. */
TEST_RIG(tpm_parent_goes_while_the_key_is_loaded)
{
    CHECK_NUMBER(support_persist_srk(rig->sw, NULL, SUPPORT_SRK_PROVISIONING), 0);
    OWNED_TPM_KEY key = tpm_rig_key(rig, NULL);
    CHECK_OK(tpm_rig_sign(key));
    CHECK_NUMBER(support_evict_srk(rig->sw, NULL), 0);
    CHECK_OK(tpm_rig_sign(key));
    support_flush_all(rig->sw);
    CHECK_OK(tpm_rig_sign(key));
    CHECK_NUMBER(support_persist_srk(rig->sw, NULL, SUPPORT_SRK_RSA), 0);
    support_flush_all(rig->sw);
    CHECK_OK(tpm_rig_sign(key));
}

/* A key like that of another tool: under any parent, at any handle. */
static tpm_pem write_pem(const support_blob *blob, uint32_t parent, const uint8_t *parent_name, const uint8_t *witness)
{
    tenoni_keyfile file = tpm_rig_keyfile(blob, parent);
    if (parent_name != NULL) {
        memcpy(file.parent_name, parent_name, sizeof file.parent_name);
        file.parent_name_n = sizeof file.parent_name;
    }
    if (witness != NULL) {
        memcpy(file.witness, witness, sizeof file.witness);
        file.witness_n = sizeof file.witness;
    }
    return tpm_rig_write(&file);
}

static void read_witness(tpm_rig *rig, uint8_t *out)
{
    size_t n;
    OWNED_TPM_KEY key = tpm_rig_key(rig, NULL);
    CHECK_OK(tenon_tpm_key_witness(key, out, TENON_NAME_SIZE, &n));
    CHECK_NUMBER(n, TENON_NAME_SIZE);
}

/* An RSA storage key, which no search makes again, at a handle of its own. */
static tpm_pem make_under_rsa(tpm_rig *rig, bool with_witness)
{
    uint8_t witness[TENON_NAME_SIZE];
    support_public parent;
    support_blob blob;
    read_witness(rig, witness);
    tpm_rig_put(rig, elsewhere, SUPPORT_SRK_RSA, NULL);
    CHECK_NUMBER(support_read_public(rig->sw, elsewhere, &parent), 0);
    CHECK_NUMBER(support_create(rig->sw, elsewhere, SUPPORT_SIGNING, NULL, &blob), 0);
    return write_pem(&blob, elsewhere, parent.name, with_witness ? witness : NULL);
}

/* On a bare TPM the load says nothing, and the use says the same. */
static void lose_a_third_parent(tpm_rig (*start)(const tenon_tpm_options *))
{
    OWNED_RIG rig = start(NULL);
    tpm_pem pem = make_under_rsa(&rig, true);
    CHECK_OK(tpm_rig_use(&rig, &pem));
    CHECK_NUMBER(support_evict(rig.sw, NULL, elsewhere, elsewhere), 0);
    support_transport_reset_counts(rig.wire);
    for (int i = 0; i < 3; i++)
        CHECK_STATUS(tpm_rig_use(&rig, &pem), TENON_ERROR_PARENT_MISSING);
    CHECK_NUMBER(support_transport_reopens(rig.wire), 0);
    CHECK_NUMBER(support_transport_count(rig.wire, SUPPORT_CC_LOAD), 0);
}

TEST(tpm_parent_of_a_third_template) { lose_a_third_parent(tpm_rig_start); }
TEST(tpm_parent_of_a_third_template_on_a_bare_tpm) { lose_a_third_parent(tpm_rig_bare); }

/* Without a witness, nothing shows that the seed is another. */
TEST_RIG(tpm_parent_without_witness_is_never_gone)
{
    tpm_pem pem = make_under_rsa(rig, false);
    tenon_tpm_key *key;
    CHECK_OK(tpm_rig_use(rig, &pem));
    CHECK_NUMBER(support_clear(rig->sw, SUPPORT_RH_LOCKOUT, NULL), 0);
    CHECK_STATUS(tpm_rig_use(rig, &pem), TENON_ERROR_PARENT_MISSING);
    CHECK_STATUS(tenon_tpm_key_import(rig->tpm, &key, pem.text, pem.n, NULL, 0), TENON_ERROR_PARENT_MISSING);
    CHECK_NUMBER(support_transport_reopens(rig->wire), 0);
}

/* Imported: no facts at all. Its TPM is cleared, and its parent's handle is taken by a storage key of the new seed. */
TEST_RIG(tpm_parent_import_is_never_gone)
{
    support_blob blob;
    tenon_tpm_key *key;
    CHECK_NUMBER(support_persist_srk(rig->sw, NULL, SUPPORT_SRK_H2), 0);
    CHECK_NUMBER(support_create(rig->sw, SUPPORT_HANDLE_SRK, SUPPORT_SIGNING_FOREIGN, NULL, &blob), 0);
    tpm_pem pem = write_pem(&blob, SUPPORT_HANDLE_SRK, NULL, NULL);
    CHECK_STATUS(tenon_tpm_key_load(rig->tpm, &key, pem.text, pem.n, NULL, 0), TENON_ERROR_KEY_ATTRIBUTES);
    CHECK_OK(tenon_tpm_key_import(rig->tpm, &key, pem.text, pem.n, NULL, 0));
    CHECK_NUMBER(tenon_tpm_key_is_foreign(key), 1);
    CHECK_OK(tpm_rig_sign(key));
    tenon_tpm_key_free(&key);
    CHECK_NUMBER(support_clear(rig->sw, SUPPORT_RH_LOCKOUT, NULL), 0);
    CHECK_STATUS(tenon_tpm_key_import(rig->tpm, &key, pem.text, pem.n, NULL, 0), TENON_ERROR_PARENT_MISSING);
    CHECK_NUMBER(support_persist_srk(rig->sw, NULL, SUPPORT_SRK_H2), 0);
    CHECK_RC(tenon_tpm_key_import(rig->tpm, &key, pem.text, pem.n, NULL, 0), TENON_CATEGORY_REJECTED, 0x1DF);
    CHECK_NUMBER(support_transport_reopens(rig->wire), 0);
}

/* The seed is the old one, or its witness cannot be computed: each has its own error, and is never gone. */
TEST_RIG(tpm_parent_witness_cannot_be_computed)
{
    tpm_pem pem = make_under_rsa(rig, true);
    CHECK_NUMBER(support_evict(rig->sw, NULL, elsewhere, elsewhere), 0);
    CHECK_NUMBER(support_change_auth(rig->sw, SUPPORT_RH_OWNER, NULL, "owner"), 0);
    CHECK_RC(tpm_rig_use(rig, &pem), TENON_CATEGORY_AUTH, 0x9A2);
    tpm_rig_again(rig, &tpm_owner);
    CHECK_STATUS(tpm_rig_use(rig, &pem), TENON_ERROR_PARENT_MISSING);
    CHECK_NUMBER(support_hierarchy_control(rig->sw, SUPPORT_RH_OWNER, false), 0);
    CHECK_CATEGORY(tpm_rig_use(rig, &pem), TENON_CATEGORY_UNAVAILABLE);
    CHECK_NUMBER(support_transport_reopens(rig->wire), 0);
}

/* The same on a cleared TPM: auth or unavailable until the witness can be computed. */
TEST_RIG(tpm_parent_cleared_and_no_witness)
{
    tpm_pem pem = tpm_rig_make(rig);
    CHECK_NUMBER(support_clear(rig->sw, SUPPORT_RH_LOCKOUT, NULL), 0);
    CHECK_NUMBER(support_change_auth(rig->sw, SUPPORT_RH_OWNER, NULL, "owner"), 0);
    CHECK_RC(tpm_rig_use(rig, &pem), TENON_CATEGORY_AUTH, 0x9A2);
    support_fail_code(rig->wire, support_next(SUPPORT_CC_CREATE_PRIMARY), 0x921);
    CHECK_RC(tpm_rig_use(rig, &pem), TENON_CATEGORY_AUTH, 0x921);
    CHECK_NUMBER(support_hierarchy_control(rig->sw, SUPPORT_RH_OWNER, false), 0);
    CHECK_CATEGORY(tpm_rig_use(rig, &pem), TENON_CATEGORY_UNAVAILABLE);
    CHECK_NUMBER(support_transport_reopens(rig->wire), 0);
}

/* The storage hierarchy off hides SRK and persistent copy; after a restart both are there again. */
TEST_RIG(tpm_parent_hierarchy_off_and_on)
{
    CHECK_NUMBER(support_persist_srk(rig->sw, NULL, SUPPORT_SRK_H2), 0);
    OWNED_TPM_KEY key = tpm_rig_key(rig, NULL);
    CHECK_OK(tenon_tpm_key_persist(key, NULL));
    CHECK_OK(tpm_rig_sign(key));
    CHECK_NUMBER(support_hierarchy_control(rig->sw, SUPPORT_RH_OWNER, false), 0);
    CHECK_CATEGORY(tpm_rig_sign(key), TENON_CATEGORY_UNAVAILABLE);
    CHECK_CATEGORY(tpm_rig_sign(key), TENON_CATEGORY_UNAVAILABLE);
    support_transport_follow(rig->wire, true);
    CHECK(support_swtpm_power_on(rig->sw));
    CHECK_OK(tpm_rig_sign(key));
    CHECK_NUMBER(support_persistent_count(rig->sw), 2);
}
