/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_STRUCTURES_H
#define TENONI_STRUCTURES_H

#include <stdbool.h>

#include "base/bytes.h"
#include "tenon/proof.h"
#include "tenon/status.h"
#include "tenon/types.h"

/* The public half of a TPM object: TPMT_PUBLIC (TPM 2.0 Part 2, 12.2.4) of a P-256 key. */

enum {
    TENONI_PUBLIC_MAX = 256, /* of any public area that is taken */
    TENONI_POLICY_MAX = 64,  /* the largest digest: SHA-512 */
    TENONI_ALG_AES = 0x0006, /* Part 2, 6.3 TPM_ALG_ID, as are the next */
    TENONI_ALG_SHA256 = 0x000B,
    TENONI_ALG_SHA384 = 0x000C,
    TENONI_ALG_NULL = 0x0010,
    TENONI_ALG_ECDSA = 0x0018,
    TENONI_ALG_ECC = 0x0023,
    TENONI_ALG_CFB = 0x0043,
    TENONI_ECC_P256 = 0x0003 /* Part 2, 6.4 TPM_ECC_CURVE */
};

/* One TPM2B_ECC_PARAMETER, as the TPM wrote it (crypto/quirks.h). */
typedef struct {
    uint8_t bytes[TENON_SCALAR_SIZE];
    size_t n;
} tenoni_coordinate;

typedef struct {
    uint16_t name_algorithm;
    uint32_t attributes;
    uint8_t policy[TENONI_POLICY_MAX];
    size_t policy_n;
    uint16_t symmetric; /* TENONI_ALG_NULL, or TENONI_ALG_AES with the next two */
    uint16_t key_bits;
    uint16_t mode;
    uint16_t scheme; /* TENONI_ALG_NULL, or TENONI_ALG_ECDSA with the next */
    uint16_t scheme_hash;
    tenoni_coordinate x;
    tenoni_coordinate y;
} tenoni_public;

/* The templates for Create and CreatePrimary: a signing key, an attestation key, the storage primary of template H-2
 * (unique is empty), and the one of the provisioning guidance (unique is 32 zeros twice), which is another key. */
extern const tenoni_public tenoni_signing_template;
extern const tenoni_public tenoni_guarded_template; /* a signing key whose wrong auth values count */
extern const tenoni_public tenoni_attestation_template;
extern const tenoni_public tenoni_storage_template;
extern const tenoni_public tenoni_provisioned_template;

/*
 * Reads a whole public area, without the size of a TPM2B before it. Anything that is not the area of a P-256 key in
 * this form, and any byte after it, is TENON_ERROR_KEY_PUBLIC. The point is not checked, because templates have none.
 */
tenon_status tenoni_public_read(tenoni_public *out, const uint8_t *area, size_t n);

/* Writes the area. What was read is written as it was, byte for byte. */
void tenoni_public_write(tenoni_writer *writer, const tenoni_public *key);

/* The point, padded with zeros on the left, after a check that it is on the curve. */
tenon_status tenoni_public_point(tenon_public_key *out, const tenoni_public *key);

/* The Name of any object with nameAlg SHA-256 (Part 1, 16): out takes TENON_NAME_SIZE bytes, area is as the TPM
 * wrote it. Another nameAlg is TENON_ERROR_KEY_PUBLIC. */
tenon_status tenoni_public_name(uint8_t *out, const uint8_t *area, size_t n);

/* Whether the area equals the storage template in everything except unique. */
bool tenoni_public_is_storage(const tenoni_public *key);

/* The private half was born in this TPM and cannot leave it: fixedTPM, fixedParent, sensitiveDataOrigin. */
bool tenoni_public_is_bound(const tenoni_public *key);

/*
 * Checks that the area equals a signing template or the attestation template in everything except unique; else
 * TENON_ERROR_KEY_ATTRIBUTES.
 */
tenon_status tenoni_public_check_own(const tenoni_public *key);
tenon_status tenoni_public_check_attestation(const tenoni_public *key);

