/* SPDX-License-Identifier: Apache-2.0 */
#include <botan/ffi.h>
#include <stdio.h>
#include <stdlib.h>

#include "software_sides.h"

/* Botan by its C interface, with key and operations kept. */
typedef struct {
    const fixture *fixture;
    botan_rng_t random;
    botan_privkey_t key;
    botan_pubkey_t point;
    botan_pk_op_sign_t signing;
    botan_pk_op_verify_t verifying;
    size_t turn;
} botan_side;

static const char curve[] = "secp256r1";
static const char padding[] = "Raw";

static const char *version(void)
{
    static char text[32];
    snprintf(text, sizeof text, "%u.%u.%u", botan_version_major(), botan_version_minor(), botan_version_patch());
    return text;
}

static void botan_close(void *context)
{
    botan_side *self = context;
    botan_pk_op_verify_destroy(self->verifying);
    botan_pk_op_sign_destroy(self->signing);
    botan_pubkey_destroy(self->point);
    botan_privkey_destroy(self->key);
    botan_rng_destroy(self->random);
    free(self);
}

static bool load(botan_side *self, const fixture *made)
{
    botan_mp_t scalar;
    if (botan_rng_init(&self->random, "system") != 0 || botan_mp_init(&scalar) != 0)
        return false;
    bool done = botan_mp_from_bin(scalar, made->scalar, sizeof made->scalar) == 0 &&
                botan_privkey_load_ecdsa(&self->key, scalar, curve) == 0;
    botan_mp_destroy(scalar);
    return done && botan_privkey_export_pubkey(&self->point, self->key) == 0 &&
           botan_pk_op_sign_create(&self->signing, self->key, padding, 0) == 0 &&
           botan_pk_op_verify_create(&self->verifying, self->point, padding, 0) == 0;
}

static void *botan_open(const fixture *made)
{
    botan_side *self = calloc(1, sizeof *self);
    if (self == NULL)
        return NULL;
    self->fixture = made;
    if (load(self, made))
        return self;
    botan_close(self);
    return NULL;
}

static bool sign(void *context)
{
    botan_side *self = context;
    const tenon_digest *digest = &self->fixture->digests[fixture_next(&self->turn)];
    uint8_t signature[TENON_SIGNATURE_SIZE];
    size_t n = sizeof signature;
    return botan_pk_op_sign_update(self->signing, digest->bytes, sizeof digest->bytes) == 0 &&
           botan_pk_op_sign_finish(self->signing, self->random, signature, &n) == 0;
}

static bool verify(void *context)
{
    botan_side *self = context;
    size_t i = fixture_next(&self->turn);
    const tenon_digest *digest = &self->fixture->digests[i];
    const tenon_signature *signature = &self->fixture->signatures[i];
    return botan_pk_op_verify_update(self->verifying, digest->bytes, sizeof digest->bytes) == 0 &&
           botan_pk_op_verify_finish(self->verifying, signature->bytes, sizeof signature->bytes) == 0;
}

static bool generate(void *context)
{
    const botan_side *self = context;
    botan_privkey_t key = NULL;
    bool made = botan_privkey_create(&key, "ECDSA", curve, self->random) == 0;
    botan_privkey_destroy(key);
    return made;
}

static const side_line lines[] = {{"sign", sign}, {"verify", verify}, {"generate", generate}};

const side side_botan = {
    .name = "botan",
    .version = version,
    .open = botan_open,
    .close = botan_close,
    .lines = lines,
    .lines_n = sizeof lines / sizeof *lines,
};
