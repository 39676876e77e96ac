/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_TPM_KEY_H
#define TENONI_TPM_KEY_H

#include "tpm/object.h"

struct tenon_tpm_key {
    tenon_tpm *tpm;
    atomic_uint references;
    tenoni_keyfile file;
    tenoni_public area;
    uint8_t name[TENON_TPM_NAME_SIZE];
    tenon_public_key public_key;
    bool foreign;
    tenoni_auth auth;

    /* What follows is written inside operations only. */
    tenoni_slot slot; /* where it is loaded */
    bool gone;        /* it was judged so */
    bool trusted;     /* the Name at the persistent handle was the key's, in this epoch */
    uint64_t epoch;
    tenoni_session session;
    tenoni_slot session_slot; /* where it is in the TPM; 0: it is not there any more */
    uint8_t command[128];     /* TPM2_Sign with a password, but for the handle and the digest */
    size_t command_n;
};

void tenoni_key_keep(tenon_tpm_key *key);

/* The handle to sign with: the persistent copy, or the loaded blob. Sends nothing while there is one. */
tenon_status tenoni_key_ready(tenon_tpm_key *key, uint32_t *handle);

/* Looks whether the persistent handle holds the key, and remembers it for this epoch. */
tenon_status tenoni_key_trust(tenon_tpm_key *key);

/* Looks whether what the key signs with, loaded or persistent, is the key; if not, it is not used any more. */
tenon_status tenoni_key_look(tenon_tpm_key *key);

/* A status of tenoni_key_look after which the blob is tried. */
bool tenoni_is_only_a_cache(tenon_status status);

/* Forgets what the TPM said that it does not have. */
void tenoni_key_forget(tenon_tpm_key *key);

/* Ends the key's session, here and in the TPM. */
void tenoni_key_end_session(tenon_tpm_key *key);

/* TPM2_Sign of a digest, by whatever session the key needs. */
tenon_status tenoni_key_sign(tenon_tpm_key *key, tenon_signature *out, const tenon_digest *digest);

void tenoni_key_prepare(tenon_tpm_key *key);

#endif
