/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE 1 /* clock_nanosleep */
#include <errno.h>
#include <time.h>

/*
 * In the program of the Swift tests, only the core waits for seconds with nanosleep: before its second check of a key
 * that seems gone. It need not wait there. A C test with its own clock checks how long it waits.
 */
#ifdef SWIFT_PACKAGE
enum { SECONDS_SKIPPED = 2 };

int nanosleep(const struct timespec *wait, struct timespec *left)
{
    if (wait->tv_sec >= SECONDS_SKIPPED)
        return 0;
    errno = clock_nanosleep(CLOCK_MONOTONIC, 0, wait, left);
    return errno == 0 ? 0 : -1;
}
#else
typedef int no_wait_is_for_swift;
#endif
