/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENON_OPENSSL

#include <stdlib.h>

#include "crypto/group.h"
#include "crypto/mbedtls.h"
#include "crypto/p256.h"
#include "tenon/tenon.h"

const char *tenon_backend_name(void)
{
    return "mbedtls";
}

static tenon_status result(int error)
{
    return error == 0 ? TENON_OK : tenoni_group_failure(error);
}

static int read_point(mbedtls_ecp_point *point, const tenon_public_key *key)
{
    int error = mbedtls_mpi_read_binary(&point->X, key->bytes, TENON_SCALAR_SIZE);
    if (error == 0)
        error = mbedtls_mpi_read_binary(&point->Y, key->bytes + TENON_SCALAR_SIZE, TENON_SCALAR_SIZE);
    return error != 0 ? error : mbedtls_mpi_lset(&point->Z, 1);
}

static int write_point(tenon_public_key *out, const mbedtls_ecp_point *point)
{
    int error = mbedtls_mpi_write_binary(&point->X, out->bytes, TENON_SCALAR_SIZE);
    return error != 0 ? error : mbedtls_mpi_write_binary(&point->Y, out->bytes + TENON_SCALAR_SIZE, TENON_SCALAR_SIZE);
}

static tenon_status check_point(const mbedtls_ecp_group *group, const mbedtls_ecp_point *point)
{
    int error = mbedtls_ecp_check_pubkey(group, point);
    return error == MBEDTLS_ERR_ECP_INVALID_KEY ? TENON_ERROR_POINT_OFF_CURVE : result(error);
}

tenon_status tenoni_p256_check(const tenon_public_key *key)
{
    mbedtls_ecp_group group;
    mbedtls_ecp_point point;
    mbedtls_ecp_group_init(&group);
    mbedtls_ecp_point_init(&point);
    tenon_status status = result(mbedtls_ecp_group_load(&group, MBEDTLS_ECP_DP_SECP256R1));
    if (status == TENON_OK)
        status = result(read_point(&point, key));
    if (status == TENON_OK)
        status = check_point(&group, &point);
    mbedtls_ecp_point_free(&point);
    mbedtls_ecp_group_free(&group);
    return status;
}

/* y = (x^3 - 3x + b)^((p+1)/4) modulo p: a root wherever there is one, as p = 3 modulo 4. */
static int solve_curve(const mbedtls_ecp_group *group, mbedtls_ecp_point *point, bool odd)
{
    mbedtls_mpi power;
    mbedtls_mpi_init(&power);
    mbedtls_mpi *y = &point->Y;
    int error = mbedtls_mpi_mul_mpi(y, &point->X, &point->X);
    error = error != 0 ? error : mbedtls_mpi_sub_int(y, y, 3);
    error = error != 0 ? error : mbedtls_mpi_mul_mpi(y, y, &point->X);
    error = error != 0 ? error : mbedtls_mpi_add_mpi(y, y, &group->B);
    error = error != 0 ? error : mbedtls_mpi_mod_mpi(y, y, &group->P);
    error = error != 0 ? error : mbedtls_mpi_add_int(&power, &group->P, 1);
    error = error != 0 ? error : mbedtls_mpi_shift_r(&power, 2);
    error = error != 0 ? error : mbedtls_mpi_exp_mod(y, y, &power, &group->P, NULL);
    if (error == 0 && mbedtls_mpi_get_bit(y, 0) != odd)
        error = mbedtls_mpi_sub_mpi(y, &group->P, y);
    mbedtls_mpi_free(&power);
    return error;
}

tenon_status tenoni_p256_decompress(tenon_public_key *out, const uint8_t *x, bool odd)
{
    mbedtls_ecp_group group;
    mbedtls_ecp_point point;
    mbedtls_ecp_group_init(&group);
    mbedtls_ecp_point_init(&point);
    int error = mbedtls_ecp_group_load(&group, MBEDTLS_ECP_DP_SECP256R1);
    error = error != 0 ? error : mbedtls_mpi_read_binary(&point.X, x, TENON_SCALAR_SIZE);
    error = error != 0 ? error : mbedtls_mpi_lset(&point.Z, 1);
    error = error != 0 ? error : solve_curve(&group, &point, odd);
    tenon_status status = error == 0 ? check_point(&group, &point) : result(error);
    if (status == TENON_OK)
        status = result(write_point(out, &point));
    mbedtls_ecp_point_free(&point);
    mbedtls_ecp_group_free(&group);
    return status;
}

/*
 * mbedTLS keeps a table of multiples for a group's base point only. So a prepared key is a second group of which the
 * key is the base point. mbedTLS does not free the base point of a group whose constants are static: we do.
 */
struct tenon_verifier {
    mbedtls_ecp_group curve;
    mbedtls_ecp_group own;
    mbedtls_ecp_point key;
    bool prepared;
};

