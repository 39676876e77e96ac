/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/random.h>

#include "bench.h"
#include "crypto/group.h"

#include <mbedtls/ctr_drbg.h>

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
}

static int load(mbedtls_side *self, const fixture *made)
{
    uint8_t point[TENON_POINT_SIZE];
    size_t n;
    if (tenon_public_key_encode_point(point, sizeof point, &n, &made->key) != TENON_OK)
        return -1;
    int error = mbedtls_ecp_group_load(&self->group, MBEDTLS_ECP_DP_SECP256R1);
    error |= tenoni_group_load_bare(&self->own);
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

static bool mbedtls_open(void *context, const fixture *made)
{
    mbedtls_side *self = context;
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
    return load(self, made) == 0;
}

static bool hash(void *context, size_t n)
{
    const mbedtls_side *self = context;
    uint8_t digest[TENON_DIGEST_SIZE];
    return TENONI_MBEDTLS_HASH(mbedtls_sha256)(self->fixture->data, n, digest, 0) == 0;
}

static bool sign(void *context, size_t unused)
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

static bool verify(void *context, size_t unused)
{
    mbedtls_side *self = context;
    size_t i = fixture_next(&self->turn);
    const tenon_digest *digest = &self->fixture->digests[i];
    return mbedtls_ecdsa_verify(&self->group, digest->bytes, sizeof digest->bytes, &self->key, &self->r[i],
                                &self->s[i]) == 0;
}

enum { U, V, INVERSE, FACTOR, NUMBERS };
enum { OF_G, OF_KEY, SUM, POINTS };

/* FIPS 186-5, 6.4.2, with a table for either multiplication. */
static int verify_with_tables(mbedtls_side *self, mbedtls_mpi *w, mbedtls_ecp_point *p, size_t i)
{
    const mbedtls_mpi *n = &self->group.N;
    int error = mbedtls_mpi_inv_mod(&w[INVERSE], &self->s[i], n);
    error |= mbedtls_mpi_read_binary(&w[U], self->fixture->digests[i].bytes, TENON_DIGEST_SIZE);
    error |= mbedtls_mpi_mul_mpi(&w[U], &w[U], &w[INVERSE]);
    error |= mbedtls_mpi_mod_mpi(&w[U], &w[U], n);
    error |= mbedtls_mpi_mul_mpi(&w[V], &self->r[i], &w[INVERSE]);
    error |= mbedtls_mpi_mod_mpi(&w[V], &w[V], n);
    error |= mbedtls_mpi_lset(&w[FACTOR], 1);
    error |= mbedtls_ecp_mul(&self->group, &p[OF_G], &w[U], &self->group.G, mbedtls_ctr_drbg_random, &self->random);
    error |= mbedtls_ecp_mul(&self->own, &p[OF_KEY], &w[V], &self->own.G, mbedtls_ctr_drbg_random, &self->random);
    error |= mbedtls_ecp_muladd(&self->group, &p[SUM], &w[FACTOR], &p[OF_G], &w[FACTOR], &p[OF_KEY]);
    error |= mbedtls_mpi_mod_mpi(&p[SUM].X, &p[SUM].X, n);
    return error | mbedtls_mpi_cmp_mpi(&p[SUM].X, &self->r[i]);
}

static bool verify_prepared(void *context, size_t unused)
{
    mbedtls_side *self = context;
    mbedtls_mpi numbers[NUMBERS];
    mbedtls_ecp_point points[POINTS];
    for (size_t i = 0; i < NUMBERS; i++)
        mbedtls_mpi_init(&numbers[i]);
    for (size_t i = 0; i < POINTS; i++)
        mbedtls_ecp_point_init(&points[i]);
    int error = verify_with_tables(self, numbers, points, fixture_next(&self->turn));
    for (size_t i = 0; i < NUMBERS; i++)
        mbedtls_mpi_free(&numbers[i]);
    for (size_t i = 0; i < POINTS; i++)
        mbedtls_ecp_point_free(&points[i]);
    return error == 0;
}

static bool generate(void *context, size_t unused)
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
    {"sha256-64", hash, 64}, {"sha256-1k", hash, 1024}, {"sha256-16k", hash, 16384},          {"sign", sign},
    {"verify", verify},      {"generate", generate},    {"verify-prepared", verify_prepared},
};

const side side_mbedtls = {"mbedtls", version, sizeof(mbedtls_side), mbedtls_open, mbedtls_close, SIDE_LINES(lines)};
