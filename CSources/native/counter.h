/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_COUNTER_H
#define TENONI_COUNTER_H

#include "native/sealed.h"

/*
 * A counter in the TPM's NV memory, which only goes up (Part 1, 37.2.4). Its auth value is sealed with the key of the
 * values, and goes through the same session.
 */

/* Where it may lie: in the owner's range (Registry of reserved TPM 2.0 handles, 2.2). */
enum { TENONI_COUNTER_FIRST = 0x018a7e00, TENONI_COUNTER_LAST = TENONI_COUNTER_FIRST + 63 };

/*
 * Defines the one of sealed->counter, or takes over the one that is there if it takes this secret; and counts once. An
 * error that is TENONI_RC_NV_DEFINED: the index is somebody else's.
 */
tenon_status tenoni_counter_make(tenon_tpm *tpm, tenoni_sealed *sealed, const uint8_t *secret);

/* Removes it, if it is there and takes this secret. */
tenon_status tenoni_counter_remove(tenon_tpm *tpm, tenoni_sealed *sealed, const uint8_t *secret);

tenon_status tenoni_counter_read(tenon_tpm *tpm, tenoni_sealed *sealed, const uint8_t *secret, uint64_t *out);

/* Counts once, if one is what is missing. Whether it is missing is looked up, so it may be repeated. */
tenon_status tenoni_counter_raise(tenon_tpm *tpm, tenoni_sealed *sealed, const uint8_t *secret, uint64_t to);

#endif
