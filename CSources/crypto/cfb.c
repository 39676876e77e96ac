/* SPDX-License-Identifier: Apache-2.0 */
#include "crypto/cfb.h"

#include <mbedtls/aes.h>
#include <string.h>

#include "base/secure.h"

/* mbedTLS's in both builds: OpenSSL's has a context on the heap, and a command holds a hundred bytes. */
static tenon_status cfb(int mode, uint8_t *data, size_t n, const uint8_t *key, size_t key_n, const uint8_t *iv)
{
    mbedtls_aes_context schedule;
    uint8_t feedback[TENONI_CFB_IV_SIZE];
    size_t offset = 0;
    memcpy(feedback, iv, sizeof feedback);
    mbedtls_aes_init(&schedule);
    int error = mbedtls_aes_setkey_enc(&schedule, key, (unsigned)(8 * key_n));
    if (error == 0 && n != 0)
        error = mbedtls_aes_crypt_cfb128(&schedule, mode, n, &offset, feedback, data, data);
    mbedtls_aes_free(&schedule);
    tenoni_wipe(&schedule, sizeof schedule);
    tenoni_wipe(feedback, sizeof feedback);
    return error == 0 ? TENON_OK : TENON_ERROR_CRYPTO;
}

tenon_status tenoni_cfb_encrypt(uint8_t *data, size_t n, const uint8_t *key, size_t key_n, const uint8_t *iv)
{
    return cfb(MBEDTLS_AES_ENCRYPT, data, n, key, key_n, iv);
}

tenon_status tenoni_cfb_decrypt(uint8_t *data, size_t n, const uint8_t *key, size_t key_n, const uint8_t *iv)
{
    return cfb(MBEDTLS_AES_DECRYPT, data, n, key, key_n, iv);
}
