/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"

/* A sample is long beside a look at the clock (about 30 ns), a round short beside what disturbs a machine. */
static const double sample_ns = 20e3, round_ns = 4e6;

/* One contender on its way. A sample is the time of batch operations; a round is some samples, at least one. */
typedef struct {
    size_t batch, samples_a_round;
    double *samples;
    size_t samples_n;
    double *rounds;
    double cpu;
    uint64_t operations, allocations, commands;
} tally;

_Noreturn void bench_fail(const char *name, const char *who)
{
    fprintf(stderr, "bench: %s: %s failed\n", name, who);
    exit(EXIT_FAILURE);
}

static double now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static double *numbers(size_t n)
{
    double *made = calloc(n, sizeof *made);
    if (made == NULL)
        bench_fail("runner", "memory");
    return made;
}

static uint64_t commands_of(const bench_contender *contender)
{
    return contender->side->commands == NULL ? 0 : contender->side->commands->count(contender->context);
}

static size_t operations_of(const bench_contender *contender)
{
    return contender->line->operations == 0 ? 1 : contender->line->operations;
}

static double sample(const char *name, const bench_contender *contender, size_t batch)
{
    double begin = now(CLOCK_MONOTONIC);
    for (size_t i = 0; i < batch; i++)
        if (!contender->line->function(contender->context, contender->line->argument))
            bench_fail(name, contender->side->name);
    return now(CLOCK_MONOTONIC) - begin;
}

/* Also warms up: tables, caches, lazy binding. */
static void calibrate(const char *name, const bench_contender *contender, tally *t, size_t rounds)
{
    double took = sample(name, contender, 1);
    for (t->batch = 1; (took = sample(name, contender, t->batch)) < sample_ns;)
        t->batch *= 2;
    t->samples_a_round = took < round_ns ? (size_t)(round_ns / took) : 1;
    t->samples = numbers(t->samples_a_round * rounds);
    t->rounds = numbers(rounds);
}

static int compare(const void *a, const void *b)
{
    const double *left = a;
    const double *right = b;
    return (*left > *right) - (*left < *right);
}

/* Of sorted values. */
static double quantile(const double *values, size_t n, double part)
{
    size_t index = (size_t)(part * (double)n);
    return values[index < n ? index : n - 1];
}

static void run_round(const char *name, const bench_contender *contender, tally *t, size_t round)
{
    size_t operations = t->batch * operations_of(contender);
    /* Not counted: the one before has left its own in the caches, here and in the TPM's process. */
    if (t->samples_a_round > 1)
        sample(name, contender, t->batch);
    double cpu = now(CLOCK_PROCESS_CPUTIME_ID);
    uint64_t allocations = bench_allocations();
    uint64_t commands = commands_of(contender);
    double *samples = t->samples + t->samples_n;
    for (size_t i = 0; i < t->samples_a_round; i++)
        samples[i] = sample(name, contender, t->batch) / (double)operations;
    t->samples_n += t->samples_a_round;
    t->cpu += now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    t->allocations += bench_allocations() - allocations;
    t->commands += commands_of(contender) - commands;
    t->operations += t->samples_a_round * operations;
    /* Their median: one sample that the machine interrupted shall not stand for the round. */
    qsort(samples, t->samples_a_round, sizeof *samples, compare);
    t->rounds[round] = quantile(samples, t->samples_a_round, 0.50);
}

static bench_result result_of(tally *t, size_t rounds, bool has_tpm)
{
    qsort(t->samples, t->samples_n, sizeof *t->samples, compare);
    return (bench_result){
        .rounds_n = rounds,
        .operations = t->operations,
        .p50 = quantile(t->samples, t->samples_n, 0.50),
        .p95 = quantile(t->samples, t->samples_n, 0.95),
        .p99 = quantile(t->samples, t->samples_n, 0.99),
        .min = t->samples[0],
        .cpu = t->cpu / (double)t->operations,
        .allocations = (double)t->allocations / (double)t->operations,
        .commands = has_tpm ? (double)t->commands / (double)t->operations : -1,
        .samples = t->samples,
        .samples_n = t->samples_n,
        .rounds = t->rounds,
    };
}

static void measure(const bench_options *options, const char *name, const bench_contender *contenders, size_t n)
{
    tally tallies[SIDES_MAX];
    memset(tallies, 0, sizeof tallies);
    for (size_t i = 0; i < n; i++)
        calibrate(name, &contenders[i], &tallies[i], options->rounds);
    for (size_t round = 0; round < options->rounds; round++)
        for (size_t i = 0; i < n; i++)
            run_round(name, &contenders[i], &tallies[i], round);
    for (size_t i = 0; i < n; i++) {
        const side *who = contenders[i].side;
        const bench_result result = result_of(&tallies[i], options->rounds, who->commands != NULL);
        bench_report_result(name, who->name, &result);
    }
    for (size_t i = 0; i < n; i++) {
        free(tallies[i].samples);
        free(tallies[i].rounds);
    }
}

static void smoke(const char *name, const bench_contender *contender)
{
    char names[512];
    const uint64_t before = commands_of(contender);
    const side_commands *commands = contender->side->commands;
    sample(name, contender, 1);
    if (commands != NULL)
        commands->names(contender->context, before, names, sizeof names);
    bench_report_smoke(name, contender->side->name, commands == NULL ? NULL : names);
}

void bench_run(const bench_options *options, const char *title, const bench_contender *contenders, size_t n)
{
    if (!options->smoke)
        measure(options, title, contenders, n);
    for (size_t i = 0; options->smoke && i < n; i++)
        smoke(title, &contenders[i]);
}
