/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SUPPORT_EVIDENCE_H
#define SUPPORT_EVIDENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Attestation evidence that no TPM made: the answer of an AK's TPM2_Certify, and the proof around it, written
 * independently of the core, with which it shares only SHA-256. C tests, benches and the Swift tests make their
 * evidence here.
 *
 * A caller makes a valid structure, changes any field, and writes it; the result goes into the next structure. So the
 * rest of the proof stays as consistent as an attacker with the AK's private key could make it. The caller makes the
 * signature.
 */

enum { SUPPORT_BYTES_MAX = 512, SUPPORT_P256_SIZE = 32, SUPPORT_NONCE_SIZE = 32 };

/* Writing more than fits ends the program. */
typedef struct {
    uint8_t bytes[SUPPORT_BYTES_MAX];
    size_t n;
} support_bytes;

void support_bytes_set(support_bytes *out, const void *bytes, size_t n);
void support_bytes_add(support_bytes *out, const void *bytes, size_t n);
void support_bytes_pad(support_bytes *out, size_t n);                     /* appends n bytes A5 */
void support_bytes_number(support_bytes *out, uint64_t number, size_t n); /* of n bytes, big-endian */
void support_bytes_sized(support_bytes *out, const support_bytes *part);  /* a TPM2B */

/* Part 1, 16: 000b and the SHA-256 of a followed by b; b may be NULL. */
support_bytes support_object_name(const support_bytes *a, const support_bytes *b);

/* Part 2, 12.2.4 TPMT_PUBLIC of an ECC key; tail follows it. */
typedef struct {
    uint16_t type, name_algorithm;
    uint32_t attributes;
    support_bytes policy, parameters, x, y, tail;
} support_area;

enum { SUPPORT_KEY_ATTRIBUTES = 0x00040472, SUPPORT_AK_ATTRIBUTES = 0x00050472 };

/* The area of a P-256 key with x and y; the scheme of an AK is ECDSA with SHA-256. */
support_area support_area_of(const uint8_t *point, uint32_t attributes, bool attests);
support_bytes support_area_write(const support_area *area);

/* Part 2, 10.12.12 TPMS_ATTEST of TPM2_Certify. */
typedef struct {
    uint32_t magic;
    uint16_t type;
    support_bytes signer, extra;
    uint8_t clock[16]; /* clock, resetCount, restartCount */
    uint8_t safe;
    uint64_t firmware;
    support_bytes name, qualified, tail;
} support_attest;

#define SUPPORT_FIRMWARE 0x2019120300000000u

/* The statement about the object with this area, for a nonce of 32 bytes. The parent's qualified Name is 000b and A5s;
 * the signer is arbitrary. */
support_attest support_attest_of(const support_bytes *area, const uint8_t *nonce);
support_bytes support_attest_write(const support_attest *attest);

/* The qualified Name of a primary key of the endorsement hierarchy, and of a child of the object with that Name. */
support_bytes support_qualified_ek(const support_bytes *ek_name);
support_bytes support_qualified(const support_bytes *parent, const support_bytes *area);

/* Part 2, 11.3.4 TPMT_SIGNATURE: head is ECDSA with SHA-256. */
typedef struct {
    support_bytes head, r, s, tail;
} support_ecdsa;

support_ecdsa support_ecdsa_of(const uint8_t *raw); /* r and s, 64 bytes */
support_bytes support_ecdsa_write(const support_ecdsa *signature);

/* The CBOR map around them. */
enum { SUPPORT_CERTIFICATES_MAX = 6 };

typedef struct {
    const char *format, *version;
    uint8_t algorithm;
    const support_bytes *signature, *area, *certified;
    const uint8_t *x5c[SUPPORT_CERTIFICATES_MAX];
    size_t x5c_n[SUPPORT_CERTIFICATES_MAX];
    size_t x5c_count;
} support_proof;

/* "tpm", "2.0" and ES256, without certificates. */
support_proof support_proof_of(const support_bytes *area, const support_bytes *certified,
                               const support_bytes *signature);

/* Returns the number of bytes; more than size ends the program. */
size_t support_proof_write(uint8_t *out, size_t size, const support_proof *proof);

#endif
