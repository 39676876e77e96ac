/* SPDX-License-Identifier: Apache-2.0 */
#include <gcrypt.h>
#include <stdlib.h>
#include <string.h>

#include "software_sides.h"

/* libgcrypt, with key and messages kept as its expressions. */
typedef struct {
    gcry_sexp_t key, point, generating;
    gcry_sexp_t digests[FIXTURE_MESSAGES], signatures[FIXTURE_MESSAGES];
    size_t turn;
} gcrypt_side;

static const char *version(void)
{
    return gcry_check_version(NULL);
}

static void gcrypt_close(void *context)
{
    gcrypt_side *self = context;
    for (size_t i = 0; i < FIXTURE_MESSAGES; i++) {
        gcry_sexp_release(self->digests[i]);
        gcry_sexp_release(self->signatures[i]);
    }
    gcry_sexp_release(self->generating);
    gcry_sexp_release(self->point);
    gcry_sexp_release(self->key);
    free(self);
}

static bool load(gcrypt_side *self, const fixture *made)
{
    uint8_t point[TENON_POINT_SIZE];
    size_t n;
    gcry_error_t error = 0;
    if (tenon_public_key_encode_point(point, sizeof point, &n, &made->key) != TENON_OK)
        return false;
    error |= gcry_sexp_build(&self->key, NULL, "(private-key (ecc (curve \"NIST P-256\") (q %b) (d %b)))", (int)n,
                             point, TENON_SCALAR_SIZE, made->scalar);
    error |= gcry_sexp_build(&self->point, NULL, "(public-key (ecc (curve \"NIST P-256\") (q %b)))", (int)n, point);
    error |= gcry_sexp_build(&self->generating, NULL, "(genkey (ecc (curve \"NIST P-256\") (flags transient-key)))");
    for (size_t i = 0; i < FIXTURE_MESSAGES; i++) {
        const uint8_t *signature = made->signatures[i].bytes;
        error |= gcry_sexp_build(&self->digests[i], NULL, "(data (flags raw) (value %b))", TENON_DIGEST_SIZE,
                                 made->digests[i].bytes);
        error |= gcry_sexp_build(&self->signatures[i], NULL, "(sig-val (ecdsa (r %b) (s %b)))", TENON_SCALAR_SIZE,
                                 signature, TENON_SCALAR_SIZE, signature + TENON_SCALAR_SIZE);
    }
    return error == 0;
}

static void *gcrypt_open(const fixture *made)
{
    gcrypt_side *self = calloc(1, sizeof *self);
    if (self == NULL)
        return NULL;
    gcry_control(GCRYCTL_DISABLE_SECMEM, 0);
    gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
    if (load(self, made))
        return self;
    gcrypt_close(self);
    return NULL;
}

static bool sign(void *context)
{
    gcrypt_side *self = context;
    gcry_sexp_t signature = NULL;
    bool done = gcry_pk_sign(&signature, self->digests[fixture_next(&self->turn)], self->key) == 0;
    gcry_sexp_release(signature);
    return done;
}

static bool verify(void *context)
{
    gcrypt_side *self = context;
    size_t i = fixture_next(&self->turn);
    return gcry_pk_verify(self->signatures[i], self->digests[i], self->point) == 0;
}

static bool generate(void *context)
{
    const gcrypt_side *self = context;
    gcry_sexp_t key = NULL;
    bool done = gcry_pk_genkey(&key, self->generating) == 0;
    gcry_sexp_release(key);
    return done;
}

static const side_line lines[] = {{"sign", sign}, {"verify", verify}, {"generate", generate}};

const side side_gcrypt = {
    .name = "libgcrypt",
    .version = version,
    .open = gcrypt_open,
    .close = gcrypt_close,
    .lines = lines,
    .lines_n = sizeof lines / sizeof *lines,
};
