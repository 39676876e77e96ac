/* SPDX-License-Identifier: Apache-2.0 */
#include <mbedtls/ctr_drbg.h>
#include <mbedtls/ecdsa.h>
#include <mbedtls/sha256.h>
#include <mbedtls/version.h>
#include <stdlib.h>
#include <sys/random.h>

#include "sides.h"

/*
 * mbedTLS as a careful caller would use it: group, key and generator kept, the group's table made by the first
 * signature. own is a group whose base point is the public key: the only way to keep a table of that.
 */
typedef struct {
    const fixture *fixture;
    mbedtls_ecp_group group, own;
    mbedtls_ecp_point key;
    mbedtls_mpi scalar;
    mbedtls_mpi r[FIXTURE_MESSAGES], s[FIXTURE_MESSAGES];
    mbedtls_ctr_drbg_context random;
    size_t turn;
} mbedtls_side;

static int entropy(void *context, unsigned char *out, size_t n)
{
    (void)context;
    return getrandom(out, n, 0) == (ssize_t)n ? 0 : MBEDTLS_ERR_CTR_DRBG_ENTROPY_SOURCE_FAILED;
}

static const char *version(void)
{
    static char text[9]; /* the size that mbedtls_version_get_string asks for */
    mbedtls_version_get_string(text);
    return text;
}

static void mbedtls_close(void *context)
{
    mbedtls_side *self = context;
    mbedtls_ecp_point_free(&self->own.G); /* mbedTLS takes it for a constant */
    mbedtls_ecp_group_free(&self->own);
    mbedtls_ecp_group_free(&self->group);
    mbedtls_ecp_point_free(&self->key);
    mbedtls_mpi_free(&self->scalar);
    for (size_t i = 0; i < FIXTURE_MESSAGES; i++) {
        mbedtls_mpi_free(&self->r[i]);
        mbedtls_mpi_free(&self->s[i]);
    }
    mbedtls_ctr_drbg_free(&self->random);
    free(self);
}

static int load(mbedtls_side *self, const fixture *made)
{
    uint8_t point[TENON_POINT_SIZE];
    size_t n;
    if (tenon_public_key_encode_point(point, sizeof point, &n, &made->key) != TENON_OK)
        return -1;
    int error = mbedtls_ecp_group_load(&self->group, MBEDTLS_ECP_DP_SECP256R1);
    error |= mbedtls_ecp_group_load(&self->own, MBEDTLS_ECP_DP_SECP256R1);
    mbedtls_ecp_point_init(&self->own.G);
    error |= mbedtls_ecp_point_read_binary(&self->group, &self->key, point, n);
    error |= mbedtls_ecp_copy(&self->own.G, &self->key);
    error |= mbedtls_mpi_read_binary(&self->scalar, made->scalar, sizeof made->scalar);
    for (size_t i = 0; i < FIXTURE_MESSAGES; i++) {
        const uint8_t *signature = made->signatures[i].bytes;
        error |= mbedtls_mpi_read_binary(&self->r[i], signature, TENON_SCALAR_SIZE);
        error |= mbedtls_mpi_read_binary(&self->s[i], signature + TENON_SCALAR_SIZE, TENON_SCALAR_SIZE);
    }
    return error | mbedtls_ctr_drbg_seed(&self->random, entropy, NULL, NULL, 0);
}

static void *mbedtls_open(const fixture *made)
{
    mbedtls_side *self = calloc(1, sizeof *self);
    if (self == NULL)
        return NULL;
    self->fixture = made;
    mbedtls_ecp_group_init(&self->group);
    mbedtls_ecp_group_init(&self->own);
    mbedtls_ecp_point_init(&self->key);
    mbedtls_mpi_init(&self->scalar);
    for (size_t i = 0; i < FIXTURE_MESSAGES; i++) {
        mbedtls_mpi_init(&self->r[i]);
        mbedtls_mpi_init(&self->s[i]);
    }
    mbedtls_ctr_drbg_init(&self->random);
    if (load(self, made) == 0)
        return self;
    mbedtls_close(self);
    return NULL;
}

static bool hash(const uint8_t *data, size_t n)
{
    uint8_t digest[TENON_DIGEST_SIZE];
    return mbedtls_sha256_ret(data, n, digest, 0) == 0;
}

static bool sha256_64(void *context)
{
    const mbedtls_side *self = context;
    return hash(self->fixture->data, 64);
}

static bool sha256_1k(void *context)
{
    const mbedtls_side *self = context;
    return hash(self->fixture->data, 1024);
}

static bool sha256_16k(void *context)
{
    const mbedtls_side *self = context;
    return hash(self->fixture->data, 16384);
}

