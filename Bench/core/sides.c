/* SPDX-License-Identifier: Apache-2.0 */
#include "sides.h"

const side *const sides[] = {&side_tenon, &side_tenon_whole, &side_mbedtls, &side_openssl};
const size_t sides_n = sizeof sides / sizeof *sides;
