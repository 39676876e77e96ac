/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_OBJECT_H
#define TENONI_OBJECT_H

#include "crypto/structures.h"
#include "tpm/call.h"
#include "tpm/keyfile.h"

/* The commands about objects, one function each, inside an operation. */

tenon_status tenoni_read_public(tenon_tpm *tpm, tenoni_role role, uint32_t handle, tenoni_object *out);

/* In the owner hierarchy, with the owner's auth. */
tenon_status tenoni_create_primary(tenon_tpm *tpm, const tenoni_public *template, tenoni_object *out);

/* The TPM's record of how it made a key: the creation data without its size, its digest, and the ticket. */
typedef struct {
    uint8_t data[TENON_AREA_MAX];
    size_t data_n;
    uint8_t hash[TENON_DIGEST_SIZE];
    uint8_t ticket[TENON_AREA_MAX];
    size_t ticket_n;
} tenoni_creation;

/*
 * Fills in the public and private area, and creation unless it is NULL. If there is an auth value, the session must
 * encrypt, because the value is in the first parameter.
 */
tenon_status tenoni_create(tenon_tpm *tpm, const tenoni_object *parent, const tenoni_public *template,
                           const tenoni_auth *auth, tenoni_session *session, tenoni_keyfile *out,
                           tenoni_creation *creation);

/* TENON_ERROR_KEY_NAME: the TPM gave another Name than that of the public area. */
tenon_status tenoni_load(tenon_tpm *tpm, tenoni_role role, const tenoni_object *parent, const tenoni_keyfile *file,
                         uint32_t *handle);

/* Makes a transient object persistent at the handle, or removes the persistent object from the handle. */
tenon_status tenoni_evict(tenon_tpm *tpm, uint32_t object, const uint8_t *name, uint32_t handle);

/* Opens a session salted to an object that is a P-256 storage key; and ends it, in the TPM, too. */
tenon_status tenoni_session_open(tenon_tpm *tpm, const tenoni_object *salt_to, bool encrypts, tenoni_session *out);
void tenoni_session_close(tenon_tpm *tpm, tenoni_session *session);

/*
 * Where a key's parent is. Administrators and other tools make and remove persistent storage keys, so a parent is found
 * by its Name; the seed's own witness is the Name of the H-2 primary, which is a function of the seed alone.
 */

/* TCG TPM v2.0 Provisioning Guidance, 7.8: the handle of the storage key. */
static const uint32_t tenoni_srk = 0x81000001;

/* The places, in the order of the search. */
enum { TENONI_PLACE_RECORDED, TENONI_PLACE_SRK, TENONI_PLACE_PRIMARY, TENONI_PLACE_PROVISIONED, TENONI_PLACES };

/* The object at one place. TENON_ERROR_PARENT_MISSING: the place is empty; any other failure: it is not known. */
tenon_status tenoni_parent_at(tenon_tpm *tpm, int place, const tenoni_keyfile *file, tenoni_object *out);

/* For a new key: the ECC storage key at 0x81000001 if it fits the template, else the H-2 primary. */
tenon_status tenoni_parent_choose(tenon_tpm *tpm, tenoni_object *out);

/* For a key that is there: by the Name in the file, or, without one, at the recorded place. */
tenon_status tenoni_parent_find(tenon_tpm *tpm, const tenoni_keyfile *file, tenoni_object *out);

/*
 * Finds the key to which a session for this key is salted: its parent. The parent of another tool's key may be an RSA
 * key; then the H-2 primary is used.
 */
tenon_status tenoni_parent_for_salt(tenon_tpm *tpm, const tenoni_keyfile *file, tenoni_object *out);

/* The seed witness, computed again. */
tenon_status tenoni_parent_witness(tenon_tpm *tpm, uint8_t *name);

#endif
