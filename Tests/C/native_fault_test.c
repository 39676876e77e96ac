/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "native_rig.h"

/*
 * Two runtimes that are made up, under every fault: each TPM command, and each call that changes the disk, fails once,
 * loses its answer, or ends the process. Whatever a runtime was told is there afterwards, and nothing took its place.
 */

static const char service[] = "synheart-core", device[] = "dev_1";

/* What a runtime was told, in memory that a killed process leaves behind. */
typedef struct {
    char key[128];
    char master[64];
    char record[64];
    unsigned minted; /* how many values it made up */
    unsigned replaced;
} memory;

/* What was told before must be told again. */
static void remember(memory *told, char *known, size_t size, char *found)
{
    if (found != NULL && known[0] != 0 && strcmp(known, found) != 0)
        told->replaced++;
    if (found != NULL)
        snprintf(known, size, "%s", found);
    free(found);
}

static void mint(memory *told, const char *name, char *known, size_t size)
{
    char fresh[64];
    snprintf(fresh, sizeof fresh, "%s %u", name, ++told->minted);
    if (synheart_native_secure_store(service, name, fresh) != 0)
        return;
    if (known[0] != 0)
        told->replaced++;
    snprintf(known, size, "%s", fresh);
}

static void load_or_mint(memory *told, const char *name, char *known, size_t size)
{
    char *found = synheart_native_secure_load(service, name);
    if (found == NULL)
        mint(told, name, known, size);
    else
        remember(told, known, size, found);
}

static void use_key(memory *told)
{
    static const uint8_t message[32] = {1};
    remember(told, told->key, sizeof told->key, synheart_native_generate_key(device));
    free(synheart_native_sign_bytes(device, message, sizeof message));
    char *proof = synheart_native_get_attestation(device, message, sizeof message);
    CHECK(proof != NULL);
    free(proof);
}

/* Makes a new value whenever it reads NULL, and a new key whenever it is told that there is none. */
static void reminting(memory *told)
{
    load_or_mint(told, "master", told->master, sizeof told->master);
    load_or_mint(told, "device_record:app_1", told->record, sizeof told->record);
    if (synheart_native_key_exists(device) == 0 && told->key[0] != 0)
        told->replaced++;
    use_key(told);
}

/* Storage, then keys, then whatever registers: a device is one if its record and its key are there. */
static void orderly(memory *told)
{
    load_or_mint(told, "master", told->master, sizeof told->master);
    char *record = synheart_native_secure_load(service, "device_record:app_1");
    bool registered = record != NULL && synheart_native_key_exists(device) == 1;
    remember(told, told->record, sizeof told->record, record);
    use_key(told);
    if (!registered && told->key[0] != 0 && told->record[0] == 0)
        mint(told, "device_record:app_1", told->record, sizeof told->record);
}

typedef void runtime(memory *told);
static runtime *const runtimes[] = {orderly, reminting};

typedef struct {
    native_rig rig;
    memory *told;
    bool provisioned; /* there is a key and there are values before the fault */
    unsigned faults, lost;
} stage;

