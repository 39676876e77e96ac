/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_PROCESS_H
#define TENONI_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The process to which something belongs. Its number is not enough: a fork's child may be process 1 of a pid namespace,
 * as its parent may be of another. The mark is therefore a page that the kernel empties in a child (MADV_WIPEONFORK,
 * Linux 4.14). If the kernel cannot do that, the pid namespace takes the place of the page; then a process is mistaken
 * for one that has ended only if it has the same number in the same namespace. Without /proc, only the number is left.
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
