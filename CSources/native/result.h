/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_RESULT_H
#define TENONI_RESULT_H

#include <stdbool.h>

#include "tenon/status.h"

/*
 * How a look or a change ended. There are three kinds: it was done, there is nothing, and everything else, after which
 * nobody can say what is there. Only the first two let a caller make, replace or delete something.
 */
typedef enum {
    TENONI_DONE,
    TENONI_NOTHING,
    TENONI_BAD_ARGUMENT,
    TENONI_NO_MEMORY,
    TENONI_LATE,
    TENONI_FOLDER_UNSAFE,
    TENONI_FOLDER_BUSY,
    TENONI_DISK_FAILED,
    TENONI_DISK_FULL,
    TENONI_FILE_DAMAGED,
    TENONI_FILE_OF_ANOTHER,
    TENONI_FILE_MISSING,
    TENONI_FILE_STALE,
    TENONI_STORE_KEY_MISSING,
    TENONI_STORE_OF_ANOTHER_TPM,
    TENONI_STORE_FULL,
    TENONI_VALUE_KEPT,
    TENONI_NO_CERTIFICATE,
    TENONI_TPM_FAILED, /* the status says how */
    TENONI_CAUSES
} tenoni_cause;

typedef struct {
    tenoni_cause cause;
    tenon_status status;
} tenoni_result;

tenoni_result tenoni_because(tenoni_cause cause);
tenoni_result tenoni_of(tenon_status status);

/* What the error number of a file's system call means. */
tenoni_result tenoni_of_errno(int error);

bool tenoni_done(tenoni_result result);
bool tenoni_nothing(tenoni_result result);

/* The word for the runtime, and the whole as JSON; NULL for success and without memory. */
const char *tenoni_reason(tenoni_result result);
char *tenoni_result_json(tenoni_result result);

#endif
