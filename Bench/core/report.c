/* SPDX-License-Identifier: Apache-2.0 */
#include <gnu/libc-version.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"

enum { LINE_MAX_BYTES = 256 };

#ifdef __clang__
static const char compiler[] = __VERSION__; /* begins with its name */
#else
static const char compiler[] = "gcc " __VERSION__;
#endif

/* A member, a JSON string; what would need an escape is not worth one here. */
static void put_text(const char *key, const char *text)
{
    printf(",\"%s\":\"", key);
    for (; *text != '\0'; text++)
        putchar(*text < 0x20 || *text == '"' || *text == '\\' ? '?' : *text);
    putchar('"');
}

static void begin(const char *kind)
{
    printf("{\"kind\":\"%s\"", kind);
    put_text("backend", tenon_backend_name());
}

static void begin_line(const char *kind, const char *line, const char *who)
{
    begin(kind);
    put_text("line", line);
    put_text("by", who);
}

/* Whoever reads it sees each when it is done. */
static void end(void)
{
    puts("}");
    if (fflush(stdout) != 0)
        bench_fail("report", "writing");
}

/* The text behind the first line of a file that begins with this; "unknown" when there is none. */
static void put_line(const char *key, const char *path, const char *head)
{
    char line[LINE_MAX_BYTES];
    const char *found = "unknown";
    FILE *file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, head, strlen(head)) == 0) {
            line[strcspn(line, "\n")] = '\0';
            found = line + strlen(head);
            break;
        }
    put_text(key, found);
    if (file != NULL)
        fclose(file);
}

void bench_report_machine(void)
{
    begin("machine");
    put_text("tenon", tenon_version_text());
    put_text("compiler", compiler);
    put_line("cpu", "/proc/cpuinfo", "model name\t: ");
    put_line("governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "");
    put_text("glibc", gnu_get_libc_version());
    end();
}

void bench_report_peer(const char *name, const char *version)
{
    begin("peer");
    put_text("name", name);
    if (version != NULL)
        put_text("version", version);
    end();
}

void bench_report_result(const char *line, const char *who, const bench_result *result)
{
    begin_line("line", line, who);
    printf(",\"rounds\":%zu,\"operations\":%llu,\"p50_ns\":%.1f,\"p95_ns\":%.1f,\"p99_ns\":%.1f,\"min_ns\":%.1f,"
           "\"per_second\":%.1f,\"cpu_ns\":%.1f,\"allocations\":%.2f",
           result->rounds_n, (unsigned long long)result->operations, result->p50, result->p95, result->p99, result->min,
           1e9 / result->p50, result->cpu, result->allocations);
    if (result->commands >= 0)
        printf(",\"commands\":%.4f", result->commands);
    /* Where the report's curves come from: the hundredths of the samples, and each round. */
    for (size_t i = 0; i <= 100; i++)
        printf("%s%.1f", i == 0 ? ",\"percentiles_ns\":[" : ",", result->samples[(result->samples_n - 1) * i / 100]);
    for (size_t i = 0; i < result->rounds_n; i++)
        printf("%s%.1f", i == 0 ? "],\"rounds_ns\":[" : ",", result->rounds[i]);
    putchar(']');
    end();
}

void bench_report_smoke(const char *line, const char *who, const char *commands)
{
    begin_line(commands == NULL ? "works" : "commands", line, who);
    if (commands != NULL)
        put_text("commands", commands);
    fputs(",\"operations\":1", stdout);
    end();
}
