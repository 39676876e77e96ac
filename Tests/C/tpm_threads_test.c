/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* gettid */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "tpm_rig.h"

/* Many threads, one TPM: one command at a time, in the order of asking. ThreadSanitizer watches these tests. */

enum { THREADS = 8, QUEUE = 6 };

typedef struct {
    tpm_rig *rig;
    tenon_tpm_key *own, *common;
    tenon_key *view; /* of the common one */
    size_t rounds;
} work;

static tenon_status sign_unchecked(tenon_key *view)
{
    static const tenon_digest digest = {{7}};
    tenon_signature signature;
    return tenon_key_sign_digest(view, &signature, &digest);
}

/* Each eighth signature is verified, which takes longer than to make it. */
static void sign_many(void *context)
{
    work *mine = context;
    for (size_t i = 0; i < mine->rounds; i++) {
        tenon_tpm_key *key = i % 8 == 7 && mine->own != NULL ? mine->own : mine->common;
        if (!CHECK_OK(i % 8 == 7 ? tpm_rig_sign(key) : sign_unchecked(mine->view)))
            break;
    }
}

static void run_threads(size_t rounds, bool own_keys, const tenon_tpm_options *options)
{
    OWNED_RIG rig = tpm_rig_start(options);
    OWNED_TPM_KEY common = tpm_rig_key(&rig, NULL);
    OWNED_KEY view = tpm_rig_view(common, TENON_KEY_SIGNS_DIGESTS);
    work all[THREADS];
    for (int i = 0; i < THREADS; i++)
        all[i] = (work){&rig, own_keys ? tpm_rig_key(&rig, i % 2 == 0 ? "auth" : NULL) : NULL, common, view, rounds};
    test_threads(THREADS, sign_many, all, sizeof *all);
    for (int i = 0; i < THREADS; i++)
        tenon_tpm_key_free(&all[i].own);
    CHECK_NUMBER(support_transport_overlaps(rig.wire), 0);
}

TEST(tpm_threads_one_key) { run_threads(test_rounds(1000, 25), false, NULL); }

/* More keys than the TPM has slots, some with sessions. */
TEST(tpm_threads_many_keys) { run_threads(test_rounds(60, 9), true, NULL); }

TEST(tpm_threads_sessions) { run_threads(test_rounds(60, 9), false, &tpm_encrypted); }

/* Other calls meanwhile: the persistent copy is made and removed, the key is exported, checked, listed. */
static void change(void *context)
{
    work *mine = context;
    uint32_t handle, handles[8];
    size_t n;
    for (size_t i = 0; i < mine->rounds; i++) {
        tpm_pem pem = tpm_rig_export(mine->common);
        CHECK_OK(tenon_tpm_key_persist(mine->common, &handle));
        CHECK_NUMBER(handle, 0x81080000);
        CHECK_OK(tenon_tpm_key_check(mine->common));
        CHECK_OK(tenon_tpm_handles(mine->rig->tpm, handles, 8, &n));
        CHECK_OK(tpm_rig_sign(mine->common));
        CHECK_OK(tpm_rig_use(mine->rig, &pem));
        pem = tpm_rig_export(mine->common); /* meanwhile another one persists it or takes it away */
        tenon_status status = tenon_tpm_key_evict(mine->common);
        CHECK(status == TENON_OK || status == TENON_ERROR_NOT_PERSISTENT);
    }
}

static void change_or_sign(void *context)
{
    static atomic_uint number;
    (atomic_fetch_add(&number, 1) % 2 == 0 ? change : sign_many)(context);
}

TEST_RIG(tpm_threads_changing_a_key)
{
    OWNED_TPM_KEY common = tpm_rig_key(rig, NULL);
    OWNED_KEY view = tpm_rig_view(common, TENON_KEY_SIGNS_DIGESTS);
    work all = {.rig = rig, .common = common, .view = view, .rounds = test_rounds(12, 3)};
    test_threads(THREADS, change_or_sign, &all, 0);
    CHECK_NUMBER(support_persistent_count(rig->sw), 0);
}

static void *sign_once(void *context)
{
    CHECK_OK(tpm_rig_sign(context));
    return NULL;
}

/* A key of another tool whose persistent copy somebody evicted: its parent becomes known during calls that ask for it.
 * */
