/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_SIDE_H
#define BENCH_SIDE_H

#include "bench.h"
#include "tenon/tenon.h"

enum { FIXTURE_MESSAGES = 8, FIXTURE_DATA = 1 << 20, FIXTURE_BODY = 256, FIXTURE_CANONICAL = 512 };

/* What all sides work on, the same in each run and each build. */
typedef struct {
    uint8_t scalar[TENON_SCALAR_SIZE];
    tenon_public_key key;
    /* Taken in turn: the cost of a verification depends on its numbers. */
    tenon_digest digests[FIXTURE_MESSAGES];
    tenon_signature signatures[FIXTURE_MESSAGES];
    uint8_t data[FIXTURE_DATA];
    /* METHOD \n path \n timestamp \n body: what tenon_request_begin and tenon_request_update hash. */
    uint8_t canonical[FIXTURE_CANONICAL];
    size_t canonical_n;
} fixture;

extern const char fixture_method[], fixture_path[], fixture_timestamp[];
extern const char fixture_app_id[], fixture_device_id[], fixture_nonce[];

/* False when the core refuses to make it. */
bool fixture_make(fixture *made);

/* The next of the messages. */
size_t fixture_next(size_t *turn);

typedef struct {
    const char *name;
    bench_function function; /* its context is what open gave */
    size_t operations;       /* that one call is; 0: 1 */
} side_line;

/*
 * Tenon or a peer. Each lives in a file of its own; a peer that is not built in has no open, and no lines. One that is
 * not on this machine has no version.
 */
typedef struct {
    const char *name;
    const char *(*version)(void);
    void *(*open)(const fixture *made); /* makes all that may be kept; NULL when it fails */
    void (*close)(void *side);
    const side_line *lines;
    size_t lines_n;
    const bench_commands *commands; /* with what open gave; NULL: it has no TPM */
    double (*cpu)(void *side);      /* CPU time of its other processes so far, in nanoseconds; or NULL */
} side;

/* What this program measures: Tenon first (a line may be of a second side of its), the ratios are its own to the
 * others. */
enum { SIDES_MAX = 24 };
extern const side *const sides[];
extern const size_t sides_n;

#endif
