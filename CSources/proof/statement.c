/* SPDX-License-Identifier: Apache-2.0 */
#include "proof/statement.h"

#include <string.h>

#include "base/secure.h"
#include "base/signature.h"
#include "crypto/quirks.h"
#include "crypto/structures.h"
#include "tenon/encoding.h"
#include "tenon/proof.h"

/* WebAuthn 8.3; RFC 9053, 2.1: ES256. */
static const char format[] = "tpm";
const char tenoni_statement_version[] = "2.0";
const tenoni_cbor_integer tenoni_statement_es256 = {.n = 6, .negative = true};

enum { PROOF_KEYS = 2, STATEMENT_KEYS = 6 };

bool tenoni_statement_is_of(const char *expected, tenoni_reader found, tenoni_reader version,
                            tenoni_cbor_integer algorithm)
{
    return tenoni_cbor_is_text(found, expected) && tenoni_cbor_is_text(version, tenoni_statement_version) &&
           algorithm.n == tenoni_statement_es256.n && algorithm.negative == tenoni_statement_es256.negative;
}

bool tenoni_statement_is_ours(const tenoni_statement *statement)
{
    return tenoni_statement_is_of(format, statement->format, statement->version, statement->algorithm);
}

bool tenoni_evidence_fits(const tenon_evidence *evidence)
{
    size_t total = 0;
    if (evidence->public_area.n > TENON_AREA_MAX || evidence->certified.n > TENON_AREA_MAX ||
        evidence->signature.n > TENON_AREA_MAX || evidence->x5c_count > TENON_CERTIFICATES_MAX)
        return false;
    for (size_t i = 0; i < evidence->x5c_count; i++) {
        if (evidence->x5c[i].n > TENON_CERTIFICATE_MAX)
            return false;
        total += evidence->x5c[i].n;
    }
    return total <= TENON_CERTIFICATES_TOTAL;
}

static bool is_null(const tenon_bytes *bytes)
{
    return bytes->bytes == NULL && bytes->n != 0;
}

static tenon_status check(const tenon_evidence *evidence)
{
    if (is_null(&evidence->public_area) || is_null(&evidence->certified) || is_null(&evidence->signature))
        return TENON_ERROR_NULL;
    if (!tenoni_evidence_fits(evidence))
        return TENON_ERROR_TOO_LARGE;
    for (size_t i = 0; i < evidence->x5c_count; i++)
        if (is_null(&evidence->x5c[i]))
            return TENON_ERROR_NULL;
    return TENON_OK;
}

void tenoni_statement_write_field(tenoni_writer *writer, const char *key, const tenon_bytes *bytes)
{
    tenoni_cbor_write_text(writer, key);
    tenoni_cbor_write_bytes(writer, bytes->bytes, bytes->n);
}

/* RFC 8949, 4.2.1: keys in the order of their encodings, so shorter ones first. */
static void write_proof(tenoni_writer *writer, const tenon_evidence *evidence)
{
    tenoni_cbor_write_map(writer, PROOF_KEYS);
    tenoni_cbor_write_text(writer, "fmt");
    tenoni_cbor_write_text(writer, format);
    tenoni_cbor_write_text(writer, "attStmt");
    tenoni_cbor_write_map(writer, STATEMENT_KEYS);
    tenoni_cbor_write_text(writer, "alg");
    tenoni_cbor_write_integer(writer, tenoni_statement_es256);
    tenoni_statement_write_field(writer, "sig", &evidence->signature);
    tenoni_cbor_write_text(writer, "ver");
    tenoni_cbor_write_text(writer, tenoni_statement_version);
    tenoni_cbor_write_text(writer, "x5c");
    tenoni_cbor_write_array(writer, evidence->x5c_count);
    for (size_t i = 0; i < evidence->x5c_count; i++)
        tenoni_cbor_write_bytes(writer, evidence->x5c[i].bytes, evidence->x5c[i].n);
    tenoni_statement_write_field(writer, "pubArea", &evidence->public_area);
    tenoni_statement_write_field(writer, "certInfo", &evidence->certified);
}

tenon_status tenon_proof_encode(uint8_t *out, size_t n, size_t *written, const tenon_evidence *evidence)
{
    uint8_t proof[TENON_PROOF_MAX];
    if (written != NULL)
        *written = 0;
    tenon_status status = evidence == NULL ? TENON_ERROR_NULL : check(evidence);
    if (status != TENON_OK)
        return status;
    tenoni_writer writer = tenoni_writer_over(proof, sizeof proof);
    write_proof(&writer, evidence);
    return writer.overflowed ? TENON_ERROR_TOO_LARGE : tenoni_output_copy(out, n, written, proof, writer.used);
}

tenon_status tenoni_statement_read_field(tenoni_reader *reader, const char *key, tenon_bytes *out)
{
    tenoni_reader found;
    tenon_status status = tenoni_cbor_read_key(reader, key);
    if (status == TENON_OK)
        status = tenoni_cbor_read_bytes(reader, &found);
    if (status == TENON_OK)
        *out = (tenon_bytes){found.at, found.left};
    return status;
}

tenon_status tenoni_statement_read_text(tenoni_reader *reader, const char *key, tenoni_reader *out)
{
    tenon_status status = tenoni_cbor_read_key(reader, key);
    return status == TENON_OK ? tenoni_cbor_read_text(reader, out) : status;
}

tenon_status tenoni_statement_read_algorithm(tenoni_reader *reader, tenoni_cbor_integer *out)
{
    tenon_status status = tenoni_cbor_read_key(reader, "alg");
    return status == TENON_OK ? tenoni_cbor_read_integer(reader, out) : status;
}

