/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROOF_RIG_H
#define PROOF_RIG_H

#include "admin.h"
#include "certificate_rig.h"
#include "evidence.h"
#include "proof/rules.h"
#include "wire.h"

/* ---- Proofs that no TPM would make: evidence.h in stages, each of which a test may change ---- */

enum { RIG_PROOF_MAX = 40000, RIG_CERTIFICATE_MAX = 5000 };

/* The parts that may be changed, in the order in which they are built. */
typedef enum { RIG_AREA, RIG_ATTEST, RIG_CERTIFIED, RIG_SIGNATURE, RIG_EVIDENCE, RIG_PROOF } rig_stage;

typedef struct {
    support_area area; /* RIG_AREA */
    tenon_digest nonce;
    tenon_public_key submitted;
    support_area ak_area;
    uint8_t ak_scalar[TENON_SCALAR_SIZE]; /* the signing key */
    support_bytes parent_qualified_name;  /* for rule 11; empty at first */
    uint32_t trust;
    const tenon_bytes *roots;
    size_t roots_count;
    int64_t now;
    uint32_t flags;
    const tenon_bytes *makers;
    size_t makers_count;
    support_bytes ek_name; /* for rule 30; empty at first */
    uint64_t firmware_min;

    support_attest attest;   /* RIG_ATTEST: the area has its bytes and Name */
    support_bytes certified; /* RIG_CERTIFIED */
    support_ecdsa ecdsa;     /* RIG_SIGNATURE */

    support_bytes public_area, signature, ak; /* RIG_EVIDENCE */
    uint8_t x5c[SUPPORT_CERTIFICATES_MAX][RIG_CERTIFICATE_MAX];
    size_t x5c_n[SUPPORT_CERTIFICATES_MAX];
    size_t x5c_count;
    const char *format, *version;
    uint8_t algorithm;

    uint8_t proof[RIG_PROOF_MAX]; /* RIG_PROOF */
    size_t proof_n;
} proof_rig;

/* Builds a proof that is valid except for the change at its stage; NULL changes nothing. */
void rig_build(proof_rig *out, rig_stage stage, void (*change)(proof_rig *));

tenon_policy rig_policy(const proof_rig *built);
tenon_status rig_verify(tenon_report *report, const proof_rig *built);

/* Verifies it, and refuses it with any of its bits flipped: each, or one in `step`. */
void rig_flip_bits(proof_rig *built, size_t step);

/* The verdict of all rules except this one. */
tenon_status rig_verify_without(const proof_rig *built, tenon_status rule);

/* Puts the AK directly under an EK, at RIG_ATTEST. The TPM names the signer in the statement. */
void rig_sign_under_ek(proof_rig *at);

/* The order of P-256. */
#define RIG_ORDER "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"

/* The signature as DER, at RIG_EVIDENCE. */
void rig_der(proof_rig *at);

/* For tests without memory: valid proofs, and a forged one, whose refusal is TENON_OK. */
tenon_status rig_verify_good(void);
tenon_status rig_verify_chain(void); /* with a chain to a root */
tenon_status rig_verify_forged(void);

/* The place of a status among the rules; after all of them if the proof was accepted. */
size_t rig_place(tenon_status status);

void rig_hex(support_bytes *out, const char *hex);

/*
 * Notes a case that breaks this rule: its name, the code that it should be refused with, what it was answered, and what
 * it was answered with the rule left out. A case that breaks none, of TENON_OK, is not noted.
 * rules_are_all_caught reads it; `make rules-table` prints it.
 */
void rules_note(tenon_status rule, tenon_status code, const char *name, tenon_status found, tenon_status without);

/* ---- Proofs that a TPM made: a storage primary of the owner, a key and an AK under it, and what it certifies ---- */

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

/* A command of the administrator that must succeed. */
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
    bool signer_needs_scheme; /* a signer that is not an AK */
    const tenon_bytes *x5c;
    size_t x5c_count;
    bool der; /* sig in its DER form */
} certify_order;

void certify(certify_device *at, const certify_order *order, certify_proof *out);

/* The qualified Name of a primary, TENON_NAME_SIZE bytes. */
void certify_qualified_name(uint8_t *out, uint32_t hierarchy, const support_public *area);

#endif
