/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_DESK_H
#define TENONI_DESK_H

#include "native/result.h"
#include "native/sealed.h"
#include "tenon/tpm/tpm.h"

/*
 * What the worker has before it: the TPM, and what it keeps loaded there. Only the worker's thread touches it, and a
 * fork's child begins with an empty one.
 */

/* Opens the TPM at the first call. */
tenoni_result tenoni_desk_tpm(tenon_tpm **out);

/* Puts everything away. all false: what was in use at a fork stays as it is. */
void tenoni_desk_forget(bool all);

/* For tests: the TPM is behind this transport. */
void tenoni_desk_use(const tenon_tpm_transport *transport);

/* A key that stays loaded as long as its file stays as it is. */
enum { TENONI_DESK_KEYS = 4 };

typedef struct {
    char file[40];
    uint64_t mark[4]; /* the file's device, inode, size and time */
    tenon_tpm_key *key;
} tenoni_desk_key;

/* The place of this file's key: key is NULL if another one was put away for it. */
tenoni_desk_key *tenoni_desk_place(const char *file);
void tenoni_desk_clear(tenoni_desk_key *place);

/* The store's key, as it is in the TPM. */
tenoni_sealed *tenoni_desk_sealed(void);

#endif
