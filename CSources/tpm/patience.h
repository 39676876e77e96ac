/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_PATIENCE_H
#define TENONI_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>

/* How long something is waited for that a TPM, or others, will give back. All zeros before the first wait. */
typedef struct {
    uint64_t deadline;
    uint32_t wait_ms; /* the next wait: twice the one before, up to a bound */
} tenoni_patience;

/*
 * Waits once, or says false when the deadline has passed, which is counted from the first wait on. Of many who wait for
 * the same no two shall come back together for long: then a wait is a random part of what it would be.
 */
bool tenoni_wait_once(tenoni_patience *patience, uint32_t deadline_ms, bool among_many);

void tenoni_tpm_wait(uint32_t ms);

#endif
