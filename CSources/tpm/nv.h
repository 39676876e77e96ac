/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_NV_H
#define TENONI_NV_H

#include "tpm/channel.h"

/* What the maker of a TPM wrote into its NV: certificates and templates. Inside an operation. */

/*
 * Reads an index of at most n bytes, with its own empty auth value or with the owner's, as its attributes allow. *found
 * is 0 if there is no such index, if it was never written, or if we may not read it. TENON_ERROR_TOO_LARGE: it has more
 * than n bytes.
 */
tenon_status tenoni_nv_read(tenon_tpm *tpm, uint32_t index, uint8_t *out, size_t n, size_t *found);

#endif
