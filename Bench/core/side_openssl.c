/* SPDX-License-Identifier: Apache-2.0 */
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "bench.h"

/* OpenSSL by EVP, with every context kept. Signatures are DER, as EVP has no other form. */
typedef struct {
    const fixture *fixture;
    EVP_PKEY *key;
    EVP_PKEY_CTX *signing, *verifying, *generating;
    EVP_MD *sha256;
    EVP_MD_CTX *hashing;
    uint8_t der[FIXTURE_MESSAGES][TENON_SIGNATURE_DER_MAX];
    size_t der_n[FIXTURE_MESSAGES];
    size_t turn;
} openssl_side;

static const char *version(void) { return OpenSSL_version(OPENSSL_VERSION_STRING); }

static void openssl_close(void *context)
{
    openssl_side *self = context;
    EVP_PKEY_CTX_free(self->generating);
    EVP_PKEY_CTX_free(self->verifying);
    EVP_PKEY_CTX_free(self->signing);
    EVP_PKEY_free(self->key);
    EVP_MD_CTX_free(self->hashing);
    EVP_MD_free(self->sha256);
}

/* OpenSSL's parameters take integers in the machine's order of bytes. */
static void reverse(uint8_t *out, const uint8_t *in, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = in[n - 1 - i];
}

/* which: EVP_PKEY_KEYPAIR, or EVP_PKEY_PUBLIC_KEY without the scalar. */
static EVP_PKEY *load_key(const fixture *made, int which)
{
    char group[] = "prime256v1";
    uint8_t scalar[TENON_SCALAR_SIZE], point[TENON_POINT_SIZE];
    size_t n;
    reverse(scalar, made->scalar, sizeof scalar);
    if (tenon_public_key_encode_point(point, sizeof point, &n, &made->key) != TENON_OK)
        return NULL;
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, group, 0),
        OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, point, n),
        OSSL_PARAM_construct_end(),
        OSSL_PARAM_construct_end(),
    };
    if (which == EVP_PKEY_KEYPAIR)
        parameters[2] = OSSL_PARAM_construct_BN(OSSL_PKEY_PARAM_PRIV_KEY, scalar, sizeof scalar);
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *loading = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
    if (EVP_PKEY_fromdata_init(loading) == 1)
        EVP_PKEY_fromdata(loading, &key, which, parameters);
    EVP_PKEY_CTX_free(loading);
    return key;
}

static bool make_contexts(openssl_side *self)
{
    self->signing = EVP_PKEY_CTX_new_from_pkey(NULL, self->key, NULL);
    self->verifying = EVP_PKEY_CTX_new_from_pkey(NULL, self->key, NULL);
    self->generating = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
    self->sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
    self->hashing = EVP_MD_CTX_new();
    return self->sha256 != NULL && self->hashing != NULL && EVP_PKEY_sign_init(self->signing) == 1 &&
           EVP_PKEY_CTX_set_signature_md(self->signing, self->sha256) == 1 &&
           EVP_PKEY_verify_init(self->verifying) == 1 &&
           EVP_PKEY_CTX_set_signature_md(self->verifying, self->sha256) == 1 &&
           EVP_PKEY_keygen_init(self->generating) == 1 &&
           EVP_PKEY_CTX_set_group_name(self->generating, "prime256v1") == 1;
}

static bool openssl_open(void *context, const fixture *made)
{
    openssl_side *self = context;
    self->fixture = made;
    self->key = load_key(made, EVP_PKEY_KEYPAIR);
    bool ready = self->key != NULL && make_contexts(self);
    for (size_t i = 0; ready && i < FIXTURE_MESSAGES; i++)
        ready = tenon_signature_encode_der(self->der[i], sizeof self->der[i], &self->der_n[i], &made->signatures[i]) ==
                TENON_OK;
    return ready;
}

static bool hash(void *context, size_t n)
{
    const openssl_side *self = context;
    uint8_t digest[TENON_DIGEST_SIZE];
    return EVP_DigestInit_ex2(self->hashing, self->sha256, NULL) == 1 &&
           EVP_DigestUpdate(self->hashing, self->fixture->data, n) == 1 &&
           EVP_DigestFinal_ex(self->hashing, digest, NULL) == 1;
}

static bool sign(void *context, size_t unused)
{
    openssl_side *self = context;
    const tenon_digest *digest = &self->fixture->digests[fixture_next(&self->turn)];
    uint8_t der[TENON_SIGNATURE_DER_MAX];
    size_t n = sizeof der;
    return EVP_PKEY_sign(self->signing, der, &n, digest->bytes, sizeof digest->bytes) == 1;
}

static bool verify_with(openssl_side *self, EVP_PKEY_CTX *verifying)
{
    size_t i = fixture_next(&self->turn);
    const tenon_digest *digest = &self->fixture->digests[i];
    return EVP_PKEY_verify(verifying, self->der[i], self->der_n[i], digest->bytes, sizeof digest->bytes) == 1;
}

static bool verify(void *context, size_t unused)
{
    openssl_side *self = context;
    return verify_with(self, self->verifying);
}

/* A key that was never seen before, as in the one-shot verification. */
static bool verify_once(void *context, size_t unused)
{
    openssl_side *self = context;
    EVP_PKEY *key = load_key(self->fixture, EVP_PKEY_PUBLIC_KEY);
    EVP_PKEY_CTX *verifying = key == NULL ? NULL : EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);
    bool good = verifying != NULL && EVP_PKEY_verify_init(verifying) == 1 &&
                EVP_PKEY_CTX_set_signature_md(verifying, self->sha256) == 1 && verify_with(self, verifying);
    EVP_PKEY_CTX_free(verifying);
    EVP_PKEY_free(key);
    return good;
}

static bool generate(void *context, size_t unused)
{
    const openssl_side *self = context;
    EVP_PKEY *key = NULL;
    bool made = EVP_PKEY_generate(self->generating, &key) == 1;
    EVP_PKEY_free(key);
    return made;
}

/* With a kept key EVP has one way to verify: it stands beside the one-shot and the prepared verification alike. */
static const side_line lines[] = {
    {"sha256-64", hash, 64}, {"sha256-1k", hash, 1024}, {"sha256-16k", hash, 16384}, {"sign", sign},
    {"verify", verify},      {"generate", generate},    {"verify-prepared", verify},
};

const side side_openssl = {"openssl", version, sizeof(openssl_side), openssl_open, openssl_close, SIDE_LINES(lines)};

static const side_line once_lines[] = {{"verify", verify_once}};

/* The same with the key taken each time. */
const side side_openssl_once = {"openssl-once", version,       sizeof(openssl_side),
                                openssl_open,   openssl_close, SIDE_LINES(once_lines)};
