/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "native/desk.h"
#include "native/worker.h"
#include "native_rig.h"
#include "test_clock.h"

/* Threads, processes and time. */

static const uint8_t data[] = "message";

static pthread_mutex_t runtimes_own = PTHREAD_MUTEX_INITIALIZER;

static void load_under_lock(void *element)
{
    for (int i = 0; i < 20; i++) {
        pthread_mutex_lock(&runtimes_own);
        CHECK_TEXT(synheart_native_secure_load("s", "k"), "value");
        pthread_mutex_unlock(&runtimes_own);
    }
}

/* The runtime calls with its own mutex held. */
TEST_NATIVE(native_loads_under_the_runtimes_mutex)
{
    int none[16] = {0};
    CHECK_NUMBER(synheart_native_secure_store("s", "k", "value"), 0);
    test_threads(COUNT(none), load_under_lock, none, sizeof none[0]);
}

typedef struct {
    int number;
    char *key;
} caller;

static void call_all(void *element)
{
    caller *me = element;
    char name[24], value[24];
    snprintf(name, sizeof name, "name %d", me->number);
    me->key = synheart_native_generate_key("dev_1");
    for (int i = 0; i < 5; i++) {
        snprintf(value, sizeof value, "%d %d", me->number, i);
        CHECK_NUMBER(synheart_native_secure_store("s", name, value), 0);
        CHECK_TEXT(synheart_native_secure_load("s", name), value);
        char *signature = synheart_native_sign_bytes("dev_1", data, sizeof data);
        CHECK(signature != NULL && strlen(signature) == 86);
        free(signature);
    }
    CHECK_NONE(synheart_native_secure_load("s", "absent"), "NATIVE_ABSENT");
    CHECK_NUMBER(synheart_native_secure_delete("s", name), 0);
}

TEST_NATIVE(native_threads_share_one_key)
{
    caller callers[16] = {{0}};
    for (size_t i = 0; i < COUNT(callers); i++)
        callers[i].number = (int)i;
    test_threads(COUNT(callers), call_all, callers, sizeof callers[0]);
    for (size_t i = 0; i < COUNT(callers); i++) {
        CHECK(callers[i].key != NULL && strcmp(callers[i].key, callers[0].key) == 0);
        if (i != 0)
            free(callers[i].key);
    }
    free(callers[0].key);
    CHECK_NUMBER(native_rig_count(rig, "k-"), 1);
    CHECK_NUMBER(native_rig_count(rig, "v-"), 0);
}

/* ---- Time ---- */

/* A call that is answered late leaves the callers behind it their time: here a tenth of it. */
static tenoni_result run_nothing(tenoni_work *work) { return tenoni_because(TENONI_DONE); }

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static atomic_int begun, ended;

static tenoni_result run_until_let_go(tenoni_work *work)
{
    atomic_store(&begun, 1);
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    atomic_fetch_add(&ended, 1);
    return tenoni_because(TENONI_DONE);
}

static tenoni_result run_counted(tenoni_work *work)
{
    atomic_fetch_add(&ended, 100);
    return tenoni_because(TENONI_DONE);
}

TEST(native_late_work_is_abandoned_or_never_begun)
{
    enum { SOON_MS = 50, LONG_MS = 30000, TRIES = 600 };
    atomic_store(&begun, 0);
    atomic_store(&ended, 0);
    pthread_mutex_lock(&gate);
    /* On a slow machine, the time of some may be over before they begin. */
    for (int i = 0; i < TRIES && atomic_load(&begun) == 0; i++)
        CHECK_NUMBER(tenoni_work_do(tenoni_work_new(run_until_let_go, "a", "b", "c"), SOON_MS, NULL).cause,
                     TENONI_LATE);
    CHECK_NUMBER(tenoni_work_do(tenoni_work_new(run_counted, "a", NULL, NULL), SOON_MS, NULL).cause, TENONI_LATE);
    pthread_mutex_unlock(&gate);
    CHECK_NUMBER(tenoni_work_do(tenoni_work_new(run_nothing, "a", NULL, NULL), LONG_MS, NULL).cause, TENONI_DONE);
    CHECK_NUMBER(atomic_load(&ended), 1);
    tenoni_worker_end();
}

