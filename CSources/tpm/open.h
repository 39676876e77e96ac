/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_OPEN_H
#define TENONI_OPEN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "tenon/tpm/tpm.h"

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

/* How long to wait for what a TPM or other programs will release. All zeros before the first wait. */
typedef struct {
    uint64_t deadline;
    uint32_t wait_ms; /* the next wait: twice the one before, up to a bound */
} tenoni_patience;

/*
 * Waits once, or returns false if the deadline, which counts from the first wait, has passed. If many wait for the same
 * thing, each wait lasts a random part of that time, so that two of them do not keep coming back together.
 */
bool tenoni_wait_once(tenoni_patience *patience, uint32_t deadline_ms, bool among_many);

void tenoni_tpm_wait(uint32_t ms);

/* The two ways to a TPM by name: the kernel's node, and the transports of tpm2-tss. */
tenon_status tenoni_device_open(tenon_tpm_transport *out, const char *path, size_t n);
tenon_status tenoni_tcti_open(tenon_tpm_transport *out, const char *name, size_t n);

#endif
