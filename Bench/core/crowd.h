/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_CROWD_H
#define BENCH_CROWD_H

#include "bench.h"

enum { CROWD_MAX = 16 };

/* Threads that wait, and work at once. */
typedef struct crowd crowd;

/* Each thread calls the function, with a context of its own out of n, so often in each run. NULL: it cannot be made. */
crowd *crowd_new(bench_function function, void *const *contexts, size_t n, size_t times);
void crowd_free(crowd *of);

/* One call of all threads; false when one of theirs failed. A bench_function. */
bool crowd_run(void *of);

#endif
