/* SPDX-License-Identifier: Apache-2.0 */
#include "framing.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

/* Of a length: more is too large for anybody. */
#define MAX_DIGITS 9

/* What a head says, as far as it frames. */
typedef struct tenoni_frame {
    bool is_malformed;
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

static void read_length(tenoni_frame *frame, const char *text, size_t n)
{
    frame->lengths++;
    frame->is_length = n > 0 && n <= MAX_DIGITS;
    frame->length = 0;
    for (size_t i = 0; i < n && frame->is_length; i++) {
        frame->is_length = text[i] >= '0' && text[i] <= '9';
        frame->length = frame->length * 10 + (size_t)(text[i] - '0');
    }
}

static enum MHD_Result on_header(void *context, enum MHD_ValueKind kind, const char *name, size_t name_n,
                                 const char *value, size_t value_n)
{
    tenoni_frame *frame = context;
    (void)kind;
    if (!is_token(name, name_n) || !is_value(value, value_n))
        frame->is_malformed = true;
    else if (is_named(name, name_n, "transfer-encoding"))
        frame->is_encoded = true;
    else if (is_named(name, name_n, "content-length"))
        read_length(frame, value, value_n);
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

tenoni_refusal tenoni_framing_check(size_t *body_n, struct MHD_Connection *connection, const char *method,
                                    const char *target, const char *version)
{
    tenoni_frame frame = {0};
    *body_n = 0;
    (void)MHD_get_connection_values_n(connection, MHD_HEADER_KIND, on_header, &frame);
    if (strcmp(version, MHD_HTTP_VERSION_1_1) != 0)
        return (tenoni_refusal){505, "Only HTTP/1.1 is spoken here."};
    if (frame.is_malformed)
        return (tenoni_refusal){400, "A header has bytes that may not be in one."};
    if (frame.is_encoded)
        return (tenoni_refusal){400, "A body has a Content-Length here, and no Transfer-Encoding."};
    if (frame.lengths > 1 || (frame.lengths == 1 && !frame.is_length))
        return (tenoni_refusal){400, "There is not one Content-Length that is a number."};
    if (frame.hosts != 1)
        return (tenoni_refusal){400, "There is not one Host."};
    if (!is_target(target))
        return (tenoni_refusal){400, "The target is no path."};
    if (!is_known(method))
        return (tenoni_refusal){501, "The method is not known here."};
    if (has_body(method) && frame.lengths == 0)
        return (tenoni_refusal){411, "The body needs a Content-Length."};
    if (!has_body(method) && frame.length > 0)
        return (tenoni_refusal){400, "This method has no body here."};
    *body_n = frame.length;
    return (tenoni_refusal){0, NULL};
}
