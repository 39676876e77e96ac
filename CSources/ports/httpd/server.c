/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* struct ucred */
#include "server.h"
#include "connections.h"
#include "framing.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* Bytes of memory for a connection: its head, and the part of the body that is in transit. */
#define MEMORY 8192

struct tenoni_httpd {
    struct MHD_Daemon *daemon;
    int listener;
    tenoni_connections connections;
    size_t body_max;
    bool closes;
    void (*handle)(void *context, tenoni_httpd_call *call);
    bool (*enter)(void *context, const char *address);
    void (*leave)(void *context, const char *address);
    void *context;
};

typedef enum stage { STAGE_NEW, STAGE_RECEIVING, STAGE_HANDED } stage;

struct tenoni_httpd_call {
    tenoni_httpd *server;
    struct MHD_Connection *connection;
    tenoni_handed handed;
    stage stage;
    char *target;
    const char *sent; /* the address of the target in the library's buffer */
    const char *method;
    uint8_t *body;
    size_t body_n;
    size_t body_size;
    struct MHD_Response *response;
    unsigned status;
};

static tenoni_connection *known(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info != NULL ? info->socket_context : NULL;
}

static int descriptor(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info != NULL ? info->connect_fd : -1;
}

static void write_address(char *text, socklen_t text_n, const struct sockaddr_storage *address)
{
    struct sockaddr_in6 v6;
    struct sockaddr_in v4;
    if (address->ss_family == AF_INET) {
        memcpy(&v4, address, sizeof v4);
        (void)inet_ntop(AF_INET, &v4.sin_addr, text, text_n);
    } else if (address->ss_family == AF_INET6) {
        memcpy(&v6, address, sizeof v6);
        if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr))
            (void)inet_ntop(AF_INET, v6.sin6_addr.s6_addr + 12, text, text_n);
        else
            (void)inet_ntop(AF_INET6, &v6.sin6_addr, text, text_n);
    }
}

/* Counts a connection, and shuts it down if its address already has the most that it may have. */
static void count(tenoni_httpd *server, tenoni_connection *connection)
{
    struct sockaddr_storage peer = {0};
    socklen_t peer_n = sizeof peer;
    if (getpeername(connection->socket, (struct sockaddr *)&peer, &peer_n) == 0)
        write_address(connection->address, sizeof connection->address, &peer);
    if (connection->address[0] == '\0' || server->enter(server->context, connection->address))
        return;
    connection->address[0] = '\0';
    (void)shutdown(connection->socket, SHUT_RDWR);
}

static void on_connection(void *context, struct MHD_Connection *connection, void **state,
                          enum MHD_ConnectionNotificationCode what)
{
    tenoni_httpd *server = context;
    tenoni_connection *this = *state;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        *state = this = tenoni_connections_add(&server->connections, descriptor(connection));
        if (this != NULL && server->enter != NULL)
            count(server, this);
        return;
    }
    if (this != NULL && this->address[0] != '\0')
        server->leave(server->context, this->address);
    tenoni_connections_remove(&server->connections, this);
    *state = NULL;
}

/* The library shows the target as it was sent only here. */
static void *on_target(void *context, const char *target, struct MHD_Connection *connection)
{
    tenoni_httpd_call *call = calloc(1, sizeof *call);
    if (call == NULL)
        return NULL;
    call->server = context;
    call->connection = connection;
    call->handed.call = call;
    call->target = strdup(target);
    call->sent = target;
    return call;
}

static void free_call(tenoni_httpd_call *call)
{
    if (call->response != NULL)
        MHD_destroy_response(call->response);
    free(call->target);
    free(call->body);
    free(call);
}

static void on_completed(void *context, struct MHD_Connection *connection, void **state,
                         enum MHD_RequestTerminationCode why)
{
    tenoni_httpd *server = context;
    tenoni_httpd_call *call = *state;
    (void)why;
    (void)tenoni_connections_enter(&server->connections, known(connection), TENONI_PHASE_READING);
    *state = NULL;
    if (call != NULL && (call->stage != STAGE_HANDED || tenoni_connections_let_go(&server->connections, &call->handed)))
        free_call(call);
}

