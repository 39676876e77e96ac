/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "crowd.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef struct {
    crowd *of;
    void *context;
    pthread_t thread;
} member;

struct crowd {
    bench_function function;
    size_t n, times;
    pthread_barrier_t begin, end; /* the caller is one more */
    bool stopped;
    atomic_bool failed;
    member members[CROWD_MAX];
};

static void *work(void *context)
{
    member *self = context;
    crowd *of = self->of;
    for (;;) {
        pthread_barrier_wait(&of->begin);
        if (of->stopped)
            return NULL;
        for (size_t i = 0; i < of->times; i++)
            if (!of->function(self->context))
                atomic_store(&of->failed, true);
        pthread_barrier_wait(&of->end);
    }
}

crowd *crowd_new(bench_function function, void *const *contexts, size_t n, size_t times)
{
    crowd *made = n > CROWD_MAX ? NULL : calloc(1, sizeof *made);
    if (made == NULL)
        return NULL;
    made->function = function;
    made->n = n;
    made->times = times;
    pthread_barrier_init(&made->begin, NULL, (unsigned)n + 1);
    pthread_barrier_init(&made->end, NULL, (unsigned)n + 1);
    for (size_t i = 0; i < n; i++) {
        made->members[i] = (member){.of = made, .context = contexts[i]};
        /* Those that run already wait for one that never comes: nothing can be freed. */
        if (pthread_create(&made->members[i].thread, NULL, work, &made->members[i]) != 0)
            bench_fail("crowd", "a thread");
    }
    return made;
}

void crowd_free(crowd *of)
{
    if (of == NULL)
        return;
    of->stopped = true;
    pthread_barrier_wait(&of->begin);
    for (size_t i = 0; i < of->n; i++)
        pthread_join(of->members[i].thread, NULL);
    pthread_barrier_destroy(&of->begin);
    pthread_barrier_destroy(&of->end);
    free(of);
}

bool crowd_run(void *context)
{
    crowd *of = context;
    pthread_barrier_wait(&of->begin);
    pthread_barrier_wait(&of->end);
    return !atomic_load(&of->failed);
}
