/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENON_PROOF_H
#define TENON_PROOF_H

#include "tenon/api.h"
#include "tenon/status.h"
#include "tenon/types.h"

/*
 * A proof that a key lives in a TPM, as bytes: deterministic CBOR {"fmt": "tpm", "attStmt": {alg, sig, ver, x5c,
 * pubArea, certInfo}}, the TPM attestation statement of WebAuthn (8.3) and of ACME's device-attest-01, without
 * authData. Nothing here verifies: tenon/verify.h does.
 */

TENON_BEGIN

/* The sizes of a proof and its parts. */
enum {
    TENON_PROOF_MAX = 16384,          /* CBOR, before base64url */
    TENON_AREA_MAX = 256,             /* pubArea, certInfo, sig */
    TENON_CERTIFICATE_MAX = 4096,     /* one certificate */
    TENON_CERTIFICATES_MAX = 4,       /* of a chain */
    TENON_CERTIFICATES_TOTAL = 12288, /* all of a chain */
    TENON_NAME_SIZE = 34              /* a TPM object's Name with SHA-256 */
};

/* The same sizes, for callers without a C preprocessor. */
TENON_API size_t tenon_proof_max(void);
TENON_API size_t tenon_area_max(void);
TENON_API size_t tenon_certificate_max(void);
TENON_API size_t tenon_certificates_max(void);
TENON_API size_t tenon_certificates_total(void);
TENON_API size_t tenon_object_name_size(void);

/* Bytes that somebody else owns. */
typedef struct {
    const uint8_t *bytes;
    size_t n;
} tenon_bytes;

/*
 * What a proof holds. The bytes are the caller's: after tenon_proof_decode they lie in the proof.
 *
 * public_area   TPMT_PUBLIC of the key (TPM 2.0 Part 2, 12.2.4)
 * certified     TPMS_ATTEST of TPM2_Certify (Part 2, 10.12.12)
 * signature     TPMT_SIGNATURE (Part 2, 11.3.4) of the AK over certified; some verifiers want its DER form
 * x5c           the AK's certificate and those above it, leaf first; empty if the verifier already knows the AK
 */
typedef struct {
    tenon_bytes public_area;
    tenon_bytes certified;
    tenon_bytes signature;
    tenon_bytes x5c[TENON_CERTIFICATES_MAX];
    size_t x5c_count;
} tenon_evidence;

/*
 * Encodes with ver "2.0" and alg -7 (ES256). Larger sizes than those above are TENON_ERROR_TOO_LARGE. Each evidence has
 * exactly one encoding.
 */
TENON_API TENON_MUST_USE tenon_status tenon_proof_encode(uint8_t *TENON_COUNTED(n) out, size_t n, size_t *written,
                                                         const tenon_evidence *evidence);

/*
 * Decodes exactly what tenon_proof_encode writes. A proof of more than TENON_PROOF_MAX bytes is TENON_ERROR_TOO_LARGE,
 * and no byte of it is read. Each departure from deterministic CBOR has its own TENON_ERROR_CBOR_* code, including
 * unknown keys and too many certificates. Any other format, version or algorithm is TENON_ERROR_PROOF_FORM. A part that
 * is too long is TENON_ERROR_TOO_LARGE.
 */
TENON_API TENON_MUST_USE tenon_status tenon_proof_decode(tenon_evidence *out, const uint8_t *TENON_COUNTED(n) proof,
                                                         size_t n);

/*
 * Reads the signature from a TPMT_SIGNATURE or DER form. Bytes that are not exactly one of the two are
 * TENON_ERROR_SIGNATURE_FORM; r or s outside 1 .. n-1 is TENON_ERROR_SIGNATURE_RANGE.
 */
TENON_API TENON_MUST_USE tenon_status tenon_evidence_signature(tenon_signature *out, const tenon_evidence *evidence);

/* Writes the DER form, which some verifiers want as sig. */
TENON_API TENON_MUST_USE tenon_status tenon_evidence_signature_der(uint8_t *TENON_COUNTED(n) out, size_t n,
                                                                   size_t *written, const tenon_evidence *evidence);

/*
 * The Name of a public area with nameAlg SHA-256: 000b, then SHA-256 of the area as the TPM wrote it. Another nameAlg
 * is TENON_ERROR_KEY_PUBLIC.
 */
TENON_API TENON_MUST_USE tenon_status tenon_object_name(uint8_t *TENON_COUNTED(n) out, size_t n, size_t *written,
                                                        const uint8_t *TENON_COUNTED(area_n) area, size_t area_n);

/* The point of a P-256 public area, checked to be on the curve. */
TENON_API TENON_MUST_USE tenon_status tenon_object_public_key(tenon_public_key *out,
                                                              const uint8_t *TENON_COUNTED(n) area, size_t n);

TENON_END

#endif
