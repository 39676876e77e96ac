/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_SAID_H
#define TENONI_SAID_H

#include "crypto/attest.h"
#include "tenon/proof.h"
#include "tpm/key.h"

/* What a TPM says and an AK signs: a TPMS_ATTEST and a TPMT_SIGNATURE, as they are given on. */
typedef struct {
    uint8_t statement[TENON_AREA_MAX];
    size_t statement_n;
    uint8_t signature[TENON_AREA_MAX];
    size_t signature_n;
} tenoni_said;

/* From an answer that begins with TPM2B_ATTEST and ends with the signature; found lies in out. */
tenon_status tenoni_said_read(tenoni_said *out, tenoni_attest *found, uint16_t type, tenoni_reader *answer);

/* TENON_ERROR_SIGNATURE_INVALID: what signed is not the AK, as after a reset another key may be where it was. */
tenon_status tenoni_said_verify(const tenoni_said *said, const tenon_tpm_key *ak);

#endif
