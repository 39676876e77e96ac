/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* memfd_create */
#include "test_workers.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORKERS_MAX = 32 };

typedef struct {
    atomic_size_t next, passed, failed;
    atomic_size_t at[WORKERS_MAX]; /* a test's number plus 1; 0 between tests */
} progress;

typedef struct {
    const test_work *work;
    progress *shared;
    pid_t processes[WORKERS_MAX];
    int output[WORKERS_MAX]; /* files without a name */
    int lock;                /* held while output is shown; a process that dies releases it */
} crew;

static void *never_null(void *memory)
{
    if (memory != MAP_FAILED)
        return memory;
    perror("core_tests");
    exit(EXIT_FAILURE);
}

static int never_negative(int result)
{
    never_null(result < 0 ? MAP_FAILED : NULL);
    return result;
}

void *test_shared(size_t n)
{
    return never_null(mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
}

static void write_all(const char *text, size_t n)
{
    while (n != 0) {
        ssize_t written = write(STDERR_FILENO, text, n);
        if (written <= 0)
            return;
        text += written;
        n -= (size_t)written;
    }
}

/* Shows the content of the file in one piece, and empties it. */
static void show(const crew *of, int output)
{
    char part[4096];
    ssize_t n;
    never_negative(lockf(of->lock, F_LOCK, 0));
    lseek(output, 0, SEEK_SET);
    while ((n = read(output, part, sizeof part)) > 0)
        write_all(part, (size_t)n);
    lseek(output, 0, SEEK_SET);
    never_negative(ftruncate(output, 0));
    never_negative(lockf(of->lock, F_ULOCK, 0));
}

static void redirect(int out, int err)
{
    fflush(stdout);
    fflush(stderr);
    never_negative(dup2(out, STDOUT_FILENO));
    never_negative(dup2(err, STDERR_FILENO));
}

_Noreturn static void be_worker(const crew *of, size_t self)
{
    progress *shared = of->shared;
    int out = never_negative(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0));
    int err = never_negative(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0));
    for (size_t test; (test = atomic_fetch_add(&shared->next, 1)) < of->work->count;) {
        atomic_store(&shared->at[self], test + 1);
        redirect(of->output[self], of->output[self]);
        bool passed = of->work->run(test);
        redirect(out, err);
        show(of, of->output[self]);
        atomic_fetch_add(passed ? &shared->passed : &shared->failed, 1);
        atomic_store(&shared->at[self], 0);
    }
    exit(EXIT_SUCCESS); /* where sanitizers and valgrind look for leaks */
}

static void start(crew *of, size_t worker)
{
    fflush(stdout);
    fflush(stderr);
    of->processes[worker] = never_negative(fork());
    if (of->processes[worker] == 0)
        be_worker(of, worker);
}

/* Handles the end of a worker. A leak check reports after the last test. */
static void bury(const crew *of, size_t worker, int status)
{
    size_t at = atomic_exchange(&of->shared->at[worker], 0);
    show(of, of->output[worker]);
    if (at == 0 && status == 0)
        return;
    test_say("FAILED %s (its process ended by signal %d, with %d)\n",
             at == 0 ? "after its last test" : of->work->name(at - 1), WIFSIGNALED(status) ? WTERMSIG(status) : 0,
             WIFEXITED(status) ? WEXITSTATUS(status) : 0);
    atomic_fetch_add(&of->shared->failed, 1);
}

static size_t worker_of(const crew *of, size_t workers, pid_t process)
{
    size_t i = 0;
    while (i < workers && of->processes[i] != process)
        i++;
    return i;
}

test_tally test_workers_run(size_t workers, const test_work *work)
{
    crew of = {.work = work,
               .shared = test_shared(sizeof *of.shared),
               .lock = never_negative(memfd_create("lock", MFD_CLOEXEC))};
    size_t running = workers = workers < WORKERS_MAX ? workers : WORKERS_MAX;
    for (size_t i = 0; i < workers; i++) {
        of.output[i] = never_negative(memfd_create("output", MFD_CLOEXEC));
        start(&of, i);
    }
    while (running != 0) {
        int status;
        size_t ended = worker_of(&of, workers, never_negative(wait(&status)));
        if (ended == workers)
            continue;
        bury(&of, ended, status);
        if (atomic_load(&of.shared->next) < work->count)
            start(&of, ended);
        else
            running--;
    }
    for (size_t i = 0; i < workers; i++)
        close(of.output[i]);
    close(of.lock);
    return (test_tally){atomic_load(&of.shared->passed), atomic_load(&of.shared->failed)};
}
