/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"

/* A sample is long beside a look at the clock (about 30 ns), a round short beside what disturbs a machine. */
static const double sample_ns = 20e3, round_ns = 4e6;

enum { CONTENDERS_MAX = 24 };

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
    return contender->commands == NULL ? 0 : contender->commands->count(contender->context);
}

static double cpu_of(const bench_contender *contender)
{
    return now(CLOCK_PROCESS_CPUTIME_ID) + (contender->cpu == NULL ? 0 : contender->cpu(contender->context));
}

static size_t operations_of(const bench_contender *contender)
{
    return contender->operations == 0 ? 1 : contender->operations;
}

static double sample(const char *name, const bench_contender *contender, size_t batch)
{
    double begin = now(CLOCK_MONOTONIC);
    for (size_t i = 0; i < batch; i++)
        if (!contender->function(contender->context))
            bench_fail(name, contender->who);
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
    double cpu = cpu_of(contender);
    uint64_t allocations = bench_allocations();
    uint64_t commands = commands_of(contender);
    double *samples = t->samples + t->samples_n;
    for (size_t i = 0; i < t->samples_a_round; i++)
        samples[i] = sample(name, contender, t->batch) / (double)operations;
    t->samples_n += t->samples_a_round;
    t->cpu += cpu_of(contender) - cpu;
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
        .rounds_n = rounds,
    };
}

static bench_ratio ratio_of(const tally *first, const tally *other, size_t rounds)
{
    double *ratios = numbers(rounds);
    for (size_t i = 0; i < rounds; i++)
        ratios[i] = other->rounds[i] / first->rounds[i];
    qsort(ratios, rounds, sizeof *ratios, compare);
    bench_ratio made = {.median = quantile(ratios, rounds, 0.50),
                        .low = quantile(ratios, rounds, 0.25),
                        .high = quantile(ratios, rounds, 0.75)};
    free(ratios);
    return made;
}

static void measure(const bench_options *options, const char *name, const bench_contender *contenders, size_t n)
{
    tally tallies[CONTENDERS_MAX];
    memset(tallies, 0, sizeof tallies);
    for (size_t i = 0; i < n; i++)
        calibrate(name, &contenders[i], &tallies[i], options->rounds);
    for (size_t round = 0; round < options->rounds; round++)
        for (size_t i = 0; i < n; i++)
            run_round(name, &contenders[i], &tallies[i], round);
    for (size_t i = 0; i < n; i++) {
        bench_result result = result_of(&tallies[i], options->rounds, contenders[i].commands != NULL);
        bench_ratio ratio = ratio_of(&tallies[0], &tallies[i], options->rounds);
        bench_report_result(options, name, contenders[i].who, &result, i == 0 ? NULL : &ratio);
    }
    for (size_t i = 0; i < n; i++) {
        free(tallies[i].samples);
        free(tallies[i].rounds);
    }
}

static void smoke(const bench_options *options, const char *name, const bench_contender *contender)
{
    char names[512];
    uint64_t before = commands_of(contender);
    sample(name, contender, 1);
    if (contender->commands != NULL)
        contender->commands->names(contender->context, before, names, sizeof names);
    bench_report_smoke(options, name, contender->who, contender->commands == NULL ? NULL : names);
}

void bench_run(const bench_options *options, const char *name, const bench_contender *contenders, size_t n)
{
    if (n > CONTENDERS_MAX)
        bench_fail(name, "too many contenders");
    if (!options->smoke) {
        measure(options, name, contenders, n);
        return;
    }
    for (size_t i = 0; i < n; i++)
        smoke(options, name, &contenders[i]);
}
