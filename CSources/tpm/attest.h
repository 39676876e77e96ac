/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_ATTEST_H
#define TENONI_ATTEST_H

#include "crypto/structures.h"
#include "tenon/proof.h"
#include "tpm/key.h"

enum { TENONI_QUALIFYING_MAX = 32 };

/* A statement of the TPM that an AK signed: a TPMS_ATTEST and a TPMT_SIGNATURE, as they are passed on. */
typedef struct {
    uint8_t statement[TENON_AREA_MAX];
    size_t statement_n;
    uint8_t signature[TENON_AREA_MAX];
    size_t signature_n;
} tenoni_attestation;

/* Reads an answer that begins with TPM2B_ATTEST and ends with the signature; found points into out. */
tenon_status tenoni_attestation_read(tenoni_attestation *out, tenoni_attest *found, uint16_t type,
                                     tenoni_reader *answer);

/*
 * TENON_ERROR_SIGNATURE_INVALID: another key than the AK signed, for example because a reset put another key at its
 * handle.
 */
tenon_status tenoni_attestation_verify(const tenoni_attestation *attestation, const tenon_tpm_key *ak);

/*
 * After a statement that an AK alone was asked for: whether to ask once more. An AK has no auth value, so a refusal
 * means that something else is at its handle: it is loaded again.
 */
bool tenoni_attestation_again(tenon_tpm_key *ak, tenon_status status);

#endif
