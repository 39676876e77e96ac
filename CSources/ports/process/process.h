/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_PROCESS_H
#define TENONI_PROCESS_H

/*
 * Facts from the kernel that Swift does not see: the command line as main gets it (Swift reads /proc/self/cmdline, and
 * has no words without /proc), and the environment as secure_getenv reads it.
 */

/* The words of the command line, the program's name first. They stay valid. Zero if there are no words. */
int tenoni_process_words(char *const **words);

/* Opens each of the descriptors 0, 1 and 2 that is closed, as something that can be neither read nor written. */
void tenoni_process_fill(void);

/* The value of a variable; NULL if it is not set, and in a program that has more rights than its user. */
const char *tenoni_process_variable(const char *name);

/*
 * Removes all variables from the environment except those with these names; a name that ends in '_' stands for all
 * names that begin with it. The list ends with NULL. Call it before there is another thread. If there is no memory, all
 * variables are removed.
 */
void tenoni_process_keep(const char *const *names);

/*
 * Runs Swift's asynchronous code on threads of its own from now on. libdispatch, which normally runs it, opens a file
 * below /proc every second, creates descriptors for its timers, and ends the process when it cannot: without /proc, or
 * when clients hold all descriptors. These threads open nothing. Tasks wait with Sources/Tenon/Work/Sleep.swift,
 * because the runtime's own waits have no hook. Call it before the first task; zero means that no thread could be
 * started.
 */
int tenoni_process_run_jobs(void);

#endif
