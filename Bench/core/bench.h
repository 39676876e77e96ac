/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* One operation. False when it did not work: a bench of failures is worth nothing, so the program ends. */
typedef bool (*bench_function)(void *context);

/* What goes to a TPM. */
typedef struct {
    uint64_t (*count)(void *context); /* commands so far */
    /* The names of the commands since there were so many, in order, with spaces between them. */
    void (*names)(void *context, uint64_t since, char *out, size_t n);
    /* From now on each takes so much longer. */
    void (*latency)(void *context, uint32_t milliseconds);
} bench_commands;

/* Who does a line: its function is called with its context. */
typedef struct {
    const char *who;
    bench_function function;
    void *context;
    const bench_commands *commands; /* NULL: it has no TPM */
    double (*cpu)(void *context);   /* CPU time of its other processes so far, in nanoseconds; NULL: it has none */
    size_t operations;              /* that one call is; 0: 1 */
} bench_contender;

typedef struct {
    const char *backend;
    size_t rounds;
    uint32_t latency; /* of each TPM command, added, in milliseconds */
    bool smoke;       /* each function once, nothing is measured but which commands it sends */
    FILE *json;       /* JSON lines, or NULL */
} bench_options;

/*
 * Measures one line: round by round, all contenders in turn (A B A B ...), so that what disturbs the machine disturbs
 * them alike. The ratio of the first to another is the median of the ratios of the rounds.
 */
void bench_run(const bench_options *options, const char *name, const bench_contender *contenders, size_t n);

/* Calls the function n times, or until it fails. Instruction counters collect within it and nowhere else. */
bool bench_counted(bench_function function, void *context, uint64_t n);

/* Prints that an operation failed and ends the program. */
_Noreturn void bench_fail(const char *name, const char *who);

/* How often this thread asked for memory: malloc, calloc and realloc, those of the libraries included. */
uint64_t bench_allocations(void);

/* What one contender did in one line. Times are in nanoseconds an operation. */
typedef struct {
    uint64_t operations;
    double p50, p95, p99, min;
    double cpu;
    double allocations;
    double commands;       /* below 0: it has no TPM */
    const double *samples; /* sorted */
    size_t samples_n;
    const double *rounds; /* their medians, in the order of the rounds, which all contenders share */
    size_t rounds_n;
} bench_result;

/* How fast the first contender is beside another one (over 1: faster): median and quartiles over the rounds. */
typedef struct {
    double median, low, high;
} bench_ratio;

void bench_report_machine(const bench_options *options);
/* version: NULL when it is missing. */
void bench_report_peer(const bench_options *options, const char *name, const char *version);
void bench_report_heading(void);
void bench_report_result(const bench_options *options, const char *line, const char *who, const bench_result *result,
                         const bench_ratio *ratio);
void bench_report_smoke(const bench_options *options, const char *line, const char *who, const char *commands);

#endif
