/* SPDX-License-Identifier: Apache-2.0 */
#include <gnu/libc-version.h>
#include <string.h>

#include "bench.h"
#include "tenon/tenon.h"

enum { LINE_MAX_BYTES = 256 };

#ifdef __clang__
static const char compiler[] = __VERSION__; /* begins with its name */
#else
static const char compiler[] = "gcc " __VERSION__;
#endif

/* The text behind the first line of a file that begins with this; "unknown" when there is none. */
static void read_line(char *out, size_t n, const char *path, const char *head)
{
    char line[LINE_MAX_BYTES];
    snprintf(out, n, "unknown");
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return;
    while (fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, head, strlen(head)) != 0)
            continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(out, n, "%s", line + strlen(head));
        break;
    }
    fclose(file);
}

/* A JSON string; what would need an escape is not worth one here. */
static void put_text(FILE *json, const char *key, const char *text)
{
    fprintf(json, "\"%s\":\"", key);
    for (; *text != '\0'; text++)
        fputc(*text < 0x20 || *text == '"' || *text == '\\' ? '?' : *text, json);
    fputs("\",", json);
}

void bench_report_machine(const bench_options *options)
{
    char cpu[LINE_MAX_BYTES], governor[LINE_MAX_BYTES];
    read_line(cpu, sizeof cpu, "/proc/cpuinfo", "model name\t: ");
    read_line(governor, sizeof governor, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "");
    printf("tenon %s, backend %s, built with %s\n", tenon_version_text(), options->backend, compiler);
    printf("CPU %s, governor %s, glibc %s\n", cpu, governor, gnu_get_libc_version());
    if (options->json == NULL)
        return;
    fputc('{', options->json);
    put_text(options->json, "kind", "machine");
    put_text(options->json, "tenon", tenon_version_text());
    put_text(options->json, "compiler", compiler);
    put_text(options->json, "cpu", cpu);
    put_text(options->json, "governor", governor);
    put_text(options->json, "glibc", gnu_get_libc_version());
    fprintf(options->json, "\"backend\":\"%s\"}\n", options->backend);
}

void bench_report_peer(const bench_options *options, const char *name, const char *version)
{
    printf("peer %s: %s\n", name, version == NULL ? "missing" : version);
    if (options->json == NULL)
        return;
    fputc('{', options->json);
    put_text(options->json, "kind", "peer");
    put_text(options->json, "name", name);
    if (version != NULL)
        put_text(options->json, "version", version);
    fprintf(options->json, "\"backend\":\"%s\"}\n", options->backend);
}

void bench_report_heading(void)
{
    printf("\n%-23s %-15s %10s %10s %10s %10s %11s %10s %7s %7s  %s\n", "line", "by", "p50 us", "p95 us", "p99 us",
           "min us", "op/s", "CPU us/op", "alloc", "TPM cmd", "speed of tenon beside it (quartiles)");
}

/* Where the report's curves come from: the hundredths of the samples, and each round. */
static void put_distribution(FILE *json, const bench_result *result)
{
    fputs(",\"percentiles_ns\":[", json);
    for (size_t i = 0; i <= 100; i++)
        fprintf(json, "%s%.1f", i == 0 ? "" : ",", result->samples[(result->samples_n - 1) * i / 100]);
    fputs("],\"rounds_ns\":[", json);
    for (size_t i = 0; i < result->rounds_n; i++)
        fprintf(json, "%s%.1f", i == 0 ? "" : ",", result->rounds[i]);
    fputc(']', json);
}

static void put_result(const bench_options *options, const char *line, const char *who, const bench_result *result)
{
    fputc('{', options->json);
    put_text(options->json, "kind", "line");
    put_text(options->json, "backend", options->backend);
    put_text(options->json, "line", line);
    put_text(options->json, "by", who);
    fprintf(options->json,
            "\"rounds\":%zu,\"operations\":%llu,\"p50_ns\":%.1f,\"p95_ns\":%.1f,\"p99_ns\":%.1f,\"min_ns\":%.1f,"
            "\"per_second\":%.1f,\"cpu_ns\":%.1f,\"allocations\":%.2f",
            options->rounds, (unsigned long long)result->operations, result->p50, result->p95, result->p99, result->min,
            1e9 / result->p50, result->cpu, result->allocations);
    if (result->commands >= 0)
        fprintf(options->json, ",\"commands\":%.4f", result->commands);
    put_distribution(options->json, result);
    fputs("}\n", options->json);
}

static void put_ratio(const bench_options *options, const char *line, const char *who, const bench_ratio *ratio)
{
    fputc('{', options->json);
    put_text(options->json, "kind", "ratio");
    put_text(options->json, "backend", options->backend);
    put_text(options->json, "line", line);
    put_text(options->json, "peer", who);
    fprintf(options->json, "\"median\":%.4f,\"low\":%.4f,\"high\":%.4f}\n", ratio->median, ratio->low, ratio->high);
}

void bench_report_result(const bench_options *options, const char *line, const char *who, const bench_result *result,
                         const bench_ratio *ratio)
{
    printf("%-23s %-15s %10.2f %10.2f %10.2f %10.2f %11.0f %10.2f %7.1f", line, who, result->p50 / 1e3,
           result->p95 / 1e3, result->p99 / 1e3, result->min / 1e3, 1e9 / result->p50, result->cpu / 1e3,
           result->allocations);
    if (result->commands < 0)
        printf(" %7s", "");
    else
        printf(" %7.2f", result->commands);
    if (ratio != NULL)
        printf("  %.3f (%.3f-%.3f)", ratio->median, ratio->low, ratio->high);
    putchar('\n');
    fflush(stdout);
    if (options->json == NULL)
        return;
    put_result(options, line, who, result);
    if (ratio != NULL)
        put_ratio(options, line, who, ratio);
}

void bench_report_smoke(const bench_options *options, const char *line, const char *who, const char *commands)
{
    printf("%-23s %-15s works", line, who);
    if (commands != NULL)
        printf(": %s", commands[0] == '\0' ? "no TPM command" : commands);
    putchar('\n');
    if (options->json == NULL || commands == NULL)
        return;
    fputc('{', options->json);
    put_text(options->json, "kind", "commands");
    put_text(options->json, "backend", options->backend);
    put_text(options->json, "line", line);
    put_text(options->json, "by", who);
    put_text(options->json, "commands", commands);
    fprintf(options->json, "\"operations\":1}\n");
}
