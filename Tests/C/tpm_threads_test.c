/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* pthread_barrier_t */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tpm_rig.h"

/* Many threads, one TPM: one command at a time, in the order of asking. ThreadSanitizer watches these tests. */

enum { THREADS = 8, QUEUE = 6 };

typedef struct {
    tpm_rig *rig;
    tenon_tpm_key *own, *common;
    tenon_key *view; /* of the common one */
    size_t rounds;
    pthread_barrier_t *start;
} work;

static tenon_status sign_unchecked(tenon_key *view)
{
    static const tenon_digest digest = {{7}};
    tenon_signature signature;
    return tenon_key_sign_digest(view, &signature, &digest);
}

/* Each eighth signature is verified, which takes longer than to make it. */
static void *sign_many(void *context)
{
    work *mine = context;
    pthread_barrier_wait(mine->start);
    for (size_t i = 0; i < mine->rounds; i++) {
        tenon_tpm_key *key = i % 8 == 7 && mine->own != NULL ? mine->own : mine->common;
        if (!CHECK_STATUS(i % 8 == 7 ? tpm_rig_sign(key) : sign_unchecked(mine->view), TENON_OK))
            break;
    }
    return NULL;
}

static void run_threads(size_t rounds, bool own_keys, const tenon_tpm_options *options)
{
    tpm_rig rig = tpm_rig_start(options);
    tenon_tpm_key *common;
    tenon_key *view;
    pthread_barrier_t start;
    pthread_t threads[THREADS];
    work all[THREADS];
    CHECK_NUMBER(pthread_barrier_init(&start, NULL, THREADS), 0);
    CHECK_STATUS(tenon_tpm_key_create(rig.tpm, &common, NULL, 0), TENON_OK);
    CHECK_STATUS(tenon_tpm_key_open(common, &view, TENON_KEY_SIGNS_DIGESTS), TENON_OK);
    for (int i = 0; i < THREADS; i++) {
        all[i] = (work){&rig, NULL, common, view, rounds, &start};
        if (own_keys)
            CHECK_STATUS(tenon_tpm_key_create(rig.tpm, &all[i].own, (const uint8_t *)"auth", i % 2 == 0 ? 4 : 0),
                         TENON_OK);
    }
    for (int i = 0; i < THREADS; i++)
        CHECK_NUMBER(pthread_create(&threads[i], NULL, sign_many, &all[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        CHECK_NUMBER(pthread_join(threads[i], NULL), 0);
        tenon_tpm_key_free(&all[i].own);
    }
    CHECK_NUMBER(support_transport_overlaps(rig.wire), 0);
    pthread_barrier_destroy(&start);
    tenon_key_free(&view);
    tenon_tpm_key_free(&common);
    tpm_rig_stop(&rig);
}

TEST(tpm_threads_one_key)
{
    run_threads(test_rounds(1000, 25), false, NULL);
}

/* More keys than the TPM has slots, some with sessions. */
TEST(tpm_threads_many_keys)
{
    run_threads(test_rounds(60, 9), true, NULL);
}

TEST(tpm_threads_sessions)
{
    static const tenon_tpm_options encrypted = {.size = sizeof encrypted, .session = TENON_TPM_SESSION_ENCRYPTED};
    run_threads(test_rounds(60, 9), false, &encrypted);
}

/* What else may be asked meanwhile: the persistent copy comes and goes, the key is exported, checked, listed. */
static void *change(void *context)
{
    work *mine = context;
    uint32_t handle, handles[8];
    size_t n;
    pthread_barrier_wait(mine->start);
    for (size_t i = 0; i < mine->rounds; i++) {
        tpm_pem pem = tpm_rig_export(mine->common);
        CHECK_STATUS(tenon_tpm_key_persist(mine->common, &handle), TENON_OK);
        CHECK_NUMBER(handle, 0x81080000);
        CHECK_STATUS(tenon_tpm_key_check(mine->common), TENON_OK);
        CHECK_STATUS(tenon_tpm_handles(mine->rig->tpm, handles, 8, &n), TENON_OK);
        CHECK_STATUS(tpm_rig_sign(mine->common), TENON_OK);
        CHECK_STATUS(tpm_rig_use(mine->rig, &pem), TENON_OK);
        tenon_status status = tenon_tpm_key_evict(mine->common);
        CHECK(status == TENON_OK || status == TENON_ERROR_NOT_PERSISTENT);
    }
    return NULL;
}

TEST(tpm_threads_changing_a_key)
{
    tpm_rig rig = tpm_rig_start(NULL);
    tenon_tpm_key *common;
    pthread_barrier_t start;
    pthread_t threads[THREADS];
    work all = {.rig = &rig, .rounds = test_rounds(12, 3), .start = &start};
    CHECK_NUMBER(pthread_barrier_init(&start, NULL, THREADS), 0);
    CHECK_STATUS(tenon_tpm_key_create(rig.tpm, &common, NULL, 0), TENON_OK);
    CHECK_STATUS(tenon_tpm_key_open(common, &all.view, TENON_KEY_SIGNS_DIGESTS), TENON_OK);
    all.common = common;
    for (int i = 0; i < THREADS; i++)
        CHECK_NUMBER(pthread_create(&threads[i], NULL, i % 2 == 0 ? change : sign_many, &all), 0);
    for (int i = 0; i < THREADS; i++)
        CHECK_NUMBER(pthread_join(threads[i], NULL), 0);
    pthread_barrier_destroy(&start);
    tenon_key_free(&all.view);
    tenon_tpm_key_free(&common);
    CHECK_NUMBER(support_persistent_count(rig.sw), 0);
    tpm_rig_stop(&rig);
}

static void *sign_once(void *context)
{
    CHECK_STATUS(tpm_rig_sign(context), TENON_OK);
    return NULL;
}

/* A key of another tool with a persistent copy, which somebody evicted: its parent becomes known while it is asked for.
 */
TEST(tpm_threads_parent_becomes_known)
{
    static const char fact[] = "tenon-handle: 81080000\n";
    tpm_rig rig = tpm_rig_start(NULL);
    tenon_tpm_key *key;
    tpm_pem with_handle = {.n = 0};
    pthread_t thread;
    uint8_t name[TENON_NAME_SIZE];
    size_t n;
    CHECK_STATUS(tenon_tpm_key_create(rig.tpm, &key, NULL, 0), TENON_OK);
    CHECK_STATUS(tenon_tpm_key_persist(key, NULL), TENON_OK);
    tpm_pem pem = tpm_rig_export(key);
    tenon_tpm_key_free(&key);
    const char *block = strstr(pem.text, "-----BEGIN");
    with_handle.n = (size_t)snprintf(with_handle.text, sizeof with_handle.text, "%s%s", fact, block);
    CHECK_STATUS(tpm_rig_load(&rig, &key, &with_handle), TENON_OK);
    CHECK_STATUS(tenon_tpm_key_parent_name(key, name, sizeof name, &n), TENON_OK);
    CHECK_NUMBER(n, 0);
    CHECK_NUMBER(support_evict(rig.sw, NULL, 0x81080000, 0x81080000), 0);
    CHECK_NUMBER(pthread_create(&thread, NULL, sign_once, key), 0);
    while (tenon_tpm_key_parent_name(key, name, sizeof name, &n) == TENON_OK && n == 0)
        sched_yield();
    CHECK_NUMBER(n, sizeof name);
    CHECK_NUMBER(pthread_join(thread, NULL), 0);
    tenon_tpm_key_free(&key);
    tpm_rig_stop(&rig);
}

/* Each waiter signs the digest that is its number; what went over the wire says who was served when. */
typedef struct {
    tenon_key *view;
    uint8_t number;
    atomic_bool asking;
} waiter;

static void *sign_number(void *context)
{
    waiter *mine = context;
    tenon_digest digest = {{mine->number}};
    tenon_signature signature;
    atomic_store(&mine->asking, true);
    CHECK_STATUS(tenon_key_sign_digest(mine->view, &signature, &digest), TENON_OK);
    return NULL;
}

/*
 * The ticket is taken inside the call, which nobody outside can see. So a waiter is let in only when the one before it
 * sleeps in the queue, as the kernel says it; a thread that runs has not asked yet.
 */
static bool sleeps(pthread_t thread)
{
    clockid_t clock;
    struct timespec now, before = {0, 0};
    struct timespec pause = {0, 20000000};
    if (pthread_getcpuclockid(thread, &clock) != 0)
        return false;
    for (int i = 0; i < 50; i++) {
        clock_gettime(clock, &now);
        if (i > 0 && now.tv_sec == before.tv_sec && now.tv_nsec == before.tv_nsec)
            return true;
        before = now;
        nanosleep(&pause, NULL);
    }
    return false;
}

TEST(tpm_threads_served_in_order)
{
    tpm_rig rig = tpm_rig_start(NULL);
    tenon_tpm_key *key;
    tenon_key *view;
    pthread_t threads[QUEUE];
    static waiter all[QUEUE];
    CHECK_STATUS(tenon_tpm_key_create(rig.tpm, &key, NULL, 0), TENON_OK);
    CHECK_STATUS(tenon_tpm_key_open(key, &view, TENON_KEY_SIGNS_DIGESTS), TENON_OK);
    CHECK_STATUS(tpm_rig_sign(key), TENON_OK);
    support_hold(rig.wire, support_next(SUPPORT_CC_SIGN));
    for (int i = 0; i < QUEUE; i++) {
        all[i].view = view;
        all[i].number = (uint8_t)(i + 1);
        atomic_store(&all[i].asking, false);
        CHECK_NUMBER(pthread_create(&threads[i], NULL, sign_number, &all[i]), 0);
        if (i == 0)
            CHECK(support_wait_held(rig.wire, 1));
        while (!atomic_load(&all[i].asking) || (i > 0 && !sleeps(threads[i])))
            continue;
    }
    support_release(rig.wire);
    for (int i = 0; i < QUEUE; i++)
        CHECK_NUMBER(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < QUEUE; i++) {
        support_record record;
        CHECK(support_transport_record(rig.wire, (size_t)(QUEUE - 1 - i), &record));
        CHECK_NUMBER(record.code, SUPPORT_CC_SIGN);
        CHECK_NUMBER(record.command[29], i + 1); /* header, handle, authorization, size: the digest's first byte */
    }
    tenon_key_free(&view);
    tenon_tpm_key_free(&key);
    tpm_rig_stop(&rig);
}
