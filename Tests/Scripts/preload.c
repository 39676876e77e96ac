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

/* The program takes the environment away from its libraries: what it began with is read before it does. */
static struct {
    const char *call, *at, *with, *mark, *clock, *lost;
} said;

static const char *said_of(char **variables, const char *name)
{
    size_t n = strlen(name);
    while (*variables != NULL && (strncmp(*variables, name, n) != 0 || (*variables)[n] != '='))
        variables++;
    return *variables != NULL ? *variables + n + 1 : NULL;
}

__attribute__((constructor)) static void begin(int n, char **words, char **variables)
{
    (void)n, (void)words;
    said.call = said_of(variables, "INTERRUPT_CALL");
    said.at = said_of(variables, "INTERRUPT_AT");
    said.with = said_of(variables, "INTERRUPT_WITH");
    said.mark = said_of(variables, "INTERRUPT_MARK");
    said.clock = said_of(variables, "CLOCK_AT");
    said.lost = said_of(variables, "CLOCK_LOST");
}

static void made(const char *call)
{
    static atomic_int calls;
    if (said.call == NULL || strcmp(said.call, call) != 0 || atomic_fetch_add(&calls, 1) + 1 != atoi(said.at))
        return;
    syscall(SYS_close, (int)syscall(SYS_openat, AT_FDCWD, said.mark, O_CREAT | O_WRONLY, 0600));
    kill(getpid(), atoi(said.with));
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
    time_t seconds = said.clock != NULL ? atol(said.clock) : syscall(SYS_time, NULL);
    if (now != NULL)
        *now = seconds;
    return seconds;
}

int adjtimex(struct timex *state)
{
    (void)state;
    return said.lost != NULL ? TIME_ERROR : TIME_OK;
}
