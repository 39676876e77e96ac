/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_SIDES_H
#define BENCH_SIDES_H

#include "side.h"

extern const side side_tenon, side_tenon_whole, side_mbedtls, side_openssl;

#endif
