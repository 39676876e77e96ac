/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIDE_H
#define SIDE_H

#include <stdbool.h>
#include <stddef.h>

/* The calls of the core that the Swift ones stand on. Each is made n times; false when one did not work. */

/* SHA-256 of 32 bytes. */
bool side_digest(size_t n);
/* r, s to DER, into a buffer. */
bool side_der(size_t n);
/* A request with a body of 256 bytes, hashed and signed by a key whose signing costs nothing. */
bool side_sign(size_t n);
/* The same, with a fresh nonce and the values of the six headers. */
bool side_headers(size_t n);

#endif
