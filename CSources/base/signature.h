/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_SIGNATURE_H
#define TENONI_SIGNATURE_H

#include <stdbool.h>
#include <stdint.h>

#include "tenon/types.h"

/* Numbers of 32 big-endian bytes beside the order n and the prime p of P-256 (SP 800-186, 3.2.1.3). All constant time.
 */

/* 1 <= scalar <= n-1 */
bool tenoni_scalar_in_range(const uint8_t *scalar);

/* number < p */
bool tenoni_field_in_range(const uint8_t *number);

/* scalar > n/2 */
bool tenoni_scalar_is_high(const uint8_t *scalar);

/* scalar = n - scalar, for a scalar in range */
void tenoni_scalar_negate(uint8_t *scalar);

/* r and s are both in 1 .. n-1. */
bool tenoni_signature_in_range(const tenon_signature *signature);

#endif
