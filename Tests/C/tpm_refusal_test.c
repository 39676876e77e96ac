/* SPDX-License-Identifier: Apache-2.0 */
#include "tpm_rig.h"

/* Refusals that are followed by another step and a repetition: making room, and another salt. */

static const uint8_t auth[] = {'a', 'u', 't', 'h'};

/* A flush that fails for lack of room would make room by flushing. */
TEST(tpm_refusal_of_every_flush)
{
    OWNED_RIG rig = tpm_rig_start(&tpm_hurried);
    tenon_tpm_key *two, *third;
    OWNED_TPM_KEY one = tpm_rig_key(&rig, NULL);
    CHECK_OK(tenon_tpm_key_create(rig.tpm, &two, NULL, 0));
    CHECK_OK(tpm_rig_sign(one));
    CHECK_OK(tpm_rig_sign(two));
    CHECK_NUMBER(support_transient_count(rig.sw), 2);
    support_transport_reset_counts(rig.wire);
    support_fail_code(rig.wire, support_times(SUPPORT_CC_FLUSH_CONTEXT, 1, SUPPORT_ALWAYS), 0x902);
    CHECK_RC(tenon_tpm_key_create(rig.tpm, &third, NULL, 0), TENON_CATEGORY_TRANSIENT, 0x902);
    CHECK(third == NULL);
    CHECK(support_transport_count(rig.wire, SUPPORT_ANY) < 64);
    support_transport_forget_faults(rig.wire);
    support_flush_all(rig.sw);
    CHECK_OK(tpm_rig_sign(one));
    CHECK_OK(tpm_rig_sign(two));
    support_transport_reset_counts(rig.wire);
    support_fail_code(rig.wire, support_times(SUPPORT_CC_FLUSH_CONTEXT, 1, SUPPORT_ALWAYS), 0x902);
    tenon_tpm_key_free(&one);
    tenon_tpm_key_free(&two);
    CHECK(support_transport_count(rig.wire, SUPPORT_ANY) < 16);
    support_transport_forget_faults(rig.wire);
    support_flush_all(rig.sw);
    CHECK_OK(tenon_tpm_key_create(rig.tpm, &one, NULL, 0));
    CHECK_OK(tpm_rig_sign(one));
}

typedef struct {
    uint32_t code, command;
    uint32_t loads, sessions; /* the commands that another key of ours must repeat */
} room;

/* Each code that says which room is lacking, or only that some is: then the oldest goes, object or session. */
TEST_RIG(tpm_refusal_for_want_of_room)
{
    static const room rooms[] = {
        {0x902, SUPPORT_CC_LOAD, 1, 0},
        {0x903, SUPPORT_CC_START_AUTH_SESSION, 0, 1},
        {0x904, SUPPORT_CC_LOAD, 1, 0},
        {0x904, SUPPORT_CC_CREATE_PRIMARY, 0, 1},
        {0x904, SUPPORT_CC_START_AUTH_SESSION, 1, 0},
        {0x905, SUPPORT_CC_START_AUTH_SESSION, 0, 1},
        {0x906, SUPPORT_CC_LOAD, 1, 0},
        {0x906, SUPPORT_CC_CREATE_PRIMARY, 1, 0},
    };
    tenon_tpm_key *key;
    OWNED_TPM_KEY other = NULL;
    CHECK_OK(tenon_tpm_key_create(rig->tpm, &key, auth, sizeof auth));
    tpm_pem pem = tpm_rig_export(key);
    tenon_tpm_key_free(&key);
    CHECK_OK(tenon_tpm_key_create(rig->tpm, &other, auth, sizeof auth));
    for (size_t i = 0; i < COUNT(rooms); i++) {
        test_about("0x%x to 0x%x", (unsigned)rooms[i].code, (unsigned)rooms[i].command);
        CHECK_OK(tpm_rig_sign(other));
        CHECK_OK(tpm_rig_sign(other));
        support_fail_code(rig->wire, support_next(rooms[i].command), rooms[i].code);
        CHECK_OK(tenon_tpm_key_load(rig->tpm, &key, pem.text, pem.n, auth, sizeof auth));
        CHECK_OK(tpm_rig_sign(key));
        CHECK_NUMBER(support_transport_pending(rig->wire), 0);
        tenon_tpm_key_free(&key);
        support_transport_reset_counts(rig->wire);
        CHECK_OK(tpm_rig_sign(other));
        CHECK_NUMBER(support_transport_count(rig->wire, SUPPORT_CC_LOAD), rooms[i].loads);
        CHECK_NUMBER(support_transport_count(rig->wire, SUPPORT_CC_START_AUTH_SESSION), rooms[i].sessions);
    }
}

/* To some TPMs a salt that begins with zeros is another one: the second session has another. */
TEST_RIG(tpm_refusal_of_a_salted_create)
{
    tenon_tpm_key *key;
    support_fail_code(rig->wire, support_next(SUPPORT_CC_CREATE), 0x9a2);
    CHECK_OK(tenon_tpm_key_create(rig->tpm, &key, auth, sizeof auth));
    CHECK_NUMBER(support_transport_count(rig->wire, SUPPORT_CC_CREATE), 2);
    CHECK_NUMBER(support_transport_count(rig->wire, SUPPORT_CC_START_AUTH_SESSION), 2);
    CHECK_NUMBER(support_session_count(rig->sw), 0);
    CHECK_OK(tpm_rig_sign(key));
    tenon_tpm_key_free(&key);
    support_transport_reset_counts(rig->wire);
    support_fail_code(rig->wire, support_times(SUPPORT_CC_CREATE, 1, SUPPORT_ALWAYS), 0x9a2);
    CHECK_RC(tenon_tpm_key_create(rig->tpm, &key, auth, sizeof auth), TENON_CATEGORY_AUTH, 0x9a2);
    CHECK_NUMBER(support_transport_count(rig->wire, SUPPORT_CC_CREATE), 2);
    /* A password has no salt. */
    CHECK_RC(tenon_tpm_key_create(rig->tpm, &key, NULL, 0), TENON_CATEGORY_AUTH, 0x9a2);
    CHECK_NUMBER(support_transport_count(rig->wire, SUPPORT_CC_CREATE), 3);
    support_transport_forget_faults(rig->wire);
}

/* A refusal without a code, or with more than one. */
TEST_KEY(tpm_refusal_without_a_code)
{
    static const uint32_t codes[] = {0x00010000, 0x000b0000, 0x00100000, 0x80000000,
                                     0xf0000000, 0x001001df, 0x800001df};
    for (size_t i = 0; i < COUNT(codes); i++) {
        test_about("0x%08x", (unsigned)codes[i]);
        support_fail_code(rig->wire, support_next(SUPPORT_CC_SIGN), codes[i]);
        CHECK_STATUS(tpm_rig_sign(key), TENON_ERROR_TPM_ANSWER);
        CHECK_OK(tpm_rig_sign(key));
    }
}

/* A refusal consists of its header: with a byte behind it, whatever its size field says, it is invalid. */
TEST_KEY(tpm_refusal_with_a_byte_behind_it)
{
    static const uint8_t refusal[] = {0x80, 0x01, 0, 0, 0, 11, 0, 0, 0x09, 0x21, 0};
    CHECK_OK(tpm_rig_sign(key));
    support_replace(rig->wire, support_next(SUPPORT_CC_SIGN), refusal, sizeof refusal);
    CHECK_STATUS(tpm_rig_sign(key), TENON_ERROR_TPM_ANSWER);
    CHECK_OK(tpm_rig_sign(key));
}
