/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE 1 /* CLOCK_BOOTTIME */
#include "test_clock.h"

#include <time.h>

int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
int __real_nanosleep(const struct timespec *wait, struct timespec *left);
int __wrap_nanosleep(const struct timespec *wait, struct timespec *left);

static _Thread_local bool runs, ends_a_second;
static _Thread_local test_clock state;

void test_clock_start(void)
{
    state = (test_clock){0};
    runs = true;
}

test_clock test_clock_stop(void)
{
    runs = false;
    return state;
}

void test_clock_end_of_second(bool on) { ends_a_second = on; }

static int of_machine(clockid_t clock, struct timespec *now)
{
    int result = __real_clock_gettime(clock, now);
    if (ends_a_second && clock == CLOCK_MONOTONIC)
        *now = (struct timespec){.tv_sec = now->tv_sec - 1, .tv_nsec = 999999999};
    return result;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    enum { BEGAN_S = 1000 };
    if (!runs || clock != CLOCK_BOOTTIME)
        return of_machine(clock, now);
    *now = (struct timespec){.tv_sec = BEGAN_S + (time_t)(state.moved_ms / 1000),
                             .tv_nsec = (long)(state.moved_ms % 1000) * 1000000};
    return 0;
}

int __wrap_nanosleep(const struct timespec *wait, struct timespec *left)
{
    if (!runs)
        return __real_nanosleep(wait, left);
    uint64_t ms = (uint64_t)wait->tv_sec * 1000 + (uint64_t)wait->tv_nsec / 1000000;
    state.moved_ms += ms;
    state.longest_ms = ms > state.longest_ms ? ms : state.longest_ms;
    state.sleeps++;
    return 0;
}