static int prepare(tenon_verifier *verifier)
{
    int error = tenoni_group_load_bare(&verifier->own);
    if (error != 0)
        return error;
    mbedtls_ecp_point_init(&verifier->own.G);
    verifier->prepared = true;
    error = mbedtls_ecp_copy(&verifier->own.G, &verifier->key);
    return error != 0 ? error : tenoni_group_make_table(&verifier->own);
}

void tenoni_verifier_free(tenon_verifier *verifier)
{
    if (verifier->prepared)
        mbedtls_ecp_point_free(&verifier->own.G);
    mbedtls_ecp_group_free(&verifier->own);
    mbedtls_ecp_group_free(&verifier->curve);
    mbedtls_ecp_point_free(&verifier->key);
    free(verifier);
}

tenon_status tenoni_verifier_new(tenon_verifier **out, const tenon_public_key *key, bool prepared)
{
    tenon_verifier *verifier = calloc(1, sizeof *verifier);
    if (verifier == NULL)
        return TENON_ERROR_MEMORY;
    mbedtls_ecp_group_init(&verifier->own);
    mbedtls_ecp_point_init(&verifier->key);
    tenon_status status = tenoni_group_load(&verifier->curve);
    if (status == TENON_OK)
        status = result(read_point(&verifier->key, key));
    if (status == TENON_OK)
        status = check_point(&verifier->curve, &verifier->key);
    if (status == TENON_OK && prepared)
        status = result(prepare(verifier));
    if (status != TENON_OK) {
        tenoni_verifier_free(verifier);
        return status;
    }
    *out = verifier;
    return TENON_OK;
}

/* The variables of one verification. */
typedef struct {
    mbedtls_mpi r, s, e, one;
    mbedtls_ecp_point of_g, of_key, sum;
} verification;

static void verification_init(verification *v)
{
    mbedtls_mpi_init(&v->r);
    mbedtls_mpi_init(&v->s);
    mbedtls_mpi_init(&v->e);
    mbedtls_mpi_init(&v->one);
    mbedtls_ecp_point_init(&v->of_g);
    mbedtls_ecp_point_init(&v->of_key);
    mbedtls_ecp_point_init(&v->sum);
}

static void verification_free(verification *v)
{
    mbedtls_mpi_free(&v->r);
    mbedtls_mpi_free(&v->s);
    mbedtls_mpi_free(&v->e);
    mbedtls_mpi_free(&v->one);
    mbedtls_ecp_point_free(&v->of_g);
    mbedtls_ecp_point_free(&v->of_key);
    mbedtls_ecp_point_free(&v->sum);
}

/* FIPS 186-5, 6.4.2, steps 3 and 4: e becomes u = e/s, s becomes v = r/s, modulo n. */
static int divide_by_s(verification *v, const mbedtls_mpi *n)
{
    int error = mbedtls_mpi_inv_mod(&v->s, &v->s, n);
    error = error != 0 ? error : mbedtls_mpi_mul_mpi(&v->e, &v->e, &v->s);
    error = error != 0 ? error : mbedtls_mpi_mod_mpi(&v->e, &v->e, n);
    error = error != 0 ? error : mbedtls_mpi_mul_mpi(&v->s, &v->r, &v->s);
    return error != 0 ? error : mbedtls_mpi_mod_mpi(&v->s, &v->s, n);
}

/*
 * Step 5: sum = uG + vQ. mbedTLS wants its groups writable, for the table that it may have to make. Ours have theirs,
 * so it gets shallow copies that it has no reason to write to, and threads may share a verifier.
 */
static int add_multiples(const tenon_verifier *verifier, verification *v)
{
    mbedtls_ecp_group curve = verifier->curve;
    mbedtls_ecp_group own = verifier->prepared ? verifier->own : curve;
    const mbedtls_ecp_point *key = verifier->prepared ? &own.G : &verifier->key;
    int error = mbedtls_ecp_mul(&own, &v->of_key, &v->s, key, tenoni_group_no_random, NULL);
    if (error != 0)
        return error;
    /* mbedTLS multiplies by 1 .. n-1 only. */
    if (mbedtls_mpi_cmp_int(&v->e, 0) == 0)
        return mbedtls_ecp_copy(&v->sum, &v->of_key);
    error = mbedtls_ecp_mul(&curve, &v->of_g, &v->e, &curve.G, tenoni_group_no_random, NULL);
    error = error != 0 ? error : mbedtls_mpi_lset(&v->one, 1);
    return error != 0 ? error : mbedtls_ecp_muladd(&curve, &v->sum, &v->one, &v->of_g, &v->one, &v->of_key);
}

