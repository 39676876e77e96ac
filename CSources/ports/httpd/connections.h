/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_HTTPD_CONNECTIONS_H
#define TENONI_HTTPD_CONNECTIONS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The connections that are open, so that a slow one ends: libmicrohttpd's own timeout begins anew with each byte. And
 * so that a stop can wait for those that are about to be answered.
 */

typedef enum tenoni_phase {
    TENONI_PHASE_READING, /* of a request, or waiting for one */
    TENONI_PHASE_HANDED,  /* somebody makes the answer: no time runs */
    TENONI_PHASE_ANSWERING
} tenoni_phase;

typedef struct tenoni_connection {
    struct tenoni_connection *next;
    struct tenoni_connection **before; /* what points here */
    int socket;
    char address[48]; /* where it is counted; "" where it is not */
    tenoni_phase phase;
    bool is_ended;    /* nothing that it sends is handed over any more */
    int64_t deadline; /* milliseconds of CLOCK_MONOTONIC */
} tenoni_connection;

typedef struct tenoni_connections {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    pthread_t thread;
    tenoni_connection *first;
    int64_t patience; /* milliseconds */
    bool is_draining;
    bool is_over;
} tenoni_connections;

/* Starts the thread that ends what is late; false when it cannot. */
bool tenoni_connections_start(tenoni_connections *connections, unsigned seconds);

/* Ends the connections that wait for a request, now or when they do, and returns when there is none left. */
void tenoni_connections_drain(tenoni_connections *connections);

/* Ends the thread. */
void tenoni_connections_end(tenoni_connections *connections);

/* NULL when there is no memory. */
tenoni_connection *tenoni_connections_add(tenoni_connections *connections, int socket);

/* Before the socket is closed. Accepts NULL. */
void tenoni_connections_remove(tenoni_connections *connections, tenoni_connection *connection);

/* Begins a phase, and its time. Accepts NULL. Says whether the connection should end behind the answer. */
bool tenoni_connections_enter(tenoni_connections *connections, tenoni_connection *connection, tenoni_phase phase);

/* Begins TENONI_PHASE_HANDED; false where the connection was ended, and an answer would not arrive. Accepts NULL. */
bool tenoni_connections_hand(tenoni_connections *connections, tenoni_connection *connection);

#endif
