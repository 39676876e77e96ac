/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SUPPORT_FAULT_H
#define SUPPORT_FAULT_H

#include "test_transport.h"

typedef enum {
    SUPPORT_FAULT_CODE,
    SUPPORT_FAULT_BEFORE,
    SUPPORT_FAULT_AFTER,
    SUPPORT_FAULT_KILL,
    SUPPORT_FAULT_TAMPER,
    SUPPORT_FAULT_FLIP,
    SUPPORT_FAULT_TRUNCATE,
    SUPPORT_FAULT_EXTEND,
    SUPPORT_FAULT_RESIZE,
    SUPPORT_FAULT_FIX_SIZE,
    SUPPORT_FAULT_STRIP,
    SUPPORT_FAULT_REPLACE,
    SUPPORT_FAULT_LIE,
    SUPPORT_FAULT_EDIT,
    SUPPORT_FAULT_HOLD
} support_fault_kind;

typedef struct {
    support_fault_kind kind;
    support_when when;
    uint32_t seen;  /* commands of its code since it was planned */
    uint32_t value; /* rc, handle, size, done, bits */
    int32_t offset;
    size_t n;
    tenon_status status;
    const uint8_t *bytes;
    support_edit_function edit;
    void *context;
} support_fault;

enum { SUPPORT_FAULTS = 32 };

/* Counts a command for a fault, and returns whether the fault affects it. */
bool support_fault_is_due(support_fault *fault, uint32_t code);
bool support_fault_is_pending(const support_fault *fault);

/* Changes the command that the TPM will see. */
void support_fault_change_command(const support_fault *fault, uint8_t *command, size_t n);

/* Changes the answer that the caller will see, and returns its new length, which only LIE makes larger than size. */
size_t support_fault_change_answer(const support_fault *fault, uint8_t *answer, size_t n, size_t size);

#endif