static bool sign(void *context)
{
    mbedtls_side *self = context;
    const tenon_digest *digest = &self->fixture->digests[fixture_next(&self->turn)];
    mbedtls_mpi r, s;
    mbedtls_mpi_init(&r);
    mbedtls_mpi_init(&s);
    int error = mbedtls_ecdsa_sign(&self->group, &r, &s, &self->scalar, digest->bytes, sizeof digest->bytes,
                                   mbedtls_ctr_drbg_random, &self->random);
    mbedtls_mpi_free(&s);
    mbedtls_mpi_free(&r);
    return error == 0;
}

static bool verify(void *context)
{
    mbedtls_side *self = context;
    size_t i = fixture_next(&self->turn);
    const tenon_digest *digest = &self->fixture->digests[i];
    return mbedtls_ecdsa_verify(&self->group, digest->bytes, sizeof digest->bytes, &self->key, &self->r[i],
                                &self->s[i]) == 0;
}

typedef struct {
    mbedtls_mpi u, v, inverse, one;
    mbedtls_ecp_point of_g, of_key, sum;
} verification;

/* FIPS 186-5, 6.4.2, with a table for either multiplication. */
static int verify_with_tables(mbedtls_side *self, verification *w, size_t i)
{
    const mbedtls_mpi *n = &self->group.N;
    int error = mbedtls_mpi_inv_mod(&w->inverse, &self->s[i], n);
    error |= mbedtls_mpi_read_binary(&w->u, self->fixture->digests[i].bytes, TENON_DIGEST_SIZE);
    error |= mbedtls_mpi_mul_mpi(&w->u, &w->u, &w->inverse);
    error |= mbedtls_mpi_mod_mpi(&w->u, &w->u, n);
    error |= mbedtls_mpi_mul_mpi(&w->v, &self->r[i], &w->inverse);
    error |= mbedtls_mpi_mod_mpi(&w->v, &w->v, n);
    error |= mbedtls_mpi_lset(&w->one, 1);
    error |= mbedtls_ecp_mul(&self->group, &w->of_g, &w->u, &self->group.G, mbedtls_ctr_drbg_random, &self->random);
    error |= mbedtls_ecp_mul(&self->own, &w->of_key, &w->v, &self->own.G, mbedtls_ctr_drbg_random, &self->random);
    error |= mbedtls_ecp_muladd(&self->group, &w->sum, &w->one, &w->of_g, &w->one, &w->of_key);
    error |= mbedtls_mpi_mod_mpi(&w->sum.X, &w->sum.X, n);
    return error | mbedtls_mpi_cmp_mpi(&w->sum.X, &self->r[i]);
}

static bool verify_prepared(void *context)
{
    mbedtls_side *self = context;
    verification w;
    mbedtls_mpi_init(&w.u);
    mbedtls_mpi_init(&w.v);
    mbedtls_mpi_init(&w.inverse);
    mbedtls_mpi_init(&w.one);
    mbedtls_ecp_point_init(&w.of_g);
    mbedtls_ecp_point_init(&w.of_key);
    mbedtls_ecp_point_init(&w.sum);
    int error = verify_with_tables(self, &w, fixture_next(&self->turn));
    mbedtls_mpi_free(&w.u);
    mbedtls_mpi_free(&w.v);
    mbedtls_mpi_free(&w.inverse);
    mbedtls_mpi_free(&w.one);
    mbedtls_ecp_point_free(&w.of_g);
    mbedtls_ecp_point_free(&w.of_key);
    mbedtls_ecp_point_free(&w.sum);
    return error == 0;
}

static bool generate(void *context)
{
    mbedtls_side *self = context;
    mbedtls_mpi scalar;
    mbedtls_ecp_point point;
    mbedtls_mpi_init(&scalar);
    mbedtls_ecp_point_init(&point);
    int error = mbedtls_ecp_gen_keypair(&self->group, &scalar, &point, mbedtls_ctr_drbg_random, &self->random);
    mbedtls_ecp_point_free(&point);
    mbedtls_mpi_free(&scalar);
    return error == 0;
}

static const side_line lines[] = {
    {"sha256-64", sha256_64}, {"sha256-1k", sha256_1k}, {"sha256-16k", sha256_16k},           {"sign", sign},
    {"verify", verify},       {"generate", generate},   {"verify-prepared", verify_prepared},
};

const side side_mbedtls = {
    .name = "mbedtls",
    .version = version,
    .open = mbedtls_open,
    .close = mbedtls_close,
    .lines = lines,
    .lines_n = sizeof lines / sizeof *lines,
};
