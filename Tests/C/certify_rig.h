/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CERTIFY_RIG_H
#define CERTIFY_RIG_H

#include "admin.h"
#include "verify_rig.h"
#include "wire.h"

/* A software TPM with a storage primary of the owner, a key and an AK under it, and what it certifies for this nonce.
 */

typedef struct {
    support_swtpm *tpm;
    uint32_t srk, key, ak;
    support_public srk_area, key_area, ak_area;
    tenon_digest nonce;
} certify_device;

typedef struct {
    uint8_t proof[TENON_PROOF_MAX];
    size_t n;
} certify_proof;

/* A command of the administrator's that has to succeed. */
#define MUST_BE_0(call) CHECK_NUMBER(call, 0)

certify_device certify_start(void);
void certify_stop(certify_device *at);

/* Makes and loads a child of the storage primary; its handle. */
uint32_t certify_child(certify_device *at, support_template which, const char *auth, support_public *area);

/* TPM2_LoadExternal of rig_other_scalar with its private half (Part 3, 12.3); the TPM's response code. */
uint32_t certify_load_software_key(certify_device *at, uint32_t attributes, support_public *area, uint32_t *handle);

/* TPM2_Certify of a key with this auth value by a signer that has none, as a statement with or without certificates. */
typedef struct {
    uint32_t key;
    const support_public *area;
    const char *auth;
    uint32_t signer;
    bool signer_needs_scheme; /* one that is no AK */
    const tenon_bytes *x5c;
    size_t x5c_count;
    bool der; /* sig in its DER form */
} certify_order;

void certify(certify_device *at, const certify_order *order, certify_proof *out);

/* The qualified Name of a primary, TENON_NAME_SIZE bytes. */
void certify_qualified_name(uint8_t *out, uint32_t hierarchy, const support_public *area);

#endif
