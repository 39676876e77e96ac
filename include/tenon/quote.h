/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENON_QUOTE_H
#define TENON_QUOTE_H

#include "tenon/api.h"
#include "tenon/proof.h"
#include "tenon/status.h"
#include "tenon/types.h"
#include "tenon/verify.h"

/*
 * A quote: what a TPM says about its PCRs (TPM2_Quote), signed by an attestation key, for one nonce. As bytes it is
 * deterministic CBOR {"fmt": "tpm-quote", "attStmt": {alg, sig, ver, quoted}}, written like a proof (tenon/proof.h).
 *
 * tenon_quote_verify checks these rules. Each has a code of its own, TENON_QUOTE_<number>_<what> in tenon/status.h;
 * they are numbered in the order of the checks, and the first that does not hold decides. 1   the sizes below; a quote
 * of more than TENON_QUOTE_MAX bytes is not read 2   the CBOR is deterministic, its keys are those of a quote
 * (TENON_ERROR_CBOR_*) 3   fmt is "tpm-quote", ver is "2.0", alg is ES256 4   quoted is read to its end and holds
 * nothing else 5   it begins with TPM_GENERATED_VALUE 6   it was made by TPM2_Quote 7   extraData is the nonce: 32
 * bytes, compared in constant time 8   one bank of PCRs is quoted: that of SHA-256 9   the PCRs are exactly those of
 * the policy 10   the digest of their values has 32 bytes, and is one of the policy's; without digests in the policy
 * the values are only noted 11   sig is ECDSA with SHA-256 12   r and s are at most 32 bytes and in 1 .. n-1 13   sig
 * is the signature of the attestation key over quoted
 *
 * The attestation key is the one that the verifier knows already, from a proof or a certificate that it accepted. A
 * quote says nothing else about who made it: another TPM's quote with the same values fails rule 13 only.
 */

TENON_BEGIN

/* The sizes of a quote. quoted and sig have at most TENON_AREA_MAX bytes. */
enum {
    TENON_QUOTE_MAX = 1024, /* CBOR, before base64url */
    TENON_PCRS_MAX = 24     /* PCRs of a bank: 0 to 23 */
};

/* The same sizes, for callers without a C preprocessor. */
TENON_API size_t tenon_quote_max(void);
TENON_API size_t tenon_pcrs_max(void);

/* Encodes TPMS_ATTEST and TPMT_SIGNATURE. A larger part than the sizes above allow is TENON_ERROR_TOO_LARGE. */
TENON_API TENON_MUST_USE tenon_status tenon_quote_encode(uint8_t *TENON_COUNTED(n) out, size_t n, size_t *written,
                                                         const uint8_t *TENON_COUNTED(quoted_n) quoted, size_t quoted_n,
                                                         const uint8_t *TENON_COUNTED(signature_n) signature,
                                                         size_t signature_n);

/* What the verifier demands. */
typedef struct {
    size_t size;   /* sizeof(tenon_quote_policy) */
    uint32_t pcrs; /* bit i: PCR i of the SHA-256 bank; at least one, and none from TENON_PCRS_MAX on */
    /* The digests that are accepted: each the SHA-256 of the PCRs' values, in ascending order of the PCRs. */
    const tenon_digest *digests;
    size_t digests_count;
} tenon_quote_policy;

/*
 * Verifies a quote by this attestation key, for this nonce. report may be NULL; it is filled in as for
 * tenon_proof_verify, with the rules above, and hierarchy_known is 0. A policy of another size, or with other PCRs, is
 * TENON_ERROR_OPTIONS. Unless the result is TENON_OK, the quote proves nothing.
 */
TENON_API TENON_MUST_USE tenon_status tenon_quote_verify(tenon_report *report,
                                                         const uint8_t *TENON_COUNTED(quote_n) quote, size_t quote_n,
                                                         const tenon_digest *nonce, const tenon_public_key *ak,
                                                         const tenon_quote_policy *policy);

/*
 * The P-256 key of a certificate (DER), which is not verified: for the attestation key of a proof that was accepted.
 * TENON_ERROR_CERTIFICATE_FORM if it has none.
 */
TENON_API TENON_MUST_USE tenon_status tenon_certificate_public_key(tenon_public_key *out,
                                                                   const uint8_t *TENON_COUNTED(n) certificate,
                                                                   size_t n);

TENON_END

#endif
