/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "swtpm.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "folder.h"
#include "wire.h"

extern char **environ;

enum { TIMEOUT_MS = 30000, HEADER = 10, SWTPM_FD = 3 };

struct support_swtpm {
    pthread_mutex_t lock;
    char *folder;
    pid_t pid; /* 0: off */
    int fd;
    uint32_t starts;
};

static int spawn(pid_t *pid, int fd, const char *folder)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none;
    char state[4096];
    char number[] = "3"; /* SWTPM_FD */
    char name[] = "swtpm", socket[] = "socket", tpm2[] = "--tpm2", fd_option[] = "--fd";
    char state_option[] = "--tpmstate", flags_option[] = "--flags";
    char flags[] = "not-need-init,startup-clear";
    char *arguments[] = {name, socket, tpm2, fd_option, number, state_option, state, flags_option, flags, NULL};

    snprintf(state, sizeof state, "dir=%s", folder);
    sigemptyset(&none);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", 0, 0);
    posix_spawn_file_actions_addopen(&files, 1, "/dev/null", 1, 0);
    posix_spawn_file_actions_addopen(&files, 2, "/dev/null", 1, 0);
    posix_spawn_file_actions_adddup2(&files, fd, SWTPM_FD);
    /* A copy of another TPM's socket would keep that TPM alive. */
    posix_spawn_file_actions_addclosefrom_np(&files, SWTPM_FD + 1);
    int error = posix_spawnp(pid, name, &files, &attributes, arguments, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    return error;
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bool wait_for(int fd, short events, int64_t deadline)
{
    for (;;) {
        struct pollfd poll_fd = {fd, events, 0};
        int64_t left = deadline - now_ms();
        int ready = poll(&poll_fd, 1, left > 0 ? (int)left : 0);
        if (ready > 0)
            return true;
        if (ready == 0 || errno != EINTR)
            return false;
    }
}

static bool write_all(int fd, const uint8_t *bytes, size_t n, int64_t deadline)
{
    while (n > 0) {
        if (!wait_for(fd, POLLOUT, deadline))
            return false;
        ssize_t sent = send(fd, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno != EINTR && errno != EAGAIN)
            return false;
        if (sent > 0) {
            bytes += sent;
            n -= (size_t)sent;
        }
    }
    return true;
}

static bool read_all(int fd, uint8_t *bytes, size_t n, int64_t deadline)
{
    while (n > 0) {
        if (!wait_for(fd, POLLIN, deadline))
            return false;
        ssize_t got = recv(fd, bytes, n, MSG_DONTWAIT);
        if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN))
            return false;
        if (got > 0) {
            bytes += got;
            n -= (size_t)got;
        }
    }
    return true;
}

/* The caller of the functions below must hold the lock. */

static bool exchange(support_swtpm *tpm, uint8_t *answer, size_t size, size_t *length, const uint8_t *command, size_t n)
{
    int64_t deadline = now_ms() + TIMEOUT_MS;
    if (tpm->pid == 0 || size < HEADER || !write_all(tpm->fd, command, n, deadline) ||
        !read_all(tpm->fd, answer, HEADER, deadline))
        return false;
    size_t whole = support_fetch32(answer + 2);
    if (whole < HEADER || whole > size || !read_all(tpm->fd, answer + HEADER, whole - HEADER, deadline))
        return false;
    *length = whole;
    return true;
}

