/* SPDX-License-Identifier: Apache-2.0
 *
 * A wall clock that is set while the process runs, by LD_PRELOAD: CLOCK_FILE holds eight bytes, which are by how many
 * milliseconds it is ahead. The boot clock is the machine's. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int64_t ahead(void)
{
    static volatile int64_t *mapped;
    if (mapped == NULL) {
        static volatile int64_t none;
        const char *path = getenv("CLOCK_FILE");
        int file = path == NULL ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
        void *page = file < 0 ? MAP_FAILED : mmap(NULL, sizeof none, PROT_READ, MAP_SHARED, file, 0);
        if (file >= 0)
            syscall(SYS_close, file);
        mapped = page == MAP_FAILED ? &none : page;
    }
    return *mapped;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    int status = (int)syscall(SYS_clock_gettime, clock, now);
    if (status != 0 || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE))
        return status;
    int64_t nanoseconds = now->tv_nsec + ahead() % 1000 * 1000000;
    now->tv_sec += ahead() / 1000;
    now->tv_sec += nanoseconds < 0 ? -1 : nanoseconds / 1000000000;
    now->tv_nsec = nanoseconds < 0 ? nanoseconds + 1000000000 : nanoseconds % 1000000000;
    return 0;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    struct timespec read;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &read);
    now->tv_sec = read.tv_sec;
    now->tv_usec = read.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *now)
{
    struct timespec read;
    clock_gettime(CLOCK_REALTIME, &read);
    if (now != NULL)
        *now = read.tv_sec;
    return read.tv_sec;
}
