/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "folder.h"
#include "native/counter.h"
#include "native/worker.h"
#include "native_rig.h"

/* The creation of a counted store is cut: the TPM keeps no index that the next one does not use or remove. */

enum { INCREMENT = 0x134 };

static uint32_t indexes(const native_rig *rig)
{
    size_t n;
    CHECK_NUMBER(support_handles(rig->sw, TENONI_COUNTER_FIRST, NULL, 0, &n), 0);
    return (uint32_t)n;
}

static void check_works(const char *value)
{
    CHECK(native_rig_stores("s", "k", value));
    CHECK_CODE(NULL);
    CHECK(native_rig_loads("s", "k", value));
}

/* A creation that fails at the next command of this code, which may come after the call's time. */
static void check_fails(const native_rig *rig, uint32_t command)
{
    support_fail_code(rig->wire, support_next(command), 0x101);
    for (int i = 0; i < 100 && support_transport_pending(rig->wire) != 0; i++) {
        CHECK(synheart_native_secure_store("s", "k", "refused") != 0);
        tenoni_worker_end();
    }
}

/* The next process, which wants a counter or does not; a store that is there stays what it is. */
static void check_next(native_rig *rig, bool counter)
{
    bool there = native_rig_count(rig, "store") != 0;
    rig->counter = counter;
    native_rig_again(rig);
    check_works("after");
    CHECK_NUMBER(indexes(rig), there || counter ? 1 : 0);
    if (!there)
        CHECK_NUMBER(native_rig_count(rig, "begun"), 0);
    rig->counter = true;
}

static bool killed(const native_rig *rig, native_cut kind, int nth)
{
    pid_t child = fork();
    if (child == 0) {
        native_cut_at(kind, nth, 0);
        (void)synheart_native_secure_store("s", "k", "before");
        tpm_rig_end_child(0);
    }
    int status = 0;
    CHECK_NUMBER(waitpid(child, &status, 0), child);
    CHECK_NUMBER(support_flush_all(rig->sw), 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

static void try_kills(native_cut kind, bool counter)
{
    OWNED_NATIVE rig = native_rig_counted();
    bool met = true;
    for (int nth = 1; met; nth += (int)test_rounds(1, 5)) {
        test_about("cut at call %d", nth);
        native_rig_empty(&rig);
        native_rig_again(&rig);
        met = killed(&rig, kind, nth);
        check_next(&rig, counter);
    }
}

/* Before a call and after the one before it the disk is the same: so each kind has one sort of successor. */
TEST(native_begun_killed_then_counted) { try_kills(NATIVE_KILL, true); }
TEST(native_begun_killed_then_uncounted) { try_kills(NATIVE_KILL_AFTER, false); }

static size_t end_process(void *context, uint8_t *answer, size_t n, size_t size)
{
    raise(SIGKILL);
    return n;
}

/* The TPM has done what it was asked for, and nobody was told. */
TEST(native_begun_killed_at_commands)
{
    OWNED_NATIVE rig = native_rig_counted();
    for (int counter = 0; counter < 2; counter++) {
        bool met = true;
        for (uint32_t nth = 1; met; nth += (uint32_t)test_rounds(1, 5)) {
            test_about("cut at command %u, counter %d", (unsigned)nth, counter);
            native_rig_empty(&rig);
            native_rig_again(&rig);
            support_edit(rig.wire, support_nth(SUPPORT_ANY, nth), end_process, NULL);
            met = killed(&rig, NATIVE_COUNT, 0);
            support_transport_forget_faults(rig.wire);
            check_next(&rig, counter == 1);
        }
    }
}

/* An index of somebody else stays, and is not offered a secret that may count as an attack. */
TEST(native_begun_index_of_another)
{
    static const uint8_t increment_of_first[] = {0, 0, 1, 0x34, 0x01, 0x8a, 0x7e, 0x00};
    OWNED_NATIVE rig = native_rig_counted();
    support_transport_watch(rig.wire, increment_of_first, sizeof increment_of_first);
    CHECK_NUMBER(support_nv_write(rig.sw, TENONI_COUNTER_FIRST, (const uint8_t *)"12345678", 8), 0);
    check_works("value");
    CHECK_NUMBER(indexes(&rig), 2);
    CHECK_NUMBER(support_transport_watched(rig.wire), 0);
    CHECK_NUMBER(support_nv_remove(rig.sw, TENONI_COUNTER_FIRST), 0);
    native_rig_again(&rig);
    CHECK(native_rig_loads("s", "k", "value"));
    CHECK_NUMBER(support_nv_remove(rig.sw, TENONI_COUNTER_FIRST + 1), 0);
}

/* Between two folders on one TPM: what one has only noted, the other may get, and keeps. */
TEST(native_begun_index_of_another_folder)
{
    for (int counter = 0; counter < 2; counter++) {
        OWNED_NATIVE rig = native_rig_counted();
        char *folder = rig.folder, *other = support_folder_make();
        check_fails(&rig, SUPPORT_CC_NV_DEFINE_SPACE);
        CHECK_NUMBER(native_rig_count(&rig, "begun"), 1);
        CHECK_NUMBER(indexes(&rig), 0);
        rig.folder = other;
        native_rig_again(&rig);
        check_works("the other's");
        rig.folder = folder;
        rig.counter = counter == 1;
        native_rig_again(&rig);
        check_works("mine");
        CHECK_NUMBER(native_rig_count(&rig, "begun"), 0);
        CHECK_NUMBER(indexes(&rig), counter == 1 ? 2 : 1);
        rig.folder = other;
        native_rig_again(&rig);
        CHECK(native_rig_loads("s", "k", "the other's"));
        native_rig_empty(&rig);
        rig.folder = folder;
        support_folder_remove(other);
    }
}

/* The TPM does not let the index go: the store is made, and the note stays. */
TEST(native_begun_index_that_stays)
{
    OWNED_NATIVE rig = native_rig_counted();
    check_fails(&rig, INCREMENT);
    CHECK_NUMBER(indexes(&rig), 1);
    rig.counter = false;
    native_rig_again(&rig);
    support_fail_code(rig.wire, support_next(SUPPORT_CC_NV_UNDEFINE_SPACE), 0x101);
    check_works("v");
    CHECK_NUMBER(indexes(&rig), 1);
    CHECK_NUMBER(native_rig_count(&rig, "begun"), 1);
}

/* What another TPM's creation noted is of no use here, and in nobody's way. */
TEST(native_begun_on_another_tpm)
{
    OWNED_NATIVE rig = native_rig_counted();
    check_fails(&rig, INCREMENT);
    native_rig_exchange_tpm(&rig);
    check_works("v");
    CHECK_NUMBER(indexes(&rig), 1);
    CHECK_NUMBER(native_rig_count(&rig, "begun"), 0);
}
