/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_OAEP_H
#define TENONI_OAEP_H

#include <stdbool.h>

#include "crypto/hash.h"

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

#endif
