/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tenon/tenon.h"

/* ---- What is measured ---- */

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

/* False when the core refuses to make it. */
bool fixture_make(fixture *made);

/* The next of the messages. */
size_t fixture_next(size_t *turn);

/* The digest of a request with the first body_n bytes of the data as its body, and the values of its headers. */
bool fixture_digest(const fixture *made, tenon_digest *digest, size_t body_n);
bool fixture_headers(const tenon_signature *signature);

/*
 * One operation, by what the side's open gave and the argument of the line. False when it did not work: a bench of
 * failures is worth nothing, so the program ends.
 */
typedef bool (*bench_function)(void *context, size_t argument);

typedef struct {
    const char *name;
    bench_function function;
    size_t argument;
    size_t operations;      /* that one call is; 0: 1 */
    bench_function prepare; /* makes what this line keeps, which the side's close frees; NULL: nothing */
} side_line;

/* What goes to a TPM. Each is called with what open gave. */
typedef struct {
    uint64_t (*count)(void *context); /* commands so far */
    /* The names of the commands since there were so many, in order, with spaces between them. */
    void (*names)(void *context, uint64_t since, char *out, size_t n);
    /* From now on each takes so much longer. */
    void (*latency)(void *context, uint32_t milliseconds);
} side_commands;

/*
 * Tenon or a peer. Each lives in a file of its own; a peer that is not built in has no open, and no lines. One that is
 * not on this machine has no version. Sides with a TPM share one, which has room for three sessions and three objects:
 * they are opened for each line, prepare it, and are closed after it.
 */
typedef struct {
    const char *name;
    const char *(*version)(void);
    size_t size;                                      /* of its context, which begins as zeros */
    bool (*open)(void *context, const fixture *made); /* makes what all its lines keep */
    void (*close)(void *context);                     /* also after an open that failed */
    const side_line *lines;
    size_t lines_n;
    const side_commands *commands; /* NULL: it has no TPM */
} side;

#define SIDE_LINES(lines) lines, sizeof(lines) / sizeof *(lines)

/* Tenon first, which has several; the ratios are its own to the others. */
enum { SIDES_MAX = 16 };
extern const side *const sides[];
extern const size_t sides_n;

extern const side side_tenon, side_batch, side_threads, side_tpm, side_mbedtls, side_openssl, side_openssl_once,
    side_raw, side_raw_load, side_esys, side_esys_hmac, side_tpm2_openssl, side_pkcs11;

/* ---- How ---- */

/* Who takes part in a line. */
typedef struct {
    const side *side;
    const side_line *line;
    void *context;
} bench_contender;

typedef struct {
    size_t rounds;
    uint32_t latency; /* of each TPM command, added, in milliseconds */
    bool smoke;       /* each function once, nothing is measured but which commands it sends */
} bench_options;

/*
 * Measures one line: round by round, all contenders in turn (A B A B ...), so that what disturbs the machine disturbs
 * them alike.
 */
void bench_run(const bench_options *options, const char *title, const bench_contender *contenders, size_t n);

/* Calls the line's function n times, or until it fails. Instruction counters collect within it and nowhere else. */
bool bench_counted(const side_line *line, void *context, uint64_t n);

/* Says that an operation failed and ends the program. */
_Noreturn void bench_fail(const char *name, const char *who);

/* How often this thread asked for memory: malloc, calloc and realloc, those of the libraries included. */
uint64_t bench_allocations(void);

/* ---- What is written: JSON lines, on the standard output ---- */

/* What one contender did in one line. Times are in nanoseconds an operation. */
typedef struct {
    size_t rounds_n;
    uint64_t operations;
    double p50, p95, p99, min;
    double cpu;
    double allocations;
    double commands;       /* below 0: it has no TPM */
    const double *samples; /* sorted */
    size_t samples_n;
    const double *rounds; /* their medians, in the order of the rounds, which all contenders share */
} bench_result;

void bench_report_machine(void);
/* version: NULL when it is missing. */
void bench_report_peer(const char *name, const char *version);
void bench_report_result(const char *line, const char *who, const bench_result *result);
/* commands: NULL for one without a TPM. */
void bench_report_smoke(const char *line, const char *who, const char *commands);

#endif
