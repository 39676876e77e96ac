/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "door.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "wire.h"

enum { CONNECTIONS = 8, HEADER = 10 };

struct door {
    tenon_tpm_transport to;
    int listening;
    pthread_t thread;
    struct sockaddr_un address;
};

typedef struct {
    tenon_tpm_transport to;
    int fd;
} visit;

static bool read_whole(int fd, uint8_t *out, size_t n)
{
    while (n > 0) {
        ssize_t got = recv(fd, out, n, 0);
        if (got <= 0)
            return false;
        out += got;
        n -= (size_t)got;
    }
    return true;
}

/* A command or an answer: either begins with its tag and its size. */
static bool read_message(int fd, uint8_t *out, size_t size, size_t *n)
{
    if (size < HEADER || !read_whole(fd, out, HEADER))
        return false;
    *n = support_fetch32(out + 2);
    return *n >= HEADER && *n <= size && read_whole(fd, out + HEADER, *n - HEADER);
}

static bool send_whole(int fd, const uint8_t *bytes, size_t n)
{
    return send(fd, bytes, n, MSG_NOSIGNAL) == (ssize_t)n;
}

static void *serve(void *context)
{
    visit *self = context;
    uint8_t command[TENON_TPM_BUFFER_SIZE], answer[TENON_TPM_BUFFER_SIZE];
    size_t command_n, answer_n;
    while (read_message(self->fd, command, sizeof command, &command_n) &&
           self->to.exchange(self->to.context, answer, sizeof answer, &answer_n, command, command_n) == TENON_OK &&
           send_whole(self->fd, answer, answer_n))
        continue;
    close(self->fd);
    free(self);
    return NULL;
}

/* A thread for each that comes: tpm2-abrmd stays, a tool goes. They end when the other end does. */
static void *listen_on(void *context)
{
    door *self = context;
    int fd;
    while ((fd = accept4(self->listening, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
        pthread_t thread;
        visit *made = malloc(sizeof *made);
        if (made == NULL)
            break;
        *made = (visit){self->to, fd};
        if (pthread_create(&thread, NULL, serve, made) != 0)
            break;
        pthread_detach(thread);
    }
    return NULL;
}

door *door_new(const tenon_tpm_transport *to, const char *folder)
{
    door *made = calloc(1, sizeof *made);
    if (made == NULL)
        return NULL;
    made->to = *to;
    made->address.sun_family = AF_UNIX;
    snprintf(made->address.sun_path, sizeof made->address.sun_path, "%s/tpm", folder);
    made->listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (made->listening >= 0 &&
        bind(made->listening, (const struct sockaddr *)&made->address, sizeof made->address) == 0 &&
        listen(made->listening, CONNECTIONS) == 0 && pthread_create(&made->thread, NULL, listen_on, made) == 0)
        return made;
    close(made->listening);
    free(made);
    return NULL;
}

void door_free(door *of)
{
    if (of == NULL)
        return;
    shutdown(of->listening, SHUT_RDWR);
    pthread_join(of->thread, NULL);
    close(of->listening);
    free(of);
}

const char *door_path(const door *of)
{
    return of->address.sun_path;
}

int door_connect(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    close(fd);
    return -1;
}

tenon_status door_exchange(int fd, uint8_t *answer, size_t answer_size, size_t *answer_n, const uint8_t *command,
                           size_t command_n)
{
    bool done = send_whole(fd, command, command_n) && read_message(fd, answer, answer_size, answer_n);
    return done ? TENON_OK : TENON_ERROR_TPM_TRANSPORT;
}
