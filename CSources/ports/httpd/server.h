/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_HTTPD_SERVER_H
#define TENONI_HTTPD_SERVER_H

/*
 * An HTTP/1.1 server over libmicrohttpd. It is written in C because Swift cannot call libmicrohttpd's variadic start
 * function. A request that is framed in more than one way, or in a way that another reader could read differently, is
 * refused before anybody sees it. Each request is handed over complete, on a thread of the server, which must not wait;
 * any thread may answer it. A client that closes one side of the connection before the answer gets no answer, and the
 * connection ends at once.
 *
 * libmicrohttpd 0.9.77 and later is told to be as strict as it can be. An older one takes NULs, line feeds alone and
 * spaces where others may read something else, and does not say so; they show only by where its texts lie in its
 * buffer, and are refused. What it drops before a request line, empty lines of either form, cannot be seen. So there a
 * connection of a proxy ends behind each answer: what the two of them read otherwise becomes nobody else's request.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct tenoni_httpd tenoni_httpd;

/* A request that waits for its answer. */
typedef struct tenoni_httpd_call tenoni_httpd_call;

typedef struct tenoni_httpd_options {
    int listener;            /* a listening socket that the caller owns; a stop shuts it down */
    const char *certificate; /* PEM texts, for TLS 1.2 or later; NULL means no TLS */
    const char *key;
    unsigned threads;
    unsigned connections;
    size_t body_max;
    bool is_proxied;  /* whether one connection carries requests of several clients */
    unsigned seconds; /* for a request to arrive, and for an answer to be sent */
    void (*handle)(void *context, tenoni_httpd_call *call);
    bool (*enter)(void *context, const char *address); /* counts one if it may be open; NULL: no limit */
    void (*leave)(void *context, const char *address); /* counts the end of such a connection */
    void *context;
} tenoni_httpd_options;

/* The peer of a connection. */
typedef struct tenoni_httpd_peer {
    char address[48]; /* an IP address; "" on a unix socket */
    int64_t user;     /* the user id on a unix socket, as the kernel reports it; otherwise -1 */
} tenoni_httpd_peer;

/* Returns NULL if there is not enough memory, no thread, or if the certificate or its key is invalid. */
tenoni_httpd *tenoni_httpd_start(const tenoni_httpd_options *options);

/* Stops accepting connections, answers the requests that were handed over, and ends. Blocks. */
void tenoni_httpd_stop(tenoni_httpd *server);

/* The request, valid until the answer. */
const char *tenoni_httpd_method(const tenoni_httpd_call *call);
const char *tenoni_httpd_target(const tenoni_httpd_call *call);
const uint8_t *tenoni_httpd_body(const tenoni_httpd_call *call, size_t *n);
void tenoni_httpd_peer_of(const tenoni_httpd_call *call, tenoni_httpd_peer *peer);

/* Calls `each` for each header, in order. */
void tenoni_httpd_headers(const tenoni_httpd_call *call, void *context,
                          void (*each)(void *context, const char *name, size_t name_n, const char *value,
                                       size_t value_n));

/* Set the parts of the answer in this order; the last function sends it and ends the call. The body is copied. */
void tenoni_httpd_set_body(tenoni_httpd_call *call, const uint8_t *body, size_t n);
void tenoni_httpd_add_header(tenoni_httpd_call *call, const char *name, const char *value);
void tenoni_httpd_answer(tenoni_httpd_call *call, unsigned status);

#endif
