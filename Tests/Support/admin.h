/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SUPPORT_ADMIN_H
#define SUPPORT_ADMIN_H

/*
 * Acts of an administrator, another program or an attacker on a TPM. They bypass every transport, so no transport
 * counts them. Each function returns the TPM's response code, 0 for success, or SUPPORT_RC_NONE if the TPM gave no
 * answer, and flushes whatever it loaded. An auth value is a string; NULL is the empty one.
 */
#include "codes.h"
#include "swtpm.h"

/* ---- Loaded objects ---- */

/* The handles from first on, of its kind: at most n. *written is their number. */
uint32_t support_handles(support_swtpm *tpm, uint32_t first, uint32_t *out, size_t n, size_t *written);

/* The number of loaded objects of a kind; 0xFFFFFFFF if the TPM does not say. A test ends with both 0: nothing leaked.
 * */
uint32_t support_transient_count(support_swtpm *tpm);
uint32_t support_session_count(support_swtpm *tpm); /* including saved ones */
uint32_t support_persistent_count(support_swtpm *tpm);

uint32_t support_flush(support_swtpm *tpm, uint32_t handle);
uint32_t support_flush_all(support_swtpm *tpm); /* transient objects and sessions */

/* A session of a kind (TPM_SE) that is neither bound nor salted. */
uint32_t support_session_start(support_swtpm *tpm, uint32_t kind, uint32_t hash, uint32_t *session);

/* A property of the TPM: SUPPORT_PT_*. */
uint32_t support_property(support_swtpm *tpm, uint32_t property, uint32_t *value);

/* Fills every slot: then the next object fails with 0x902, and the next session with 0x903. */
uint32_t support_fill_transient(support_swtpm *tpm);
uint32_t support_fill_sessions(support_swtpm *tpm);

/* ---- Hierarchies, lockout ---- */

/* Clears the TPM by SUPPORT_RH_LOCKOUT or _PLATFORM. This makes a new seed, so every key of the owner hierarchy is
 * gone. */
uint32_t support_clear(support_swtpm *tpm, uint32_t by, const char *auth);
uint32_t support_clear_control(support_swtpm *tpm, uint32_t by, const char *auth, bool disable);
uint32_t support_change_auth(support_swtpm *tpm, uint32_t hierarchy, const char *old, const char *fresh);

/* Switches the owner, endorsement or platform hierarchy on or off, with the platform's empty auth value. */
uint32_t support_hierarchy_control(support_swtpm *tpm, uint32_t hierarchy, bool on);

uint32_t support_lockout_parameters(support_swtpm *tpm, const char *lockout_auth, uint32_t max_tries,
                                    uint32_t interval_s, uint32_t recovery_s);

/* Makes a key with dictionary attack protection and uses a wrong auth value until the TPM answers 0x921; then returns
 * 0. */
uint32_t support_lock_out(support_swtpm *tpm, const char *owner_auth, const char *lockout_auth);

/* ---- Objects ---- */

enum { SUPPORT_PUBLIC_MAX = 512, SUPPORT_BLOB_MAX = 1024, SUPPORT_NAME_MAX = 66 };

/* A TPMT_PUBLIC without a size before it, and its Name. */
typedef struct {
    uint8_t bytes[SUPPORT_PUBLIC_MAX];
    size_t n;
    uint8_t name[SUPPORT_NAME_MAX];
    size_t name_n;
} support_public;

/* The result of Create: the content of the TPM2B_PRIVATE, and the TPMT_PUBLIC. */
typedef struct {
    uint8_t secret[SUPPORT_BLOB_MAX];
    size_t secret_n;
    support_public area;
} support_blob;

typedef enum {
    SUPPORT_SRK_H2,            /* P-256, 00030472, AES-128-CFB, unique empty */
    SUPPORT_SRK_PROVISIONING,  /* the same with unique 32 + 32 zeros */
    SUPPORT_SRK_RSA,           /* RSA-2048, unique empty */
    SUPPORT_SIGNING,           /* P-256, 00040472, scheme NULL: what Tenon makes */
    SUPPORT_SIGNING_DA,        /* the same with dictionary attack protection */
    SUPPORT_SIGNING_FOREIGN,   /* P-256, 00060072, sign and decrypt: what tpm2-openssl makes */
    SUPPORT_SIGNING_ECDSA,     /* P-256, 00040472, ECDSA with SHA-256 */
    SUPPORT_SIGNING_RESTRICTED /* P-256, 00050472, ECDSA with SHA-256: an AK */
} support_template;

void support_template_public(support_template which, support_public *out); /* its Name is empty */

uint32_t support_create_primary(support_swtpm *tpm, uint32_t hierarchy, const char *auth, support_template which,
                                uint32_t *handle);
uint32_t support_create(support_swtpm *tpm, uint32_t parent, support_template which, const char *auth,
                        support_blob *out);
uint32_t support_load(support_swtpm *tpm, uint32_t parent, const support_blob *blob, uint32_t *handle);
uint32_t support_load_external(support_swtpm *tpm, uint32_t hierarchy, const support_public *area, uint32_t *handle);
uint32_t support_read_public(support_swtpm *tpm, uint32_t handle, support_public *out);

/* ECDSA with SHA-256 in a password session. r and s, 32 bytes each. */
uint32_t support_sign(support_swtpm *tpm, uint32_t key, const char *auth, const uint8_t *digest, uint8_t *signature);

/* EvictControl by the owner: makes a loaded object persistent, or removes a persistent one (object == persistent). */
uint32_t support_evict(support_swtpm *tpm, const char *owner_auth, uint32_t object, uint32_t persistent);

/* Makes and persists, or removes, a storage key at 0x81000001. */
uint32_t support_persist_srk(support_swtpm *tpm, const char *owner_auth, support_template which);
uint32_t support_evict_srk(support_swtpm *tpm, const char *owner_auth);

/* Makes another P-256 signing key persistent at a handle, whatever was there, as somebody does who replaces a key. */
uint32_t support_swap_persistent(support_swtpm *tpm, const char *owner_auth, uint32_t persistent);

/* ---- NV ---- */

#define SUPPORT_NV_EK_RSA 0x01C00002u  /* L-1 */
#define SUPPORT_NV_EK_P256 0x01C0000Au /* L-2 */

/* Defines and writes an index like that of an EK certificate, by the platform. */
uint32_t support_nv_write(support_swtpm *tpm, uint32_t index, const uint8_t *bytes, size_t n);
uint32_t support_nv_remove(support_swtpm *tpm, uint32_t index);

#endif
