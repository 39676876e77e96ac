/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { WORDS_MAX = 24 };

/* Programs of others are found by PATH, and what they say goes nowhere, unless BENCH_VERBOSE is set. */
static bool spawn(pid_t *pid, const char *const *arguments, char *const *environment, int in, int out)
{
    posix_spawn_file_actions_t files;
    char *words[WORDS_MAX + 1] = {0};
    for (size_t i = 0; i < WORDS_MAX && arguments[i] != NULL; i++)
        words[i] = strdup(arguments[i]);
    posix_spawn_file_actions_init(&files);
    if (in >= 0)
        posix_spawn_file_actions_adddup2(&files, in, 0);
    else
        posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    if (out >= 0)
        posix_spawn_file_actions_adddup2(&files, out, 1);
    else
        posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
    if (getenv("BENCH_VERBOSE") == NULL)
        posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    int error = posix_spawnp(pid, words[0], &files, NULL, words, environment);
    posix_spawn_file_actions_destroy(&files);
    for (size_t i = 0; i < WORDS_MAX; i++)
        free(words[i]);
    return error == 0;
}

bool process_start(process *made, const char *const *arguments, char *const *environment)
{
    const char *words[WORDS_MAX + 1] = {"setpriv", "--pdeathsig", "KILL"};
    int in[2], out[2];
    for (size_t i = 0; i + 3 < WORDS_MAX && arguments[i] != NULL; i++)
        words[i + 3] = arguments[i];
    *made = (process){.in = -1, .out = -1};
    if (pipe2(in, O_CLOEXEC) != 0)
        return false;
    bool done = pipe2(out, O_CLOEXEC) == 0;
    if (done) {
        done = spawn(&made->pid, words, environment, in[0], out[1]);
        close(out[1]);
        made->out = out[0];
    }
    close(in[0]);
    made->in = in[1];
    return done;
}

void process_stop(process *of)
{
    if (of->pid <= 0)
        return;
    close(of->in);
    close(of->out);
    kill(of->pid, SIGTERM);
    waitpid(of->pid, NULL, 0);
    of->pid = 0;
}

double process_cpu(const process *of)
{
    clockid_t clock;
    struct timespec time;
    if (clock_getcpuclockid(of->pid, &clock) != 0 || clock_gettime(clock, &time) != 0)
        return 0;
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static double nanoseconds(struct timeval time)
{
    return (double)time.tv_sec * 1e9 + (double)time.tv_usec * 1e3;
}

bool process_run(const char *const *arguments, char *const *environment, double *cpu)
{
    struct rusage used;
    pid_t pid;
    int status;
    if (!spawn(&pid, arguments, environment, -1, -1) || wait4(pid, &status, 0, &used) != pid)
        return false;
    *cpu += nanoseconds(used.ru_utime) + nanoseconds(used.ru_stime);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

char **process_environment(const char *name, const char *value)
{
    size_t n = 0;
    while (environ[n] != NULL)
        n++;
    char **made = calloc(n + 2, sizeof *made);
    if (made == NULL || asprintf(&made[0], "%s=%s", name, value) < 0)
        return NULL;
    memcpy(made + 1, environ, n * sizeof *made);
    return made;
}
