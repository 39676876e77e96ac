/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_TPM_KEY_H
#define TENONI_TPM_KEY_H

#include "tpm/object.h"

struct tenon_tpm_key {
    tenon_tpm *tpm;
    atomic_uint references;
    tenoni_keyfile file;
    tenoni_public area;
    uint8_t name[TENON_NAME_SIZE];
    tenon_public_key public_key;
    bool foreign;
    bool attests;             /* an AK: it signs what the TPM says and nothing else */
    tenoni_creation creation; /* of an AK that was made here; else empty */
    tenoni_auth auth;
    atomic_bool parent_known; /* file.parent_name is there, and never changes again: it is read without the lock */
    atomic_uint copy;         /* file.handle, to be read without the lock */

    /* What follows is written inside operations only. */
    tenoni_slot slot; /* where it is loaded */
    bool gone;        /* it was judged so */
    bool trusted;     /* what is at the persistent handle was the key, in this epoch */
    uint32_t epoch;
    bool tried;        /* the copy was used once before anybody looked at it */
    bool parent_tried; /* the recorded parent was */
    tenoni_session session;
    tenoni_slot session_slot; /* where it is in the TPM; 0: it is not there any more */
    uint8_t command[128];     /* TPM2_Sign with a password, but for the handle and the digest */
    size_t command_n;
};

void tenoni_key_keep(tenon_tpm_key *key);

/* What kind of key a public area must describe: tenoni_public_check_*. */
typedef tenon_status tenoni_area_check(const tenoni_public *area);

/*
 * Makes a key to be filled in (NULL: no memory), and finishes it: gives it to the caller, or frees it if the status is
 * an error.
 */
tenon_status tenoni_key_begin(tenon_tpm *tpm, tenon_tpm_key **key, const uint8_t *auth, size_t auth_n);
tenon_status tenoni_key_finish(tenon_tpm_key **out, tenon_tpm_key *key, tenon_status status);

/* Makes the key under its parent, and loads it; inside an operation. */
tenon_status tenoni_key_make(tenon_tpm_key *key, const tenoni_object *parent, const tenoni_public *template,
                             tenoni_area_check *check);

/* Reads an exported key, and loads it. */
tenon_status tenoni_key_open(tenon_tpm *tpm, tenon_tpm_key **out, const char *pem, size_t pem_n, const uint8_t *auth,
                             size_t auth_n, tenoni_area_check *check);

/* Gives the handle to sign with: the persistent copy, or the loaded blob. Sends nothing if one of them is ready. */
tenon_status tenoni_key_ready(tenon_tpm_key *key, uint32_t *handle);

/* Looks whether the persistent handle holds the key, and remembers it for this epoch; or drops another key's. */
tenon_status tenoni_key_trust(tenon_tpm_key *key);

/* The persistent copy is the key, as it was in this epoch. */
bool tenoni_key_knows_copy(const tenon_tpm_key *key);

/* Sets where the persistent copy is: 0 if the key has no copy, or if another key is at its handle. */
void tenoni_key_set_copy(tenon_tpm_key *key, uint32_t handle);

/* Looks whether what the key signs with, loaded or persistent, is the key; if not, it is not used any more. */
tenon_status tenoni_key_look(tenon_tpm_key *key);

/* Whether the blob is tried after this status of tenoni_key_look. */
bool tenoni_is_only_a_cache(tenon_status status);

/* Forgets the handles after the TPM said that it does not have them. */
void tenoni_key_forget(tenon_tpm_key *key);

/* Ends the key's session, here and in the TPM. */
void tenoni_key_end_session(tenon_tpm_key *key);

/*
 * Gives the handle to use the key with, and opens the session that the key needs, if any: key->session. The session
 * comes first, because the search for its parent may flush what is loaded.
 */
tenon_status tenoni_key_ready_to_use(tenon_tpm_key *key, uint32_t *handle);
bool tenoni_key_uses_session(const tenon_tpm_key *key);
bool tenoni_key_encrypts(const tenon_tpm_key *key);

/* TENON_ERROR_AUTH_NEEDED: the key has an auth value, and none is known now. */
tenon_status tenoni_key_check_value(const tenon_tpm_key *key);

/* The TPM counts wrong values of the key. */
bool tenoni_key_is_guarded(const tenon_tpm_key *key);

/* Whether to try a refused command once more; what the TPM lost is made again. */
bool tenoni_key_replace(tenon_tpm_key *key, tenon_status status);

/* TPM2_Sign of a digest, with the session that the key needs. */
tenon_status tenoni_key_sign(tenon_tpm_key *key, tenon_signature *out, const tenon_digest *digest);

void tenoni_key_prepare(tenon_tpm_key *key);

#endif
