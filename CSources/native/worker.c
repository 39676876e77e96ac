/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE /* strdup, clock_gettime */
#include "native/worker.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/secure.h"
#include "native/desk.h"

enum { WAITS, RUNS, ENDED, ABANDONED };

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t work;
    pthread_cond_t ended;
    tenoni_work *first;
    tenoni_work *last;
    pthread_t worker;
    bool thread; /* there is a worker */
    bool ending; /* and it shall end */
    bool running;
} queue = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void wipe_text(char *text)
{
    if (text != NULL)
        tenoni_wipe(text, strlen(text));
    free(text);
}

static void free_work(tenoni_work *work)
{
    free(work->name);
    free(work->key);
    wipe_text(work->value);
    wipe_text(work->answer);
    free(work);
}

static char *copy_of(const char *text, bool *failed)
{
    char *copy = text == NULL ? NULL : strdup(text);
    *failed = *failed || (text != NULL && copy == NULL);
    return copy;
}

tenoni_work *tenoni_work_new(tenoni_result (*run)(tenoni_work *work), const char *name, const char *key,
                             const char *value)
{
    bool failed = false;
    tenoni_work *work = calloc(1, sizeof *work);
    if (work == NULL)
        return NULL;
    work->run = run;
    work->name = copy_of(name, &failed);
    work->key = copy_of(key, &failed);
    work->value = copy_of(value, &failed);
    if (!failed)
        return work;
    free_work(work);
    return NULL;
}

/* The child has one thread. What the worker had in its hands at the fork may be half done: it is left alone. */
static void begin_child(void)
{
    pthread_condattr_t monotonic;
    bool idle = !queue.running;
    pthread_mutex_init(&queue.mutex, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&queue.work, NULL);
    pthread_cond_init(&queue.ended, &monotonic);
    pthread_condattr_destroy(&monotonic);
    queue.first = queue.last = NULL;
    queue.thread = queue.ending = queue.running = false;
    tenoni_desk_forget(idle);
}

static void before_fork(void)
{
    pthread_mutex_lock(&queue.mutex);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&queue.mutex);
}

static void begin_process(void)
{
    begin_child();
    (void)pthread_atfork(before_fork, after_fork, begin_child);
}

void tenoni_worker_lock(void)
{
    pthread_once(&once, begin_process);
    pthread_mutex_lock(&queue.mutex);
}

void tenoni_worker_unlock(void)
{
    pthread_mutex_unlock(&queue.mutex);
}

static void *work_through(void *nothing)
{
    (void)nothing;
    pthread_mutex_lock(&queue.mutex);
    for (;;) {
        while (queue.first == NULL && !queue.ending)
            pthread_cond_wait(&queue.work, &queue.mutex);
        if (queue.first == NULL)
            break;
        tenoni_work *work = queue.first;
        queue.first = work->next;
        queue.running = true;
        work->stage = RUNS;
        pthread_mutex_unlock(&queue.mutex);
        work->result = work->run(work);
        pthread_mutex_lock(&queue.mutex);
        queue.running = false;
        if (work->stage == ABANDONED)
            free_work(work);
        else
            work->stage = ENDED;
        pthread_cond_broadcast(&queue.ended);
    }
    pthread_mutex_unlock(&queue.mutex);
    return NULL;
}

void tenoni_worker_end(void)
{
    tenoni_worker_lock();
    bool there = queue.thread;
    queue.ending = true;
    pthread_cond_signal(&queue.work);
    tenoni_worker_unlock();
    if (there)
        pthread_join(queue.worker, NULL);
    tenoni_worker_lock();
    queue.thread = queue.ending = false;
    tenoni_worker_unlock();
}

/* The thread takes no signals, which belong to the program. */
static bool start_thread(void)
{
    sigset_t all, before;
    if (queue.thread)
        return true;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    queue.thread = pthread_create(&queue.worker, NULL, work_through, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return queue.thread;
}

static void append(tenoni_work *work)
{
    if (queue.first == NULL)
        queue.first = work;
    else
        queue.last->next = work;
    queue.last = work;
    pthread_cond_signal(&queue.work);
}

static void take_out(const tenoni_work *work)
{
    tenoni_work *before = NULL;
    for (tenoni_work *at = queue.first; at != work; at = at->next)
        before = at;
    if (before == NULL)
        queue.first = work->next;
    else
        before->next = work->next;
    if (queue.last == work)
        queue.last = before;
}

static struct timespec time_after(uint32_t ms)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_sec += (time_t)(ms / 1000);
    at.tv_nsec += (long)(ms % 1000) * 1000000;
    if (at.tv_nsec >= 1000000000) {
        at.tv_sec++;
        at.tv_nsec -= 1000000000;
    }
    return at;
}

tenoni_result tenoni_work_do(tenoni_work *work, uint32_t deadline_ms, char **answer)
{
    const struct timespec deadline = time_after(deadline_ms);
    tenoni_result result = tenoni_because(TENONI_LATE);
    int error = 0;
    tenoni_worker_lock();
    if (!start_thread()) {
        tenoni_worker_unlock();
        free_work(work);
        return tenoni_because(TENONI_NO_MEMORY);
    }
    append(work);
    while (work->stage != ENDED && error == 0)
        error = pthread_cond_timedwait(&queue.ended, &queue.mutex, &deadline);
    if (work->stage == WAITS)
        take_out(work);
    bool running = work->stage == RUNS;
    if (work->stage == ENDED) {
        result = work->result;
        if (answer != NULL) {
            *answer = work->answer;
            work->answer = NULL;
        }
    }
    if (running)
        work->stage = ABANDONED;
    pthread_mutex_unlock(&queue.mutex);
    if (!running)
        free_work(work);
    /* The first call of a function of libc saves the registers, which a value was copied through. */
    tenoni_wipe_stack();
    return result;
}
