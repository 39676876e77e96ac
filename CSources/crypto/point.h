/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_POINT_H
#define TENONI_POINT_H

#include <stdbool.h>

#include "tenon/status.h"
#include "tenon/types.h"

/* Both coordinates are below p. */
bool tenoni_point_in_range(const tenon_public_key *key);

/* In range and on the curve. */
tenon_status tenoni_point_check(const tenon_public_key *key);

#endif
