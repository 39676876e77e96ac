/* SPDX-License-Identifier: Apache-2.0 */
#ifdef TENON_OPENSSL

#include <openssl/ec.h>
#include <openssl/ecerr.h>
#include <openssl/err.h>
#include <openssl/obj_mac.h>
#include <stdbool.h>

#include "crypto/agree.h"

enum { SIZE = TENONI_P384_SIZE };

typedef struct {
    EC_GROUP *group;
    EC_POINT *other, *product;
    BIGNUM *x, *y, *p;
    BIGNUM *scalar;
} agreement;

static void agreement_free(agreement *a)
{
    BN_clear_free(a->scalar);
    BN_free(a->p);
    BN_clear_free(a->y);
    BN_clear_free(a->x);
    EC_POINT_clear_free(a->product);
    EC_POINT_free(a->other);
    EC_GROUP_free(a->group);
    ERR_clear_error();
}

static tenon_status load(agreement *a, const uint8_t *scalar, const uint8_t *point)
{
    a->group = EC_GROUP_new_by_curve_name(NID_secp384r1);
    a->other = a->group == NULL ? NULL : EC_POINT_new(a->group);
    a->product = a->group == NULL ? NULL : EC_POINT_new(a->group);
    a->x = BN_bin2bn(point, SIZE, NULL);
    a->y = BN_bin2bn(point + SIZE, SIZE, NULL);
    a->p = BN_new();
    a->scalar = BN_secure_new();
    bool made = a->other != NULL && a->product != NULL && a->x != NULL && a->y != NULL && a->p != NULL &&
                a->scalar != NULL && BN_bin2bn(scalar, SIZE, a->scalar) != NULL;
    return made ? TENON_OK : TENON_ERROR_MEMORY;
}

/* OpenSSL takes coordinates modulo p, and leaves no memory and a point off the curve to be told by its reasons. */
static tenon_status check(const agreement *a)
{
    if (EC_GROUP_get_curve(a->group, a->p, NULL, NULL, NULL) != 1)
        return TENON_ERROR_MEMORY;
    if (BN_cmp(a->x, a->p) >= 0 || BN_cmp(a->y, a->p) >= 0)
        return TENON_ERROR_POINT_RANGE;
    ERR_clear_error();
    if (EC_POINT_set_affine_coordinates(a->group, a->other, a->x, a->y, NULL) != 1)
        return ERR_GET_REASON(ERR_peek_error()) == EC_R_POINT_IS_NOT_ON_CURVE ? TENON_ERROR_POINT_OFF_CURVE
                                                                              : TENON_ERROR_MEMORY;
    bool in_range = !BN_is_zero(a->scalar) && BN_cmp(a->scalar, EC_GROUP_get0_order(a->group)) < 0;
    return in_range ? TENON_OK : TENON_ERROR_SCALAR_RANGE;
}

/* The scalar times point, or, for NULL, times G. */
static tenon_status multiply(agreement *a, uint8_t *x, uint8_t *y, const EC_POINT *point)
{
    const BIGNUM *of_g = point == NULL ? a->scalar : NULL;
    const BIGNUM *of_point = point == NULL ? NULL : a->scalar;
    bool done = EC_POINT_mul(a->group, a->product, of_g, point, of_point, NULL) == 1 &&
                EC_POINT_get_affine_coordinates(a->group, a->product, a->x, a->y, NULL) == 1 &&
                BN_bn2binpad(a->x, x, SIZE) == SIZE && (y == NULL || BN_bn2binpad(a->y, y, SIZE) == SIZE);
    return done ? TENON_OK : TENON_ERROR_CRYPTO;
}

tenon_status tenoni_p384_agree(uint8_t *z, uint8_t *ephemeral, const uint8_t *scalar, const uint8_t *point)
{
    agreement a = {NULL, NULL, NULL, NULL, NULL, NULL, NULL};
    tenon_status status = load(&a, scalar, point);
    if (status == TENON_OK)
        status = check(&a);
    if (status == TENON_OK)
        status = multiply(&a, ephemeral, ephemeral + SIZE, NULL);
    if (status == TENON_OK)
        status = multiply(&a, z, NULL, a.other);
    agreement_free(&a);
    return status;
}

#endif
