/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_SIGNER_H
#define TENONI_SIGNER_H

#include <stddef.h>

#include "tenon/batch/signer.h"

/* How many requests stand in the line now. */
size_t tenoni_signer_waiting(tenon_signer *signer);

#endif
