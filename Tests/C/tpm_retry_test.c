/* SPDX-License-Identifier: Apache-2.0 */
#include "test_clock.h"
#include "tpm_rig.h"

/* A TPM that says "again" is asked again, whatever the command, until the deadline. */

static const uint32_t busy[] = {0x922, 0x908, 0x90A, 0x920, 0x923, 0xB0922, 0xC0908, 0xB090A};
enum { CODES = COUNT(busy), TIMES = 4 };

TEST_KEY(tpm_retry_ends_in_success)
{
    for (size_t i = 0; i < CODES; i++) {
        test_about("0x%x", (unsigned)busy[i]);
        CHECK_OK(tpm_rig_sign(key));
        support_transport_reset_counts(rig->wire);
        support_fail_code(rig->wire, support_times(SUPPORT_CC_SIGN, 1, TIMES), busy[i]);
        CHECK_OK(tpm_rig_sign(key));
        CHECK_NUMBER(support_transport_pending(rig->wire), 0);
        CHECK_NUMBER(support_transport_count(rig->wire, SUPPORT_ANY), TIMES + 1);
        CHECK_NUMBER(support_transport_reopens(rig->wire), 0);
    }
}

/* Every command of creating, persisting, loading by blob and by handle, signing, evicting, freeing. */
static void life_of_a_key(tpm_rig *rig)
{
    tenon_tpm_info info;
    CHECK_OK(tenon_tpm_read_info(rig->tpm, &info));
    OWNED_TPM_KEY key = tpm_rig_key(rig, "auth");
    CHECK_OK(tpm_rig_sign(key));
    CHECK_OK(tenon_tpm_key_persist(key, NULL));
    CHECK_OK(tpm_rig_sign(key));
    CHECK_OK(tenon_tpm_key_check(key));
    CHECK_OK(tenon_tpm_key_evict(key));
    CHECK_OK(tpm_rig_sign(key));
}

TEST_RIG(tpm_retry_at_every_command)
{
    life_of_a_key(rig);
    uint32_t commands = support_transport_count(rig->wire, SUPPORT_ANY);
    CHECK(commands > 20);
    for (uint32_t nth = 1; nth <= commands; nth++) {
        test_about("busy at command %u", (unsigned)nth);
        support_fail_code(rig->wire, support_times(SUPPORT_ANY, nth, 2), busy[nth % CODES]);
        life_of_a_key(rig);
        CHECK_NUMBER(support_transport_pending(rig->wire), 0);
        support_transport_forget_faults(rig->wire);
    }
    CHECK_NUMBER(support_transport_reopens(rig->wire), 0);
}

TEST(tpm_retry_ends_at_the_deadline)
{
    static const tenon_tpm_options options = {.size = sizeof options, .deadline_ms = 700};
    OWNED_RIG rig = tpm_rig_start(&options);
    OWNED_TPM_KEY key = tpm_rig_key(&rig, NULL);
    CHECK_OK(tpm_rig_sign(key));
    for (size_t i = 0; i < CODES; i++) {
        test_about("0x%x", (unsigned)busy[i]);
        support_transport_reset_counts(rig.wire);
        support_fail_code(rig.wire, support_times(SUPPORT_CC_SIGN, 1, SUPPORT_ALWAYS), busy[i]);
        test_clock_start();
        CHECK_RC(tpm_rig_sign(key), TENON_CATEGORY_TRANSIENT, busy[i]);
        /* After 1 + 2 + 4 ... + 128 + 200 + 200 ms, and once more when the 700 have passed. */
        uint32_t count = support_transport_count(rig.wire, SUPPORT_ANY);
        CHECK_NUMBER(count, 12);
        CHECK_NUMBER(test_clock_stop().moved_ms, 700);
        CHECK_NUMBER(support_transport_count(rig.wire, SUPPORT_CC_SIGN), count);
        support_transport_forget_faults(rig.wire);
        CHECK_OK(tpm_rig_sign(key));
    }
}

/* A TPM that is never ready to set a key up makes nothing, and loses nothing. */
TEST(tpm_retry_deadline_of_setting_up)
{
    static const uint32_t commands[] = {SUPPORT_CC_CREATE_PRIMARY, SUPPORT_CC_CREATE, SUPPORT_CC_LOAD,
                                        SUPPORT_CC_READ_PUBLIC, SUPPORT_CC_START_AUTH_SESSION};
    OWNED_RIG rig = tpm_rig_start(&tpm_hurried);
    for (size_t i = 0; i < COUNT(commands); i++) {
        tenon_tpm_key *key;
        test_about("command 0x%x", (unsigned)commands[i]);
        support_fail_code(rig.wire, support_times(commands[i], 1, SUPPORT_ALWAYS), 0x922);
        CHECK_RC(tenon_tpm_key_create(rig.tpm, &key, (const uint8_t *)"auth", 4), TENON_CATEGORY_TRANSIENT, 0x922);
        CHECK(key == NULL);
        CHECK_NUMBER(support_transport_pending(rig.wire), 0);
        support_transport_forget_faults(rig.wire);
    }
}

/* The core waits for places that others hold as for a busy TPM, and holds none meanwhile. */
TEST_RIG(tpm_retry_for_room)
{
    static const uint32_t codes[] = {0x902, 0x903, 0x904, 0x905, 0x906, 0xB0902};
    tpm_pem pem = tpm_rig_make(rig);
    for (size_t i = 0; i < COUNT(codes); i++) {
        test_about("0x%x", (unsigned)codes[i]);
        tpm_rig_again(rig, NULL);
        support_fail_code(rig->wire, support_times(SUPPORT_CC_CREATE_PRIMARY, 1, 4), codes[i]);
        OWNED_TPM_KEY key = tpm_rig_loaded(rig, &pem);
        CHECK_NUMBER(support_transport_count(rig->wire, SUPPORT_CC_CREATE_PRIMARY), 5);
        CHECK_OK(tpm_rig_sign(key));
        CHECK_NUMBER(support_transport_pending(rig->wire), 0);
    }
}

/* Other codes are not retried. */
TEST_KEY(tpm_retry_of_nothing_else)
{
    static const uint32_t final[] = {0x9A2, 0x98E, 0x921, 0x101, 0x3E0, 0x907, 0x909, 0x143, 0x126};
    CHECK_OK(tpm_rig_sign(key));
    for (size_t i = 0; i < COUNT(final); i++) {
        test_about("0x%x", (unsigned) final[i]);
        support_transport_reset_counts(rig->wire);
        support_fail_code(rig->wire, support_next(SUPPORT_CC_SIGN), final[i]);
        CHECK_NUMBER(tenon_status_tpm_rc(tpm_rig_sign(key)), final[i]);
        CHECK_NUMBER(support_transport_count(rig->wire, SUPPORT_ANY), 1);
        CHECK_OK(tpm_rig_sign(key));
    }
}
