/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_PROCESS_H
#define TENONI_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The process that something belongs to. A number does not say it: a fork's child may be the first of a pid namespace,
 * as its parent is of another. So each mark is a page that the kernel empties in a child (MADV_WIPEONFORK, Linux 4.14).
 * Where it does not do that, the pid namespace stands for the page: then only a process that has the number of one that
 * ended, in the same namespace, is taken for it; and without /proc the number alone is left.
 */
typedef struct {
    pid_t pid;
    volatile uint8_t *mark; /* NULL: the kernel cannot empty it */
    dev_t namespace_dev;    /* without a mark; both 0 without /proc */
    ino_t namespace_ino;
} tenoni_process;

/* The process that calls. false: no memory. */
bool tenoni_process_begin(tenoni_process *process);
bool tenoni_process_is_this(const tenoni_process *process);
void tenoni_process_end(tenoni_process *process);

#endif
