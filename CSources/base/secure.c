/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE /* explicit_bzero */
#include "base/secure.h"

#include <string.h>

void tenoni_wipe(void *bytes, size_t n)
{
    if (n != 0)
        explicit_bzero(bytes, n);
}

__attribute__((noinline)) void tenoni_wipe_stack(void)
{
    uint8_t room[8192];
    explicit_bzero(room, sizeof room);
}

bool tenoni_equal(const void *a, const void *b, size_t n)
{
    const uint8_t *left = a;
    const uint8_t *right = b;
    uint32_t difference = 0;
    for (size_t i = 0; i < n; i++)
        difference |= (uint32_t)(left[i] ^ right[i]);
    return difference == 0;
}