tenon_status tenoni_verifier_verify(const tenon_verifier *verifier, const tenon_digest *digest,
                                    const tenon_signature *signature)
{
    const mbedtls_mpi *n = &verifier->curve.N;
    verification v;
    verification_init(&v);
    int error = mbedtls_mpi_read_binary(&v.r, signature->bytes, TENON_SCALAR_SIZE);
    error = error != 0 ? error : mbedtls_mpi_read_binary(&v.s, signature->bytes + TENON_SCALAR_SIZE, TENON_SCALAR_SIZE);
    error = error != 0 ? error : mbedtls_mpi_read_binary(&v.e, digest->bytes, TENON_DIGEST_SIZE);
    error = error != 0 ? error : divide_by_s(&v, n);
    error = error != 0 ? error : add_multiples(verifier, &v);
    bool zero = error == 0 && mbedtls_ecp_is_zero(&v.sum) != 0;
    if (error == 0 && !zero)
        error = mbedtls_mpi_mod_mpi(&v.sum.X, &v.sum.X, n);
    tenon_status status = result(error);
    if (status == TENON_OK && (zero || mbedtls_mpi_cmp_mpi(&v.sum.X, &v.r) != 0))
        status = TENON_ERROR_SIGNATURE_INVALID;
    verification_free(&v);
    return status;
}

struct tenoni_signer {
    mbedtls_ecp_group group;
    mbedtls_mpi scalar;
};

void tenoni_signer_free(tenoni_signer *signer)
{
    mbedtls_ecp_group_free(&signer->group);
    mbedtls_mpi_free(&signer->scalar);
    free(signer);
}

static int derive(tenoni_signer *signer, tenon_public_key *out)
{
    mbedtls_ecp_point point;
    mbedtls_ecp_point_init(&point);
    int error = mbedtls_ecp_mul(&signer->group, &point, &signer->scalar, &signer->group.G, tenoni_group_random, NULL);
    error = error != 0 ? error : write_point(out, &point);
    mbedtls_ecp_point_free(&point);
    return error;
}

tenon_status tenoni_signer_new(tenoni_signer **out, tenon_public_key *public_key, const uint8_t *scalar)
{
    tenoni_signer *signer = calloc(1, sizeof *signer);
    if (signer == NULL)
        return TENON_ERROR_MEMORY;
    mbedtls_mpi_init(&signer->scalar);
    tenon_status status = tenoni_group_load(&signer->group);
    if (status == TENON_OK)
        status = result(mbedtls_mpi_read_binary(&signer->scalar, scalar, TENON_SCALAR_SIZE));
    if (status == TENON_OK)
        status = result(derive(signer, public_key));
    if (status != TENON_OK) {
        tenoni_signer_free(signer);
        return status;
    }
    *out = signer;
    return TENON_OK;
}

tenon_status tenoni_signer_sign(const tenoni_signer *signer, tenon_signature *out, const tenon_digest *digest)
{
    mbedtls_ecp_group group = signer->group; /* shallow, as in add_multiples */
    mbedtls_mpi r, s;
    mbedtls_mpi_init(&r);
    mbedtls_mpi_init(&s);
    int error = mbedtls_ecdsa_sign(&group, &r, &s, &signer->scalar, digest->bytes, TENON_DIGEST_SIZE,
                                   tenoni_group_random, NULL);
    error = error != 0 ? error : mbedtls_mpi_write_binary(&r, out->bytes, TENON_SCALAR_SIZE);
    error = error != 0 ? error : mbedtls_mpi_write_binary(&s, out->bytes + TENON_SCALAR_SIZE, TENON_SCALAR_SIZE);
    mbedtls_mpi_free(&s);
    mbedtls_mpi_free(&r);
    return result(error);
}

tenon_status tenoni_p256_agree(uint8_t *x, const uint8_t *scalar, const tenon_public_key *key)
{
    mbedtls_ecp_group group;
    mbedtls_ecp_point point, shared;
    mbedtls_mpi number;
    mbedtls_ecp_group_init(&group);
    mbedtls_ecp_point_init(&point);
    mbedtls_ecp_point_init(&shared);
    mbedtls_mpi_init(&number);
    int error = mbedtls_ecp_group_load(&group, MBEDTLS_ECP_DP_SECP256R1);
    error = error != 0 ? error : read_point(&point, key);
    tenon_status status = error == 0 ? check_point(&group, &point) : result(error);
    if (status == TENON_OK) {
        error = mbedtls_mpi_read_binary(&number, scalar, TENON_SCALAR_SIZE);
        error = error != 0 ? error : mbedtls_ecp_mul(&group, &shared, &number, &point, tenoni_group_random, NULL);
        error = error != 0 ? error : mbedtls_mpi_write_binary(&shared.X, x, TENON_SCALAR_SIZE);
        status = result(error);
    }
    mbedtls_mpi_free(&number);
    mbedtls_ecp_point_free(&shared);
    mbedtls_ecp_point_free(&point);
    mbedtls_ecp_group_free(&group);
    return status;
}

#endif
