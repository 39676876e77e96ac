/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* SOCK_CLOEXEC, CLOCK_BOOTTIME */
#include "exchange.h"
#include "failure.h"
#include "library.h"

#include <arpa/inet.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Node closes connections that were idle for 5 s; reusing one sooner seldom meets one that is being closed. */
#define MAX_IDLE_SECONDS 4L

struct tenoni_exchange {
    CURLM *multi;
    CURL *easy;
    struct curl_slist *headers;
    pid_t owner;
    bool is_plain;
    bool has_body;   /* which may be empty */
    bool has_failed; /* an option could not be set */
    const tenoni_exchange_limits *limits;
    tenoni_exchange_result stop; /* why we ended it ourselves */
    tenoni_exchange_answer answer;
    size_t head_seen; /* including the heads before the final answer */
    bool is_final;    /* the head of the final answer is complete */
    bool is_too_large;
    char head[TENONI_EXCHANGE_MAX_HEAD];
    uint8_t body[TENONI_EXCHANGE_MAX_BODY];
};

static const tenoni_curl *const curl = &tenoni_curl_library;

tenoni_exchange *tenoni_exchange_new(void)
{
    tenoni_exchange *exchange = NULL;
    if (tenoni_exchange_load())
        exchange = calloc(1, sizeof *exchange);
    if (exchange == NULL)
        return NULL;
    exchange->owner = getpid();
    exchange->multi = curl->multi_init();
    exchange->easy = curl->easy_init();
    if (exchange->multi != NULL && exchange->easy != NULL)
        return exchange;
    tenoni_exchange_free(exchange);
    return NULL;
}

void tenoni_exchange_free(tenoni_exchange *exchange)
{
    if (exchange == NULL || exchange->owner != getpid())
        return;
    curl->easy_cleanup(exchange->easy);
    curl->multi_cleanup(exchange->multi);
    curl->slist_free_all(exchange->headers);
    free(exchange);
}

void tenoni_exchange_wake(tenoni_exchange *exchange)
{
    (void)curl->multi_wakeup(exchange->multi);
}

static int64_t now(clockid_t clock)
{
    struct timespec time;
    return clock_gettime(clock, &time) == 0 ? (int64_t)time.tv_sec * 1000000000 + time.tv_nsec : 0;
}

static tenoni_exchange_moment moment(void)
{
    return (tenoni_exchange_moment){.boot = now(CLOCK_BOOTTIME), .real = now(CLOCK_REALTIME)};
}

static int64_t limit(const tenoni_exchange *exchange)
{
    const tenoni_exchange_limits *limits = exchange->limits;
    bool connects = !exchange->answer.is_sent && limits->connected_by < limits->answered_by;
    return connects ? limits->connected_by : limits->answered_by;
}

/* Notes the reason why the exchange must end now, if there is one. */
static bool must_stop(tenoni_exchange *exchange)
{
    if (now(CLOCK_BOOTTIME) >= limit(exchange))
        exchange->stop = TENONI_EXCHANGE_TIMEOUT;
    else if (exchange->limits->is_cancelled(exchange->limits->context))
        exchange->stop = TENONI_EXCHANGE_CANCELLED;
    return exchange->stop != TENONI_EXCHANGE_OK;
}

/*
 * libcurl calls this when it is connected and about to send the request. It calls it again when a kept connection turns
 * out to be dead and it would send the request once more. A request is sent only once.
 */
static int on_ready(void *context, char *address, char *own_address, int port, int own_port)
{
    tenoni_exchange *exchange = context;
    (void)address, (void)own_address, (void)port, (void)own_port;
    if (exchange->answer.is_sent || must_stop(exchange))
        return CURL_PREREQFUNC_ABORT;
    exchange->answer.sent = moment();
    exchange->answer.is_sent = 1;
    return CURL_PREREQFUNC_OK;
}

static bool is_loopback(const struct sockaddr *address, unsigned int length)
{
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    if (address->sa_family == AF_INET && length >= sizeof v4) {
        memcpy(&v4, address, sizeof v4);
        return ntohl(v4.sin_addr.s_addr) >> 24 == 127;
    }
    if (address->sa_family == AF_INET6 && length >= sizeof v6) {
        memcpy(&v6, address, sizeof v6);
        return IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr);
    }
    return address->sa_family == AF_UNIX;
}

