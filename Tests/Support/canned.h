/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SUPPORT_CANNED_H
#define SUPPORT_CANNED_H

/*
 * A transport inside the process that gives one fixed answer for each command code: for counting instructions and
 * allocations of the caller alone. A code without an answer gives TENON_ERROR_TPM_TRANSPORT. It has no lock.
 *
 * The answers are best taken from a real TPM: support_transport_record, then support_canned_answer.
 */
#include "tenon/tpm/tpm.h"

typedef struct support_canned support_canned;

support_canned *support_canned_new(void);
void support_canned_free(support_canned *canned);

/* Copies the answer. A later answer for the same code replaces it. */
void support_canned_answer(support_canned *canned, uint32_t code, const uint8_t *answer, size_t n);

/* The number of commands since it was made. */
uint64_t support_canned_count(const support_canned *canned);

tenon_tpm_transport support_canned_table(support_canned *canned);

#endif
