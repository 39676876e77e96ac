/* SPDX-License-Identifier: Apache-2.0 */
#include "crypto/agree.h"

#include <string.h>

#include "base/scalar.h"
#include "base/secure.h"
#include "crypto/backend.h"
#include "crypto/point.h"

size_t tenoni_curve_size(tenoni_curve curve)
{
    return curve == TENONI_CURVE_P384 ? TENONI_P384_SIZE : TENON_SCALAR_SIZE;
}

static tenon_status agree_p256(uint8_t *z, uint8_t *ephemeral, const uint8_t *scalar, const uint8_t *point)
{
    tenon_public_key own, other;
    tenoni_signer *signer = NULL;
    memcpy(other.bytes, point, sizeof other.bytes);
    tenon_status status = tenoni_point_check(&other);
    if (status == TENON_OK && !tenoni_scalar_in_range(scalar))
        status = TENON_ERROR_SCALAR_RANGE;
    if (status == TENON_OK)
        status = tenoni_signer_new(&signer, &own, scalar);
    if (status != TENON_OK)
        return status;
    tenoni_signer_free(signer);
    memcpy(ephemeral, own.bytes, sizeof own.bytes);
    return tenoni_p256_agree(z, scalar, &other);
}

tenon_status tenoni_agree(tenoni_curve curve, uint8_t *z, uint8_t *ephemeral, const uint8_t *scalar,
                          const uint8_t *point)
{
    size_t size = tenoni_curve_size(curve);
    uint8_t secret[TENONI_COORDINATE_MAX], own[2 * TENONI_COORDINATE_MAX];
    tenon_status status = curve == TENONI_CURVE_P384 ? tenoni_p384_agree(secret, own, scalar, point)
                                                     : agree_p256(secret, own, scalar, point);
    if (status == TENON_OK) {
        memcpy(z, secret, size);
        memcpy(ephemeral, own, 2 * size);
    }
    tenoni_wipe(secret, sizeof secret);
    return status;
}
