/* SPDX-License-Identifier: Apache-2.0 */
#include "bench.h"

/* A file of its own: inlined elsewhere it would have no name for callgrind's --toggle-collect to find. */
bool bench_counted(bench_function function, void *context, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        if (!function(context))
            return false;
    return true;
}
