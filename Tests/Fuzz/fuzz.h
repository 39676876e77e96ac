/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENON_FUZZ_H
#define TENON_FUZZ_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "owned.h"
#include "tenon/status.h"

/*
 * A target states what must hold for every input; libFuzzer looks for one for which it does not. There are no
 * dictionaries: the forms are short, and the seeds hold the constants that chance would not find.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Runs the target with an input, in memory of exactly its size, so that a read beyond its end is seen. */
#define FUZZ_TARGET(data, n)                                                                                           \
    static void fuzz_target(const uint8_t *data, size_t n);                                                            \
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)                                                          \
    {                                                                                                                  \
        fuzz_target(data, n);                                                                                          \
        return 0;                                                                                                      \
    }                                                                                                                  \
    static void fuzz_target(const uint8_t *data, size_t n)

/* An assertion that every build keeps. */
#define MUST(condition) ((condition) ? (void)0 : fuzz_fail(#condition, __FILE__, __LINE__))

static inline _Noreturn void fuzz_fail(const char *condition, const char *file, int line)
{
    fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, condition);
    abort();
}

enum { FUZZ_FILL = 0xA5 };

/* Memory of exactly n bytes, so that the address sanitizer sees the first byte behind it. */
static inline void *fuzz_room(size_t n)
{
    void *room = malloc(n);
    MUST(room != NULL);
    memset(room, FUZZ_FILL, n);
    return room;
}

static inline void *fuzz_copy(const void *bytes, size_t n)
{
    void *copy = fuzz_room(n);
    memcpy(copy, bytes, n);
    return copy;
}

static inline bool fuzz_all(const void *bytes, size_t n, uint8_t value)
{
    const uint8_t *byte = bytes;
    for (size_t i = 0; i < n; i++)
        if (byte[i] != value)
            return false;
    return true;
}

/* A text or bytes of another form are refused as such, and their output is zeros. */
static inline bool fuzz_refused(tenon_status status, const void *out, size_t n)
{
    MUST(status == TENON_OK || (tenon_status_category(status) == TENON_CATEGORY_FORMAT && fuzz_all(out, n, 0)));
    return status != TENON_OK;
}

#endif
