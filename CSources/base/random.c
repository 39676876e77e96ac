/* SPDX-License-Identifier: Apache-2.0 */
#include "base/random.h"

#include <errno.h>
#include <sys/random.h>
#include <sys/types.h>

#include "base/secure.h"

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
