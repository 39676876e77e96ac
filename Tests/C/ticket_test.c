/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE 1 /* nanosleep */
#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>

#include "test.h"
#include "tpm/channel.h"

/*
 * The order of asking, on condition variables that wake the newest waiter first. POSIX leaves open which one a signal
 * wakes, and the C library's wakes the oldest nearly always.
 */

int __real_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);
int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);
int __real_pthread_cond_signal(pthread_cond_t *condition);
int __wrap_pthread_cond_signal(pthread_cond_t *condition);
int __real_pthread_cond_broadcast(pthread_cond_t *condition);
int __wrap_pthread_cond_broadcast(pthread_cond_t *condition);

typedef struct sleeper {
    sem_t woken;
    struct sleeper *older;
} sleeper;

static atomic_bool newest_first;
static sleeper *sleepers; /* under the mutex of the one condition that is used so */
static atomic_int asleep;

int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    if (!atomic_load(&newest_first))
        return __real_pthread_cond_wait(condition, mutex);
    sleeper self = {.older = sleepers};
    sem_init(&self.woken, 0, 0);
    sleepers = &self;
    atomic_fetch_add(&asleep, 1);
    pthread_mutex_unlock(mutex);
    while (sem_wait(&self.woken) != 0)
        continue;
    pthread_mutex_lock(mutex);
    sem_destroy(&self.woken);
    return 0;
}

static void wake_newest(void)
{
    sleeper *one = sleepers;
    if (one == NULL)
        return;
    sleepers = one->older;
    atomic_fetch_sub(&asleep, 1);
    sem_post(&one->woken);
}

int __wrap_pthread_cond_signal(pthread_cond_t *condition)
{
    if (!atomic_load(&newest_first))
        return __real_pthread_cond_signal(condition);
    wake_newest();
    return 0;
}

int __wrap_pthread_cond_broadcast(pthread_cond_t *condition)
{
    if (!atomic_load(&newest_first))
        return __real_pthread_cond_broadcast(condition);
    while (sleepers != NULL)
        wake_newest();
    return 0;
}

enum { WAITERS = 4 };

static tenoni_ticket ticket;
static atomic_int served;
static int order[WAITERS];

static void *ask(void *number)
{
    tenoni_ticket_lock(&ticket);
    order[atomic_fetch_add(&served, 1)] = *(const int *)number;
    tenoni_ticket_unlock(&ticket);
    return NULL;
}

static void wait_until(const atomic_int *value, int wanted)
{
    static const struct timespec moment = {0, 1000000};
    for (int i = 0; i < 10000 && atomic_load(value) != wanted; i++)
        nanosleep(&moment, NULL);
}

TEST(ticket_in_order_whoever_is_woken)
{
    static int numbers[WAITERS];
    pthread_t threads[WAITERS];
    CHECK(tenoni_ticket_init(&ticket));
    atomic_store(&served, 0);
    atomic_store(&newest_first, true);
    tenoni_ticket_lock(&ticket);
    for (int i = 0; i < WAITERS; i++) {
        numbers[i] = i;
        CHECK_NUMBER(pthread_create(&threads[i], NULL, ask, &numbers[i]), 0);
        wait_until(&asleep, i + 1);
    }
    tenoni_ticket_unlock(&ticket);
    wait_until(&served, WAITERS);
    if (!CHECK_NUMBER(atomic_load(&served), WAITERS))
        return; /* they would wait for ever */
    for (int i = 0; i < WAITERS; i++) {
        CHECK_NUMBER(pthread_join(threads[i], NULL), 0);
        CHECK_NUMBER(order[i], i);
    }
    atomic_store(&newest_first, false);
    tenoni_ticket_destroy(&ticket);
}
