/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include <openssl/evp.h>
#include <openssl/provider.h>
#include <openssl/store.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rig.h"

/* The provider tpm2-openssl, by EVP with key and context kept. */
typedef struct {
    rig *rig;
    OSSL_LIB_CTX *library;
    OSSL_PROVIDER *tpm2, *plain;
    EVP_PKEY *key;
    EVP_PKEY_CTX *signing;
    uint8_t digest[TENON_DIGEST_SIZE];
} provider_side;

static const char *version(void) { return rig_version("BENCH_PROVIDER"); }

static void provider_close(void *context)
{
    provider_side *self = context;
    EVP_PKEY_CTX_free(self->signing);
    EVP_PKEY_free(self->key);
    if (self->tpm2 != NULL)
        OSSL_PROVIDER_unload(self->tpm2);
    if (self->plain != NULL)
        OSSL_PROVIDER_unload(self->plain);
    OSSL_LIB_CTX_free(self->library);
    rig_leave(self->rig);
}

static EVP_PKEY *load_key(const provider_side *self)
{
    char uri[32];
    EVP_PKEY *key = NULL;
    snprintf(uri, sizeof uri, "handle:0x%x", self->rig->handle);
    OSSL_STORE_CTX *store = OSSL_STORE_open_ex(uri, self->library, "?provider=tpm2", NULL, NULL, NULL, NULL, NULL);
    while (store != NULL && key == NULL && !OSSL_STORE_eof(store)) {
        OSSL_STORE_INFO *found = OSSL_STORE_load(store);
        if (found != NULL && OSSL_STORE_INFO_get_type(found) == OSSL_STORE_INFO_PKEY)
            key = OSSL_STORE_INFO_get1_PKEY(found);
        OSSL_STORE_INFO_free(found);
    }
    OSSL_STORE_close(store);
    return key;
}

static bool make_ready(provider_side *self)
{
    char tcti[RIG_NAME_MAX];
    if (!rig_tcti(self->rig, tcti))
        return false;
    setenv("TPM2OPENSSL_TCTI", tcti, 1);
    self->library = OSSL_LIB_CTX_new();
    OSSL_PROVIDER_set_default_search_path(self->library, getenv("BENCH_MODULES"));
    self->tpm2 = OSSL_PROVIDER_load(self->library, "tpm2");
    self->plain = OSSL_PROVIDER_load(self->library, "default");
    unsetenv("TPM2OPENSSL_TCTI");
    if (self->tpm2 == NULL || self->plain == NULL)
        return false;
    self->key = load_key(self);
    if (self->key == NULL)
        return false;
    self->signing = EVP_PKEY_CTX_new_from_pkey(self->library, self->key, "?provider=tpm2");
    return self->signing != NULL && EVP_PKEY_sign_init(self->signing) == 1 &&
           EVP_PKEY_CTX_set_signature_md(self->signing, EVP_sha256()) == 1;
}

static bool provider_open(void *context, const fixture *made)
{
    provider_side *self = context;
    memcpy(self->digest, made->digests[0].bytes, sizeof self->digest);
    return (self->rig = rig_share()) != NULL && make_ready(self);
}

static bool sign(void *context, size_t unused)
{
    provider_side *self = context;
    uint8_t der[TENON_SIGNATURE_DER_MAX * 2];
    size_t n = sizeof der;
    return EVP_PKEY_sign(self->signing, der, &n, self->digest, sizeof self->digest) == 1;
}

static const side_line lines[] = {{"tpm-sign", sign}};

const side side_tpm2_openssl = {"tpm2-openssl", version,           sizeof(provider_side), provider_open,
                                provider_close, SIDE_LINES(lines), &rig_commands};
