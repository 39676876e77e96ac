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

/* Writes the secret in clear. It is a separate function, because a compiler that sees both would keep a copy. */
void scan_reveal(uint8_t *out);

/* From now on, searches for these bytes, which are wiped. */
void scan_for(uint8_t *secret);

/* SCAN_MASK, or that and a pad of HMAC: a key under a pad is a copy of it. */
void scan_under(uint8_t mask);

/* A limb of the secret alone is a trace; half of it is a copy. */
typedef struct {
    size_t copies, traces, bytes;
} findings;

/* Lists the regions from the kernel's list. This is separate from the search, because it writes to searched memory. */
void scan_list_regions(void);
findings scan(bool verbose);

/* Copies and traces together. */
size_t scan_found(bool aloud);

/* Prints what was found before and after; whether there was something before, and is nothing any more. */
bool scan_report(const char *what, size_t before, size_t left);

/* Runs `use`, which works with the SCAN_SIZE bytes of `given`, and looks before and after these are wiped. */
bool scan_around(const char *what, bool (*use)(void), void *given);

/* The same for what is in `given` now: neither it nor what the calls make of it is anywhere else when they are over. */
bool scan_given(const char *what, bool (*use)(void), void *given);

/* While it is set, each draw of random bytes returns the secret. */
extern bool scan_draws;

#endif
