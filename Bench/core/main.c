/* SPDX-License-Identifier: Apache-2.0 */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { EXIT_USAGE = 2, TITLE_MAX = 64 };

static const char usage[] =
    "usage: bench [--rounds N] [--smoke] [--latency MS] [LINE...]   JSON lines; a LINE may be a pattern\n"
    "       bench list                                              names the lines\n"
    "       bench count LINE SIDE N                                 for an instruction counter\n";

#ifdef __OPTIMIZE__
static const bool optimised = true;
#else
static const bool optimised = false;
#endif

/* What the sides gave; NULL for one that is not open. */
static void *opened[SIDES_MAX];
static fixture made;

static bool is_tenon(const side *which) { return strcmp(which->name, sides[0]->name) == 0; }

static bool has_name(const side *which, const char *name) { return name == NULL || strcmp(which->name, name) == 0; }

static const char *version_of(const side *which) { return which->open == NULL ? NULL : which->version(); }

static const side_line *find_line(const side *of, const char *name)
{
    for (size_t i = 0; i < of->lines_n; i++)
        if (strcmp(of->lines[i].name, name) == 0)
            return &of->lines[i];
    return NULL;
}

static bool is_wanted(const char *name, char *const *patterns, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (fnmatch(patterns[i], name, 0) == 0)
            return true;
    return n == 0;
}

/* with_tpm: only those that have one. */
static void close_sides(bool with_tpm)
{
    for (size_t i = 0; i < sides_n; i++)
        if (opened[i] != NULL && (!with_tpm || sides[i]->commands != NULL)) {
            sides[i]->close(opened[i]);
            free(opened[i]);
            opened[i] = NULL;
        }
}

static void open_side(size_t i)
{
    opened[i] = calloc(1, sides[i]->size);
    if (opened[i] == NULL || !sides[i]->open(opened[i], &made)) {
        close_sides(false);
        bench_fail("open", sides[i]->name);
    }
}

/* Those without a TPM that are here, have the name, unless that is NULL, and take part in what is wanted. */
static void open_sides(const char *name, char *const *patterns, size_t n)
{
    if (!fixture_make(&made))
        bench_fail("fixture", "tenon");
    for (size_t i = 0; i < sides_n; i++) {
        bool takes_part = false;
        for (size_t j = 0; j < sides[i]->lines_n; j++)
            takes_part |= is_wanted(sides[i]->lines[j].name, patterns, n);
        if (takes_part && sides[i]->commands == NULL && version_of(sides[i]) != NULL && has_name(sides[i], name))
            open_side(i);
    }
}

/* Those that do a line, with what they keep for it. who: only this one, unless it is NULL. */
static size_t find_contenders(bench_contender *contenders, const char *name, const char *who)
{
    size_t n = 0;
    for (size_t i = 0; i < sides_n; i++) {
        const side_line *line = find_line(sides[i], name);
        if (line == NULL || version_of(sides[i]) == NULL || !has_name(sides[i], who))
            continue;
        if (opened[i] == NULL)
            open_side(i);
        if (line->prepare != NULL && !line->prepare(opened[i], line->argument))
            bench_fail(name, sides[i]->name);
        contenders[n++] = (bench_contender){sides[i], line, opened[i]};
    }
    return n;
}

static void set_latency(const bench_contender *contenders, size_t n, uint32_t milliseconds)
{
    for (size_t i = 0; i < n; i++)
        if (contenders[i].side->commands != NULL)
            contenders[i].side->commands->latency(contenders[i].context, milliseconds);
}

static void run_line(const bench_options *options, const char *name)
{
    bench_contender contenders[SIDES_MAX];
    char title[TITLE_MAX];
    const size_t n = find_contenders(contenders, name, NULL);
    snprintf(title, sizeof title, options->latency == 0 ? "%s" : "%s@%ums", name, options->latency);
    set_latency(contenders, n, options->latency);
    bench_run(options, title, contenders, n);
    set_latency(contenders, n, 0);
    close_sides(true);
}

static int run(const bench_options *options, char *const *patterns, size_t n)
{
    bool any = false;
    open_sides(NULL, patterns, n);
    bench_report_machine();
    for (size_t i = 0; i < sides_n; i++)
        if (!is_tenon(sides[i]))
            bench_report_peer(sides[i]->name, version_of(sides[i]));
    for (size_t i = 0; i < sides_n; i++)
        for (size_t j = 0; is_tenon(sides[i]) && j < sides[i]->lines_n; j++)
            if (is_wanted(sides[i]->lines[j].name, patterns, n)) {
                any = true;
                run_line(options, sides[i]->lines[j].name);
            }
    close_sides(false);
    if (!any)
        fprintf(stderr, "bench: no such line; see: bench list\n");
    return any ? EXIT_SUCCESS : EXIT_USAGE;
}

/*
 * bench count LINE SIDE N. The first calls, which bind symbols and make tables, stay outside the count. Tenon's is that
 * of a process with threads, though they wait: memory is asked for with a lock there.
 */
static int count(char *name, const char *who, const char *times)
{
    bench_contender contenders[SIDES_MAX];
    char threads[] = "sign-threads-*";
    char *const wanted[] = {name, threads};
    const uint64_t n = strtoull(times, NULL, 10);
    open_sides(who, wanted, 2);
    const size_t found = find_contenders(contenders, name, who);
    for (size_t i = 0; i < found; i++) {
        const side_line *line = contenders[i].line;
        for (size_t turn = 0; turn < FIXTURE_MESSAGES && turn < n; turn++)
            if (!line->function(contenders[i].context, line->argument))
                bench_fail(name, who);
        if (!bench_counted(line, contenders[i].context, n))
            bench_fail(name, who);
    }
    close_sides(false);
    if (found == 0)
        fprintf(stderr, "bench: %s has no line %s\n", who, name);
    return found == 0 ? EXIT_USAGE : EXIT_SUCCESS;
}

static int list(void)
{
    for (size_t i = 0; i < sides_n; i++)
        for (size_t j = 0; is_tenon(sides[i]) && j < sides[i]->lines_n; j++)
            puts(sides[i]->lines[j].name);
    return EXIT_SUCCESS;
}

/* Reads the options from the front; *first is the first word behind them. */
static bool read_options(bench_options *options, int argc, char **argv, int *first)
{
    int i = 1;
    for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
        const bool has_value = i + 1 < argc;
        if (strcmp(argv[i], "--smoke") == 0)
            options->smoke = true;
        else if (strcmp(argv[i], "--rounds") == 0 && has_value)
            options->rounds = strtoul(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--latency") == 0 && has_value)
            options->latency = (uint32_t)strtoul(argv[++i], NULL, 10);
        else
            return false;
    }
    *first = i;
    return options->rounds > 0;
}

int main(int argc, char **argv)
{
    bench_options options = {.rounds = 100};
    int first;
    if (!optimised) {
        fprintf(stderr, "bench: built without optimisation, its figures would say nothing; build with -O2\n");
        return EXIT_USAGE;
    }
    if (argc == 2 && strcmp(argv[1], "list") == 0)
        return list();
    if (argc == 5 && strcmp(argv[1], "count") == 0)
        return count(argv[2], argv[3], argv[4]);
    if (!read_options(&options, argc, argv, &first)) {
        fputs(usage, stderr);
        return EXIT_USAGE;
    }
    return run(&options, argv + first, (size_t)(argc - first));
}
