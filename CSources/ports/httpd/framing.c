/* SPDX-License-Identifier: Apache-2.0 */
#include "framing.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The most digits of a length; no accepted body needs more. */
#define MAX_DIGITS 9

/* The parts of a head that decide the framing. */
typedef struct tenoni_frame {
    bool is_malformed;
    bool has_gaps;  /* the head has bytes between two texts that the library does not report */
    uintptr_t next; /* where the next text must begin */
    bool is_encoded;
    unsigned hosts;
    unsigned lengths;
    bool is_length; /* the last length is a number */
    size_t length;
} tenoni_frame;

static bool is_token(const char *text, size_t n)
{
    static const char marks[] = "!#$%&'*+-.^_`|~";
    for (size_t i = 0; i < n; i++) {
        char c = text[i];
        bool is_alphanumeric = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!is_alphanumeric && (c == '\0' || strchr(marks, c) == NULL))
            return false;
    }
    return n > 0;
}

static bool is_value(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)text[i] < ' ' ? text[i] != '\t' : text[i] == '\x7f')
            return false;
    return true;
}

static bool is_named(const char *name, size_t n, const char *wanted)
{
    return n == strlen(wanted) && strncasecmp(name, wanted, n) == 0;
}

/* All readers accept white space before a value, but only one space before a length. */
static void read_length(tenoni_frame *frame, const char *colon, const char *text, size_t n)
{
    uintptr_t behind = (uintptr_t)colon + 1;
    bool is_near = (uintptr_t)text == behind || ((uintptr_t)text == behind + 1 && text[-1] == ' ');
    frame->lengths++;
    frame->is_length = is_near && n > 0 && n <= MAX_DIGITS;
    frame->length = 0;
    for (size_t i = 0; i < n && frame->is_length; i++) {
        frame->is_length = text[i] >= '0' && text[i] <= '9';
        frame->length = frame->length * 10 + (size_t)(text[i] - '0');
    }
}

bool tenoni_framing_is_strict(void)
{
    unsigned long wanted[] = {0, 9, 77};
    const char *text = MHD_get_version();
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        char *end = NULL;
        unsigned long number = strtoul(text, &end, 10);
        if (number != wanted[i])
            return number > wanted[i];
        text = *end == '.' ? end + 1 : end;
    }
    return true;
}

/*
 * An older libmicrohttpd makes its texts in its read buffer: it writes NULs over the ends of lines, cuts a text at a
 * NUL of its own, and does not report additional spaces. But each text stays where it was received, so the addresses of
 * two texts reveal any bytes between them.
 */
static void expect(tenoni_frame *frame, const char *text, size_t n, size_t end)
{
    uintptr_t place = (uintptr_t)text;
    if (place != frame->next)
        frame->has_gaps = true;
    frame->next = place + n + end;
}

static const size_t CRLF = 2;

static void expect_header(tenoni_frame *frame, const char *name, size_t name_n, const char *value, size_t value_n)
{
    uintptr_t behind = (uintptr_t)name + name_n + 1;
    uintptr_t place = (uintptr_t)value;
    expect(frame, name, name_n, 1);
    if (place < behind || place - behind > 64)
        frame->has_gaps = true;
    frame->next = place + value_n + CRLF;
}

static enum MHD_Result on_header(void *context, enum MHD_ValueKind kind, const char *name, size_t name_n,
                                 const char *value, size_t value_n)
{
    tenoni_frame *frame = context;
    (void)kind;
    expect_header(frame, name, name_n, value, value_n);
    if (!is_token(name, name_n) || !is_value(value, value_n))
        frame->is_malformed = true;
    else if (is_named(name, name_n, "transfer-encoding"))
        frame->is_encoded = true;
    else if (is_named(name, name_n, "content-length"))
        read_length(frame, name + name_n, value, value_n);
    else if (is_named(name, name_n, "host"))
        frame->hosts++;
    return MHD_YES;
}

static bool is_target(const char *target)
{
    for (const char *c = target; *c != '\0'; c++)
        if (*c <= ' ' || *c > '~' || *c == '#')
            return false;
    return target[0] == '/';
}

static bool has_body(const char *method)
{
    return strcmp(method, "POST") == 0 || strcmp(method, "PUT") == 0 || strcmp(method, "PATCH") == 0;
}

static bool is_known(const char *method)
{
    return has_body(method) || strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0 ||
           strcmp(method, "DELETE") == 0;
}

/* Reads the whole head; the library reports its size, and so its end. */
static void read_head(tenoni_frame *frame, struct MHD_Connection *connection, const tenoni_request_line *line)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    frame->next = (uintptr_t)line->method;
    expect(frame, line->method, strlen(line->method), 1);
    expect(frame, line->sent, strlen(line->target), 1);
    expect(frame, line->version, strlen(line->version), CRLF);
    (void)MHD_get_connection_values_n(connection, MHD_HEADER_KIND, on_header, frame);
    if (info == NULL || (uintptr_t)line->method + info->header_size != frame->next + CRLF)
        frame->has_gaps = true;
}

tenoni_refusal tenoni_framing_check(size_t *body_n, struct MHD_Connection *connection, const tenoni_request_line *line)
{
    const char *method = line->method;
    tenoni_frame frame = {0};
    *body_n = 0;
    read_head(&frame, connection, line);
    if (strcmp(line->version, MHD_HTTP_VERSION_1_1) != 0)
        return (tenoni_refusal){505, "Only HTTP/1.1 is supported."};
    if (frame.is_malformed)
        return (tenoni_refusal){400, "A header has bytes that are not allowed."};
    if (frame.has_gaps && !tenoni_framing_is_strict())
        return (tenoni_refusal){400, "A line of the head has a NUL, two spaces, or an end other than CR LF."};
    if (frame.is_encoded)
        return (tenoni_refusal){400, "A body needs a Content-Length, not a Transfer-Encoding."};
    if (frame.lengths > 1 || (frame.lengths == 1 && !frame.is_length))
        return (tenoni_refusal){400, "The request needs exactly one Content-Length that is a number."};
    if (frame.hosts != 1)
        return (tenoni_refusal){400, "The request needs exactly one Host."};
    if (!is_target(line->target))
        return (tenoni_refusal){400, "The target must be a path."};
    if (!is_known(method))
        return (tenoni_refusal){501, "The method is unknown."};
    if (has_body(method) && frame.lengths == 0)
        return (tenoni_refusal){411, "The body needs a Content-Length."};
    if (!has_body(method) && frame.length > 0)
        return (tenoni_refusal){400, "A request with this method must not have a body."};
    *body_n = frame.length;
    return (tenoni_refusal){0, NULL};
}
