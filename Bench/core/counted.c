/* SPDX-License-Identifier: Apache-2.0 */
#include "bench.h"

/* A file of its own: inlined elsewhere it would have no name for callgrind's --toggle-collect to find. */
bool bench_counted(const side_line *line, void *context, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        if (!line->function(context, line->argument))
            return false;
    return true;
}
