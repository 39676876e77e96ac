/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_LAST_H
#define TENONI_LAST_H

#include <stdint.h>

#include "native/result.h"

/* Remembers how the last call of this thread ended, and gives it back. */
tenoni_result tenoni_last(tenoni_result result);

/* TENON_NATIVE_FOUND, _ABSENT or _UNAVAILABLE. */
int32_t tenoni_outcome(tenoni_result result);

#endif