TEST_RIG(tpm_threads_parent_becomes_known)
{
    static const char fact[] = "tenon-handle: 81080000\n";
    tpm_pem with_handle = {.n = 0};
    pthread_t thread;
    uint8_t name[TENON_NAME_SIZE];
    size_t n;
    OWNED_TPM_KEY key = tpm_rig_key(rig, NULL);
    CHECK_OK(tenon_tpm_key_persist(key, NULL));
    tpm_pem pem = tpm_rig_export(key);
    tenon_tpm_key_free(&key);
    const char *block = strstr(pem.text, "-----BEGIN");
    with_handle.n = (size_t)snprintf(with_handle.text, sizeof with_handle.text, "%s%s", fact, block);
    CHECK_OK(tpm_rig_load(rig, &key, &with_handle));
    CHECK_OK(tenon_tpm_key_parent_name(key, name, sizeof name, &n));
    CHECK_NUMBER(n, 0);
    CHECK_NUMBER(support_evict(rig->sw, NULL, 0x81080000, 0x81080000), 0);
    CHECK_NUMBER(pthread_create(&thread, NULL, sign_once, key), 0);
    while (tenon_tpm_key_parent_name(key, name, sizeof name, &n) == TENON_OK && n == 0)
        sched_yield();
    CHECK_NUMBER(n, sizeof name);
    CHECK_NUMBER(pthread_join(thread, NULL), 0);
}

/* Each waiter signs the digest of its number, so the wire shows the order of service. */
typedef struct {
    tenon_key *view;
    uint8_t number;
    atomic_int thread; /* the kernel's number of the thread that asks */
} waiter;

static void *sign_number(void *context)
{
    waiter *mine = context;
    tenon_digest digest = {{mine->number}};
    tenon_signature signature;
    atomic_store(&mine->thread, (int)gettid());
    CHECK_OK(tenon_key_sign_digest(mine->view, &signature, &digest));
    return NULL;
}

/* A thread that only waits for a processor does not sleep. */
static bool is_asleep(int thread)
{
    char path[64], text[128];
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
    FILE *file = fopen(path, "r");
    size_t n = file == NULL ? 0 : fread(text, 1, sizeof text - 1, file);
    if (file != NULL)
        fclose(file);
    text[n] = '\0';
    const char *name_end = strrchr(text, ')');
    return name_end != NULL && strncmp(name_end, ") S", 3) == 0;
}

/*
 * The ticket is taken inside the call, which nobody outside can see. So a waiter is let in only when the one before it
 * sleeps in the queue, as the kernel says it; a thread that runs has not asked yet.
 */
static bool sleeps(pthread_t thread, int number)
{
    clockid_t clock;
    struct timespec now, before = {0, 0};
    struct timespec pause = {0, 20000000};
    if (pthread_getcpuclockid(thread, &clock) != 0)
        return false;
    for (int i = 0; i < 50; i++) {
        clock_gettime(clock, &now);
        if (i > 0 && now.tv_sec == before.tv_sec && now.tv_nsec == before.tv_nsec && is_asleep(number))
            return true;
        before = now;
        nanosleep(&pause, NULL);
    }
    return false;
}

TEST_KEY(tpm_threads_served_in_order)
{
    pthread_t threads[QUEUE];
    static waiter all[QUEUE];
    OWNED_KEY view = tpm_rig_view(key, TENON_KEY_SIGNS_DIGESTS);
    CHECK_OK(tpm_rig_sign(key));
    support_hold(rig->wire, support_next(SUPPORT_CC_SIGN));
    for (int i = 0; i < QUEUE; i++) {
        all[i].view = view;
        all[i].number = (uint8_t)(i + 1);
        atomic_store(&all[i].thread, 0);
        CHECK_NUMBER(pthread_create(&threads[i], NULL, sign_number, &all[i]), 0);
        if (i == 0)
            CHECK(support_wait_held(rig->wire, 1));
        while (atomic_load(&all[i].thread) == 0 || (i > 0 && !sleeps(threads[i], atomic_load(&all[i].thread))))
            continue;
    }
    support_release(rig->wire);
    for (int i = 0; i < QUEUE; i++)
        CHECK_NUMBER(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < QUEUE; i++) {
        support_record record;
        CHECK(support_transport_record(rig->wire, (size_t)(QUEUE - 1 - i), &record));
        CHECK_NUMBER(record.code, SUPPORT_CC_SIGN);
        CHECK_NUMBER(record.command[29], i + 1); /* header, handle, authorization, size: the digest's first byte */
    }
}
