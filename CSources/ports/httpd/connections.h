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
    TENONI_PHASE_READING, /* reads a request, or waits for one */
    TENONI_PHASE_HANDED,  /* the answer is being made; there is no deadline */
    TENONI_PHASE_ANSWERING
} tenoni_phase;

/* A call that was handed over. Its answer and its connection may end in either order. */
typedef struct tenoni_handed {
    void *call;
    struct tenoni_connection *connection; /* NULL once the connection has ended */
    bool is_gone;                         /* its peer has gone */
    bool is_answered;
    bool is_over; /* libmicrohttpd has released it */
} tenoni_handed;

typedef struct tenoni_connection {
    struct tenoni_connection *next;
    struct tenoni_connection **before; /* the pointer to this connection */
    uint64_t number;
    tenoni_handed *handed; /* NULL if it has no call to answer */
    int socket;
    char address[48]; /* the address that it counts for; "" if it is not counted */
    tenoni_phase phase;
    bool is_ended;    /* further requests are not handed over */
    int64_t deadline; /* milliseconds of CLOCK_MONOTONIC */
    int64_t grace;    /* end of the time to read the last bytes of a gone peer; 0 while the peer is there */
} tenoni_connection;

typedef struct tenoni_connections {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    pthread_t thread;
    pthread_t watcher;
    int epoll;
    int wake;                 /* an eventfd that ends the watcher */
    void (*gone)(void *call); /* called once for an unanswered call whose peer has gone */
    uint64_t count;           /* of all connections so far */
    unsigned handed;          /* unanswered calls, including those whose peer has gone */
    tenoni_connection *first;
    int64_t patience; /* milliseconds */
    bool is_draining;
    bool is_over;
} tenoni_connections;

/* Starts a thread that ends late connections and one that notices gone peers. Returns false if it cannot. */
bool tenoni_connections_start(tenoni_connections *connections, unsigned seconds, void (*gone)(void *call));

/* Ends each connection as soon as it waits for a request. Returns when no connection and no call is left. */
void tenoni_connections_drain(tenoni_connections *connections);

/* Ends the threads. */
void tenoni_connections_end(tenoni_connections *connections);

/* Returns NULL if there is not enough memory. */
tenoni_connection *tenoni_connections_add(tenoni_connections *connections, int socket);

/* Call it before the socket is closed. Accepts NULL. */
void tenoni_connections_remove(tenoni_connections *connections, tenoni_connection *connection);

/* Begins a phase and its timeout. Accepts NULL. Returns whether the connection should end after the answer. */
bool tenoni_connections_enter(tenoni_connections *connections, tenoni_connection *connection, tenoni_phase phase);

/* Begins TENONI_PHASE_HANDED. False if the connection has ended, so that no answer would arrive. Accepts NULL. */
bool tenoni_connections_hand(tenoni_connections *connections, tenoni_connection *connection);

/* From now on, watches the peer of the call, and lets a stop wait for the call. Accepts NULL for the connection. */
void tenoni_connections_wait(tenoni_connections *connections, tenoni_connection *connection, tenoni_handed *handed);

/* What to do with a call that is answered. */
typedef enum tenoni_ending {
    TENONI_ENDING_SEND,
    TENONI_ENDING_NONE, /* the end of the connection frees it */
    TENONI_ENDING_FREE
} tenoni_ending;

tenoni_ending tenoni_connections_answer(tenoni_connections *connections, tenoni_handed *handed);

/* Whether the peer has gone, so that no answer can be sent. */
bool tenoni_connections_is_gone(tenoni_connections *connections, const tenoni_handed *handed);

/* libmicrohttpd releases a call. Returns whether to free the call now; otherwise its answer frees it. */
bool tenoni_connections_let_go(tenoni_connections *connections, tenoni_handed *handed);

#endif
