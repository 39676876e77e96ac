/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_MBEDTLS_H
#define TENONI_MBEDTLS_H

/*
 * mbedTLS 2.28 or 3.6, whichever is installed. All of mbedTLS is included here and nowhere else, so that the two
 * differ in this file only. From 3.0 on, the fields of its structures are hidden unless a program asks for them.
 */
#define MBEDTLS_ALLOW_PRIVATE_ACCESS

#include <mbedtls/aes.h>
#include <mbedtls/bignum.h>
#include <mbedtls/ecdsa.h>
#include <mbedtls/ecp.h>
#include <mbedtls/gcm.h>
#include <mbedtls/md.h>
#include <mbedtls/platform.h>
#include <mbedtls/rsa.h>
#include <mbedtls/sha256.h>
#include <mbedtls/sha512.h>
#include <mbedtls/version.h>

#if MBEDTLS_VERSION_MAJOR == 2

/* The functions of hashes that report errors have a name of their own in 2.28. */
#define TENONI_MBEDTLS_HASH(function) function##_ret

/* 2.28 makes a table of multiples of G for each group that is multiplied with. */
enum { TENONI_MBEDTLS_HAS_TABLES = 0 };

static inline void tenoni_mbedtls_rsa_init(mbedtls_rsa_context *rsa)
{
    mbedtls_rsa_init(rsa, MBEDTLS_RSA_PKCS_V15, 0);
}

static inline int tenoni_mbedtls_rsa_verify(mbedtls_rsa_context *rsa, mbedtls_md_type_t hash, unsigned n,
                                            const uint8_t *digest, const uint8_t *signature)
{
    return mbedtls_rsa_rsassa_pkcs1_v15_verify(rsa, NULL, NULL, MBEDTLS_RSA_PUBLIC, hash, n, digest, signature);
}

#else

#define TENONI_MBEDTLS_HASH(function) function

/* 3.6 has the tables of all curves in read-only memory. */
enum { TENONI_MBEDTLS_HAS_TABLES = 1 };

/* PKCS #1 v1.5 is what a new context is for. */
static inline void tenoni_mbedtls_rsa_init(mbedtls_rsa_context *rsa)
{
    mbedtls_rsa_init(rsa);
}

static inline int tenoni_mbedtls_rsa_verify(mbedtls_rsa_context *rsa, mbedtls_md_type_t hash, unsigned n,
                                            const uint8_t *digest, const uint8_t *signature)
{
    return mbedtls_rsa_rsassa_pkcs1_v15_verify(rsa, hash, n, digest, signature);
}

#endif

#endif
