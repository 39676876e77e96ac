/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_WORKERS_H
#define TEST_WORKERS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Tests in several processes at once, each of which takes the next one that nobody has begun. What a test prints is
 * shown when it has ended, whole. A process that dies fails the test that it was at, and another takes its place.
 */
typedef struct {
    size_t count;
    bool (*run)(size_t test); /* whether it passed */
    const char *(*name)(size_t test);
} test_work;

typedef struct {
    size_t passed, failed;
} test_tally;

test_tally test_workers_run(size_t workers, const test_work *work);

/* Zeros that all processes share, made before there is a second one; never given back. */
void *test_shared(size_t n);

/* Prints to stderr, and once more at the end of the run. */
void test_say(const char *format, ...);

#endif