static enum MHD_Result refuse(tenoni_httpd_call *call, tenoni_refusal refusal)
{
    char body[160];
    int n = snprintf(body, sizeof body, "{\"error_code\":\"INVALID_REQUEST\",\"message\":\"%s\"}", refusal.reason);
    call->response = MHD_create_response_from_buffer((size_t)n, body, MHD_RESPMEM_MUST_COPY);
    if (call->response == NULL)
        return MHD_NO;
    (void)MHD_add_response_header(call->response, "Content-Type", "application/json");
    (void)MHD_add_response_header(call->response, "Connection", "close");
    return MHD_queue_response(call->connection, refusal.status, call->response);
}

static enum MHD_Result begin(tenoni_httpd_call *call, const char *method, const char *version)
{
    tenoni_request_line line = {.method = method, .target = call->target, .sent = call->sent, .version = version};
    tenoni_refusal refusal = tenoni_framing_check(&call->body_size, call->connection, &line);
    call->stage = STAGE_RECEIVING;
    call->method = method;
    if (refusal.status == 0 && call->body_size > call->server->body_max)
        refusal = (tenoni_refusal){413, "The body is too large."};
    if (refusal.status != 0)
        return refuse(call, refusal);
    call->body = malloc(call->body_size + 1);
    return call->body != NULL ? MHD_YES : MHD_NO;
}

static enum MHD_Result receive(tenoni_httpd_call *call, const char *bytes, size_t *n)
{
    if (*n > call->body_size - call->body_n)
        return MHD_NO;
    memcpy(call->body + call->body_n, bytes, *n);
    call->body_n += *n;
    *n = 0;
    return MHD_YES;
}

static enum MHD_Result hand_over(tenoni_httpd_call *call)
{
    tenoni_httpd *server = call->server;
    if (!tenoni_connections_hand(&server->connections, known(call->connection)))
        return MHD_NO;
    call->stage = STAGE_HANDED;
    /* Must be first: before the handler returns, the answer may be ready, and the peer may have gone. */
    MHD_suspend_connection(call->connection);
    tenoni_connections_wait(&server->connections, known(call->connection), &call->handed);
    server->handle(server->context, call);
    return MHD_YES;
}

static enum MHD_Result answer(tenoni_httpd_call *call)
{
    tenoni_connections *connections = &call->server->connections;
    bool is_last = tenoni_connections_enter(connections, known(call->connection), TENONI_PHASE_ANSWERING);
    if (tenoni_connections_is_gone(connections, &call->handed) || call->response == NULL)
        return MHD_NO;
    if (is_last || call->server->closes)
        (void)MHD_add_response_header(call->response, "Connection", "close");
    return MHD_queue_response(call->connection, call->status, call->response);
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *path,
                                  const char *method, const char *version, const char *bytes, size_t *n, void **state)
{
    tenoni_httpd_call *call = *state;
    (void)context, (void)connection, (void)path;
    if (call == NULL || call->target == NULL)
        return MHD_NO;
    switch (call->stage) {
    case STAGE_NEW:
        return begin(call, method, version);
    case STAGE_RECEIVING:
        return *n > 0 ? receive(call, bytes, n) : hand_over(call);
    default:
        return answer(call);
    }
}

/* The peer has gone. The next callback of libmicrohttpd gets MHD_NO. */
static void on_gone(void *context)
{
    tenoni_httpd_call *call = context;
    MHD_resume_connection(call->connection);
}

/* MHD_OPTION_CLIENT_DISCIPLINE_LVL, which older headers do not define, and its strictest value. */
#define DISCIPLINE ((enum MHD_OPTION)38)
#define STRICTEST 3

static struct MHD_Daemon *start(tenoni_httpd *server, const tenoni_httpd_options *options)
{
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME;
    struct MHD_OptionItem strict = {MHD_OPTION_STRICT_FOR_CLIENT, 1, NULL};
    struct MHD_OptionItem more[] = {
        tenoni_framing_is_strict() ? (struct MHD_OptionItem){DISCIPLINE, STRICTEST, NULL} : strict,
        {options->threads > 1 ? MHD_OPTION_THREAD_POOL_SIZE : MHD_OPTION_END, (intptr_t)options->threads, NULL},
        {MHD_OPTION_END, 0, NULL},
    };
    struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)(uintptr_t)options->certificate},
        {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)options->key},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t) "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"},
        {MHD_OPTION_END, 0, NULL},
    };
    struct MHD_OptionItem none = {MHD_OPTION_END, 0, NULL};
    return MHD_start_daemon(options->certificate != NULL ? flags | MHD_USE_TLS : flags, 0, NULL, NULL, on_request,
                            server, MHD_OPTION_LISTEN_SOCKET, fcntl(options->listener, F_DUPFD_CLOEXEC, 0),
                            MHD_OPTION_ARRAY, more, MHD_OPTION_ARRAY, options->certificate != NULL ? tls : &none,
                            MHD_OPTION_CONNECTION_LIMIT, options->connections, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
                            (size_t)MEMORY, MHD_OPTION_URI_LOG_CALLBACK, on_target, server,
                            MHD_OPTION_NOTIFY_CONNECTION, on_connection, server, MHD_OPTION_NOTIFY_COMPLETED,
                            on_completed, server, MHD_OPTION_END);
}

