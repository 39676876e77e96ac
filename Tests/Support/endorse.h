/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SUPPORT_ENDORSE_H
#define SUPPORT_ENDORSE_H

/* The endorsement hierarchy as admin.h does the others: EKs of the TCG's templates, and what is done with them. */
#include "admin.h"

typedef enum {
    SUPPORT_EK_RSA_L1,  /* RSA-2048, SHA-256, 000300B2, PolicyA, 256 zeros */
    SUPPORT_EK_P256_L2, /* the same with 32 + 32 zeros; as SUPPORT_EK_L2 of admin.h */
    SUPPORT_EK_RSA_H1,  /* RSA-2048, SHA-256, 000300F2, PolicyB, unique empty */
    SUPPORT_EK_P256_H2,
    SUPPORT_EK_P384_H3, /* SHA-384, AES-256 */
    SUPPORT_EKS
} support_ek;

/* The template as CreatePrimary takes it; its Name is empty. */
void support_ek_template(support_ek which, support_public *out);

/* As a transient object; area as the TPM gives it. */
uint32_t support_ek_create(support_swtpm *tpm, support_ek which, uint32_t *handle, support_public *area);
uint32_t support_ek_create_by(support_swtpm *tpm, const support_public *template, uint32_t *handle,
                              support_public *area);

/* The modulus, or x and y filled up with zeros on the left: 256, 64 or 96 bytes, which is the answer. */
size_t support_ek_key(support_ek which, const support_public *area, uint8_t *out);

/* PolicyA or PolicyB of the profile: by PolicySecret of the endorsement hierarchy, then by PolicyOR. For one use. */
uint32_t support_ek_session(support_swtpm *tpm, support_ek which, const char *endorsement_auth, uint32_t *session);

/* A policy session of this hash that nothing was done with yet. */
uint32_t support_policy_session(support_swtpm *tpm, uint32_t hash, uint32_t *session);

/*
 * ActivateCredential with an object of empty auth value. credential and encrypted are TPM2Bs with their sizes, which go
 * to the TPM as they are. The session is made and flushed here.
 */
uint32_t support_activate(support_swtpm *tpm, support_ek which, uint32_t object, uint32_t ek, const uint8_t *credential,
                          size_t credential_n, const uint8_t *encrypted, size_t encrypted_n, uint8_t *secret,
                          size_t size, size_t *written);

/* The same with an object that is authorised by a policy session, which then ends, too; 0: by an empty password. */
uint32_t support_activate_by(support_swtpm *tpm, support_ek which, uint32_t object, uint32_t object_session,
                             uint32_t ek, const uint8_t *credential, size_t credential_n, const uint8_t *encrypted,
                             size_t encrypted_n, uint8_t *secret, size_t size, size_t *written);

#endif