static void *ask_for_long(void *unused)
{
    CHECK_NUMBER(tenoni_work_do(tenoni_work_new(run_nothing, "a", NULL, NULL), 10000, NULL).cause, TENONI_DONE);
    return unused;
}

/* The last one of the line leaves it late; the one before it and the next one have their answers. */
TEST(native_late_at_the_end_of_the_line)
{
    enum { SOON_MS = 50, TRIES = 600 };
    pthread_t askers[2];
    atomic_store(&begun, 0);
    pthread_mutex_lock(&gate);
    for (int i = 0; i < TRIES && atomic_load(&begun) == 0; i++)
        (void)tenoni_work_do(tenoni_work_new(run_until_let_go, "a", NULL, NULL), SOON_MS, NULL);
    for (size_t i = 0; i < COUNT(askers); i++) {
        CHECK_NUMBER(pthread_create(&askers[i], NULL, ask_for_long, NULL), 0);
        usleep(1000 *
               SOON_MS); /* so that the asker stands before the late one; otherwise less is shown, and nothing fails */
        CHECK_NUMBER(tenoni_work_do(tenoni_work_new(run_counted, "a", NULL, NULL), SOON_MS, NULL).cause, TENONI_LATE);
    }
    pthread_mutex_unlock(&gate);
    for (size_t i = 0; i < COUNT(askers); i++)
        pthread_join(askers[i], NULL);
    tenoni_worker_end();
}

TEST(native_deadline_in_the_next_second)
{
    enum { LONG_MS = 60999 };
    test_clock_end_of_second(true);
    CHECK_NUMBER(tenoni_work_do(tenoni_work_new(run_nothing, "a", NULL, NULL), LONG_MS, NULL).cause, TENONI_DONE);
    test_clock_end_of_second(false);
    tenoni_worker_end();
}

static atomic_int signals;

static void count_signal(int number) { atomic_fetch_add(&signals, number == SIGUSR1); }

/* Signals belong to the program: one that its threads block stays pending. */
TEST(native_worker_takes_no_signals)
{
    enum { LONG_MS = 30000 };
    struct sigaction counted = {.sa_handler = count_signal}, before;
    sigset_t one, mask;
    atomic_store(&signals, 0);
    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    CHECK_NUMBER(sigaction(SIGUSR1, &counted, &before), 0);
    CHECK_NUMBER(tenoni_work_do(tenoni_work_new(run_nothing, "a", NULL, NULL), LONG_MS, NULL).cause, TENONI_DONE);
    CHECK_NUMBER(pthread_sigmask(SIG_BLOCK, &one, &mask), 0);
    CHECK_NUMBER(kill(getpid(), SIGUSR1), 0);
    CHECK_NUMBER(tenoni_work_do(tenoni_work_new(run_nothing, "a", NULL, NULL), LONG_MS, NULL).cause, TENONI_DONE);
    CHECK_NUMBER(atomic_load(&signals), 0);
    CHECK_NUMBER(pthread_sigmask(SIG_SETMASK, &mask, NULL), 0);
    CHECK_NUMBER(atomic_load(&signals), 1);
    CHECK_NUMBER(sigaction(SIGUSR1, &before, NULL), 0);
    tenoni_worker_end();
}

/* A TPM that holds a command: the call ends in its time, and what it did counts for the next one. */
TEST_NATIVE(native_held_tpm_ends_no_call_late)
{
    struct timespec before, after;
    OWNED char *key = synheart_native_generate_key("dev_1");
    CHECK_NUMBER(synheart_native_secure_store("s", "k", "master"), 0);
    support_hold(rig->wire, support_next(SUPPORT_CC_SIGN));
    clock_gettime(CLOCK_MONOTONIC, &before);
    CHECK_NONE(synheart_native_sign_bytes("dev_1", data, sizeof data), "NATIVE_TIMEOUT");
    clock_gettime(CLOCK_MONOTONIC, &after);
    CHECK(after.tv_sec - before.tv_sec < 10);
    support_release(rig->wire);
    CHECK_TEXT(synheart_native_generate_key("dev_1"), key);
    CHECK_TEXT(synheart_native_secure_load("s", "k"), "master");
}

