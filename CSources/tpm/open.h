/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_OPEN_H
#define TENONI_OPEN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "tenon/tpm/tpm.h"

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

/* How long something is waited for that a TPM, or others, will give back. All zeros before the first wait. */
typedef struct {
    uint64_t deadline;
    uint32_t wait_ms; /* the next wait: twice the one before, up to a bound */
} tenoni_patience;

/*
 * Waits once, or says false when the deadline has passed, which is counted from the first wait on. Among many
 * who wait for the same thing, each wait is a random part of that, so that no two come back together for long.
 */
bool tenoni_wait_once(tenoni_patience *patience, uint32_t deadline_ms, bool among_many);

void tenoni_tpm_wait(uint32_t ms);

/* The two ways to a TPM by name: the kernel's node, and the transports of tpm2-tss. */
tenon_status tenoni_device_open(tenon_tpm_transport *out, const char *path, size_t n);
tenon_status tenoni_tcti_open(tenon_tpm_transport *out, const char *name, size_t n);

#endif
