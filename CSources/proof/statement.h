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

/* What a proof and a quote have in common: the version, the algorithm, and members of a map, each with its key. */
extern const char tenoni_statement_version[];
extern const tenoni_cbor_integer tenoni_statement_es256;
bool tenoni_statement_is_of(const char *expected, tenoni_reader found, tenoni_reader version,
                            tenoni_cbor_integer algorithm);
void tenoni_statement_write_field(tenoni_writer *writer, const char *key, const tenon_bytes *bytes);
tenon_status tenoni_statement_read_field(tenoni_reader *reader, const char *key, tenon_bytes *out);
tenon_status tenoni_statement_read_text(tenoni_reader *reader, const char *key, tenoni_reader *out);
tenon_status tenoni_statement_read_algorithm(tenoni_reader *reader, tenoni_cbor_integer *out);

/* The sizes of tenon/proof.h, except TENON_PROOF_MAX. */
bool tenoni_evidence_fits(const tenon_evidence *evidence);

#endif
