/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_OPEN_H
#define TENONI_OPEN_H

#include <stdbool.h>
#include <stdint.h>

#include "tenon/tpm/tpm.h"

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
