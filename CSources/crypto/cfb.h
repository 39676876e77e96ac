/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_CFB_H
#define TENONI_CFB_H

#include <stddef.h>
#include <stdint.h>

#include "tenon/status.h"

enum { TENONI_CFB_IV_SIZE = 16 };

/*
 * AES in CFB mode with whole blocks (SP 800-38A, 6.3, s = 128), in place; n may be any, the last block is cut. key_n is
 * 16 or 32. It hides and does not protect: whoever decrypts has checked a MAC before.
 */
tenon_status tenoni_cfb_encrypt(uint8_t *data, size_t n, const uint8_t *key, size_t key_n, const uint8_t *iv);
tenon_status tenoni_cfb_decrypt(uint8_t *data, size_t n, const uint8_t *key, size_t key_n, const uint8_t *iv);

#endif
