/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_EXCHANGE_H
#define TENONI_EXCHANGE_H

/*
 * HTTP exchanges over libcurl, one at a time on one thread. They are written in C because Swift cannot call libcurl's
 * variadic function. The order is begin, set, perform. The caller has checked each text: nothing here looks for a line
 * feed in a header. libcurl keeps copies of texts, and only borrows the body.
 */

#include <stddef.h>
#include <stdint.h>

/* The largest accepted sizes, in bytes. */
#define TENONI_EXCHANGE_MAX_BODY 65536
#define TENONI_EXCHANGE_MAX_HEAD 16384

typedef struct tenoni_exchange tenoni_exchange;

typedef enum tenoni_exchange_result {
    TENONI_EXCHANGE_OK,
    TENONI_EXCHANGE_CANCELLED,
    TENONI_EXCHANGE_TIMEOUT,
    TENONI_EXCHANGE_MEMORY,     /* or an option that this libcurl does not have */
    TENONI_EXCHANGE_RESOLVE,    /* no address for the host, or the proxy */
    TENONI_EXCHANGE_CONNECT,    /* refused, unreachable, cut while connecting */
    TENONI_EXCHANGE_PROXY,      /* the proxy refuses to connect */
    TENONI_EXCHANGE_HANDSHAKE,  /* TLS found no common ground, or was cut */
    TENONI_EXCHANGE_TRUST_FILE, /* the CA file cannot be read */
    TENONI_EXCHANGE_UNTRUSTED,  /* no trusted CA issued the certificate */
    TENONI_EXCHANGE_DATE,       /* a certificate is not valid now */
    TENONI_EXCHANGE_HOST,       /* the certificate is for another host */
    TENONI_EXCHANGE_PIN,        /* the certificate's key matches no pin */
    TENONI_EXCHANGE_CUT,        /* the connection ended before the answer did */
    TENONI_EXCHANGE_TOO_LARGE,
    TENONI_EXCHANGE_MALFORMED
} tenoni_exchange_result;

typedef enum tenoni_exchange_text {
    TENONI_EXCHANGE_URL,
    TENONI_EXCHANGE_AGENT,
    TENONI_EXCHANGE_CA_FILE, /* instead of the system's CAs */
    TENONI_EXCHANGE_PINS,    /* "sha256//BASE64;sha256//BASE64" */
    TENONI_EXCHANGE_UNIX_SOCKET,
    TENONI_EXCHANGE_HTTP_PROXY, /* proxies in the environment are ignored */
    TENONI_EXCHANGE_HEADER      /* adds one: "Name: value" or "Name;" */
} tenoni_exchange_text;

/* The deadline, in nanoseconds of CLOCK_BOOTTIME. `is_cancelled` is called after each wake. */
typedef struct tenoni_exchange_limits {
    int64_t connected_by;
    int64_t answered_by;
    int (*is_cancelled)(void *context);
    void *context;
} tenoni_exchange_limits;

/* Nanoseconds of CLOCK_BOOTTIME and CLOCK_REALTIME. */
typedef struct tenoni_exchange_moment {
    int64_t boot;
    int64_t real;
} tenoni_exchange_moment;

/* Valid until the next begin. */
typedef struct tenoni_exchange_answer {
    int is_sent;      /* whether a byte of the request may have left; also set after a failure */
    const char *head; /* of the final answer: status line, headers, empty line */
    size_t head_n;
    const uint8_t *body;
    size_t body_n;
    tenoni_exchange_moment sent; /* just before the first byte */
    tenoni_exchange_moment received;
} tenoni_exchange_answer;

/* Loads libcurl at the first call; returns zero if libcurl is missing. */
int tenoni_exchange_load(void);

/* Returns NULL if there is not enough memory or no libcurl. */
tenoni_exchange *tenoni_exchange_new(void);

/* Accepts NULL. In a fork's child it closes nothing, because that would end the parent's TLS connections. */
void tenoni_exchange_free(tenoni_exchange *exchange);

/* `method` is GET, POST, PUT, PATCH or DELETE. `is_plain` means without TLS, which is allowed to loopback only. */
void tenoni_exchange_begin(tenoni_exchange *exchange, const char *method, int is_plain);

void tenoni_exchange_set(tenoni_exchange *exchange, tenoni_exchange_text what, const char *text);

/* Blocks. */
tenoni_exchange_result tenoni_exchange_perform(tenoni_exchange *exchange, tenoni_exchange_answer *answer,
                                               const tenoni_exchange_limits *limits, const uint8_t *body,
                                               size_t body_n);

/* Makes perform check `is_cancelled` again. Any thread may call this at any time. */
void tenoni_exchange_wake(tenoni_exchange *exchange);

#endif
