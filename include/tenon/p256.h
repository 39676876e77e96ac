/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENON_P256_H
#define TENON_P256_H

#include "tenon/api.h"
#include "tenon/key.h"
#include "tenon/status.h"
#include "tenon/types.h"

TENON_BEGIN

/* TENON_OK when x and y are below p and the point is on P-256 (its order is n then: the cofactor is 1). */
TENON_API TENON_MUST_USE tenon_status tenon_p256_check(const tenon_public_key *key);

/*
 * Verifies one ECDSA signature over a digest (FIPS 186-5, 6.4.2). Checks the key like tenon_p256_check, and that r and
 * s are in 1 .. n-1. Accepts high s, which TPMs and services produce. A forgery is TENON_ERROR_SIGNATURE_INVALID.
 */
TENON_API TENON_MUST_USE tenon_status tenon_p256_verify(const tenon_public_key *key, const tenon_digest *digest,
                                                        const tenon_signature *signature);

/* A public key that is prepared once and verifies many times. Read-only after tenon_verifier_new. */
typedef struct tenon_verifier tenon_verifier;

/* Checks the key and prepares it. */
TENON_API TENON_MUST_USE tenon_status tenon_verifier_new(tenon_verifier **out, const tenon_public_key *key);

/* Verifies like tenon_p256_verify. Several threads may use one verifier at once. */
TENON_API TENON_MUST_USE tenon_status tenon_verifier_verify(const tenon_verifier *verifier, const tenon_digest *digest,
                                                            const tenon_signature *signature);

/* Frees the verifier and sets it to NULL; NULL is fine. */
TENON_API void tenon_verifier_free(tenon_verifier **verifier);

/*
 * A key in the memory of the process, for load tools, tests and development. It is not a device identity: anyone who
 * reads the memory has it, and tenon_key_is_hardware returns 0. With mbedTLS its signing is not claimed to be constant
 * time.
 *
 * flags: TENON_KEY_SIGNS_DIGESTS (tenon/key.h) and TENON_KEY_DETERMINISTIC: nonces by RFC 6979 instead of random. Do
 * not sign requests with such a key: two requests with one body in the same second have the same signature, and a
 * replay check refuses the second.
 */
enum { TENON_KEY_DETERMINISTIC = 0x100 };

/* Makes a key from getrandom(2). */
TENON_API TENON_MUST_USE tenon_status tenon_software_key_generate(tenon_key **out, uint32_t flags);

/* A key from its 32-byte big-endian scalar, 1 .. n-1. For test vectors. */
TENON_API TENON_MUST_USE tenon_status tenon_software_key_import(tenon_key **out, const uint8_t *TENON_COUNTED(n) scalar,
                                                                size_t n, uint32_t flags);

TENON_END

#endif
