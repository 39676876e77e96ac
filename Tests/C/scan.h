/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCAN_H
#define SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Looks for copies of a secret in all memory of this process that can be written: the stack below us and what the
 * allocator keeps included. The search's own copy is masked, so that it does not find itself.
 */
enum { SCAN_SIZE = 32, SCAN_MASK = 0xa5, SCAN_INNER_PAD = 0x36, SCAN_OUTER_PAD = 0x5c };

/* The secret that a search looks for at first, each byte xor SCAN_MASK. It is in no other form anywhere in the program.
 */
extern const uint8_t scan_secret[SCAN_SIZE];

/* Writes the secret as it is. A function of its own: a compiler that sees both keeps a copy for the next time. */
void scan_reveal(uint8_t *out);

/* Looks for another one from now on: these bytes, which are wiped. */
void scan_for(uint8_t *secret);

/* SCAN_MASK, or that and a pad of HMAC: a key under a pad is a copy of it. */
void scan_under(uint8_t mask);

/* A limb of the secret alone is a trace; half of it is a copy. */
typedef struct {
    size_t copies, traces, bytes;
} findings;

/* Lists the regions, by the list of the kernel: apart from the search, since it writes where the search looks. */
void scan_list_regions(void);
findings scan(bool verbose);

/* While it is set the kernel draws the secret, again and again. */
extern bool scan_draws;

#endif
