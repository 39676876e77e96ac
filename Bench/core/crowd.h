/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_CROWD_H
#define BENCH_CROWD_H

#include "bench.h"

enum { CROWD_ONE = 1, CROWD_FOUR = 4, CROWD_MAX = 16 };

/* Threads that wait, and work at once: one, four, or CROWD_MAX. */
typedef struct crowd crowd;

/* Each thread calls the function, with a context of its own out of CROWD_MAX, so often in each run. NULL: no memory. */
crowd *crowd_new(bench_function function, void *const *contexts, size_t times);
void crowd_free(crowd *of);

/* One call of so many threads; false when one of theirs failed. */
bool crowd_run(crowd *of, size_t threads);

#endif
