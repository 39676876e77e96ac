/* SPDX-License-Identifier: Apache-2.0 */
#include <wolfssl/options.h>
#include <wolfssl/version.h>
#include <wolfssl/wolfcrypt/ecc.h>

#include <stdlib.h>

#include "software_sides.h"

typedef struct {
    const fixture *fixture;
    WC_RNG random;
    ecc_key key;
    uint8_t der[FIXTURE_MESSAGES][TENON_SIGNATURE_DER_MAX];
    size_t der_n[FIXTURE_MESSAGES];
    size_t turn;
} wolfssl_side;

static const char *version(void)
{
    return LIBWOLFSSL_VERSION_STRING;
}

static void wolfssl_close(void *context)
{
    wolfssl_side *self = context;
    wc_ecc_free(&self->key);
    wc_FreeRng(&self->random);
    free(self);
}

static void *wolfssl_open(const fixture *made)
{
    wolfssl_side *self = calloc(1, sizeof *self);
    if (self == NULL)
        return NULL;
    self->fixture = made;
    bool ready = wc_InitRng(&self->random) == 0 && wc_ecc_init(&self->key) == 0 &&
                 wc_ecc_import_unsigned(&self->key, made->key.bytes, made->key.bytes + TENON_SCALAR_SIZE, made->scalar,
                                        ECC_SECP256R1) == 0 &&
                 wc_ecc_set_rng(&self->key, &self->random) == 0;
    for (size_t i = 0; ready && i < FIXTURE_MESSAGES; i++)
        ready = tenon_signature_encode_der(self->der[i], sizeof self->der[i], &self->der_n[i], &made->signatures[i]) ==
                TENON_OK;
    if (ready)
        return self;
    wolfssl_close(self);
    return NULL;
}

static bool sign(void *context)
{
    wolfssl_side *self = context;
    const tenon_digest *digest = &self->fixture->digests[fixture_next(&self->turn)];
    uint8_t der[TENON_SIGNATURE_DER_MAX * 2];
    word32 n = sizeof der;
    return wc_ecc_sign_hash(digest->bytes, sizeof digest->bytes, der, &n, &self->random, &self->key) == 0;
}

static bool verify(void *context)
{
    wolfssl_side *self = context;
    size_t i = fixture_next(&self->turn);
    const tenon_digest *digest = &self->fixture->digests[i];
    int good = 0;
    return wc_ecc_verify_hash(self->der[i], (word32)self->der_n[i], digest->bytes, sizeof digest->bytes, &good,
                              &self->key) == 0 &&
           good == 1;
}

static bool generate(void *context)
{
    wolfssl_side *self = context;
    ecc_key key;
    if (wc_ecc_init(&key) != 0)
        return false;
    bool made = wc_ecc_make_key(&self->random, TENON_SCALAR_SIZE, &key) == 0;
    wc_ecc_free(&key);
    return made;
}

static const side_line lines[] = {{"sign", sign}, {"verify", verify}, {"generate", generate}};

const side side_wolfssl = {
    .name = "wolfssl",
    .version = version,
    .open = wolfssl_open,
    .close = wolfssl_close,
    .lines = lines,
    .lines_n = sizeof lines / sizeof *lines,
};
