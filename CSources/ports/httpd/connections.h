/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_HTTPD_CONNECTIONS_H
#define TENONI_HTTPD_CONNECTIONS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The open connections. They are tracked for three reasons. A slow connection must end, but libmicrohttpd's own timeout
 * starts again with each byte. A connection must end when its peer has gone, which libmicrohttpd does not notice within
 * a head or while an answer is made. And a stop must wait for the calls that are about to be answered.
 */

typedef enum tenoni_phase {
    TENONI_PHASE_READING, /* of a request, or waiting for one */
    TENONI_PHASE_HANDED,  /* somebody makes the answer: no time runs */
    TENONI_PHASE_ANSWERING
} tenoni_phase;

/* A call that was handed over. Its answer and its connection may end in either order. */
typedef struct tenoni_handed {
    void *call;
    struct tenoni_connection *connection; /* NULL when there is nothing to be answered on */
    bool is_gone;                         /* its peer is */
    bool is_answered;
    bool is_over; /* libmicrohttpd has let go of it */
} tenoni_handed;

typedef struct tenoni_connection {
    struct tenoni_connection *next;
    struct tenoni_connection **before; /* what points here */
    uint64_t number;
    tenoni_handed *handed; /* NULL when nothing of it is to be answered */
    int socket;
    char address[48]; /* where it is counted; "" where it is not */
    tenoni_phase phase;
    bool is_ended;    /* nothing that it sends is handed over any more */
    int64_t deadline; /* milliseconds of CLOCK_MONOTONIC */
    int64_t grace;    /* until when what a peer sent before it went may be read; 0 while the peer is there */
} tenoni_connection;

typedef struct tenoni_connections {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    pthread_t thread;
    pthread_t watcher;
    int epoll;
    int wake;                 /* an eventfd: the watcher is to end */
    void (*gone)(void *call); /* whose peer has gone; called once, and not for one that is answered */
    uint64_t count;           /* of connections that ever were */
    unsigned handed;          /* calls that are to be answered, although nobody may wait for that any more */
    tenoni_connection *first;
    int64_t patience; /* milliseconds */
    bool is_draining;
    bool is_over;
} tenoni_connections;

/* Starts a thread that ends what is late, and one that looks for peers that have gone; false when they cannot be. */
bool tenoni_connections_start(tenoni_connections *connections, unsigned seconds, void (*gone)(void *call));

/* Ends the connections that wait for a request, now or when they do, and returns when no connection and no call is
 * left. */
void tenoni_connections_drain(tenoni_connections *connections);

/* Ends the threads. */
void tenoni_connections_end(tenoni_connections *connections);

/* NULL without enough memory. */
tenoni_connection *tenoni_connections_add(tenoni_connections *connections, int socket);

/* Call it before the socket is closed. Accepts NULL. */
void tenoni_connections_remove(tenoni_connections *connections, tenoni_connection *connection);

/* Begins a phase and its timeout. Accepts NULL. Returns whether the connection should end after the answer. */
bool tenoni_connections_enter(tenoni_connections *connections, tenoni_connection *connection, tenoni_phase phase);

/* Begins TENONI_PHASE_HANDED; false where the connection was ended, and an answer would not arrive. Accepts NULL. */
bool tenoni_connections_hand(tenoni_connections *connections, tenoni_connection *connection);

/* From now on the peer of a call is watched, and the call waited for. Accepts NULL for the connection. */
void tenoni_connections_wait(tenoni_connections *connections, tenoni_connection *connection, tenoni_handed *handed);

/* What to do with a call that is answered. */
typedef enum tenoni_ending {
    TENONI_ENDING_SEND,
    TENONI_ENDING_NONE, /* its connection ends, and frees it */
    TENONI_ENDING_FREE
} tenoni_ending;

tenoni_ending tenoni_connections_answer(tenoni_connections *connections, tenoni_handed *handed);

/* Whether the peer has gone, so that no answer can be sent. */
bool tenoni_connections_is_gone(tenoni_connections *connections, const tenoni_handed *handed);

/* libmicrohttpd releases a call. Returns whether to free the call now; otherwise its answer frees it. */
bool tenoni_connections_let_go(tenoni_connections *connections, tenoni_handed *handed);

#endif
