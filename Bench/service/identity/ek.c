/* SPDX-License-Identifier: Apache-2.0 */
#include <openssl/hmac.h>
#include <openssl/rsa.h>
#include <string.h>

#include "maker.h"

enum { HASH = 32, CIPHER_KEY = 16, RSA_SIZE = 256, LABEL_MAX = 16 };

struct bench_ek {
    EVP_PKEY *key;
    X509 *certificate;
};

bench_ek *bench_ek_new(const bench_maker *maker, size_t number)
{
    bench_ek *ek = OPENSSL_zalloc(sizeof *ek);
    if (ek == NULL)
        return NULL;
    ek->key = bench_maker_key(maker, number);
    if (ek->key != NULL)
        ek->certificate = bench_maker_certify(maker, ek->key, number);
    if (ek->certificate != NULL)
        return ek;
    bench_ek_free(ek);
    return NULL;
}

void bench_ek_free(bench_ek *ek)
{
    if (ek == NULL)
        return;
    EVP_PKEY_free(ek->key);
    X509_free(ek->certificate);
    OPENSSL_free(ek);
}

size_t bench_ek_certificate(const bench_ek *ek, uint8_t *out, size_t size)
{
    return bench_der(ek->certificate, out, size);
}

/* Part 1, B.4: the label with its NUL. */
static int decrypt_seed(EVP_PKEY *key, uint8_t *seed, const uint8_t *block)
{
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new(key, NULL);
    unsigned char *label = OPENSSL_memdup("IDENTITY", sizeof "IDENTITY");
    unsigned char plain[RSA_SIZE];
    size_t n = sizeof plain;
    int good = context != NULL && label != NULL && EVP_PKEY_decrypt_init(context) > 0 &&
               EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_OAEP_PADDING) > 0 &&
               EVP_PKEY_CTX_set_rsa_oaep_md(context, EVP_sha256()) > 0 &&
               EVP_PKEY_CTX_set_rsa_mgf1_md(context, EVP_sha256()) > 0;
    if (good && EVP_PKEY_CTX_set0_rsa_oaep_label(context, label, sizeof "IDENTITY") > 0)
        label = NULL;
    good = good && label == NULL && EVP_PKEY_decrypt(context, plain, &n, block, RSA_SIZE) > 0 && n == HASH;
    if (good)
        memcpy(seed, plain, HASH);
    OPENSSL_free(label);
    EVP_PKEY_CTX_free(context);
    return good;
}

/* Part 1, 11.4.10.2 KDFa of at most one block. */
static int derive(uint8_t *out, const uint8_t *seed, const char *label, const uint8_t *name, size_t name_n,
                  uint32_t bits)
{
    uint8_t text[4 + LABEL_MAX + BENCH_NAME_SIZE + 4] = {0, 0, 0, 1};
    size_t n = 4, label_n = strlen(label) + 1;
    memcpy(text + n, label, label_n);
    n += label_n;
    if (name_n != 0)
        memcpy(text + n, name, name_n);
    n += name_n;
    for (int shift = 24; shift >= 0; shift -= 8)
        text[n++] = (uint8_t)(bits >> shift);
    return HMAC(EVP_sha256(), seed, HASH, text, n, out, NULL) != NULL;
}

/* Part 1, 24.5 */
static int is_whole(const uint8_t *seed, const uint8_t *integrity, const uint8_t *identity, size_t n,
                    const uint8_t *name)
{
    uint8_t key[HASH], text[2 + HASH + BENCH_NAME_SIZE], expected[HASH];
    memcpy(text, identity, n);
    memcpy(text + n, name, BENCH_NAME_SIZE);
    return derive(key, seed, "INTEGRITY", NULL, 0, 8 * HASH) &&
           HMAC(EVP_sha256(), key, HASH, text, n + BENCH_NAME_SIZE, expected, NULL) != NULL &&
           CRYPTO_memcmp(expected, integrity, HASH) == 0;
}

/* Part 1, 24.4 */
static int decrypt_identity(const uint8_t *seed, const uint8_t *name, const uint8_t *identity, int n, uint8_t *out)
{
    static const uint8_t iv[16];
    uint8_t key[HASH];
    int written = 0;
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    int good = context != NULL && derive(key, seed, "STORAGE", name, BENCH_NAME_SIZE, 8 * CIPHER_KEY) &&
               EVP_DecryptInit_ex(context, EVP_aes_128_cfb128(), NULL, key, iv) &&
               EVP_DecryptUpdate(context, out, &written, identity, n) && written == n;
    EVP_CIPHER_CTX_free(context);
    return good;
}

int bench_ek_open(const bench_ek *ek, uint8_t *secret, const uint8_t *credential, size_t credential_n,
                  const uint8_t *encrypted, size_t encrypted_n, const uint8_t *name)
{
    enum { IDENTITY = 2 + BENCH_SECRET_SIZE, CREDENTIAL = 2 + 2 + HASH + IDENTITY };
    uint8_t seed[HASH], plain[IDENTITY];
    const uint8_t *identity = credential + CREDENTIAL - IDENTITY;
    if (credential_n != CREDENTIAL || credential[2] != 0 || credential[3] != HASH || encrypted_n != 2 + RSA_SIZE)
        return 0;
    if (!decrypt_seed(ek->key, seed, encrypted + 2) || !is_whole(seed, credential + 4, identity, IDENTITY, name) ||
        !decrypt_identity(seed, name, identity, IDENTITY, plain) || plain[0] != 0 || plain[1] != BENCH_SECRET_SIZE)
        return 0;
    memcpy(secret, plain + 2, BENCH_SECRET_SIZE);
    return 1;
}
