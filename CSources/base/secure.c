/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE /* explicit_bzero */
#include "base/secure.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <sys/types.h>

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

tenon_status tenoni_random(uint8_t *out, size_t n)
{
    size_t done = 0;
    while (done < n) {
        ssize_t got = getrandom(out + done, n - done, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            tenoni_wipe(out, n);
            return TENON_ERROR_RANDOM;
        }
        done += (size_t)got;
    }
    return TENON_OK;
}
