/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_PARENT_H
#define TENONI_PARENT_H

#include "tpm/object.h"

/*
 * Where a key's parent is. Persistent storage keys come and go with administrators and other tools, so a parent is
 * searched by its Name; the seed's own witness is the Name of the H-2 primary, which is a function of the seed alone.
 */

/* The places, in the order of the search. */
enum { TENONI_PLACE_RECORDED, TENONI_PLACE_SRK, TENONI_PLACE_PRIMARY, TENONI_PLACE_PROVISIONED, TENONI_PLACES };

/* What is at one place. TENON_ERROR_PARENT_MISSING: nothing; any other failure means that nobody can say. */
tenon_status tenoni_parent_at(tenon_tpm *tpm, int place, const tenoni_keyfile *file, tenoni_object *out);

/* For a new key: the ECC storage key at 0x81000001 if it fits the template, else the H-2 primary. */
tenon_status tenoni_parent_choose(tenon_tpm *tpm, tenoni_object *out);

/* For a key that is there: by the Name in the file, or, without one, at the recorded place. */
tenon_status tenoni_parent_find(tenon_tpm *tpm, const tenoni_keyfile *file, tenoni_object *out);

/* What a session for the key is salted to: its parent. Another tool's key may be under one of RSA, whose Name nobody
 * vouched for: then any storage key will do. */
tenon_status tenoni_parent_for_salt(tenon_tpm *tpm, const tenoni_keyfile *file, tenoni_object *out);

/* The seed witness, computed anew. */
tenon_status tenoni_parent_witness(tenon_tpm *tpm, uint8_t *name);

#endif
