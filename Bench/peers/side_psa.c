/* SPDX-License-Identifier: Apache-2.0 */
#include <mbedtls/version.h>
#include <psa/crypto.h>
#include <stdlib.h>

#include "software_sides.h"

/* mbedTLS by its PSA interface, with the keys kept. */
typedef struct {
    const fixture *fixture;
    psa_key_id_t key, point;
    size_t turn;
} psa_side;

static const char *version(void)
{
    return MBEDTLS_VERSION_STRING;
}

static void psa_close(void *context)
{
    psa_side *self = context;
    psa_destroy_key(self->point);
    psa_destroy_key(self->key);
    free(self);
}

static psa_key_attributes_t attributes_of(psa_key_type_t type, psa_key_usage_t usage)
{
    psa_key_attributes_t made = PSA_KEY_ATTRIBUTES_INIT;
    psa_set_key_type(&made, type);
    psa_set_key_bits(&made, 256);
    psa_set_key_algorithm(&made, PSA_ALG_ECDSA(PSA_ALG_SHA_256));
    psa_set_key_usage_flags(&made, usage);
    return made;
}

static void *psa_open(const fixture *made)
{
    uint8_t point[TENON_POINT_SIZE];
    size_t n;
    psa_side *self = calloc(1, sizeof *self);
    if (self == NULL)
        return NULL;
    self->fixture = made;
    psa_key_attributes_t private =
        attributes_of(PSA_KEY_TYPE_ECC_KEY_PAIR(PSA_ECC_FAMILY_SECP_R1), PSA_KEY_USAGE_SIGN_HASH);
    psa_key_attributes_t public =
        attributes_of(PSA_KEY_TYPE_ECC_PUBLIC_KEY(PSA_ECC_FAMILY_SECP_R1), PSA_KEY_USAGE_VERIFY_HASH);
    if (tenon_public_key_encode_point(point, sizeof point, &n, &made->key) == TENON_OK &&
        psa_crypto_init() == PSA_SUCCESS &&
        psa_import_key(&private, made->scalar, sizeof made->scalar, &self->key) == PSA_SUCCESS &&
        psa_import_key(&public, point, n, &self->point) == PSA_SUCCESS)
        return self;
    psa_close(self);
    return NULL;
}

static bool sign(void *context)
{
    psa_side *self = context;
    const tenon_digest *digest = &self->fixture->digests[fixture_next(&self->turn)];
    uint8_t signature[TENON_SIGNATURE_SIZE];
    size_t n;
    return psa_sign_hash(self->key, PSA_ALG_ECDSA(PSA_ALG_SHA_256), digest->bytes, sizeof digest->bytes, signature,
                         sizeof signature, &n) == PSA_SUCCESS;
}

static bool verify(void *context)
{
    psa_side *self = context;
    size_t i = fixture_next(&self->turn);
    const tenon_digest *digest = &self->fixture->digests[i];
    const tenon_signature *signature = &self->fixture->signatures[i];
    return psa_verify_hash(self->point, PSA_ALG_ECDSA(PSA_ALG_SHA_256), digest->bytes, sizeof digest->bytes,
                           signature->bytes, sizeof signature->bytes) == PSA_SUCCESS;
}

static bool generate(void *context)
{
    (void)context;
    psa_key_attributes_t private =
        attributes_of(PSA_KEY_TYPE_ECC_KEY_PAIR(PSA_ECC_FAMILY_SECP_R1), PSA_KEY_USAGE_SIGN_HASH);
    psa_key_id_t key;
    return psa_generate_key(&private, &key) == PSA_SUCCESS && psa_destroy_key(key) == PSA_SUCCESS;
}

static const side_line lines[] = {{"sign", sign}, {"verify", verify}, {"generate", generate}};

const side side_mbedtls_psa = {
    .name = "mbedtls-psa",
    .version = version,
    .open = psa_open,
    .close = psa_close,
    .lines = lines,
    .lines_n = sizeof lines / sizeof *lines,
};
