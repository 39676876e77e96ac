/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_TARGET_H
#define TENONI_TARGET_H

#include <stddef.h>

#include "tenon/status.h"

/*
 * The parts of a request's URI in their only form (RFC 3986, 6.2.2): a text that a library could normalise to another
 * one is refused, so that no two programs read one request differently. NULL with a length is TENON_ERROR_NULL.
 */

/* A name in lower case, an IPv4 address, or an IPv6 address in brackets; then maybe a port, but not 443. */
tenon_status tenoni_authority_check(const char *authority, size_t n);

/* RFC 3986, 3.3: begins with a slash, without dot segments and needless escapes, and its escapes are upper case. */
tenon_status tenoni_normal_path_check(const char *path, size_t n);

/* RFC 3986, 3.4, with its question mark; the question mark alone when the URI has no query. */
tenon_status tenoni_query_check(const char *query, size_t n);

#endif
