/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_CREDENTIAL_H
#define TENONI_CREDENTIAL_H

#include "crypto/protection.h"
#include "tenon/activate.h"

/*
 * The random values of one credential. For an RSA EK the seed, 32 bytes, and OAEP's salt; for an ECC EK the
 * scalar of the ephemeral key.
 */
typedef struct {
    uint8_t secret[TENONI_COORDINATE_MAX];
    uint8_t salt[TENONI_OAEP_SALT_SIZE];
} tenoni_credential_draw;

/* One of the two outputs. */
typedef struct {
    uint8_t bytes[TENON_CREDENTIAL_MAX];
    size_t n;
} tenoni_credential_part;

/*
 * tenon_credential_make with given random bytes. The caller has checked the arguments; the EK's key is checked here.
 * After TENON_ERROR_SCALAR_RANGE, draw again.
 */
tenon_status tenoni_credential_make(tenoni_credential_part *credential, tenoni_credential_part *encrypted,
                                    const tenon_ek *ek, const uint8_t *name, const uint8_t *secret, size_t secret_n,
                                    const tenoni_credential_draw *draw);

/* A Name with nameAlg SHA-256: 000b and 32 bytes. Else TENON_ERROR_NULL or TENON_ERROR_OPTIONS. */
tenon_status tenoni_object_name_check(const uint8_t *name, size_t n);

#endif
