/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE 1 /* clock_nanosleep */
#include <errno.h>
#include <time.h>

/*
 * The Swift tests are one program, and in it what waits for seconds by nanosleep is the core before its second look at
 * a key that seems gone: it need not wait there. How long it waits is a C test's matter, which has a clock of its own.
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
