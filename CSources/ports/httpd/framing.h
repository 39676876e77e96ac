/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_HTTPD_FRAMING_H
#define TENONI_HTTPD_FRAMING_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>

/* The refusal of a request: a status and a sentence. Status 0 means that it is not refused. */
typedef struct tenoni_refusal {
    unsigned status;
    const char *reason;
} tenoni_refusal;

/* The request line, as libmicrohttpd has it. */
typedef struct tenoni_request_line {
    const char *method;
    const char *target;
    const char *sent; /* the address of the target in the library's buffer; not to be read */
    const char *version;
} tenoni_request_line;

/*
 * Whether the library can itself refuse what another reader could read differently, as 0.9.77 and later can: all but
 * white space before a length.
 */
bool tenoni_framing_is_strict(void);

/*
 * Checks that all readers understand a head in the same way (RFC 9112, 3.2 and 6.3), and returns the length of the
 * body. Debian's libmicrohttpd accepts two lengths, a length beside chunks, `Content-Length : 4`, a bare line feed, and
 * a NUL with bytes behind it.
 */
tenoni_refusal tenoni_framing_check(size_t *body_n, struct MHD_Connection *connection, const tenoni_request_line *line);

#endif