static void power_cut(support_swtpm *tpm)
{
    if (tpm->pid == 0)
        return;
    kill(tpm->pid, SIGKILL);
    while (waitpid(tpm->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    close(tpm->fd);
    tpm->pid = 0;
    tpm->fd = -1;
}

/* GetCapability(TPM_PT_FIXED, 1 property). */
static bool is_ready(support_swtpm *tpm)
{
    static const uint8_t ask[] = {0x80, 1, 0, 0, 0, 22, 0, 0, 1, 0x7A, 0, 0, 0, 6, 0, 0, 1, 0, 0, 0, 0, 1};
    uint8_t answer[4096];
    size_t n;
    return exchange(tpm, answer, sizeof answer, &n, ask, sizeof ask);
}

static bool power_on(support_swtpm *tpm)
{
    int pair[2];
    power_cut(tpm);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return false;
    int error = spawn(&tpm->pid, pair[1], tpm->folder);
    close(pair[1]);
    if (error != 0) {
        close(pair[0]);
        tpm->pid = 0;
        fprintf(stderr, "swtpm: %s\n", strerror(error));
        return false;
    }
    tpm->fd = pair[0];
    tpm->starts++;
    if (!is_ready(tpm)) {
        power_cut(tpm);
        fprintf(stderr, "swtpm: it does not answer\n");
        return false;
    }
    return true;
}

support_swtpm *support_swtpm_start(const char *state)
{
    support_swtpm *tpm = calloc(1, sizeof *tpm);
    if (tpm == NULL)
        return NULL;
    pthread_mutex_init(&tpm->lock, NULL);
    tpm->fd = -1;
    tpm->folder = support_folder_make();
    if (tpm->folder == NULL || (state != NULL && !support_folder_copy(tpm->folder, state))) {
        fprintf(stderr, "swtpm: the state folder cannot be made: %s\n", strerror(errno));
        support_swtpm_stop(tpm);
        return NULL;
    }
    if (support_swtpm_power_on(tpm))
        return tpm;
    support_swtpm_stop(tpm);
    return NULL;
}

void support_swtpm_stop(support_swtpm *tpm)
{
    if (tpm == NULL)
        return;
    support_swtpm_power_cut(tpm);
    support_folder_remove(tpm->folder);
    pthread_mutex_destroy(&tpm->lock);
    free(tpm);
}

void support_swtpm_power_cut(support_swtpm *tpm)
{
    pthread_mutex_lock(&tpm->lock);
    power_cut(tpm);
    pthread_mutex_unlock(&tpm->lock);
}

bool support_swtpm_power_on(support_swtpm *tpm)
{
    pthread_mutex_lock(&tpm->lock);
    bool on = power_on(tpm);
    pthread_mutex_unlock(&tpm->lock);
    return on;
}

bool support_swtpm_is_on(support_swtpm *tpm)
{
    pthread_mutex_lock(&tpm->lock);
    bool on = tpm->pid != 0;
    pthread_mutex_unlock(&tpm->lock);
    return on;
}

uint32_t support_swtpm_starts(support_swtpm *tpm)
{
    pthread_mutex_lock(&tpm->lock);
    uint32_t starts = tpm->starts;
    pthread_mutex_unlock(&tpm->lock);
    return starts;
}

static void halt(support_swtpm *tpm)
{
    siginfo_t about;
    if (tpm->pid == 0)
        return;
    kill(tpm->pid, SIGSTOP);
    while (waitid(P_PID, (id_t)tpm->pid, &about, WSTOPPED | WEXITED | WNOWAIT) < 0 && errno == EINTR)
        continue;
}

tenon_status support_swtpm_exchange(support_swtpm *tpm, uint8_t *answer, size_t answer_size, size_t *answer_length,
                                    const uint8_t *command, size_t command_length)
{
    *answer_length = 0;
    pthread_mutex_lock(&tpm->lock);
    bool done = exchange(tpm, answer, answer_size, answer_length, command, command_length);
    if (!done)
        power_cut(tpm); /* bytes still on the wire would be taken for the next command's answer */
    pthread_mutex_unlock(&tpm->lock);
    return done ? TENON_OK : TENON_ERROR_TPM_TRANSPORT;
}

tenon_status support_swtpm_kill_in_command(support_swtpm *tpm, const uint8_t *command, size_t command_length, bool done)
{
    pthread_mutex_lock(&tpm->lock);
    int64_t deadline = now_ms() + TIMEOUT_MS;
    if (!done)
        halt(tpm);
    if (tpm->pid != 0 && write_all(tpm->fd, command, command_length, deadline) && done)
        wait_for(tpm->fd, POLLIN, deadline);
    power_cut(tpm);
    pthread_mutex_unlock(&tpm->lock);
    return TENON_ERROR_TPM_TRANSPORT;
}
