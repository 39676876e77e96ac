/* SPDX-License-Identifier: Apache-2.0 */
#include "rig.h"

const side *const sides[] = {&side_tpm_tenon, &side_tpm_raw};
const size_t sides_n = sizeof sides / sizeof *sides;
