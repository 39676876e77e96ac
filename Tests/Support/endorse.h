/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SUPPORT_ENDORSE_H
#define SUPPORT_ENDORSE_H

/* The endorsement hierarchy, in the manner of admin.h: EKs of the TCG's templates, and commands that use them. */
#include "admin.h"

typedef enum {
    SUPPORT_EK_RSA_L1,  /* RSA-2048, SHA-256, 000300B2, PolicyA, 256 zeros */
    SUPPORT_EK_P256_L2, /* the same with 32 + 32 zeros */
    SUPPORT_EK_RSA_H1,  /* RSA-2048, SHA-256, 000300F2, PolicyB, unique empty */
    SUPPORT_EK_P256_H2,
    SUPPORT_EK_P384_H3, /* SHA-384, AES-256 */
    SUPPORT_EKS
} support_ek;

/* The template in the form of CreatePrimary; its Name is empty. */
void support_ek_template(support_ek which, support_public *out);

/* Makes a transient object; area is the TPM's own. */
uint32_t support_ek_create(support_swtpm *tpm, support_ek which, uint32_t *handle, support_public *area);
uint32_t support_ek_create_by(support_swtpm *tpm, const support_public *template, uint32_t *handle,
                              support_public *area);

/* Writes the modulus, or x and y padded with zeros on the left, and returns the size: 256, 64 or 96 bytes. */
size_t support_ek_key(support_ek which, const support_public *area, uint8_t *out);

/* A session with PolicyA or PolicyB of the profile: PolicySecret of the endorsement hierarchy, then PolicyOR. For one
 * use. */
uint32_t support_ek_session(support_swtpm *tpm, support_ek which, const char *endorsement_auth, uint32_t *session);

/* An unused policy session with this hash. */
uint32_t support_policy_session(support_swtpm *tpm, uint32_t hash, uint32_t *session);

/*
 * ActivateCredential with an object with an empty auth value. credential and encrypted are TPM2Bs with their sizes, and
 * are sent unchanged. This makes and flushes the session.
 */
uint32_t support_activate(support_swtpm *tpm, support_ek which, uint32_t object, uint32_t ek, const uint8_t *credential,
                          size_t credential_n, const uint8_t *encrypted, size_t encrypted_n, uint8_t *secret,
                          size_t size, size_t *written);

/* The same with an object that a policy session authorises, which then ends, too; 0 means an empty password. */
uint32_t support_activate_by(support_swtpm *tpm, support_ek which, uint32_t object, uint32_t object_session,
                             uint32_t ek, const uint8_t *credential, size_t credential_n, const uint8_t *encrypted,
                             size_t encrypted_n, uint8_t *secret, size_t size, size_t *written);

#endif
