/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_SECURE_H
#define TENONI_SECURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tenon/status.h"

/* Overwrites with zeros in a way that no compiler optimises away. */
void tenoni_wipe(void *bytes, size_t n);

/* Whether n bytes are equal; the time depends only on n. */
bool tenoni_equal(const void *a, const void *b, size_t n);

/* Overwrites the stack below the caller, where a library that was called may have left a secret. */
void tenoni_wipe_stack(void);

/*
 * Returns the number and hides it from the compiler, which would turn a mask that it knows to be 0 or all ones into a
 * branch.
 */
static inline uint32_t tenoni_opaque(uint32_t number)
{
    __asm__("" : "+r"(number));
    return number;
}

/* All ones when a < b, else 0. Both below 2^31. */
static inline uint32_t tenoni_mask_below(uint32_t a, uint32_t b)
{
    return tenoni_opaque(0u - ((a - b) >> 31));
}

/* All ones when a == b, else 0. Both below 2^31. */
static inline uint32_t tenoni_mask_equal(uint32_t a, uint32_t b)
{
    return ~(tenoni_mask_below(a, b) | tenoni_mask_below(b, a));
}

/* All ones when low <= a <= high, else 0. */
static inline uint32_t tenoni_mask_within(uint32_t a, uint32_t low, uint32_t high)
{
    return ~tenoni_mask_below(a, low) & tenoni_mask_below(a, high + 1);
}

/* n bytes of getrandom(2). There is no generator in the process: a fork or a restored snapshot has nothing to repeat.
 */
tenon_status tenoni_random(uint8_t *out, size_t n);

#endif