tenoni_httpd *tenoni_httpd_start(const tenoni_httpd_options *options)
{
    tenoni_httpd *server = calloc(1, sizeof *server);
    if (server == NULL)
        return NULL;
    server->listener = options->listener;
    server->body_max = options->body_max;
    server->closes = options->is_proxied && !tenoni_framing_is_strict();
    server->handle = options->handle;
    server->enter = options->enter;
    server->leave = options->leave;
    server->context = options->context;
    if (!tenoni_connections_start(&server->connections, options->seconds, on_gone)) {
        free(server);
        return NULL;
    }
    server->daemon = start(server, options);
    if (server->daemon != NULL)
        return server;
    tenoni_connections_end(&server->connections);
    free(server);
    return NULL;
}

void tenoni_httpd_stop(tenoni_httpd *server)
{
    /* MHD_quiesce_daemon is no choice: it races with the daemon's own threads, and then ends the process. */
    (void)shutdown(server->listener, SHUT_RDWR);
    tenoni_connections_drain(&server->connections);
    MHD_stop_daemon(server->daemon);
    tenoni_connections_end(&server->connections);
    free(server);
}

const char *tenoni_httpd_method(const tenoni_httpd_call *call)
{
    return call->method;
}

const char *tenoni_httpd_target(const tenoni_httpd_call *call)
{
    return call->target;
}

const uint8_t *tenoni_httpd_body(const tenoni_httpd_call *call, size_t *n)
{
    *n = call->body_n;
    return call->body;
}

void tenoni_httpd_peer_of(const tenoni_httpd_call *call, tenoni_httpd_peer *peer)
{
    struct sockaddr_storage address = {0};
    socklen_t address_n = sizeof address;
    struct ucred user;
    socklen_t user_n = sizeof user;
    int socket = descriptor(call->connection);
    *peer = (tenoni_httpd_peer){.user = -1};
    if (getpeername(socket, (struct sockaddr *)&address, &address_n) != 0)
        return;
    write_address(peer->address, sizeof peer->address, &address);
    if (address.ss_family == AF_UNIX && getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &user, &user_n) == 0)
        peer->user = user.uid;
}

typedef struct header_sink {
    void *context;
    void (*each)(void *context, const char *name, size_t name_n, const char *value, size_t value_n);
} header_sink;

static enum MHD_Result on_header(void *context, enum MHD_ValueKind kind, const char *name, size_t name_n,
                                 const char *value, size_t value_n)
{
    const header_sink *sink = context;
    (void)kind;
    sink->each(sink->context, name, name_n, value, value_n);
    return MHD_YES;
}

void tenoni_httpd_headers(const tenoni_httpd_call *call, void *context,
                          void (*each)(void *context, const char *name, size_t name_n, const char *value,
                                       size_t value_n))
{
    header_sink sink = {context, each};
    (void)MHD_get_connection_values_n(call->connection, MHD_HEADER_KIND, on_header, &sink);
}

void tenoni_httpd_set_body(tenoni_httpd_call *call, const uint8_t *body, size_t n)
{
    call->response = MHD_create_response_from_buffer(n, (void *)(uintptr_t)body, MHD_RESPMEM_MUST_COPY);
}

void tenoni_httpd_add_header(tenoni_httpd_call *call, const char *name, const char *value)
{
    if (call->response != NULL)
        (void)MHD_add_response_header(call->response, name, value);
}

void tenoni_httpd_answer(tenoni_httpd_call *call, unsigned status)
{
    call->status = status;
    switch (tenoni_connections_answer(&call->server->connections, &call->handed)) {
    case TENONI_ENDING_SEND:
        MHD_resume_connection(call->connection);
        break;
    case TENONI_ENDING_NONE:
        break;
    case TENONI_ENDING_FREE:
        free_call(call);
        break;
    }
}
