/* SPDX-License-Identifier: Apache-2.0 */
#include "crypto/gcm.h"

#include "base/secure.h"
#include "crypto/mbedtls.h"

/* mbedTLS's in both builds, as for what a TPM's session encrypts. */

static int begin(mbedtls_gcm_context *gcm, const uint8_t *key)
{
    mbedtls_gcm_init(gcm);
    return mbedtls_gcm_setkey(gcm, MBEDTLS_CIPHER_ID_AES, key, 8 * TENONI_GCM_KEY_SIZE);
}

static void end(mbedtls_gcm_context *gcm)
{
    mbedtls_gcm_free(gcm);
    tenoni_wipe(gcm, sizeof *gcm);
}

static tenon_status result(int error)
{
    if (error == 0)
        return TENON_OK;
    return error == MBEDTLS_ERR_CIPHER_ALLOC_FAILED ? TENON_ERROR_MEMORY : TENON_ERROR_CRYPTO;
}

tenon_status tenoni_gcm_encrypt(uint8_t *out, uint8_t *tag, const uint8_t *key, const uint8_t *nonce, tenoni_part about,
                                const uint8_t *bytes, size_t n)
{
    mbedtls_gcm_context gcm;
    int error = begin(&gcm, key);
    if (error == 0)
        error = mbedtls_gcm_crypt_and_tag(&gcm, MBEDTLS_GCM_ENCRYPT, n, nonce, TENONI_GCM_NONCE_SIZE, about.bytes,
                                          about.n, bytes, out, TENONI_GCM_TAG_SIZE, tag);
    end(&gcm);
    return result(error);
}

tenon_status tenoni_gcm_decrypt(uint8_t *out, bool *good, const uint8_t *key, const uint8_t *nonce, tenoni_part about,
                                const uint8_t *tag, const uint8_t *bytes, size_t n)
{
    mbedtls_gcm_context gcm;
    int error = begin(&gcm, key);
    if (error == 0)
        error = mbedtls_gcm_auth_decrypt(&gcm, n, nonce, TENONI_GCM_NONCE_SIZE, about.bytes, about.n, tag,
                                         TENONI_GCM_TAG_SIZE, bytes, out);
    end(&gcm);
    *good = error == 0;
    if (error != 0)
        tenoni_wipe(out, n);
    return error == MBEDTLS_ERR_GCM_AUTH_FAILED ? TENON_OK : result(error);
}
