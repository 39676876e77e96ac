/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_INFO_H
#define TENONI_INFO_H

#include "tpm/channel.h"

/* The handles of one kind (its first byte) from this one on, ascending, n at most; inside an operation. */
tenon_status tenoni_handles(tenon_tpm *tpm, uint32_t first, uint32_t *out, size_t n, size_t *count);

/* TPM_PT_NV_BUFFER_MAX: how much NV is read at once; inside an operation. */
tenon_status tenoni_nv_buffer_max(tenon_tpm *tpm, uint32_t *out);

#endif
