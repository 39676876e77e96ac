/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VERIFY_RIG_H
#define VERIFY_RIG_H

#include "internal/inquiry.h"
#include "test.h"

/*
 * Proofs that no TPM would make. The TPM's structures and the CBOR around them are told here a second time, by code
 * that is not the core's; each field may be changed before what depends on it is built, so that the rest of the proof
 * stays as consistent as an attacker with the AK's private key could make it.
 */

typedef struct {
    uint8_t bytes[512];
    size_t n;
} rig_bytes;

void rig_set(rig_bytes *out, const void *bytes, size_t n);
void rig_add(rig_bytes *out, const void *bytes, size_t n);
void rig_hex(rig_bytes *out, const char *hex);
void rig_pad(rig_bytes *out, size_t n); /* n more bytes, all A5 */

typedef struct {
    uint16_t type;
    uint16_t name_algorithm;
    uint32_t attributes;
    rig_bytes policy, parameters, x, y, tail;
} rig_area;

typedef struct {
    uint32_t magic;
    uint16_t type;
    rig_bytes signer, extra;
    uint8_t safe;
    uint64_t firmware;
    rig_bytes name, qualified, tail;
} rig_attest;

#define RIG_FIRMWARE 0x2019120300000000u

enum { RIG_PROOF_MAX = 40000, RIG_CERTIFICATES_MAX = 6, RIG_CERTIFICATE_MAX = 5000 };

/* What may be changed, in the order in which it is built. */
typedef enum { RIG_AREA, RIG_ATTEST, RIG_CERTIFIED, RIG_SIGNATURE, RIG_EVIDENCE, RIG_PROOF } rig_stage;

typedef struct {
    rig_area area; /* RIG_AREA */
    tenon_digest nonce;
    tenon_public_key submitted;
    rig_area ak_area;
    uint8_t ak_scalar[TENON_SCALAR_SIZE]; /* what signs */
    rig_bytes parent_qualified_name;      /* for rule 12a; empty at first */
    uint32_t trust;
    const tenon_bytes *roots;
    size_t roots_count;
    int64_t now;
    uint32_t flags;
    const tenon_bytes *makers;
    size_t makers_count;
    rig_bytes ek_name; /* for rule 34; empty at first */
    uint64_t firmware_min;

    rig_attest attest;   /* RIG_ATTEST: the area has its bytes and Name */
    rig_bytes certified; /* RIG_CERTIFIED */
    rig_bytes r, s;      /* RIG_SIGNATURE */
    rig_bytes signature_head, signature_tail;

    rig_bytes public_area, signature, ak; /* RIG_EVIDENCE */
    uint8_t x5c[RIG_CERTIFICATES_MAX][RIG_CERTIFICATE_MAX];
    size_t x5c_n[RIG_CERTIFICATES_MAX];
    size_t x5c_count;
    const char *format, *version;
    uint8_t algorithm;

    uint8_t proof[RIG_PROOF_MAX]; /* RIG_PROOF */
    size_t proof_n;
} rig;

/* Builds a proof that is good but for what change does at its stage; NULL for nothing. */
void rig_build(rig *out, rig_stage stage, void (*change)(rig *));

tenon_policy rig_policy(const rig *built);
tenon_status rig_verify(tenon_report *report, const rig *built);

/* By all rules but this one. */
tenon_status rig_verify_without(const rig *built, tenon_status rule);

/* For tests of what happens without memory: good proofs, and one that was forged, whose refusal is TENON_OK. */
tenon_status rig_verify_good(void);
tenon_status rig_verify_chain(void); /* with a chain to a root */
tenon_status rig_verify_forged(void);

/* Where among the rules a status stands; behind all of them when the proof was accepted. */
size_t rig_place(tenon_status status);

/* Shared by the tests of DER and TPM structures: the public half of a scalar, and its signature over bytes. */
tenon_public_key rig_public(const uint8_t *scalar);
tenon_signature rig_sign(const uint8_t *scalar, const void *bytes, size_t n);

/* Scalars of the AK, of the certified key, and of one that has nothing to do with them. */
extern const uint8_t rig_ak_scalar[TENON_SCALAR_SIZE];
extern const uint8_t rig_key_scalar[TENON_SCALAR_SIZE];
extern const uint8_t rig_other_scalar[TENON_SCALAR_SIZE];

void rig_write_area(rig_bytes *out, const rig_area *area);

/* 000b and SHA-256 of a and b, one behind the other; b may be NULL. */
void rig_name(rig_bytes *out, const rig_bytes *a, const rig_bytes *b);

#endif
