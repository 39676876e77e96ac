/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_AGREE_H
#define TENONI_AGREE_H

#include <stddef.h>
#include <stdint.h>

#include "tenon/status.h"

/* A coordinate or scalar, big-endian with its leading zeros; a point is x || y. */
typedef enum { TENONI_CURVE_P256, TENONI_CURVE_P384 } tenoni_curve;

enum { TENONI_P384_SIZE = 48, TENONI_COORDINATE_MAX = 48 };

size_t tenoni_curve_size(tenoni_curve curve);

/*
 * ECDH (SP 800-56A, 5.7.1.2) with the holder of point: ephemeral is the point of the scalar, z the x coordinate of the
 * product. TENON_ERROR_POINT_RANGE, TENON_ERROR_POINT_OFF_CURVE before anything is computed with the scalar;
 * TENON_ERROR_SCALAR_RANGE for a scalar that is not in 1 .. n-1: whoever drew it draws again. On failure nothing is
 * written.
 */
tenon_status tenoni_agree(tenoni_curve curve, uint8_t *z, uint8_t *ephemeral, const uint8_t *scalar,
                          const uint8_t *point);

/* The same on P-384, which is the backend's; on failure z and ephemeral may have changed. */
tenon_status tenoni_p384_agree(uint8_t *z, uint8_t *ephemeral, const uint8_t *scalar, const uint8_t *point);

#endif
