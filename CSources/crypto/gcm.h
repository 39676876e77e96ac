/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_GCM_H
#define TENONI_GCM_H

#include <stdbool.h>

#include "crypto/hash.h"

/* AES-256 in GCM (SP 800-38D) with a nonce of 96 bits. Never use a nonce twice with one key. */

enum { TENONI_GCM_KEY_SIZE = 32, TENONI_GCM_NONCE_SIZE = 12, TENONI_GCM_TAG_SIZE = 16 };

/* out takes n bytes, tag TENONI_GCM_TAG_SIZE. bytes may be NULL when n is 0. */
tenon_status tenoni_gcm_encrypt(uint8_t *out, uint8_t *tag, const uint8_t *key, const uint8_t *nonce, tenoni_part about,
                                const uint8_t *bytes, size_t n);

/* *good: the tag is that of these bytes and of what they are about; else out is wiped. */
tenon_status tenoni_gcm_decrypt(uint8_t *out, bool *good, const uint8_t *key, const uint8_t *nonce, tenoni_part about,
                                const uint8_t *tag, const uint8_t *bytes, size_t n);

#endif
