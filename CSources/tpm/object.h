/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_OBJECT_H
#define TENONI_OBJECT_H

#include "crypto/public_area.h"
#include "tpm/call.h"
#include "tpm/keyfile.h"

/* The commands about objects, one function each, inside an operation. */

tenon_status tenoni_read_public(tenon_tpm *tpm, tenoni_role role, uint32_t handle, tenoni_object *out);

/* In the owner hierarchy, with the owner's auth. */
tenon_status tenoni_create_primary(tenon_tpm *tpm, const tenoni_public *template, tenoni_object *out);

/* What a TPM says of a key when it makes it: the data without its size, its digest, and a ticket for the two. */
typedef struct {
    uint8_t data[TENON_AREA_MAX];
    size_t data_n;
    uint8_t hash[TENON_DIGEST_SIZE];
    uint8_t ticket[TENON_AREA_MAX];
    size_t ticket_n;
} tenoni_creation;

/*
 * Fills in the public and private area, and creation unless it is NULL. With an auth value the session has to encrypt:
 * the value goes to the TPM in the first parameter.
 */
tenon_status tenoni_create(tenon_tpm *tpm, const tenoni_object *parent, const tenoni_public *template,
                           const tenoni_auth *auth, tenoni_session *session, tenoni_keyfile *out,
                           tenoni_creation *creation);

/* TENON_ERROR_KEY_NAME when the TPM says another Name than the public area has. */
tenon_status tenoni_load(tenon_tpm *tpm, tenoni_role role, const tenoni_object *parent, const tenoni_keyfile *file,
                         uint32_t *handle);

/* Makes a transient object persistent at the handle, or takes the persistent object at the handle away. */
tenon_status tenoni_evict(tenon_tpm *tpm, uint32_t object, const uint8_t *name, uint32_t handle);

/* A session salted to an object that is a P-256 storage key; and its end, in the TPM too. */
tenon_status tenoni_session_open(tenon_tpm *tpm, const tenoni_object *salt_to, bool encrypts, tenoni_session *out);
void tenoni_session_close(tenon_tpm *tpm, tenoni_session *session);

#endif
