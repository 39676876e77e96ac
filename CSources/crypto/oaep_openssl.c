/* SPDX-License-Identifier: Apache-2.0 */
#ifdef TENON_OPENSSL

/* RSA is deprecated in favour of EVP_PKEY, which is made of DER or of a list of parameters. */
#define OPENSSL_SUPPRESS_DEPRECATED

#include <openssl/err.h>
#include <openssl/rsa.h>
#include <stdbool.h>

#include "crypto/oaep.h"

static RSA *read_key(const uint8_t *modulus)
{
    RSA *key = RSA_new();
    BIGNUM *n = BN_bin2bn(modulus, TENONI_RSA_SIZE, NULL);
    BIGNUM *e = BN_new();
    if (key != NULL && n != NULL && e != NULL && BN_set_word(e, RSA_F4) == 1 && RSA_set0_key(key, n, e, NULL) == 1)
        return key;
    BN_free(e);
    BN_free(n);
    RSA_free(key);
    return NULL;
}

/* Without OpenSSL's padding, whose salt would be its own generator's. */
tenon_status tenoni_rsa_raise(uint8_t *out, const uint8_t *modulus, const uint8_t *number)
{
    RSA *key = read_key(modulus);
    bool done = key != NULL && RSA_public_encrypt(TENONI_RSA_SIZE, number, out, key, RSA_NO_PADDING) == TENONI_RSA_SIZE;
    tenon_status status = done ? TENON_OK : key == NULL ? TENON_ERROR_MEMORY : TENON_ERROR_CRYPTO;
    RSA_free(key);
    ERR_clear_error();
    return status;
}

#endif