/* ---- Processes ---- */

/* Returns how many checks failed there. */
static int in_child(const char *key)
{
    char *again = synheart_native_generate_key("dev_1");
    int failed = again == NULL || strcmp(again, key) != 0;
    char *value = synheart_native_secure_load("s", "k");
    failed += value == NULL || strcmp(value, "value") != 0;
    char *signature = synheart_native_sign_bytes("dev_1", data, sizeof data);
    failed += signature == NULL;
    failed += synheart_native_key_exists("dev_1") != 1;
    free(again);
    free(value);
    free(signature);
    return failed;
}

/* A fork after the library was used: the child has a thread and a TPM of its own, and the parent keeps its. */
TEST_NATIVE(native_fork_after_use)
{
    support_transport_bare(rig->wire, true);
    native_rig_again(rig);
    OWNED char *key = synheart_native_generate_key("dev_1");
    CHECK_NUMBER(synheart_native_secure_store("s", "k", "value"), 0);
    pid_t child = fork();
    if (child == 0)
        tpm_rig_end_child(in_child(key));
    int status = -1;
    CHECK_NUMBER(waitpid(child, &status, 0), child);
    CHECK_NUMBER(status, 0);
    CHECK_NUMBER(in_child(key), 0);
}

/* The software TPM has one connection: the processes take turns at it. */
static tenon_tpm_transport inner;
static pthread_mutex_t *turn;

static tenon_status exchange_in_turn(void *context, uint8_t *answer, size_t answer_size, size_t *answer_length,
                                     const uint8_t *command, size_t command_length)
{
    pthread_mutex_lock(turn);
    tenon_status status = inner.exchange(context, answer, answer_size, answer_length, command, command_length);
    pthread_mutex_unlock(turn);
    return status;
}

static void share_the_tpm(native_rig *rig)
{
    pthread_mutexattr_t shared;
    turn = mmap(NULL, sizeof *turn, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(turn != MAP_FAILED);
    pthread_mutexattr_init(&shared);
    pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(turn, &shared);
    support_transport_bare(rig->wire, true);
    inner = support_transport_table(rig->wire);
    tenon_tpm_transport table = inner;
    table.exchange = exchange_in_turn;
    table.reopen = NULL;
    tenoni_desk_use(&table);
}

/* Each process writes a value of its own and one of all; all see one key. */
static int race(int number, char *key, size_t size)
{
    int failed = 0, tries = 0;
    char name[24], *made;
    snprintf(name, sizeof name, "name %d", number);
    do
        made = synheart_native_generate_key("dev_1");
    while (made == NULL && native_rig_asks_again(&tries));
    snprintf(key, size, "%s", made == NULL ? "" : made);
    failed += made == NULL;
    free(made);
    for (int i = 0; i < 3; i++) {
        failed += !native_rig_stores("s", name, name);
        failed += !native_rig_stores("s", "of all", "value");
        failed += !native_rig_loads("s", name, name);
    }
    return failed;
}

TEST_NATIVE(native_eight_processes_on_one_folder)
{
    enum { PROCESSES = 8, KEY_MAX = 128 };
    share_the_tpm(rig);
    char(*keys)[KEY_MAX] = mmap(NULL, PROCESSES * KEY_MAX, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t children[PROCESSES];
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        if (children[i] == 0)
            tpm_rig_end_child(race(i, keys[i], KEY_MAX));
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status = -1;
        CHECK_NUMBER(waitpid(children[i], &status, 0), children[i]);
        CHECK_NUMBER(status, 0);
        CHECK(keys[i][0] != 0 && strcmp(keys[i], keys[0]) == 0);
    }
    CHECK_NUMBER(native_rig_count(rig, "k-"), 1);
    CHECK_NUMBER(native_rig_count(rig, "v-"), PROCESSES + 1);
    CHECK(native_rig_loads("s", "name 7", "name 7"));
    munmap(keys, PROCESSES * KEY_MAX);
}
