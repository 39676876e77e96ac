/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "connections.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define NEVER INT64_MAX
/* Milliseconds within which a request that began before a stop must arrive. */
#define LAST_PATIENCE 1000

static int64_t now(void)
{
    struct timespec time = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* Milliseconds for libmicrohttpd to read the bytes that have arrived, and between two checks whether it has. */
#define GRACE 1000
#define LOOK 10

static bool has_unread(const tenoni_connection *connection)
{
    char byte = 0;
    return recv(connection->socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

/* Ends the late connections, and returns the time of the next check. */
static int64_t end_late(tenoni_connections *connections)
{
    int64_t next = NEVER;
    int64_t time = now();
    for (tenoni_connection *c = connections->first; c != NULL; c = c->next) {
        if (c->deadline <= time && time < c->grace && has_unread(c)) {
            c->deadline = time + LOOK;
        } else if (c->deadline <= time) {
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

/* Ends a connection that reads a request and whose peer has gone: at once, or when the bytes that arrived are read. */
static void end_reading(tenoni_connections *connections, tenoni_connection *connection)
{
    int64_t time = now();
    /* The connection's own deadline may be earlier. */
    connection->grace = connection->deadline < time + GRACE ? connection->deadline : time + GRACE;
    connection->deadline = time;
    (void)pthread_cond_broadcast(&connections->changed);
}

/* Returns the unanswered call of a connection whose peer has gone, or NULL. */
static void *take_gone(tenoni_connections *connections, uint64_t number)
{
    void *call = NULL;
    (void)pthread_mutex_lock(&connections->mutex);
    for (tenoni_connection *c = connections->first; c != NULL; c = c->next) {
        if (c->number != number)
            continue;
        if (c->handed != NULL) {
            c->handed->is_gone = true;
            call = c->handed->call;
        } else if (c->phase == TENONI_PHASE_READING) {
            end_reading(connections, c);
        }
    }
    (void)pthread_mutex_unlock(&connections->mutex);
    return call;
}

/* The number 0 is the wake event: no connection has it. */
static void *watch(void *context)
{
    tenoni_connections *connections = context;
    struct epoll_event event = {0};
    for (;;) {
        int n = epoll_wait(connections->epoll, &event, 1, -1);
        void *call = NULL;
        if (n < 0 && errno == EINTR)
            continue;
        if (n != 1 || event.data.u64 == 0)
            return NULL;
        call = take_gone(connections, event.data.u64);
        if (call != NULL)
            connections->gone(call);
    }
}

static bool start_watching(tenoni_connections *connections)
{
    struct epoll_event event = {.events = EPOLLIN};
    connections->epoll = epoll_create1(EPOLL_CLOEXEC);
    connections->wake = eventfd(0, EFD_CLOEXEC);
    if (connections->epoll >= 0 && connections->wake >= 0 &&
        epoll_ctl(connections->epoll, EPOLL_CTL_ADD, connections->wake, &event) == 0 &&
        pthread_create(&connections->watcher, NULL, watch, connections) == 0)
        return true;
    (void)close(connections->epoll);
    (void)close(connections->wake);
    return false;
}

static void end_watching(tenoni_connections *connections)
{
    uint64_t one = 1;
    /* The write fails only if the counter is full, and then the watcher is awake already. */
    ssize_t n = write(connections->wake, &one, sizeof one);
    (void)n;
    (void)pthread_join(connections->watcher, NULL);
    (void)close(connections->epoll);
    (void)close(connections->wake);
}

/* Reports, once, only that the peer has closed its side: other bytes belong to a request. */
static void watch_peer(tenoni_connections *connections, tenoni_connection *connection, int operation)
{
    struct epoll_event event = {.events = EPOLLRDHUP | EPOLLONESHOT, .data.u64 = connection->number};
    (void)epoll_ctl(connections->epoll, operation, connection->socket, &event);
}

bool tenoni_connections_start(tenoni_connections *connections, unsigned seconds, void (*gone)(void *call))
{
    pthread_condattr_t attributes;
    bool is_good = false;
    *connections = (tenoni_connections){.patience = (int64_t)seconds * 1000, .gone = gone};
    if (!start_watching(connections))
        return false;
    (void)pthread_mutex_init(&connections->mutex, NULL);
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    is_good = pthread_cond_init(&connections->changed, &attributes) == 0 &&
              pthread_create(&connections->thread, NULL, run, connections) == 0;
    (void)pthread_condattr_destroy(&attributes);
    if (!is_good)
        end_watching(connections);
    return is_good;
}

/*
 * A connection with unread bytes may have sent a request, which is answered. Any other one is shut down for reading. A
 * request that arrives after that is not handed over, because libmicrohttpd would not send its answer.
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
    while (connections->first != NULL || connections->handed > 0)
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
    end_watching(connections);
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
    connection->number = ++connections->count;
    connection->before = &connections->first;
    connection->next = connections->first;
    if (connection->next != NULL)
        connection->next->before = &connection->next;
    connections->first = connection;
    watch_peer(connections, connection, EPOLL_CTL_ADD);
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
    if (connection->handed != NULL)
        connection->handed->connection = NULL;
    (void)epoll_ctl(connections->epoll, EPOLL_CTL_DEL, connection->socket, NULL);
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
    connection->grace = 0;
    /* The thread does not wait for a connection without a deadline, so it must be woken. For others, it wakes in time.
     * */
    if (connection->deadline == NEVER)
        (void)pthread_cond_broadcast(&connections->changed);
    connection->deadline = phase == TENONI_PHASE_HANDED ? NEVER : now() + connections->patience;
    if (phase == TENONI_PHASE_READING)
        watch_peer(connections, connection, EPOLL_CTL_MOD);
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

void tenoni_connections_wait(tenoni_connections *connections, tenoni_connection *connection, tenoni_handed *handed)
{
    (void)pthread_mutex_lock(&connections->mutex);
    connections->handed++;
    handed->connection = connection;
    if (connection != NULL) {
        connection->handed = handed;
        watch_peer(connections, connection, EPOLL_CTL_MOD);
    }
    (void)pthread_mutex_unlock(&connections->mutex);
}

tenoni_ending tenoni_connections_answer(tenoni_connections *connections, tenoni_handed *handed)
{
    tenoni_ending ending = TENONI_ENDING_SEND;
    (void)pthread_mutex_lock(&connections->mutex);
    handed->is_answered = true;
    if (handed->connection != NULL) {
        handed->connection->handed = NULL;
        handed->connection = NULL;
    }
    if (handed->is_over)
        ending = TENONI_ENDING_FREE;
    else if (handed->is_gone)
        ending = TENONI_ENDING_NONE;
    if (--connections->handed == 0)
        (void)pthread_cond_broadcast(&connections->changed);
    (void)pthread_mutex_unlock(&connections->mutex);
    return ending;
}

bool tenoni_connections_is_gone(tenoni_connections *connections, const tenoni_handed *handed)
{
    bool is_gone = false;
    (void)pthread_mutex_lock(&connections->mutex);
    is_gone = handed->is_gone;
    (void)pthread_mutex_unlock(&connections->mutex);
    return is_gone;
}

bool tenoni_connections_let_go(tenoni_connections *connections, tenoni_handed *handed)
{
    bool is_answered = false;
    (void)pthread_mutex_lock(&connections->mutex);
    handed->is_over = true;
    is_answered = handed->is_answered;
    (void)pthread_mutex_unlock(&connections->mutex);
    return is_answered;
}
