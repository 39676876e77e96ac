/* SPDX-License-Identifier: Apache-2.0 */
#include "base/scalar.h"

#include <stddef.h>

enum { SIZE = 32 };

static const uint8_t order[SIZE] = {0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff,
                                    0xff, 0xff, 0xff, 0xff, 0xff, 0xbc, 0xe6, 0xfa, 0xad, 0xa7, 0x17,
                                    0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51};

/* (n+1)/2: the smallest scalar that is high. */
static const uint8_t high[SIZE] = {0x7f, 0xff, 0xff, 0xff, 0x80, 0x00, 0x00, 0x00, 0x7f, 0xff, 0xff,
                                   0xff, 0xff, 0xff, 0xff, 0xff, 0xde, 0x73, 0x7d, 0x56, 0xd3, 0x8b,
                                   0xcf, 0x42, 0x79, 0xdc, 0xe5, 0x61, 0x7e, 0x31, 0x92, 0xa9};

static const uint8_t prime[SIZE] = {0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00,
                                    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff,
                                    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

/* difference = a - b modulo 2^256, or only the borrow when difference is NULL. */
static uint32_t subtract(uint8_t *difference, const uint8_t *a, const uint8_t *b)
{
    uint32_t borrow = 0;
    for (size_t i = SIZE; i-- > 0;) {
        uint32_t step = (uint32_t)a[i] - b[i] - borrow;
        borrow = step >> 31;
        if (difference != NULL)
            difference[i] = (uint8_t)step;
    }
    return borrow;
}

bool tenoni_scalar_in_range(const uint8_t *scalar)
{
    uint32_t bits = 0;
    for (size_t i = 0; i < SIZE; i++)
        bits |= scalar[i];
    uint32_t not_zero = (0u - bits) >> 31;
    return (not_zero & subtract(NULL, scalar, order)) == 1;
}

bool tenoni_field_in_range(const uint8_t *number)
{
    return subtract(NULL, number, prime) == 1;
}

bool tenoni_scalar_is_high(const uint8_t *scalar)
{
    return subtract(NULL, scalar, high) == 0;
}

void tenoni_scalar_negate(uint8_t *scalar)
{
    subtract(scalar, order, scalar);
}
