/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_SEALED_H
#define TENONI_SEALED_H

#include "native/result.h"
#include "tpm/object.h"

/*
 * A secret that only this TPM gives back: a sealed data object under the storage key (TPM 2.0 Part 1, 27.2). It comes
 * and goes through a session that is salted to that storage key and encrypts, so a listener on the bus learns nothing.
 */

/* The key of the values, and the auth value of the counter. */
enum { TENONI_SECRET_SIZE = 64, TENONI_SECRET_KEY = 32, TENONI_SEALED_MAX = 2048 };

/* It stays loaded, with its session, from one call to the next. All zeros: nothing is loaded. */
typedef struct {
    tenoni_keyfile file;
    uint8_t name[TENON_NAME_SIZE];
    tenoni_slot slot;
    tenoni_session session;
    tenoni_slot session_slot;
    uint32_t counter; /* the NV index; 0: none */
    bool known;       /* file is filled in */
} tenoni_sealed;

/* Makes one, for a caller that keeps it. */
tenon_status tenoni_sealed_make(tenon_tpm *tpm, tenoni_sealed *out, const uint8_t *secret);

/* The secret: one command when the object and a session are ready. The caller wipes it. */
tenon_status tenoni_sealed_open(tenon_tpm *tpm, tenoni_sealed *sealed, uint8_t *secret);

/* Whether the TPM has another seed than the one that made it. */
bool tenoni_sealed_is_of_another(tenon_tpm *tpm, const tenoni_sealed *sealed);

/* As bytes, and back; nothing is loaded. */
void tenoni_sealed_write(tenoni_writer *writer, const tenoni_sealed *sealed);
bool tenoni_sealed_read(tenoni_sealed *out, const uint8_t *bytes, size_t n);

void tenoni_sealed_clear(tenon_tpm *tpm, tenoni_sealed *sealed);

/* Inside an operation: the session, ready for a command. */
tenon_status tenoni_sealed_session(tenon_tpm *tpm, tenoni_sealed *sealed);
void tenoni_sealed_drop(tenon_tpm *tpm, tenoni_sealed *sealed);

/* Whether what was lost in the TPM is worth another try with everything made anew. */
bool tenoni_sealed_again(tenon_status status);

#endif
