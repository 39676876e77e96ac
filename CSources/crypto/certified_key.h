/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_CERTIFIED_KEY_H
#define TENONI_CERTIFIED_KEY_H

#include <stdbool.h>

#include "base/bytes.h"
#include "crypto/hash.h"
#include "tenon/status.h"

/*
 * The public keys and signatures of certificates. Tenon accepts more kinds than it makes: RSA of 2048-4096 bits with
 * PKCS #1 v1.5, and ECDSA on three curves, each with SHA-256, -384 or -512. Everything here is public.
 */

typedef enum {
    TENONI_KEY_RSA,
    TENONI_KEY_RSA_OAEP, /* for encryption only (RFC 4055, 4) */
    TENONI_KEY_P256,
    TENONI_KEY_P384,
    TENONI_KEY_P521
} tenoni_key_kind;

enum { TENONI_FIELD_MAX = 66 }; /* bytes of a coordinate of P-521 */

/* A public key as a SubjectPublicKeyInfo has it. */
typedef struct {
    tenoni_key_kind kind;
    tenoni_reader modulus_or_point; /* without leading zeros; 04 || x || y */
    uint32_t exponent;              /* RSA */
    tenoni_reader spki;             /* the whole structure */
} tenoni_certified_key;

/* Bytes of a coordinate or of r or s; 0 for RSA. */
size_t tenoni_key_field(tenoni_key_kind kind);

/* TENON_OK when the key is a point on its curve, else TENON_ERROR_POINT_OFF_CURVE. */
tenon_status tenoni_certified_key_check(const tenoni_certified_key *key);

/*
 * Checks that the key made this signature over the message. Otherwise the result is TENON_ERROR_SIGNATURE_INVALID, also
 * if the signature has the other algorithm, is malformed, or the key's point is not on its curve.
 */
tenon_status tenoni_certified_key_verify(const tenoni_certified_key *key, bool with_rsa, tenoni_hash hash,
                                         tenoni_reader message, tenoni_reader signature);

/* Splits an ECDSA-Sig-Value into r and s of n bytes each, n at most TENONI_FIELD_MAX; false: it is not one. */
bool tenoni_ecdsa_signature_read(tenoni_reader signature, uint8_t *r, uint8_t *s, size_t n);

/* ---- What a backend does: one pair of files, certified_key_*.c ---- */

/* The digest of a message that was signed. */
typedef struct {
    tenoni_hash hash;
    uint8_t bytes[TENONI_HASH_MAX];
} tenoni_message_digest;

tenon_status tenoni_rsa_verify(const tenoni_certified_key *key, const tenoni_message_digest *digest,
                               tenoni_reader signature);

/* r and s have the size of the field; any value. TENON_ERROR_POINT_OFF_CURVE before anything is computed. */
tenon_status tenoni_ecdsa_verify(const tenoni_certified_key *key, const tenoni_message_digest *digest, const uint8_t *r,
                                 const uint8_t *s);

tenon_status tenoni_curve_check(const tenoni_certified_key *key);

#endif
