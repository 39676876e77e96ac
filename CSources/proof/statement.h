/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_STATEMENT_H
#define TENONI_STATEMENT_H

#include "proof/cbor.h"
#include "tenon/proof.h"

/* A proof as its CBOR has it, not judged. The parts point into the proof's bytes. */
typedef struct {
    tenoni_reader format;
    tenoni_cbor_integer algorithm;
    tenoni_reader version;
    tenon_evidence evidence;
} tenoni_statement;

/* Reads the CBOR and nothing more: TENON_ERROR_CBOR_*. On failure all is empty. */
tenon_status tenoni_statement_read(tenoni_statement *out, const uint8_t *proof, size_t n);

/* The format, version and algorithm are those that tenon_proof_encode writes. */
bool tenoni_statement_is_ours(const tenoni_statement *statement);

/* The sizes of tenon/proof.h, except TENON_PROOF_MAX. */
bool tenoni_evidence_fits(const tenon_evidence *evidence);

#endif
