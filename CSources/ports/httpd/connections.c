/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "connections.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>

#define NEVER INT64_MAX
/* Milliseconds in which a request that has come before a stop has to be here. */
#define LAST_PATIENCE 1000

static int64_t now(void)
{
    struct timespec time = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* Ends those that are late, and says when to look again. */
static int64_t end_late(tenoni_connections *connections)
{
    int64_t next = NEVER;
    int64_t time = now();
    for (tenoni_connection *c = connections->first; c != NULL; c = c->next) {
        if (c->deadline <= time) {
            c->is_ended = true;
            (void)shutdown(c->socket, SHUT_RDWR);
            c->deadline = NEVER;
        }
        next = c->deadline < next ? c->deadline : next;
    }
    return next;
}

static void *run(void *context)
{
    tenoni_connections *connections = context;
    (void)pthread_mutex_lock(&connections->mutex);
    while (!connections->is_over) {
        int64_t next = end_late(connections);
        if (next == NEVER) {
            (void)pthread_cond_wait(&connections->changed, &connections->mutex);
            continue;
        }
        struct timespec until = {.tv_sec = (time_t)(next / 1000), .tv_nsec = (long)(next % 1000) * 1000000};
        (void)pthread_cond_timedwait(&connections->changed, &connections->mutex, &until);
    }
    (void)pthread_mutex_unlock(&connections->mutex);
    return NULL;
}

bool tenoni_connections_start(tenoni_connections *connections, unsigned seconds)
{
    pthread_condattr_t attributes;
    bool is_good = false;
    *connections = (tenoni_connections){.patience = (int64_t)seconds * 1000};
    (void)pthread_mutex_init(&connections->mutex, NULL);
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    is_good = pthread_cond_init(&connections->changed, &attributes) == 0 &&
              pthread_create(&connections->thread, NULL, run, connections) == 0;
    (void)pthread_condattr_destroy(&attributes);
    return is_good;
}

/*
 * One that has sent something may have sent a request, and is answered; any other is told to go. What comes behind that
 * is not handed over: libmicrohttpd would not send its answer.
 */
static void end_idle(tenoni_connection *connection)
{
    int waiting = 0;
    int64_t end = now() + LAST_PATIENCE;
    if (ioctl(connection->socket, FIONREAD, &waiting) == 0 && waiting > 0) {
        connection->deadline = connection->deadline < end ? connection->deadline : end;
        return;
    }
    connection->is_ended = true;
    (void)shutdown(connection->socket, SHUT_RD);
}

void tenoni_connections_drain(tenoni_connections *connections)
{
    (void)pthread_mutex_lock(&connections->mutex);
    connections->is_draining = true;
    for (tenoni_connection *c = connections->first; c != NULL; c = c->next)
        if (c->phase == TENONI_PHASE_READING)
            end_idle(c);
    (void)pthread_cond_broadcast(&connections->changed);
    while (connections->first != NULL)
        (void)pthread_cond_wait(&connections->changed, &connections->mutex);
    (void)pthread_mutex_unlock(&connections->mutex);
}

void tenoni_connections_end(tenoni_connections *connections)
{
    (void)pthread_mutex_lock(&connections->mutex);
    connections->is_over = true;
    (void)pthread_cond_broadcast(&connections->changed);
    (void)pthread_mutex_unlock(&connections->mutex);
    (void)pthread_join(connections->thread, NULL);
    (void)pthread_cond_destroy(&connections->changed);
    (void)pthread_mutex_destroy(&connections->mutex);
}

tenoni_connection *tenoni_connections_add(tenoni_connections *connections, int socket)
{
    tenoni_connection *connection = calloc(1, sizeof *connection);
    if (connection == NULL)
        return NULL;
    connection->socket = socket;
    (void)pthread_mutex_lock(&connections->mutex);
    connection->deadline = now() + connections->patience;
    connection->before = &connections->first;
    connection->next = connections->first;
    if (connection->next != NULL)
        connection->next->before = &connection->next;
    connections->first = connection;
    if (connections->is_draining)
        end_idle(connection);
    (void)pthread_cond_broadcast(&connections->changed);
    (void)pthread_mutex_unlock(&connections->mutex);
    return connection;
}

void tenoni_connections_remove(tenoni_connections *connections, tenoni_connection *connection)
{
    if (connection == NULL)
        return;
    (void)pthread_mutex_lock(&connections->mutex);
    *connection->before = connection->next;
    if (connection->next != NULL)
        connection->next->before = connection->before;
    if (connections->first == NULL)
        (void)pthread_cond_broadcast(&connections->changed);
    (void)pthread_mutex_unlock(&connections->mutex);
    free(connection);
}

bool tenoni_connections_enter(tenoni_connections *connections, tenoni_connection *connection, tenoni_phase phase)
{
    bool is_last = true;
    if (connection == NULL)
        return is_last;
    (void)pthread_mutex_lock(&connections->mutex);
    connection->phase = phase;
    /* The thread waits for no connection that had no time; for any other it looks soon enough. */
    if (connection->deadline == NEVER)
        (void)pthread_cond_broadcast(&connections->changed);
    connection->deadline = phase == TENONI_PHASE_HANDED ? NEVER : now() + connections->patience;
    is_last = connections->is_draining;
    if (is_last && phase == TENONI_PHASE_READING)
        end_idle(connection);
    (void)pthread_mutex_unlock(&connections->mutex);
    return is_last;
}

bool tenoni_connections_hand(tenoni_connections *connections, tenoni_connection *connection)
{
    bool is_open = true;
    if (connection == NULL)
        return is_open;
    (void)pthread_mutex_lock(&connections->mutex);
    is_open = !connection->is_ended;
    if (is_open) {
        connection->phase = TENONI_PHASE_HANDED;
        connection->deadline = NEVER;
    }
    (void)pthread_mutex_unlock(&connections->mutex);
    return is_open;
}
