/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENON_TYPES_H
#define TENON_TYPES_H

#include "tenon/api.h"

TENON_BEGIN

/* Sizes in bytes. Each is also a function, for languages without a C compiler. */
enum {
    TENON_DIGEST_SIZE = 32,
    TENON_SCALAR_SIZE = 32,       /* a private key, or r, or s */
    TENON_PUBLIC_KEY_SIZE = 64,   /* x || y */
    TENON_SIGNATURE_SIZE = 64,    /* r || s */
    TENON_SIGNATURE_DER_MAX = 72, /* ECDSA-Sig-Value */
    TENON_POINT_SIZE = 65,        /* 04 || x || y */
    TENON_COMPRESSED_SIZE = 33,   /* 02 or 03 || x */
    TENON_SPKI_SIZE = 91,         /* SubjectPublicKeyInfo */
    TENON_THUMBPRINT_SIZE = 43,   /* base64url of SHA-256 */
    TENON_UUID_SIZE = 36,
    TENON_SHA256_STREAM_SIZE = 128,
    TENON_REQUEST_SIZE = 128,
    TENON_METHOD_MAX = 32,
    TENON_PATH_MAX = 8192,
    TENON_APP_ID_MAX = 200,
    TENON_DEVICE_ID_MAX = 128,
    TENON_TIMESTAMP_MAX = 12,
    TENON_HEADERS_MAX = 480 /* the six values that tenon_request_headers writes, with their NULs */
};

/* SHA-256. */
typedef struct {
    uint8_t bytes[TENON_DIGEST_SIZE];
} tenon_digest;

/* A point of P-256: x, then y, each 32 bytes, big-endian. tenon/encoding.h decodes only points on the curve.
 */
typedef struct {
    uint8_t bytes[TENON_PUBLIC_KEY_SIZE];
} tenon_public_key;

/* An ECDSA signature: r, then s, each 32 bytes, big-endian. */
typedef struct {
    uint8_t bytes[TENON_SIGNATURE_SIZE];
} tenon_signature;

/* The sizes above, for callers without a C preprocessor. */
TENON_API size_t tenon_digest_size(void);
TENON_API size_t tenon_scalar_size(void);
TENON_API size_t tenon_public_key_size(void);
TENON_API size_t tenon_signature_size(void);
TENON_API size_t tenon_signature_der_max(void);
TENON_API size_t tenon_point_size(void);
TENON_API size_t tenon_compressed_size(void);
TENON_API size_t tenon_spki_size(void);
TENON_API size_t tenon_thumbprint_size(void);
TENON_API size_t tenon_uuid_size(void);
TENON_API size_t tenon_sha256_stream_size(void);
TENON_API size_t tenon_request_size(void);
TENON_API size_t tenon_method_max(void);
TENON_API size_t tenon_path_max(void);
TENON_API size_t tenon_app_id_max(void);
TENON_API size_t tenon_device_id_max(void);
TENON_API size_t tenon_timestamp_max(void);
TENON_API size_t tenon_headers_max(void);

TENON_END

#endif
