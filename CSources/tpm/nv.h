/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_NV_H
#define TENONI_NV_H

#include "tpm/channel.h"

/* What the maker of a TPM wrote into its NV: certificates and templates. Inside an operation. */

/*
 * The bytes of an index, at most n of them, by its own empty auth value or the owner's, as its attributes allow. No
 * index, one that was never written, or one that only others may read: *found is 0. More than n: TENON_ERROR_TOO_LARGE.
 */
tenon_status tenoni_nv_read(tenon_tpm *tpm, uint32_t index, uint8_t *out, size_t n, size_t *found);

#endif
