/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_PROTECTION_H
#define TENONI_PROTECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "crypto/hash.h"
#include "tenon/status.h"

/*
 * The key derivations of TPM 2.0, whole bytes only, with SHA-256 or with another hash. The label's terminating NUL is
 * part of what is hashed. On failure out is wiped.
 */

/* Part 1, 11.4.10.2 KDFa: SP 800-108 in counter mode with HMAC; u and v are the contexts, and the length in bits is
 * hashed too, so that a shorter output is not the beginning of a longer one. */
tenon_status tenoni_kdfa(uint8_t *out, size_t n, tenoni_part key, const char *label, tenoni_part u, tenoni_part v);
tenon_status tenoni_kdfa_with(tenoni_hash hash, uint8_t *out, size_t n, tenoni_part key, const char *label,
                              tenoni_part u, tenoni_part v);

/* Part 1, 11.4.10.3 KDFe: SP 800-56A, of an ECDH secret z and the x coordinates u and v of both sides. */
tenon_status tenoni_kdfe(uint8_t *out, size_t n, tenoni_part z, const char *label, tenoni_part u, tenoni_part v);
tenon_status tenoni_kdfe_with(tenoni_hash hash, uint8_t *out, size_t n, tenoni_part z, const char *label, tenoni_part u,
                              tenoni_part v);

enum { TENONI_CFB_IV_SIZE = 16 };

/*
 * AES in CFB mode with whole blocks (SP 800-38A, 6.3, s = 128), in place; n may be any, the last block is cut. key_n is
 * 16 or 32. It hides and does not protect: callers check a MAC before they decrypt.
 */
tenon_status tenoni_cfb_encrypt(uint8_t *data, size_t n, const uint8_t *key, size_t key_n, const uint8_t *iv);
tenon_status tenoni_cfb_decrypt(uint8_t *data, size_t n, const uint8_t *key, size_t key_n, const uint8_t *iv);

/* RSA-2048 with e = 65537. */
enum { TENONI_RSA_SIZE = 256, TENONI_OAEP_SALT_SIZE = 32, TENONI_OAEP_MAX = TENONI_RSA_SIZE - 2 * 32 - 2 };

/* A modulus of 2048 bits that is odd. */
bool tenoni_rsa_modulus_fits(const uint8_t *modulus);

/*
 * RSAES-OAEP (RFC 8017, 7.1.1) with SHA-256 and MGF1 with SHA-256. The label's terminating NUL is part of it (TPM 2.0
 * Part 1, B.4). The message has 1 to TENONI_OAEP_MAX bytes. salt is what the RFC calls seed: the caller draws it, so
 * that it is getrandom's with both backends.
 */
tenon_status tenoni_oaep_encrypt(uint8_t *out, const uint8_t *modulus, const char *label, tenoni_part message,
                                 const uint8_t *salt);

/* RSAEP (RFC 8017, 5.1.1), which is the backend's: number to the power of 65537. number is below the modulus. */
tenon_status tenoni_rsa_raise(uint8_t *out, const uint8_t *modulus, const uint8_t *number);

/* A coordinate or scalar, big-endian with its leading zeros; a point is x || y. */
typedef enum { TENONI_CURVE_P256, TENONI_CURVE_P384 } tenoni_curve;

enum { TENONI_P384_SIZE = 48, TENONI_COORDINATE_MAX = 48 };

size_t tenoni_curve_size(tenoni_curve curve);

/*
 * ECDH (SP 800-56A, 5.7.1.2) with the holder of point: ephemeral is the point of the scalar, z the x coordinate of the
 * product. TENON_ERROR_POINT_RANGE, TENON_ERROR_POINT_OFF_CURVE before anything is computed with the scalar;
 * TENON_ERROR_SCALAR_RANGE for a scalar that is not in 1 .. n-1: the caller draws another one. On failure nothing is
 * written.
 */
tenon_status tenoni_agree(tenoni_curve curve, uint8_t *z, uint8_t *ephemeral, const uint8_t *scalar,
                          const uint8_t *point);

/* The same on P-384; on failure z and ephemeral may have changed. */
tenon_status tenoni_p384_agree(uint8_t *z, uint8_t *ephemeral, const uint8_t *scalar, const uint8_t *point);

#endif
