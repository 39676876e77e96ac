/* SPDX-License-Identifier: Apache-2.0 */
#ifdef TENON_OPENSSL

/* RSA and EC_KEY are deprecated in favour of EVP_PKEY, which takes DER; numbers go in here as they are. */
#define OPENSSL_SUPPRESS_DEPRECATED

#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/ecerr.h>
#include <openssl/err.h>
#include <openssl/obj_mac.h>
#include <openssl/rsa.h>
#include <stdbool.h>

#include "crypto/certified_key.h"
#include "crypto/protection.h"

/* Reads from the thread's error queue whether memory was lacking, and empties the queue. */
static tenon_status refused(tenon_status status)
{
    for (unsigned long error = ERR_get_error(); error != 0; error = ERR_get_error())
        if (ERR_GET_REASON(error) == ERR_R_MALLOC_FAILURE)
            status = TENON_ERROR_MEMORY;
    return status;
}

static RSA *load_rsa(tenoni_reader modulus, uint32_t exponent)
{
    RSA *key = RSA_new();
    BIGNUM *n = BN_bin2bn(modulus.at, (int)modulus.left, NULL);
    BIGNUM *e = BN_new();
    if (key != NULL && n != NULL && e != NULL && BN_set_word(e, exponent) == 1 && RSA_set0_key(key, n, e, NULL) == 1)
        return key;
    BN_free(e);
    BN_free(n);
    RSA_free(key);
    return NULL;
}

tenon_status tenoni_rsa_verify(const tenoni_certified_key *key, const tenoni_message_digest *digest,
                               tenoni_reader signature)
{
    static const int names[] = {NID_sha256, NID_sha384, NID_sha512};
    tenon_status status = TENON_OK;
    ERR_clear_error();
    RSA *rsa = load_rsa(key->modulus_or_point, key->exponent);
    if (rsa == NULL)
        status = refused(TENON_ERROR_MEMORY);
    else if (RSA_verify(names[digest->hash], digest->bytes, (unsigned)tenoni_hash_size(digest->hash), signature.at,
                        (unsigned)signature.left, rsa) != 1)
        status = refused(TENON_ERROR_SIGNATURE_INVALID);
    RSA_free(rsa);
    return status;
}

static tenon_status load_point(EC_KEY **out, const tenoni_certified_key *key)
{
    ERR_clear_error();
    *out = EC_KEY_new_by_curve_name(key->kind == TENONI_KEY_P256   ? NID_X9_62_prime256v1
                                    : key->kind == TENONI_KEY_P384 ? NID_secp384r1
                                                                   : NID_secp521r1);
    if (*out == NULL)
        return refused(TENON_ERROR_MEMORY);
    /* OpenSSL refuses a point that is not on the curve here. */
    if (EC_KEY_oct2key(*out, key->modulus_or_point.at, key->modulus_or_point.left, NULL) == 1)
        return TENON_OK;
    EC_KEY_free(*out);
    *out = NULL;
    return refused(TENON_ERROR_POINT_OFF_CURVE);
}

tenon_status tenoni_curve_check(const tenoni_certified_key *key)
{
    EC_KEY *point;
    tenon_status status = load_point(&point, key);
    EC_KEY_free(point);
    return status;
}

/* A sum that is the point at infinity is no signature, but an error to OpenSSL; what else it calls one is no memory. */
static tenon_status ecdsa_result(int verdict)
{
    if (verdict == 1)
        return TENON_OK;
    bool no_signature = verdict == 0 || ERR_GET_REASON(ERR_peek_error()) == EC_R_POINT_AT_INFINITY;
    return refused(no_signature ? TENON_ERROR_SIGNATURE_INVALID : TENON_ERROR_MEMORY);
}

tenon_status tenoni_ecdsa_verify(const tenoni_certified_key *key, const tenoni_message_digest *digest, const uint8_t *r,
                                 const uint8_t *s)
{
    int field = (int)tenoni_key_field(key->kind);
    EC_KEY *point;
    tenon_status status = load_point(&point, key);
    if (status != TENON_OK)
        return status;
    ECDSA_SIG *signature = ECDSA_SIG_new();
    BIGNUM *r_number = BN_bin2bn(r, field, NULL);
    BIGNUM *s_number = BN_bin2bn(s, field, NULL);
    if (signature == NULL || r_number == NULL || s_number == NULL ||
        ECDSA_SIG_set0(signature, r_number, s_number) != 1) {
        BN_free(s_number);
        BN_free(r_number);
        status = refused(TENON_ERROR_MEMORY);
    } else {
        status = ecdsa_result(ECDSA_do_verify(digest->bytes, (int)tenoni_hash_size(digest->hash), signature, point));
    }
    ECDSA_SIG_free(signature);
    EC_KEY_free(point);
    return status;
}

/* Without OpenSSL's padding, whose salt would be its own generator's. */
tenon_status tenoni_rsa_raise(uint8_t *out, const uint8_t *modulus, const uint8_t *number)
{
    RSA *key = load_rsa(tenoni_reader_over(modulus, TENONI_RSA_SIZE), RSA_F4);
    bool done = key != NULL && RSA_public_encrypt(TENONI_RSA_SIZE, number, out, key, RSA_NO_PADDING) == TENONI_RSA_SIZE;
    tenon_status status = done ? TENON_OK : key == NULL ? TENON_ERROR_MEMORY : TENON_ERROR_CRYPTO;
    RSA_free(key);
    ERR_clear_error();
    return status;
}

#endif
