/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* sigset_t, pthread_sigmask */
#include "process.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <unistd.h>

#define SWIFT __attribute__((swiftcall))

/* A job of Swift's runtime (Job in its ABI): the object's head, and then the word that belongs to its executor. */
typedef struct job {
    void *head[2];
    struct job *next;
} job;

/* The runtime's hook, which gets the jobs in place of libdispatch. Waits have no hook; see Sleep.swift. */
extern SWIFT void (*swift_task_enqueueGlobal_hook)(job *job, void *original);
extern SWIFT void swift_job_run(job *job, void *executor, uintptr_t implementation);

enum { LEAST_THREADS = 4, MOST_THREADS = 64 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static job *first, *last; /* the waiting jobs, in order */

static void append(job *job)
{
    job->next = NULL;
    if (first == NULL)
        first = job;
    else
        last->next = job;
    last = job;
}

static SWIFT void enqueue(job *job, void *original)
{
    (void)original;
    (void)pthread_mutex_lock(&mutex);
    append(job);
    (void)pthread_cond_signal(&changed);
    (void)pthread_mutex_unlock(&mutex);
}

static void *run(void *context)
{
    (void)context;
    (void)pthread_mutex_lock(&mutex);
    for (;;) {
        job *job = first;
        if (job == NULL) {
            (void)pthread_cond_wait(&changed, &mutex);
            continue;
        }
        first = job->next;
        /* The next thread takes the rest. */
        if (first != NULL)
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
    /* The parent may have blocked some signals. This thread takes all of them, so it unblocks all. */
    (void)pthread_sigmask(SIG_SETMASK, &none, NULL);
    if (n < LEAST_THREADS)
        return 0;
    swift_task_enqueueGlobal_hook = enqueue;
    return 1;
}
