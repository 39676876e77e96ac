/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_SIGNATURE_H
#define TENONI_SIGNATURE_H

#include <stdbool.h>

#include "tenon/types.h"

/* r and s are both in 1 .. n-1. */
bool tenoni_signature_in_range(const tenon_signature *signature);

#endif
