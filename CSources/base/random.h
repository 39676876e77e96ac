/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_RANDOM_H
#define TENONI_RANDOM_H

#include <stddef.h>
#include <stdint.h>

#include "tenon/status.h"

/* n bytes of getrandom(2). There is no generator in the process: a fork or a restored snapshot has nothing to repeat.
 */
tenon_status tenoni_random(uint8_t *out, size_t n);

#endif
