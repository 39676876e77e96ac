/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* pthread_cond_clockwait, CLOCK_BOOTTIME */
#include "process.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#define SWIFT __attribute__((swiftcall))

/* Of a job of Swift's runtime, what it leaves to whoever runs jobs: two words behind the object's head (its ABI, Job).
 */
typedef struct job {
    void *head[2];
    struct job *next;
    int64_t due; /* of a timer: nanoseconds of CLOCK_BOOTTIME */
} job;

/* The hooks of that runtime: jobs go where these say, and not to libdispatch. */
extern SWIFT void (*swift_task_enqueueGlobal_hook)(job *job, void *original);
extern SWIFT void (*swift_task_enqueueGlobalWithDelay_hook)(unsigned long long nanoseconds, job *job, void *original);
extern SWIFT void (*swift_task_enqueueGlobalWithDeadline_hook)(long long seconds, long long nanoseconds,
                                                               long long leeway_seconds, long long leeway, int clock,
                                                               job *job, void *original);
extern SWIFT void swift_job_run(job *job, void *executor, uintptr_t implementation);

enum { LEAST_THREADS = 4, MOST_THREADS = 64, SUSPENDING = 2 };
static const int64_t SECOND = 1000000000;
/* The condition's clock stands still while the machine sleeps: the timers' own is looked at as often. */
static const int64_t LONGEST_WAIT = 10 * SECOND;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static job *first, *last; /* what is to be run, in this order */
static job *timers;       /* the one that is due first comes first */
static bool is_timed;     /* whether a thread waits for the first timer */

static int64_t now(clockid_t clock)
{
    struct timespec time = {0};
    (void)clock_gettime(clock, &time);
    return (int64_t)time.tv_sec * SECOND + time.tv_nsec;
}

static void append(job *job)
{
    job->next = NULL;
    if (first == NULL)
        first = job;
    else
        last->next = job;
    last = job;
}

static void append_due(void)
{
    int64_t time = timers != NULL ? now(CLOCK_BOOTTIME) : 0;
    while (timers != NULL && timers->due <= time) {
        job *due = timers;
        timers = due->next;
        append(due);
    }
}

static SWIFT void enqueue(job *job, void *original)
{
    (void)original;
    (void)pthread_mutex_lock(&mutex);
    append(job);
    (void)pthread_cond_signal(&changed);
    (void)pthread_mutex_unlock(&mutex);
}

static void enqueue_at(job *job, int64_t due)
{
    struct job **place = &timers;
    (void)pthread_mutex_lock(&mutex);
    while (*place != NULL && (*place)->due <= due)
        place = &(*place)->next;
    job->due = due;
    job->next = *place;
    *place = job;
    /* A thread that waits for the first timer must see that there is another. */
    if (timers == job)
        (void)pthread_cond_broadcast(&changed);
    (void)pthread_mutex_unlock(&mutex);
}

static int64_t sum(int64_t time, int64_t nanoseconds)
{
    return nanoseconds > INT64_MAX - time ? INT64_MAX : time + nanoseconds;
}

static SWIFT void enqueue_with_delay(unsigned long long nanoseconds, job *job, void *original)
{
    (void)original;
    enqueue_at(job, sum(now(CLOCK_BOOTTIME), nanoseconds > INT64_MAX ? INT64_MAX : (int64_t)nanoseconds));
}

static SWIFT void enqueue_with_deadline(long long seconds, long long nanoseconds, long long leeway_seconds,
                                        long long leeway, int clock, job *job, void *original)
{
    (void)leeway_seconds, (void)leeway, (void)original;
    int64_t due = seconds >= INT64_MAX / SECOND ? INT64_MAX : seconds < 0 ? 0 : seconds * SECOND + nanoseconds;
    if (clock == SUSPENDING && due != INT64_MAX) {
        int64_t left = due - now(CLOCK_MONOTONIC);
        due = left > 0 ? sum(now(CLOCK_BOOTTIME), left) : 0;
    }
    enqueue_at(job, due);
}

/* With the mutex: until there may be something to do. One thread waits for the first timer, for all. */
static void wait_for_change(void)
{
    if (timers == NULL || is_timed) {
        (void)pthread_cond_wait(&changed, &mutex);
        return;
    }
    int64_t left = timers->due - now(CLOCK_BOOTTIME);
    int64_t until = now(CLOCK_MONOTONIC) + (left < LONGEST_WAIT ? left : LONGEST_WAIT);
    struct timespec time = {.tv_sec = (time_t)(until / SECOND), .tv_nsec = (long)(until % SECOND)};
    is_timed = true;
    (void)pthread_cond_clockwait(&changed, &mutex, CLOCK_MONOTONIC, &time);
    is_timed = false;
}

static void *run(void *context)
{
    (void)context;
    (void)pthread_mutex_lock(&mutex);
    for (;;) {
        append_due();
        job *job = first;
        if (job == NULL) {
            wait_for_change();
            continue;
        }
        first = job->next;
        /* The next one looks after the rest, and after the timers. */
        if (first != NULL || (timers != NULL && !is_timed))
            (void)pthread_cond_signal(&changed);
        (void)pthread_mutex_unlock(&mutex);
        swift_job_run(job, NULL, 0);
        (void)pthread_mutex_lock(&mutex);
    }
    return NULL;
}

int tenoni_process_run_jobs(void)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    long wanted = processors < LEAST_THREADS ? LEAST_THREADS : processors > MOST_THREADS ? MOST_THREADS : processors;
    sigset_t all, none;
    long n = 0;
    (void)sigfillset(&all);
    (void)sigemptyset(&none);
    (void)pthread_sigmask(SIG_SETMASK, &all, NULL);
    for (pthread_t thread; n < wanted && pthread_create(&thread, NULL, run, NULL) == 0; n++)
        (void)pthread_detach(thread);
    /* Whoever began this process may have blocked some, and it is this thread that takes them all. */
    (void)pthread_sigmask(SIG_SETMASK, &none, NULL);
    if (n < LEAST_THREADS)
        return 0;
    swift_task_enqueueGlobal_hook = enqueue;
    swift_task_enqueueGlobalWithDelay_hook = enqueue_with_delay;
    swift_task_enqueueGlobalWithDeadline_hook = enqueue_with_deadline;
    return 1;
}
