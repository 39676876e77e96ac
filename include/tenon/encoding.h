/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENON_ENCODING_H
#define TENON_ENCODING_H

#include "tenon/api.h"
#include "tenon/status.h"
#include "tenon/types.h"

/*
 * Forms of bytes, signatures and public keys. Each decoder accepts exactly what its encoder writes: one value has one
 * form. The time to encode or decode a text depends only on its length, so secrets are safe.
 */

TENON_BEGIN

/* RFC 4648, 4: the standard alphabet, padded. */
TENON_API TENON_MUST_USE tenon_status tenon_base64_encode(char *TENON_COUNTED(n) out, size_t n, size_t *written,
                                                          const uint8_t *TENON_COUNTED(data_n) data, size_t data_n);

/* Reads exactly what tenon_base64_encode writes. */
TENON_API TENON_MUST_USE tenon_status tenon_base64_decode(uint8_t *TENON_COUNTED(n) out, size_t n, size_t *written,
                                                          const char *TENON_COUNTED(text_n) text, size_t text_n);

/* RFC 4648, 5: the URL-safe alphabet, never padded. */
TENON_API TENON_MUST_USE tenon_status tenon_base64url_encode(char *TENON_COUNTED(n) out, size_t n, size_t *written,
                                                             const uint8_t *TENON_COUNTED(data_n) data, size_t data_n);

/* Reads exactly what tenon_base64url_encode writes. */
TENON_API TENON_MUST_USE tenon_status tenon_base64url_decode(uint8_t *TENON_COUNTED(n) out, size_t n, size_t *written,
                                                             const char *TENON_COUNTED(text_n) text, size_t text_n);

/* Hexadecimal: written in lower case, read in either case. */
TENON_API TENON_MUST_USE tenon_status tenon_hex_encode(char *TENON_COUNTED(n) out, size_t n, size_t *written,
                                                       const uint8_t *TENON_COUNTED(data_n) data, size_t data_n);

/* Reads digits in either case. */
TENON_API TENON_MUST_USE tenon_status tenon_hex_decode(uint8_t *TENON_COUNTED(n) out, size_t n, size_t *written,
                                                       const char *TENON_COUNTED(text_n) text, size_t text_n);

/*
 * A signature and its DER form (RFC 3279, 2.2.3: Ecdsa-Sig-Value). Encoder and decoder refuse r and s outside 1 .. n-1.
 * The decoder also refuses anything that is not DER: wrong tags and lengths, integers that are not minimal, bytes after
 * the end.
 */
TENON_API TENON_MUST_USE tenon_status tenon_signature_encode_der(uint8_t *TENON_COUNTED(n) out, size_t n,
                                                                 size_t *written, const tenon_signature *signature);

/* Reads the DER form. */
TENON_API TENON_MUST_USE tenon_status tenon_signature_decode_der(tenon_signature *out,
                                                                 const uint8_t *TENON_COUNTED(n) der, size_t n);

/* Makes s the smaller of s and n-s. Both signatures verify; strict verifiers accept only this one. */
TENON_API TENON_MUST_USE tenon_status tenon_signature_normalize(tenon_signature *signature);

/* 1 when s is at most n/2, else 0; 0 for NULL. */
TENON_API int32_t tenon_signature_is_low_s(const tenon_signature *signature);

/*
 * A public key and its forms: 65-byte point 04 || x || y and 33-byte compressed point (SEC 1, 2.3.3), 91-byte
 * SubjectPublicKeyInfo (RFC 5480, named curve, uncompressed point). Every decoder checks that the point is on the
 * curve.
 */
TENON_API TENON_MUST_USE tenon_status tenon_public_key_encode_point(uint8_t *TENON_COUNTED(n) out, size_t n,
                                                                    size_t *written, const tenon_public_key *key);

/* Reads 65 bytes. */
TENON_API TENON_MUST_USE tenon_status tenon_public_key_decode_point(tenon_public_key *out,
                                                                    const uint8_t *TENON_COUNTED(n) point, size_t n);

/* Writes the compressed point. */
TENON_API TENON_MUST_USE tenon_status tenon_public_key_encode_compressed(uint8_t *TENON_COUNTED(n) out, size_t n,
                                                                         size_t *written, const tenon_public_key *key);

/* Reads the compressed point. */
TENON_API TENON_MUST_USE tenon_status tenon_public_key_decode_compressed(tenon_public_key *out,
                                                                         const uint8_t *TENON_COUNTED(n) point,
                                                                         size_t n);

/* Writes the SubjectPublicKeyInfo. */
TENON_API TENON_MUST_USE tenon_status tenon_public_key_encode_spki(uint8_t *TENON_COUNTED(n) out, size_t n,
                                                                   size_t *written, const tenon_public_key *key);

/* Reads the SubjectPublicKeyInfo. */
TENON_API TENON_MUST_USE tenon_status tenon_public_key_decode_spki(tenon_public_key *out,
                                                                   const uint8_t *TENON_COUNTED(n) spki, size_t n);

/* The RFC 7638 thumbprint of the key as a JWK: base64url of SHA-256, 43 characters. */
TENON_API TENON_MUST_USE tenon_status tenon_public_key_thumbprint(char *TENON_COUNTED(n) out, size_t n, size_t *written,
                                                                  const tenon_public_key *key);

TENON_END

#endif
