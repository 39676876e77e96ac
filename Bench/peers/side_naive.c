/* SPDX-License-Identifier: Apache-2.0 */
#include <mbedtls/ctr_drbg.h>
#include <mbedtls/entropy.h>
#include <mbedtls/pk.h>
#include <mbedtls/version.h>
#include <openssl/crypto.h>
#include <openssl/x509.h>
#include <stdlib.h>
#include <string.h>

#include "software_sides.h"

/* What many programs do: the key is read from its DER for each operation. By mbedTLS's pk, and by OpenSSL's EVP. */
typedef struct {
    const fixture *fixture;
    uint8_t key[256], point[128], der[FIXTURE_MESSAGES][TENON_SIGNATURE_DER_MAX];
    size_t key_n, point_n, der_n[FIXTURE_MESSAGES];
    mbedtls_entropy_context entropy;
    mbedtls_ctr_drbg_context random;
    size_t turn;
} naive_side;

static const char *mbedtls_version(void)
{
    return MBEDTLS_VERSION_STRING;
}

static const char *openssl_version(void)
{
    return OpenSSL_version(OPENSSL_VERSION_STRING);
}

static void naive_close(void *context)
{
    naive_side *self = context;
    mbedtls_ctr_drbg_free(&self->random);
    mbedtls_entropy_free(&self->entropy);
    free(self);
}

/* mbedTLS writes DER from the end of its buffer. */
static bool take(uint8_t *out, size_t *out_n, size_t size, int written)
{
    if (written <= 0)
        return false;
    *out_n = (size_t)written;
    memmove(out, out + size - *out_n, *out_n);
    return true;
}

static bool write_keys(naive_side *self)
{
    const fixture *made = self->fixture;
    mbedtls_pk_context key;
    mbedtls_pk_init(&key);
    int error = mbedtls_pk_setup(&key, mbedtls_pk_info_from_type(MBEDTLS_PK_ECKEY));
    mbedtls_ecp_keypair *pair = mbedtls_pk_ec(key);
    error |= mbedtls_ecp_group_load(&pair->grp, MBEDTLS_ECP_DP_SECP256R1);
    error |= mbedtls_mpi_read_binary(&pair->d, made->scalar, sizeof made->scalar);
    error |= mbedtls_mpi_read_binary(&pair->Q.X, made->key.bytes, TENON_SCALAR_SIZE);
    error |= mbedtls_mpi_read_binary(&pair->Q.Y, made->key.bytes + TENON_SCALAR_SIZE, TENON_SCALAR_SIZE);
    error |= mbedtls_mpi_lset(&pair->Q.Z, 1);
    bool done =
        error == 0 &&
        take(self->key, &self->key_n, sizeof self->key, mbedtls_pk_write_key_der(&key, self->key, sizeof self->key)) &&
        take(self->point, &self->point_n, sizeof self->point,
             mbedtls_pk_write_pubkey_der(&key, self->point, sizeof self->point));
    mbedtls_pk_free(&key);
    return done;
}

static void *naive_open(const fixture *made)
{
    naive_side *self = calloc(1, sizeof *self);
    if (self == NULL)
        return NULL;
    self->fixture = made;
    mbedtls_entropy_init(&self->entropy);
    mbedtls_ctr_drbg_init(&self->random);
    bool ready =
        mbedtls_ctr_drbg_seed(&self->random, mbedtls_entropy_func, &self->entropy, NULL, 0) == 0 && write_keys(self);
    for (size_t i = 0; ready && i < FIXTURE_MESSAGES; i++)
        ready = tenon_signature_encode_der(self->der[i], sizeof self->der[i], &self->der_n[i], &made->signatures[i]) ==
                TENON_OK;
    if (ready)
        return self;
    naive_close(self);
    return NULL;
}

static bool mbedtls_sign(void *context)
{
    naive_side *self = context;
    const tenon_digest *digest = &self->fixture->digests[fixture_next(&self->turn)];
    uint8_t der[MBEDTLS_PK_SIGNATURE_MAX_SIZE];
    size_t n;
    mbedtls_pk_context key;
    mbedtls_pk_init(&key);
    bool done = mbedtls_pk_parse_key(&key, self->key, self->key_n, NULL, 0) == 0 &&
                mbedtls_pk_sign(&key, MBEDTLS_MD_SHA256, digest->bytes, sizeof digest->bytes, der, &n,
                                mbedtls_ctr_drbg_random, &self->random) == 0;
    mbedtls_pk_free(&key);
    return done;
}

static bool mbedtls_verify(void *context)
{
    naive_side *self = context;
    size_t i = fixture_next(&self->turn);
    const tenon_digest *digest = &self->fixture->digests[i];
    mbedtls_pk_context key;
    mbedtls_pk_init(&key);
    bool done = mbedtls_pk_parse_public_key(&key, self->point, self->point_n) == 0 &&
                mbedtls_pk_verify(&key, MBEDTLS_MD_SHA256, digest->bytes, sizeof digest->bytes, self->der[i],
                                  self->der_n[i]) == 0;
    mbedtls_pk_free(&key);
    return done;
}

static bool openssl_sign(void *context)
{
    naive_side *self = context;
    const tenon_digest *digest = &self->fixture->digests[fixture_next(&self->turn)];
    const uint8_t *at = self->key;
    uint8_t der[TENON_SIGNATURE_DER_MAX];
    size_t n = sizeof der;
    EVP_PKEY *key = d2i_AutoPrivateKey(NULL, &at, (long)self->key_n);
    EVP_PKEY_CTX *signing = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);
    bool done =
        EVP_PKEY_sign_init(signing) == 1 && EVP_PKEY_sign(signing, der, &n, digest->bytes, sizeof digest->bytes) == 1;
    EVP_PKEY_CTX_free(signing);
    EVP_PKEY_free(key);
    return done;
}

static bool openssl_verify(void *context)
{
    naive_side *self = context;
    size_t i = fixture_next(&self->turn);
    const tenon_digest *digest = &self->fixture->digests[i];
    const uint8_t *at = self->point;
    EVP_PKEY *key = d2i_PUBKEY(NULL, &at, (long)self->point_n);
    EVP_PKEY_CTX *verifying = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);
    bool done = EVP_PKEY_verify_init(verifying) == 1 &&
                EVP_PKEY_verify(verifying, self->der[i], self->der_n[i], digest->bytes, sizeof digest->bytes) == 1;
    EVP_PKEY_CTX_free(verifying);
    EVP_PKEY_free(key);
    return done;
}

static const side_line mbedtls_lines[] = {{"sign-cold", mbedtls_sign}, {"verify", mbedtls_verify}};
static const side_line openssl_lines[] = {{"sign-cold", openssl_sign}, {"verify", openssl_verify}};

const side side_mbedtls_naive = {
    .name = "mbedtls-naive",
    .version = mbedtls_version,
    .open = naive_open,
    .close = naive_close,
    .lines = mbedtls_lines,
    .lines_n = 2,
};

const side side_openssl_decoded = {
    .name = "openssl-decoded",
    .version = openssl_version,
    .open = naive_open,
    .close = naive_close,
    .lines = openssl_lines,
    .lines_n = 2,
};
