/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "crowd.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { SIZES = 3 };

static const size_t sizes[SIZES] = {CROWD_ONE, CROWD_FOUR, CROWD_MAX};

/* So many threads between two barriers, at which the caller is one more. */
typedef struct {
    crowd *of;
    pthread_barrier_t begin, end;
} group;

typedef struct {
    group *of;
    void *context;
    pthread_t thread;
} member;

struct crowd {
    bench_function function;
    size_t times;
    bool stopped;
    atomic_bool failed;
    group groups[SIZES];
    member members[SIZES][CROWD_MAX];
};

static void *work(void *context)
{
    const member *self = context;
    crowd *of = self->of->of;
    for (;;) {
        pthread_barrier_wait(&self->of->begin);
        if (of->stopped)
            return NULL;
        for (size_t i = 0; i < of->times; i++)
            if (!of->function(self->context, 0))
                atomic_store(&of->failed, true);
        pthread_barrier_wait(&self->of->end);
    }
}

crowd *crowd_new(bench_function function, void *const *contexts, size_t times)
{
    crowd *made = calloc(1, sizeof *made);
    if (made == NULL)
        return NULL;
    made->function = function;
    made->times = times;
    for (size_t i = 0; i < SIZES; i++) {
        group *of = &made->groups[i];
        of->of = made;
        pthread_barrier_init(&of->begin, NULL, (unsigned)sizes[i] + 1);
        pthread_barrier_init(&of->end, NULL, (unsigned)sizes[i] + 1);
        for (size_t j = 0; j < sizes[i]; j++) {
            member *one = &made->members[i][j];
            *one = (member){.of = of, .context = contexts[j]};
            /* Those that run already wait for one that never comes: nothing can be freed. */
            if (pthread_create(&one->thread, NULL, work, one) != 0)
                bench_fail("crowd", "a thread");
        }
    }
    return made;
}

void crowd_free(crowd *of)
{
    if (of == NULL)
        return;
    of->stopped = true;
    for (size_t i = 0; i < SIZES; i++) {
        pthread_barrier_wait(&of->groups[i].begin);
        for (size_t j = 0; j < sizes[i]; j++)
            pthread_join(of->members[i][j].thread, NULL);
        pthread_barrier_destroy(&of->groups[i].begin);
        pthread_barrier_destroy(&of->groups[i].end);
    }
    free(of);
}

bool crowd_run(crowd *of, size_t threads)
{
    group *which = &of->groups[threads == CROWD_ONE ? 0 : threads == CROWD_FOUR ? 1 : 2];
    pthread_barrier_wait(&which->begin);
    pthread_barrier_wait(&which->end);
    return !atomic_load(&of->failed);
}