/* Whether tenon_tpm_key_import accepts the key, else TENON_ERROR_KEY_ATTRIBUTES: sign set, restricted clear, scheme
 * NULL or ECDSA with SHA-256, no policy, nameAlg SHA-256. */
tenon_status tenoni_public_check_foreign(const tenoni_public *key);

/*
 * The TPM's structures in a proof, as they are; the verifier judges their fields. A reader returns whether the bytes
 * are exactly one whole structure; fields that it did not reach are empty. If the first field says that this is another
 * structure than a proof has, the rest is not read.
 */

enum {
    TENONI_ATTEST_CERTIFY = 0x8017,  /* Part 2, 6.9 TPM_ST_ATTEST_CERTIFY */
    TENONI_ATTEST_QUOTE = 0x8018,    /* TPM_ST_ATTEST_QUOTE */
    TENONI_ATTEST_CREATION = 0x801a, /* TPM_ST_ATTEST_CREATION */

    TENONI_FIXED_TPM = 1 << 1, /* Part 2, 8.3 TPMA_OBJECT, as are the next */
    TENONI_ST_CLEAR = 1 << 2,
    TENONI_FIXED_PARENT = 1 << 4,
    TENONI_SENSITIVE_DATA_ORIGIN = 1 << 5,
    TENONI_USER_WITH_AUTH = 1 << 6,
    TENONI_ADMIN_WITH_POLICY = 1 << 7,
    TENONI_NO_DA = 1 << 10,
    TENONI_ENCRYPTED_DUPLICATION = 1 << 11,
    TENONI_RESTRICTED = 1 << 16,
    TENONI_DECRYPT = 1 << 17,
    TENONI_SIGN = 1 << 18
};

/* Part 2, 6.2 TPM_GENERATED_VALUE. */
#define TENONI_ATTEST_MAGIC 0xff544347u

/* Part 2, 12.2.4 TPMT_PUBLIC. */
typedef struct {
    uint16_t type;
    uint16_t name_algorithm;
    uint32_t attributes;
    tenoni_reader policy;
    tenoni_reader parameters; /* symmetric, scheme, curve, kdf */
    tenoni_reader x;
    tenoni_reader y;
} tenoni_area;

/* Part 2, 10.12.12 TPMS_ATTEST with 10.12.3 TPMS_CERTIFY_INFO; attested is what is there instead of that. */
typedef struct {
    uint32_t magic;
    uint16_t type;
    tenoni_reader signer;
    tenoni_reader extra_data;
    uint8_t clock_safe;
    uint64_t firmware_version;
    tenoni_reader name;
    tenoni_reader qualified_name;
    tenoni_reader attested;
} tenoni_attest;

/* Part 2, 10.12.4 TPMS_QUOTE_INFO: the first of its banks of PCRs. Bit i of pcrs is PCR i; those from 24 on are not
 * read. */
typedef struct {
    uint32_t banks;
    uint16_t bank;
    uint32_t pcrs;
    tenoni_reader digest;
} tenoni_quoted;

/* Part 2, 11.3.4 TPMT_SIGNATURE with 11.3.2 TPMS_SIGNATURE_ECC. */
typedef struct {
    uint16_t algorithm;
    uint16_t hash;
    tenoni_reader r;
    tenoni_reader s;
} tenoni_tpm_signature;

bool tenoni_area_read(tenoni_area *out, const uint8_t *area, size_t n);
bool tenoni_attest_read(tenoni_attest *out, const uint8_t *attest, size_t n);

/* Reads attested of a quote, and writes a TPML_PCR_SELECTION of the SHA-256 bank. */
bool tenoni_quoted_read(tenoni_quoted *out, tenoni_reader attested);
void tenoni_pcrs_write(tenoni_writer *writer, uint32_t pcrs);

/* Also reads the DER form, and takes that for ECDSA with SHA-256. */
bool tenoni_tpm_signature_read(tenoni_tpm_signature *out, const uint8_t *signature, size_t n);

#endif
