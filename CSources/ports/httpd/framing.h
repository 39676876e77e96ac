/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_HTTPD_FRAMING_H
#define TENONI_HTTPD_FRAMING_H

#include <microhttpd.h>
#include <stddef.h>

/* Why a request is not taken: a status and a sentence. Status 0 is none. */
typedef struct tenoni_refusal {
    unsigned status;
    const char *reason;
} tenoni_refusal;

/*
 * Whether a head is in a form that everybody reads in one way (RFC 9112, 3.2 and 6.3); Debian's libmicrohttpd takes
 * two lengths, a length beside chunks, and `Content-Length : 4`. Says how long the body is.
 */
tenoni_refusal tenoni_framing_check(size_t *body_n, struct MHD_Connection *connection, const char *method,
                                    const char *target, const char *version);

#endif
