/* SPDX-License-Identifier: Apache-2.0 */
#include "tpm_rig.h"

/* Another program's object is at the key's handle: it is checked, not assumed, and not flushed. */

static void sign_beside_protected(const tenon_tpm_options *options, const char *auth)
{
    OWNED_RIG rig = tpm_rig_start(options);
    OWNED_TPM_KEY key = tpm_rig_key(&rig, auth);
    uint32_t handle = 0;
    CHECK_OK(tenon_tpm_key_persist(key, &handle));
    CHECK_OK(tpm_rig_sign(key));
    CHECK_NUMBER(support_evict(rig.sw, NULL, handle, handle), 0);
    tpm_rig_put(&rig, handle, SUPPORT_SIGNING_DA, "nobody's");
    CHECK_NUMBER(tpm_rig_failed_tries(&rig), 0);
    support_transport_reset_counts(rig.wire);
    CHECK_OK(tpm_rig_sign(key));
    CHECK(support_transport_count(rig.wire, SUPPORT_CC_READ_PUBLIC) >= 1);
    CHECK_NUMBER(support_transport_count(rig.wire, SUPPORT_CC_LOAD), 1);
    for (int i = 0; i < 3; i++)
        CHECK_OK(tpm_rig_sign(key));
    CHECK(tpm_rig_failed_tries(&rig) <= 1);
    CHECK_NUMBER(support_persistent_count(rig.sw), 1);
}

TEST(tpm_place_of_a_protected_object)
{
    sign_beside_protected(NULL, NULL);
    sign_beside_protected(NULL, "auth");
    sign_beside_protected(&tpm_salted, NULL);
}

/* The TPM was reset, the node went on, and another program has loaded a key of its own at our handle. */
static uint32_t reset_and_load(tpm_rig *rig)
{
    uint32_t parent, handle = 0;
    support_blob blob;
    support_transport_follow(rig->wire, true);
    support_swtpm_power_cut(rig->sw);
    CHECK(support_swtpm_power_on(rig->sw));
    CHECK_NUMBER(support_create_primary(rig->sw, SUPPORT_RH_OWNER, NULL, SUPPORT_SRK_H2, &parent), 0);
    CHECK_NUMBER(support_create(rig->sw, parent, SUPPORT_SIGNING, NULL, &blob), 0);
    CHECK_NUMBER(support_load(rig->sw, parent, &blob, &handle), 0);
    CHECK_NUMBER(support_flush(rig->sw, parent), 0);
    return handle;
}

TEST_KEY(tpm_place_of_a_loaded_key_is_checked)
{
    CHECK_OK(tpm_rig_sign(key));
    CHECK_OK(tpm_rig_sign(key));
    reset_and_load(rig);
    /* It is at our handle indeed: a password does not bind the Name. */
    CHECK_STATUS(tpm_rig_sign(key), TENON_ERROR_SIGNATURE_INVALID);
    support_transport_reset_counts(rig->wire);
    CHECK_OK(tenon_tpm_key_check(key));
    CHECK_NUMBER(support_transport_count(rig->wire, SUPPORT_CC_READ_PUBLIC), 1);
    /* Behind a resource manager, it cannot belong to others: an object that is no longer recorded must not stay. */
    CHECK_NUMBER(support_transport_count(rig->wire, SUPPORT_CC_FLUSH_CONTEXT), 1);
    CHECK_OK(tpm_rig_sign(key));
    CHECK_OK(tpm_rig_sign(key));
    /* Now all is well: one command, and nothing is loaded again. */
    CHECK_NUMBER(COMMANDS(*rig, tenon_tpm_key_check(key)), 1);
    CHECK_NUMBER(support_transport_count(rig->wire, SUPPORT_CC_READ_PUBLIC), 1);
}

/* On a bare TPM, a key has no handle between two calls: an object that somebody loads is neither used nor flushed. */
TEST(tpm_place_on_a_bare_tpm)
{
    OWNED_RIG rig = tpm_rig_bare(NULL);
    support_public found;
    tenon_tpm_key *key = tpm_rig_key(&rig, NULL);
    CHECK_OK(tpm_rig_sign(key));
    uint32_t handle = reset_and_load(&rig);
    CHECK_OK(tpm_rig_sign(key));
    CHECK_OK(tenon_tpm_key_check(key));
    tenon_tpm_key_free(&key);
    CHECK_NUMBER(support_read_public(rig.sw, handle, &found), 0);
    CHECK_NUMBER(support_flush(rig.sw, handle), 0);
}

/* With VERIFIED, the caller needs no check. */
TEST_KEY(tpm_place_of_a_loaded_key_that_is_verified)
{
    CHECK_OK(tpm_rig_sign(key));
    CHECK_OK(tpm_rig_sign(key));
    reset_and_load(rig);
    CHECK_OK(tpm_rig_sign_flags(key, TENON_TPM_KEY_VERIFIED));
    CHECK_OK(tpm_rig_sign(key));
}

/* And when there is nothing at all. */
TEST_KEY(tpm_place_is_empty)
{
    CHECK_OK(tpm_rig_sign(key));
    support_flush_all(rig->sw);
    support_transport_reset_counts(rig->wire);
    CHECK_OK(tenon_tpm_key_check(key));
    CHECK_NUMBER(support_transport_count(rig->wire, SUPPORT_CC_READ_PUBLIC), 1);
    CHECK_NUMBER(support_transport_count(rig->wire, SUPPORT_CC_LOAD), 1);
    CHECK_OK(tpm_rig_sign(key));
}
