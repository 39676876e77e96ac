/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_COUNTER_H
#define TENONI_COUNTER_H

#include "native/sealed.h"

/*
 * A counter in the TPM's NV memory, which only goes up (Part 1, 37.2.4). Its auth value is sealed with the key of the
 * values, and goes through the same session.
 */

/* Defines one at a free index and counts once; sets sealed->counter. */
tenon_status tenoni_counter_make(tenon_tpm *tpm, tenoni_sealed *sealed, const uint8_t *secret);

tenon_status tenoni_counter_read(tenon_tpm *tpm, tenoni_sealed *sealed, const uint8_t *secret, uint64_t *out);

/* Counts once, if one is what is missing. Whether it is missing is looked up, so it may be repeated. */
tenon_status tenoni_counter_raise(tenon_tpm *tpm, tenoni_sealed *sealed, const uint8_t *secret, uint64_t to);

#endif
