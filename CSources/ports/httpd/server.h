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

/* One request, which waits for its answer. */
typedef struct tenoni_httpd_call tenoni_httpd_call;

typedef struct tenoni_httpd_options {
    int listener;            /* a socket that listens; it stays the caller's; nobody connects to it after a stop */
    const char *certificate; /* PEM texts: TLS 1.2 or later; NULL without */
    const char *key;
    unsigned threads;
    unsigned connections;
    size_t body_max;
    bool is_proxied;  /* whether others come by the same connections */
    unsigned seconds; /* in which a request has to be here, and an answer to be gone */
    void (*handle)(void *context, tenoni_httpd_call *call);
    bool (*enter)(void *context, const char *address); /* whether one more may come from there; NULL for any number */
    void (*leave)(void *context, const char *address); /* one of those has gone */
    void *context;
} tenoni_httpd_options;

/* Who is at the other end. */
typedef struct tenoni_httpd_peer {
    char address[48]; /* an IP address; "" on a unix socket */
    int64_t user;     /* the user id on a unix socket, as the kernel says; otherwise -1 */
} tenoni_httpd_peer;

/* NULL without enough memory, without a thread, or if the certificate or its key is invalid. */
tenoni_httpd *tenoni_httpd_start(const tenoni_httpd_options *options);

/* Takes no connection any more, answers what was handed over, and ends. Blocks. */
void tenoni_httpd_stop(tenoni_httpd *server);

/* What was asked; good until the answer. */
const char *tenoni_httpd_method(const tenoni_httpd_call *call);
const char *tenoni_httpd_target(const tenoni_httpd_call *call);
const uint8_t *tenoni_httpd_body(const tenoni_httpd_call *call, size_t *n);
void tenoni_httpd_peer_of(const tenoni_httpd_call *call, tenoni_httpd_peer *peer);

/* Calls for each header, in their order. */
void tenoni_httpd_headers(const tenoni_httpd_call *call, void *context,
                          void (*each)(void *context, const char *name, size_t name_n, const char *value,
                                       size_t value_n));

/* The answer's parts in this order, and then the answer, which ends the call. The body is copied. */
void tenoni_httpd_set_body(tenoni_httpd_call *call, const uint8_t *body, size_t n);
void tenoni_httpd_add_header(tenoni_httpd_call *call, const char *name, const char *value);
void tenoni_httpd_answer(tenoni_httpd_call *call, unsigned status);

#endif
