/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_ATTEST_H
#define TENONI_ATTEST_H

#include "base/reader.h"
#include "tenon/status.h"
#include "tenon/types.h"

/*
 * The TPM's structures in a proof, as they stand there: what their fields have to be is for the verifier. A reader
 * answers whether the bytes are one whole structure and nothing behind it; fields that were not reached are empty.
 * Where the first field says that it is another structure than a proof has, the rest is not looked at.
 */

enum {
    TENONI_ATTEST_CERTIFY = 0x8017,  /* Part 2, 6.9 TPM_ST_ATTEST_CERTIFY */
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

/* Part 2, 11.3.4 TPMT_SIGNATURE with 11.3.2 TPMS_SIGNATURE_ECC. */
typedef struct {
    uint16_t algorithm;
    uint16_t hash;
    tenoni_reader r;
    tenoni_reader s;
} tenoni_tpm_signature;

bool tenoni_area_read(tenoni_area *out, const uint8_t *area, size_t n);
bool tenoni_attest_read(tenoni_attest *out, const uint8_t *attest, size_t n);

/* Also the DER form, which then is ECDSA with SHA-256. */
bool tenoni_tpm_signature_read(tenoni_tpm_signature *out, const uint8_t *signature, size_t n);

/* A number of the TPM, which may leave leading zeros out: 1 to TENON_SCALAR_SIZE bytes. */
bool tenoni_number_fits(tenoni_reader number);

/* The number modulo 2^256, in TENON_SCALAR_SIZE bytes. */
void tenoni_number_pad(uint8_t *out, tenoni_reader number);

#endif