static tenon_status read_x5c(tenoni_reader *reader, tenon_evidence *evidence)
{
    tenon_status status = tenoni_cbor_read_key(reader, "x5c");
    if (status == TENON_OK)
        status = tenoni_cbor_read_array(reader, &evidence->x5c_count, TENON_CERTIFICATES_MAX);
    for (size_t i = 0; status == TENON_OK && i < evidence->x5c_count; i++) {
        tenoni_reader found;
        status = tenoni_cbor_read_bytes(reader, &found);
        if (status == TENON_OK)
            evidence->x5c[i] = (tenon_bytes){found.at, found.left};
    }
    return status;
}

static tenon_status read_proof(tenoni_reader *reader, tenoni_statement *out)
{
    tenon_status status = tenoni_cbor_read_map(reader, PROOF_KEYS);
    if (status == TENON_OK)
        status = tenoni_statement_read_text(reader, "fmt", &out->format);
    if (status == TENON_OK)
        status = tenoni_cbor_read_key(reader, "attStmt");
    if (status == TENON_OK)
        status = tenoni_cbor_read_map(reader, STATEMENT_KEYS);
    if (status == TENON_OK)
        status = tenoni_statement_read_algorithm(reader, &out->algorithm);
    if (status == TENON_OK)
        status = tenoni_statement_read_field(reader, "sig", &out->evidence.signature);
    if (status == TENON_OK)
        status = tenoni_statement_read_text(reader, "ver", &out->version);
    if (status == TENON_OK)
        status = read_x5c(reader, &out->evidence);
    if (status == TENON_OK)
        status = tenoni_statement_read_field(reader, "pubArea", &out->evidence.public_area);
    if (status == TENON_OK)
        status = tenoni_statement_read_field(reader, "certInfo", &out->evidence.certified);
    return status == TENON_OK && reader->left != 0 ? TENON_ERROR_CBOR_TRAILING : status;
}

tenon_status tenoni_statement_read(tenoni_statement *out, const uint8_t *proof, size_t n)
{
    tenoni_reader reader = tenoni_reader_over(proof, n);
    memset(out, 0, sizeof *out);
    tenon_status status = read_proof(&reader, out);
    if (status != TENON_OK)
        memset(out, 0, sizeof *out);
    return status;
}

tenon_status tenon_proof_decode(tenon_evidence *out, const uint8_t *proof, size_t n)
{
    tenoni_statement statement;
    if (out == NULL)
        return TENON_ERROR_NULL;
    memset(out, 0, sizeof *out);
    if (proof == NULL && n != 0)
        return TENON_ERROR_NULL;
    if (n > TENON_PROOF_MAX)
        return TENON_ERROR_TOO_LARGE;
    tenon_status status = tenoni_statement_read(&statement, proof, n);
    if (status == TENON_OK && !tenoni_statement_is_ours(&statement))
        status = TENON_ERROR_PROOF_FORM;
    if (status == TENON_OK && !tenoni_evidence_fits(&statement.evidence))
        status = TENON_ERROR_TOO_LARGE;
    if (status == TENON_OK)
        *out = statement.evidence;
    return status;
}

/* The parts of a proof, for callers that want one of them alone. */

static tenon_status read_signature(tenon_signature *out, const tenon_bytes *bytes)
{
    tenoni_tpm_signature found;
    if (bytes->bytes == NULL && bytes->n != 0)
        return TENON_ERROR_NULL;
    if (!tenoni_tpm_signature_read(&found, bytes->bytes, bytes->n) || found.algorithm != TENONI_ALG_ECDSA ||
        found.hash != TENONI_ALG_SHA256)
        return TENON_ERROR_SIGNATURE_FORM;
    if (!tenoni_number_fits(found.r) || !tenoni_number_fits(found.s))
        return TENON_ERROR_SIGNATURE_RANGE;
    tenoni_number_pad(out->bytes, TENON_SCALAR_SIZE, found.r);
    tenoni_number_pad(out->bytes + TENON_SCALAR_SIZE, TENON_SCALAR_SIZE, found.s);
    return tenoni_signature_in_range(out) ? TENON_OK : TENON_ERROR_SIGNATURE_RANGE;
}

tenon_status tenon_evidence_signature(tenon_signature *out, const tenon_evidence *evidence)
{
    if (out == NULL)
        return TENON_ERROR_NULL;
    memset(out, 0, sizeof *out);
    if (evidence == NULL)
        return TENON_ERROR_NULL;
    tenon_status status = read_signature(out, &evidence->signature);
    if (status != TENON_OK)
        memset(out, 0, sizeof *out);
    return status;
}

tenon_status tenon_evidence_signature_der(uint8_t *out, size_t n, size_t *written, const tenon_evidence *evidence)
{
    tenon_signature signature;
    if (written != NULL)
        *written = 0;
    tenon_status status = tenon_evidence_signature(&signature, evidence);
    return status == TENON_OK ? tenon_signature_encode_der(out, n, written, &signature) : status;
}

tenon_status tenon_object_name(uint8_t *out, size_t n, size_t *written, const uint8_t *area, size_t area_n)
{
    uint8_t name[TENON_NAME_SIZE];
    if (written != NULL)
        *written = 0;
    if (area == NULL && area_n != 0)
        return TENON_ERROR_NULL;
    tenon_status status = tenoni_public_name(name, area, area_n);
    return status == TENON_OK ? tenoni_output_copy(out, n, written, name, sizeof name) : status;
}

tenon_status tenon_object_public_key(tenon_public_key *out, const uint8_t *area, size_t n)
{
    tenoni_public key;
    if (out == NULL)
        return TENON_ERROR_NULL;
    memset(out, 0, sizeof *out);
    if (area == NULL && n != 0)
        return TENON_ERROR_NULL;
    tenon_status status = tenoni_public_read(&key, area, n);
    return status == TENON_OK ? tenoni_public_point(out, &key) : status;
}