static stage stage_start(bool counter, bool provisioned)
{
    stage at = {.rig = counter ? native_rig_counted() : native_rig_start(), .provisioned = provisioned};
    at.told = mmap(NULL, sizeof *at.told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(at.told != MAP_FAILED);
    return at;
}

static void stage_stop(stage *at)
{
    munmap(at->told, sizeof *at->told);
    native_rig_stop(&at->rig);
}

static void stage_prepare(stage *at, runtime *run)
{
    native_rig_empty(&at->rig);
    memset(at->told, 0, sizeof *at->told);
    if (at->provisioned)
        run(at->told);
    native_rig_again(&at->rig);
}

/* The process that comes after the fault finds all that its predecessor was told. */
static void stage_check(stage *at, runtime *run)
{
    const memory before = *at->told;
    native_rig_again(&at->rig);
    run(at->told);
    run(at->told);
    CHECK(at->told->key[0] != 0 && at->told->master[0] != 0 && at->told->record[0] != 0);
    at->faults++;
    at->lost += at->told->replaced != 0;
    CHECK_NUMBER(at->told->replaced, 0);
    if (at->provisioned)
        CHECK_NUMBER(at->told->minted, before.minted);
    free(synheart_native_generate_key(device));
    CHECK_CODE(NULL);
}

static void show(const stage *at, const char *what)
{
    if (getenv("TENON_TEST_TABLE") != NULL)
        printf("%-50s %5u faults, %u keys or values lost or replaced\n", what, at->faults, at->lost);
}

typedef enum { REFUSED, UNSENT, UNANSWERED, FAULTS } tpm_fault;

static void plan(const stage *at, tpm_fault fault, uint32_t nth)
{
    if (fault == REFUSED)
        support_fail_code(at->rig.wire, support_nth(SUPPORT_ANY, nth), 0x101);
    else if (fault == UNSENT)
        support_fail_before(at->rig.wire, support_nth(SUPPORT_ANY, nth), TENON_ERROR_TPM_TRANSPORT);
    else
        support_fail_after(at->rig.wire, support_nth(SUPPORT_ANY, nth), TENON_ERROR_TPM_TRANSPORT);
}

static void try_commands(bool counter, bool provisioned, runtime *run)
{
    stage at = stage_start(counter, provisioned);
    support_transport_manage(at.rig.wire, true);
    for (tpm_fault fault = 0; fault < FAULTS; fault++) {
        bool met = true;
        for (uint32_t nth = 1; met; nth += (uint32_t)test_rounds(1, 5)) {
            test_about("fault %d of command %u", (int)fault, (unsigned)nth);
            stage_prepare(&at, run);
            plan(&at, fault, nth);
            run(at.told);
            met = support_transport_pending(at.rig.wire) == 0;
            support_transport_forget_faults(at.rig.wire);
            stage_check(&at, run);
        }
    }
    test_about(NULL);
    show(&at, counter ? "TPM commands, with a counter" : "TPM commands");
    stage_stop(&at);
}

TEST(native_fault_tpm_orderly)
{
    try_commands(false, false, orderly);
    try_commands(false, true, orderly);
}

TEST(native_fault_tpm_reminting)
{
    try_commands(false, false, reminting);
    try_commands(false, true, reminting);
}

TEST(native_fault_tpm_counted)
{
    try_commands(true, false, reminting);
    try_commands(true, true, reminting);
}

static void try_disk(bool counter, bool provisioned, runtime *run, int error)
{
    stage at = stage_start(counter, provisioned);
    int calls = 1;
    for (int nth = 1; nth <= calls; nth += (int)test_rounds(1, 5)) {
        test_about("%s at call %d", strerror(error), nth);
        stage_prepare(&at, run);
        native_cut_at(NATIVE_FAIL, nth, error);
        run(at.told);
        calls = nth > native_cut_calls() ? 0 : nth + 1;
        native_cut_at(NATIVE_COUNT, 0, 0);
        stage_check(&at, run);
    }
    test_about(NULL);
    show(&at, error == ENOSPC ? "writes, syncs, renames: no room" : "writes, syncs, renames: an error");
    stage_stop(&at);
}

TEST(native_fault_disk)
{
    for (size_t i = 0; i < COUNT(runtimes); i++) {
        try_disk(false, false, runtimes[i], EIO);
        try_disk(false, true, runtimes[i], EIO);
        try_disk(false, false, runtimes[i], ENOSPC);
    }
}

TEST(native_fault_disk_counted)
{
    try_disk(true, false, reminting, EIO);
    try_disk(true, true, reminting, EIO);
}

/* A runtime that is working: it changes its record again and again. */
static void writing(memory *told)
{
    reminting(told);
    for (int i = 0; i < 2; i++) {
        char fresh[64];
        snprintf(fresh, sizeof fresh, "record %u", ++told->minted);
        if (synheart_native_secure_store(service, "device_record:app_1", fresh) == 0)
            snprintf(told->record, sizeof told->record, "%s", fresh);
    }
}

/* Ends the process at the n-th call; whether it came that far. */
static bool killed_at(stage *at, runtime *run, native_cut kind, int nth)
{
    pid_t child = fork();
    if (child == 0) {
        native_cut_at(kind, nth, 0);
        run(at->told);
        tpm_rig_end_child(0);
    }
    int status = 0;
    CHECK_NUMBER(waitpid(child, &status, 0), child);
    CHECK_NUMBER(support_flush_all(at->rig.sw), 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

static void store_another(void)
{
    CHECK_NUMBER(synheart_native_secure_store(service, "after", "the cut"), 0);
    CHECK_TEXT(synheart_native_secure_load(service, "after"), "the cut");
    CHECK_NUMBER(synheart_native_secure_delete(service, "after"), 0);
}

/* The value that was being written at the cut may be the old or the new one; everything else is as it was told. */
static void check_after_kill(stage *at)
{
    memory *told = at->told;
    char next[64];
    native_rig_again(&at->rig);
    snprintf(next, sizeof next, "record %u", told->minted);
    OWNED char *record = synheart_native_secure_load(service, "device_record:app_1");
    OWNED char *master = synheart_native_secure_load(service, "master");
    OWNED char *key = synheart_native_generate_key(device);
    bool lost =
        told->record[0] != 0 && (record == NULL || (strcmp(record, told->record) != 0 && strcmp(record, next) != 0));
    lost = lost || (told->master[0] != 0 && (master == NULL || strcmp(master, told->master) != 0));
    lost = lost || (told->key[0] != 0 && (key == NULL || strcmp(key, told->key) != 0));
    at->faults++;
    at->lost += lost;
    CHECK(!lost && key != NULL);
    store_another();
}

static void try_kills(bool counter, bool provisioned)
{
    stage at = stage_start(counter, provisioned);
    for (native_cut kind = NATIVE_KILL; kind <= NATIVE_KILL_AFTER; kind++) {
        bool killed = true;
        for (int nth = 1; killed; nth += (int)test_rounds(1, 7)) {
            test_about("cut %d at call %d", (int)kind, nth);
            stage_prepare(&at, reminting);
            killed = killed_at(&at, writing, kind, nth);
            /* The next change may come before anybody has read what was cut. */
            if (kind == NATIVE_KILL_AFTER) {
                native_rig_again(&at.rig);
                store_another();
            }
            check_after_kill(&at);
        }
    }
    test_about(NULL);
    show(&at, counter ? "kill -9 at each write, with a counter" : "kill -9 at each write");
    stage_stop(&at);
}

TEST(native_fault_kill) { try_kills(false, false); }
TEST(native_fault_kill_provisioned) { try_kills(false, true); }
TEST(native_fault_kill_counted)
{
    try_kills(true, false);
    try_kills(true, true);
}

/* The same between the TPM's answer and what is done with it. */
static size_t end_process(void *context, uint8_t *answer, size_t n, size_t size)
{
    raise(SIGKILL);
    return n;
}

static void try_kills_at_commands(bool counter, bool provisioned)
{
    stage at = stage_start(counter, provisioned);
    bool killed = true;
    for (uint32_t nth = 1; killed; nth += (uint32_t)test_rounds(1, 7)) {
        test_about("cut at command %u", (unsigned)nth);
        stage_prepare(&at, reminting);
        support_edit(at.rig.wire, support_nth(SUPPORT_ANY, nth), end_process, NULL);
        killed = killed_at(&at, writing, NATIVE_COUNT, 0);
        support_transport_forget_faults(at.rig.wire);
        check_after_kill(&at);
    }
    test_about(NULL);
    show(&at, counter ? "kill -9 at each command, with a counter" : "kill -9 at each command");
    stage_stop(&at);
}

TEST(native_fault_kill_at_commands)
{
    try_kills_at_commands(false, false);
    try_kills_at_commands(false, true);
}

TEST(native_fault_kill_at_commands_counted)
{
    try_kills_at_commands(true, false);
    try_kills_at_commands(true, true);
}
