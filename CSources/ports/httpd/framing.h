/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_HTTPD_FRAMING_H
#define TENONI_HTTPD_FRAMING_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>

/* Why a request is refused: a status and a sentence. Status 0 means that it is not refused. */
typedef struct tenoni_refusal {
    unsigned status;
    const char *reason;
} tenoni_refusal;

/* The request line, as libmicrohttpd has it. */
typedef struct tenoni_request_line {
    const char *method;
    const char *target;
    const char *sent; /* where the target begins in the library's buffer: an address, with nothing to be read there */
    const char *version;
} tenoni_request_line;

/* Whether the library can be told to refuse everything that another reader could read differently: from 0.9.77 on. */
bool tenoni_framing_is_strict(void);

/*
 * Whether a head is in a form that everybody reads in one way (RFC 9112, 3.2 and 6.3); Debian's libmicrohttpd takes
 * two lengths, a length beside chunks, `Content-Length : 4`, a line feed alone, a NUL and what is behind it. Says how
 * long the body is.
 */
tenoni_refusal tenoni_framing_check(size_t *body_n, struct MHD_Connection *connection, const tenoni_request_line *line);

#endif
