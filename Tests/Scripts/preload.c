/* SPDX-License-Identifier: Apache-2.0
 *
 * What command.sh does to a process from within, by LD_PRELOAD. The process gets the signal INTERRUPT_WITH when it
 * makes its INTERRUPT_AT-th call of INTERRUPT_CALL, which is write (to a TPM's socket, a file, a pipe), send (to a
 * service), fsync or fcntl (to take a lock); then there is a file INTERRUPT_MARK. It is CLOCK_AT, if that is said, and
 * the clock is kept, unless there is CLOCK_LOST. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

static void made(const char *call)
{
    static atomic_int calls;
    const char *wanted = getenv("INTERRUPT_CALL");
    if (wanted == NULL || strcmp(wanted, call) != 0 || atomic_fetch_add(&calls, 1) + 1 != atoi(getenv("INTERRUPT_AT")))
        return;
    syscall(SYS_close, (int)syscall(SYS_openat, AT_FDCWD, getenv("INTERRUPT_MARK"), O_CREAT | O_WRONLY, 0600));
    kill(getpid(), atoi(getenv("INTERRUPT_WITH")));
}

ssize_t write(int file, const void *bytes, size_t n)
{
    made("write");
    return syscall(SYS_write, file, bytes, n);
}

ssize_t send(int socket, const void *bytes, size_t n, int flags)
{
    made("send");
    return syscall(SYS_sendto, socket, bytes, n, flags, NULL, 0);
}

int fsync(int file)
{
    made("fsync");
    return (int)syscall(SYS_fsync, file);
}

int fcntl(int file, int command, ...)
{
    va_list rest;
    va_start(rest, command);
    void *argument = va_arg(rest, void *);
    va_end(rest);
    if (command == F_OFD_SETLK)
        made("fcntl");
    return (int)syscall(SYS_fcntl, file, command, argument);
}

time_t time(time_t *now)
{
    const char *at = getenv("CLOCK_AT");
    time_t seconds = at != NULL ? atol(at) : syscall(SYS_time, NULL);
    if (now != NULL)
        *now = seconds;
    return seconds;
}

int adjtimex(struct timex *state)
{
    (void)state;
    return getenv("CLOCK_LOST") != NULL ? TIME_ERROR : TIME_OK;
}
