/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "bench.h"

/*
 * A program's own malloc stands before the C library's, for the shared libraries too, so what mbedTLS and OpenSSL ask
 * for is counted. glibc keeps its own under these names.
 */
#define EXPORTED __attribute__((visibility("default"))) /* whatever -fvisibility says: the libraries must find it */

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *memory, size_t n);

static _Thread_local uint64_t count;

EXPORTED void *malloc(size_t n)
{
    count++;
    return __libc_malloc(n);
}

EXPORTED void *calloc(size_t n, size_t size)
{
    count++;
    return __libc_calloc(n, size);
}

EXPORTED void *realloc(void *memory, size_t n)
{
    count++;
    return __libc_realloc(memory, n);
}

uint64_t bench_allocations(void) { return count; }
