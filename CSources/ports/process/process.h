/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_PROCESS_H
#define TENONI_PROCESS_H

/*
 * What the kernel gave this process, which Swift does not see: its words as main gets them (Swift's own read
 * /proc/self/cmdline, and are empty without /proc), and its environment as secure_getenv reads it.
 */

/* The words of the command line, the program's name first. They stay valid. Zero if there are no words. */
int tenoni_process_words(char *const **words);

/* Opens those of 0, 1 and 2 that are closed as something that can be neither read nor written. */
void tenoni_process_fill(void);

/* The value of a variable; NULL if it is not set, and in a program that has more rights than its user. */
const char *tenoni_process_variable(const char *name);

/*
 * Leaves in the environment the variables of these names alone; a name that ends in '_' is that of all that begin with
 * it. The list ends with NULL. Before there is another thread. When there is no memory nothing is left.
 */
void tenoni_process_keep(const char *const *names);

/*
 * Has threads of its own run Swift's asynchronous code from now on. libdispatch, which does that otherwise, opens a
 * file below /proc every second and makes descriptors for its timers, and ends the process when it cannot: without
 * /proc, or when clients have all descriptors. Here nothing is opened. Tasks wait by Sources/Tenon/Work/Sleep.swift, as
 * the runtime's own waits ask no hook. Before the first task; zero when there are no threads.
 */
int tenoni_process_run_jobs(void);

#endif
