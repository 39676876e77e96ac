/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_P256_H
#define TENONI_P256_H

#include <stdbool.h>

#include "tenon/p256.h"
#include "tenon/status.h"
#include "tenon/types.h"

/*
 * P-256, as a cryptographic library does it. The core takes three things from a library: hashes (crypto/hash.h), P-256,
 * and the keys of certificates (crypto/certified_key.h). Each has a pair of files, *_mbedtls.c and *_openssl.c, of
 * which the build uses one. Callers have checked their arguments: no NULL, coordinates below p, scalars and signatures
 * in range. They have not checked points: the backend checks whether a point is on the curve.
 */

/* TENON_OK or TENON_ERROR_POINT_OFF_CURVE. */
tenon_status tenoni_p256_check(const tenon_public_key *key);

/* The point with this x whose y is odd or even. */
tenon_status tenoni_p256_decompress(tenon_public_key *out, const uint8_t *x, bool odd);

/* A public key for one verification, or made ready for many; it checks that the point is on the curve. */
tenon_status tenoni_verifier_new(tenon_verifier **out, const tenon_public_key *key, bool prepared);
tenon_status tenoni_verifier_verify(const tenon_verifier *verifier, const tenon_digest *digest,
                                    const tenon_signature *signature);
void tenoni_verifier_free(tenon_verifier *verifier);

/* A private key made ready, and its public half. */
typedef struct tenoni_signer tenoni_signer;

tenon_status tenoni_signer_new(tenoni_signer **out, tenon_public_key *public_key, const uint8_t *scalar);
tenon_status tenoni_signer_sign(const tenoni_signer *signer, tenon_signature *out, const tenon_digest *digest);
void tenoni_signer_free(tenoni_signer *signer);

/*
 * ECDH: x, 32 bytes with its leading zeros, of the point times the scalar; TENON_ERROR_POINT_OFF_CURVE before anything
 * is computed with the scalar.
 */
tenon_status tenoni_p256_agree(uint8_t *x, const uint8_t *scalar, const tenon_public_key *key);

/* RFC 6979 signing is mbedTLS's in both builds: OpenSSL 3.0 has none. */
tenon_status tenoni_sign_deterministic(tenon_signature *out, const uint8_t *scalar, const tenon_digest *digest);

/* Both coordinates are below p. */
bool tenoni_point_in_range(const tenon_public_key *key);

/* In range and on the curve. */
tenon_status tenoni_point_check(const tenon_public_key *key);

#endif
