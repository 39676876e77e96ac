/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_PROCESS_H
#define BENCH_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

/* A process that ends with this one; its standard input and output are pipes. */
typedef struct {
    pid_t pid; /* 0: none */
    int in, out;
} process;

bool process_start(process *made, const char *const *arguments, char *const *environment);
void process_stop(process *of);
double process_cpu(const process *of); /* nanoseconds so far */

/* Runs a program to its end; false when it fails. Its CPU time is added, in nanoseconds. */
bool process_run(const char *const *arguments, char *const *environment, double *cpu);

/* This process's environment with one more; the memory stays the program's. NULL: no memory. */
char **process_environment(const char *name, const char *value);

#endif
