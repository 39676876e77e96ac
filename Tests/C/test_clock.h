/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_CLOCK_H
#define TEST_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The clock of a test's thread, by -Wl,--wrap. Only the thread's sleeps advance it, and they return at once. */
typedef struct {
    uint64_t moved_ms;
    uint64_t longest_ms; /* of one sleep */
    size_t sleeps;
} test_clock;

void test_clock_start(void);

/* Gives the thread the machine's clock again. */
test_clock test_clock_stop(void);

/* From now on, deadlines are computed in this thread a second before now or less, at the end of a second, or not. */
void test_clock_end_of_second(bool on);

#endif
