/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE 1 /* CLOCK_BOOTTIME */
#include <time.h>

#include "tpm_rig.h"

/*
 * A key that is gone, and everything that only looks like it. Gone needs another seed, INTEGRITY under each existing
 * parent, and the same again two seconds later over a fresh transport.
 */

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

TEST_RIG(tpm_gone_after_clear)
{
    tpm_pem pem = tpm_rig_make(rig);
    tenon_tpm_key *key;
    CHECK_NUMBER(support_clear(rig->sw, SUPPORT_RH_LOCKOUT, NULL), 0);
    tpm_rig_again(rig, NULL);
    uint64_t began = now_ms();
    CHECK_STATUS(tpm_rig_load(rig, &key, &pem), TENON_ERROR_KEY_GONE);
    CHECK(now_ms() - began >= 2000);
    CHECK(key == NULL);
    CHECK_NUMBER(support_transport_reopens(rig->wire), 1);
    /* Looked for by Name, then twice: the witness again, and Load under both primaries. */
    CHECK_NUMBER(support_transport_count(rig->wire, SUPPORT_CC_LOAD), 4);
    CHECK(support_transport_count(rig->wire, SUPPORT_CC_CREATE_PRIMARY) >= 4);
    tpm_rig_check_clean(rig);
    tpm_rig_again(rig, NULL);
    pem = tpm_rig_make(rig);
    CHECK_OK(tpm_rig_use(rig, &pem));
}

/* The key is loaded while the TPM is cleared; and the SRK is provisioned again, of the new seed. */
TEST_RIG(tpm_gone_between_two_signatures)
{
    CHECK_NUMBER(support_persist_srk(rig->sw, NULL, SUPPORT_SRK_PROVISIONING), 0);
    OWNED_TPM_KEY key = tpm_rig_key(rig, NULL);
    CHECK_OK(tpm_rig_sign(key));
    CHECK_NUMBER(support_clear(rig->sw, SUPPORT_RH_LOCKOUT, NULL), 0);
    CHECK_NUMBER(support_persist_srk(rig->sw, NULL, SUPPORT_SRK_PROVISIONING), 0);
    support_transport_reset_counts(rig->wire);
    CHECK_STATUS(tpm_rig_sign(key), TENON_ERROR_KEY_GONE);
    CHECK_NUMBER(support_transport_reopens(rig->wire), 1);
    /* Under the SRK too, where it is tried first. */
    CHECK_NUMBER(support_transport_count(rig->wire, SUPPORT_CC_LOAD), 7);
    CHECK_NUMBER(support_persistent_count(rig->sw), 1);
}

/*
 * For this TPM, a key of another TPM is gone, because the seed differs. The caller compares the EKs to tell the two
 * cases apart (decision: other-machine).
 */
TEST(tpm_gone_on_another_tpm)
{
    tpm_rig one = tpm_rig_start(NULL), other = tpm_rig_start(NULL);
    tpm_pem pem = tpm_rig_make(&one);
    CHECK_STATUS(tpm_rig_use(&other, &pem), TENON_ERROR_KEY_GONE);
    CHECK_OK(tpm_rig_use(&one, &pem));
    tpm_rig_stop(&other);
    tpm_rig_stop(&one);
}

/* The second observation decides: a TPM that differs only for a moment is not enough. */
TEST_RIG(tpm_gone_needs_two_observations)
{
    tpm_pem pem = tpm_rig_make(rig);
    tpm_rig_again(rig, NULL);
    /* Both primaries are lied about while it is searched for; and the witness, and then the Loads, once. */
    support_flip(rig->wire, support_times(SUPPORT_CC_CREATE_PRIMARY, 1, 5), 60, 1);
    support_fail_code(rig->wire, support_times(SUPPORT_CC_LOAD, 1, 2), 0x1DF);
    tenon_status status = tpm_rig_use(rig, &pem);
    CHECK(status != TENON_ERROR_KEY_GONE);
    support_transport_forget_faults(rig->wire);
    CHECK_OK(tpm_rig_use(rig, &pem));
}

TEST_RIG(tpm_gone_needs_a_reopened_transport)
{
    tpm_pem pem = tpm_rig_make(rig);
    CHECK_NUMBER(support_clear(rig->sw, SUPPORT_RH_LOCKOUT, NULL), 0);
    tenon_tpm_free(&rig->tpm);
    tenon_tpm_transport table = support_transport_table(rig->wire);
    table.reopen = NULL;
    CHECK_OK(tenon_tpm_open_transport(&rig->tpm, &table, NULL));
    CHECK_STATUS(tpm_rig_use(rig, &pem), TENON_ERROR_TPM_TRANSPORT);
    tpm_rig_again(rig, NULL);
    support_transport_fail_reopen(rig->wire, 1, TENON_ERROR_TPM_MISSING);
    CHECK_STATUS(tpm_rig_use(rig, &pem), TENON_ERROR_TPM_MISSING);
}

/* One or more INTEGRITY errors with an unchanged witness: the blob is refused, but the seed is not lost. */
TEST_RIG(tpm_gone_not_by_integrity_alone)
{
    tpm_pem pem = tpm_rig_make(rig);
    support_fail_code(rig->wire, support_next(SUPPORT_CC_LOAD), 0x1DF);
    CHECK_RC(tpm_rig_use(rig, &pem), TENON_CATEGORY_REJECTED, 0x1DF);
    CHECK_OK(tpm_rig_use(rig, &pem));
    support_fail_code(rig->wire, support_times(SUPPORT_CC_LOAD, 1, SUPPORT_ALWAYS), 0x1DF);
    for (int i = 0; i < 3; i++)
        CHECK_RC(tpm_rig_use(rig, &pem), TENON_CATEGORY_REJECTED, 0x1DF);
    CHECK_NUMBER(support_transport_reopens(rig->wire), 0);
    support_transport_forget_faults(rig->wire);
    CHECK_OK(tpm_rig_use(rig, &pem));
}

/* A cleared TPM whose Loads fail for another reason says nothing about the key, however often. */
TEST(tpm_gone_not_by_other_codes)
{
    static const uint32_t codes[] = {0x922, 0x902, 0x921, 0x101, 0x18A, 0x9A2, 0x2D5, 0x904};
    OWNED_RIG rig = tpm_rig_start(&tpm_hurried);
    tpm_pem pem = tpm_rig_make(&rig);
    CHECK_NUMBER(support_clear(rig.sw, SUPPORT_RH_LOCKOUT, NULL), 0);
    for (size_t i = 0; i < COUNT(codes); i++) {
        test_about("0x%x", (unsigned)codes[i]);
        support_fail_code(rig.wire, support_times(SUPPORT_CC_LOAD, 1, SUPPORT_ALWAYS), codes[i]);
        CHECK_NUMBER(tenon_status_tpm_rc(tpm_rig_use(&rig, &pem)), codes[i]);
        support_transport_forget_faults(rig.wire);
        /* Nor if only one of the parents could be tried. */
        support_fail_code(rig.wire, support_times(SUPPORT_CC_LOAD, 2, SUPPORT_ALWAYS), codes[i]);
        CHECK_NUMBER(tenon_status_tpm_rc(tpm_rig_use(&rig, &pem)), codes[i]);
        support_transport_forget_faults(rig.wire);
    }
    /* For want of room a fresh connection is tried: 0x902 and 0x904, twice each. */
    CHECK_NUMBER(support_transport_reopens(rig.wire), 4);
}
