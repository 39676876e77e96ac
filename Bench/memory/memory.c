/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* pthread_attr_setstack */
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

/*
 * The bench with another bench_counted: it prints how much memory an operation holds at most, on the heap and on the
 * stack. A program's own malloc stands before the C library's, as in Bench/core/allocations.c.
 */
#define EXPORTED __attribute__((visibility("default")))

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *memory, size_t n);
void __libc_free(void *memory);

/* Of this thread. What was there before an operation and is freed in it makes `held` negative. */
static _Thread_local int64_t held, most;

static int64_t size_of(void *memory) { return memory == NULL ? 0 : (int64_t)malloc_usable_size(memory); }

static void *taken(void *memory)
{
    held += size_of(memory);
    most = held > most ? held : most;
    return memory;
}

EXPORTED void *malloc(size_t n) { return taken(__libc_malloc(n)); }

EXPORTED void *calloc(size_t n, size_t size) { return taken(__libc_calloc(n, size)); }

/* A failed one leaves the old memory; here that only makes the figure too small, and the operation fails. */
EXPORTED void *realloc(void *memory, size_t n)
{
    held -= size_of(memory);
    return taken(__libc_realloc(memory, n));
}

EXPORTED void free(void *memory)
{
    held -= size_of(memory);
    __libc_free(memory);
}

uint64_t bench_allocations(void) { return 0; }

/* ---- In a thread whose stack was painted ---- */

enum { STACK = 1 << 20, PAINT = 0xa5 };

typedef struct {
    const side_line *line; /* NULL: nothing is done, which shows what a thread itself needs */
    void *context;
    uint64_t times;
    bool good;
    int64_t heap;
} operation;

static void *run(void *argument)
{
    operation *of = argument;
    held = most = 0;
    of->good = true;
    for (uint64_t i = 0; of->line != NULL && i < of->times && of->good; i++)
        of->good = of->line->function(of->context, of->line->argument);
    of->heap = most;
    return NULL;
}

/* Bytes of the stack that were written to; 0 when there is no thread. */
static size_t stack_of(operation *of)
{
    pthread_t thread;
    pthread_attr_t attributes;
    size_t untouched = 0;
    uint8_t *stack = aligned_alloc(4096, STACK);
    if (stack == NULL)
        return 0;
    memset(stack, PAINT, STACK);
    bool ran = pthread_attr_init(&attributes) == 0 && pthread_attr_setstack(&attributes, stack, STACK) == 0 &&
               pthread_create(&thread, &attributes, run, of) == 0 && pthread_join(thread, NULL) == 0;
    while (untouched < STACK && stack[untouched] == PAINT)
        untouched++;
    free(stack);
    return ran ? STACK - untouched : 0;
}

bool bench_counted(const side_line *line, void *context, uint64_t n)
{
    operation nothing = {.line = NULL}, of = {.line = line, .context = context, .times = n};
    const size_t thread = stack_of(&nothing), stack = stack_of(&of);
    if (thread == 0 || stack < thread || !of.good)
        return false;
    printf("%-22s %8lld %8zu\n", line->name, (long long)of.heap, stack - thread);
    return true;
}