static curl_socket_t on_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address)
{
    const tenoni_exchange *exchange = context;
    (void)purpose;
    if (exchange->is_plain && !is_loopback(&address->addr, address->addrlen))
        return CURL_SOCKET_BAD;
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static bool is_blank(const char *line, size_t n)
{
    return n == 1 ? line[0] == '\n' : n == 2 && line[0] == '\r' && line[1] == '\n';
}

/* Takes one line of a head, or of trailers, which nobody asked for. A status line begins another head. */
static size_t on_head(char *line, size_t size, size_t n, void *context)
{
    tenoni_exchange *exchange = context;
    tenoni_exchange_answer *answer = &exchange->answer;
    long status = 0;
    n *= size;
    if (n > TENONI_EXCHANGE_MAX_HEAD - exchange->head_seen) {
        exchange->is_too_large = true;
        return 0;
    }
    exchange->head_seen += n;
    if (exchange->is_final)
        return n;
    if (n >= 5 && strncmp(line, "HTTP/", 5) == 0)
        answer->head_n = 0;
    memcpy(exchange->head + answer->head_n, line, n);
    answer->head_n += n;
    exchange->is_final = is_blank(line, n) &&
                         curl->easy_getinfo(exchange->easy, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK &&
                         status >= 200;
    return n;
}

static size_t on_body(char *bytes, size_t size, size_t n, void *context)
{
    tenoni_exchange *exchange = context;
    tenoni_exchange_answer *answer = &exchange->answer;
    n *= size;
    if (n > TENONI_EXCHANGE_MAX_BODY - answer->body_n) {
        exchange->is_too_large = true;
        return 0;
    }
    memcpy(exchange->body + answer->body_n, bytes, n);
    answer->body_n += n;
    return n;
}

#define SET(option, value)                                                                                             \
    do {                                                                                                               \
        if (curl->easy_setopt(exchange->easy, option, value) != CURLE_OK)                                              \
            exchange->has_failed = true;                                                                               \
    } while (0)

static void set_protocol(tenoni_exchange *exchange)
{
    SET(CURLOPT_PROTOCOLS_STR, exchange->is_plain ? "http" : "https");
    SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    SET(CURLOPT_HTTP09_ALLOWED, 0L);
    SET(CURLOPT_FOLLOWLOCATION, 0L);
    SET(CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    SET(CURLOPT_PROXY, "");
    SET(CURLOPT_NOPROXY, "");
    SET(CURLOPT_HTTPPROXYTUNNEL, 1L);
    SET(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    SET(CURLOPT_HEADEROPT, (long)CURLHEADER_SEPARATE); /* our headers do not go to a proxy */
    SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    SET(CURLOPT_SSL_VERIFYPEER, 1L);
    SET(CURLOPT_SSL_VERIFYHOST, 2L);
}

static void set_connection(tenoni_exchange *exchange)
{
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_NOPROGRESS, 1L);
    SET(CURLOPT_QUICK_EXIT, 1L); /* does not wait for a pending name lookup */
    SET(CURLOPT_TCP_NODELAY, 1L);
    SET(CURLOPT_MAXAGE_CONN, MAX_IDLE_SECONDS);
    SET(CURLOPT_OPENSOCKETFUNCTION, on_socket);
    SET(CURLOPT_OPENSOCKETDATA, exchange);
    SET(CURLOPT_PREREQFUNCTION, on_ready);
    SET(CURLOPT_PREREQDATA, exchange);
    SET(CURLOPT_HEADERFUNCTION, on_head);
    SET(CURLOPT_HEADERDATA, exchange);
    SET(CURLOPT_WRITEFUNCTION, on_body);
    SET(CURLOPT_WRITEDATA, exchange);
}

static void set_method(tenoni_exchange *exchange, const char *method)
{
    exchange->has_body = method[0] == 'P';
    SET(CURLOPT_HTTPGET, 1L);
    SET(CURLOPT_CUSTOMREQUEST, method);
}

void tenoni_exchange_begin(tenoni_exchange *exchange, const char *method, int is_plain)
{
    curl->easy_reset(exchange->easy);
    curl->slist_free_all(exchange->headers);
    exchange->headers = NULL;
    exchange->is_plain = is_plain != 0;
    exchange->has_failed = false;
    exchange->stop = TENONI_EXCHANGE_OK;
    exchange->answer = (tenoni_exchange_answer){.head = exchange->head, .body = exchange->body};
    exchange->head_seen = 0;
    exchange->is_final = false;
    exchange->is_too_large = false;
    set_protocol(exchange);
    set_connection(exchange);
    set_method(exchange, method);
    tenoni_exchange_set(exchange, TENONI_EXCHANGE_HEADER, "Expect:");
}

static void add_header(tenoni_exchange *exchange, const char *line)
{
    struct curl_slist *headers = curl->slist_append(exchange->headers, line);
    if (headers != NULL)
        exchange->headers = headers;
    else
        exchange->has_failed = true;
}

/* The target was signed. libcurl would leave out dots and, as 8.14 does, a question mark with nothing behind it. */
static void set_target(tenoni_exchange *exchange, const char *url)
{
    const char *host = strstr(url, "://");
    const char *target = host != NULL ? strpbrk(host + 3, "/?") : NULL;
    if (target != NULL && *target == '/')
        SET(CURLOPT_REQUEST_TARGET, target);
}

static CURLoption option_of(tenoni_exchange_text what)
{
    static const CURLoption options[] = {
        [TENONI_EXCHANGE_URL] = CURLOPT_URL,
        [TENONI_EXCHANGE_AGENT] = CURLOPT_USERAGENT,
        [TENONI_EXCHANGE_CA_FILE] = CURLOPT_CAINFO,
        [TENONI_EXCHANGE_PINS] = CURLOPT_PINNEDPUBLICKEY,
        [TENONI_EXCHANGE_UNIX_SOCKET] = CURLOPT_UNIX_SOCKET_PATH,
        [TENONI_EXCHANGE_HTTP_PROXY] = CURLOPT_PROXY,
    };
    return options[what];
}

void tenoni_exchange_set(tenoni_exchange *exchange, tenoni_exchange_text what, const char *text)
{
    if (what == TENONI_EXCHANGE_HEADER) {
        add_header(exchange, text);
        return;
    }
    SET(option_of(what), text);
    if (what == TENONI_EXCHANGE_URL)
        set_target(exchange, text);
    if (what == TENONI_EXCHANGE_CA_FILE)
        SET(CURLOPT_CAPATH, (char *)NULL); /* otherwise the system's CAs would be trusted, too */
}

static tenoni_exchange_result result(const tenoni_exchange *exchange, CURLcode code)
{
    if (exchange->stop != TENONI_EXCHANGE_OK)
        return exchange->stop;
    if (exchange->is_too_large)
        return TENONI_EXCHANGE_TOO_LARGE;
    if (code == CURLE_OK) /* libcurl accepts a truncated head */
        return exchange->is_final ? TENONI_EXCHANGE_OK : TENONI_EXCHANGE_CUT;
    return exchange->answer.is_sent ? tenoni_failure_after_sending(code)
                                    : tenoni_failure_before_sending(exchange->easy, code);
}

static int milliseconds_left(const tenoni_exchange *exchange)
{
    int64_t left = (limit(exchange) - now(CLOCK_BOOTTIME)) / 1000000 + 1;
    return left < 1 ? 1 : left < INT_MAX ? (int)left : INT_MAX;
}

/* Waits for the transfer to end, or for the limits. */
static CURLcode drive(tenoni_exchange *exchange)
{
    int count = 0;
    while (curl->multi_perform(exchange->multi, &count) == CURLM_OK) {
        const CURLMsg *message = curl->multi_info_read(exchange->multi, &count);
        if (message != NULL)
            return message->data.result;
        if (must_stop(exchange))
            return CURLE_ABORTED_BY_CALLBACK;
        if (curl->multi_poll(exchange->multi, NULL, 0, milliseconds_left(exchange), NULL) != CURLM_OK)
            break;
    }
    return CURLE_RECV_ERROR;
}

static void set_transfer(tenoni_exchange *exchange, const uint8_t *body, size_t body_n)
{
    SET(CURLOPT_CONNECTTIMEOUT_MS, (long)milliseconds_left(exchange));
    SET(CURLOPT_HTTPHEADER, exchange->headers);
    if (body_n == 0 && !exchange->has_body)
        return;
    SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body_n);
    SET(CURLOPT_POSTFIELDS, body_n > 0 ? (const char *)body : "");
}

tenoni_exchange_result tenoni_exchange_perform(tenoni_exchange *exchange, tenoni_exchange_answer *answer,
                                               const tenoni_exchange_limits *limits, const uint8_t *body, size_t body_n)
{
    tenoni_exchange_result ended = TENONI_EXCHANGE_MEMORY;
    exchange->limits = limits;
    set_transfer(exchange, body, body_n);
    if (must_stop(exchange))
        ended = exchange->stop;
    else if (!exchange->has_failed && curl->multi_add_handle(exchange->multi, exchange->easy) == CURLM_OK) {
        ended = result(exchange, drive(exchange));
        exchange->answer.received = moment();
        (void)curl->multi_remove_handle(exchange->multi, exchange->easy);
    }
    *answer = exchange->answer;
    return ended;
}
