/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_SIGNING_KEY_H
#define TENONI_SIGNING_KEY_H

#include <stdbool.h>

#include "tenon/key.h"

/*
 * These two are exported to libtenon-batch.so, and to nothing else: the layout of a key stays in one library.
 */

/* Signs a digest that the core computed over one of its own messages, whatever the capabilities of the key. */
TENON_API tenon_status tenoni_key_sign_own(const tenon_key *key, tenon_signature *out, const tenon_digest *digest);

/* Whether this is the key's public half. */
TENON_API bool tenoni_key_is(const tenon_key *key, const tenon_public_key *public_key);

/* Whether the key's owner allowed it to sign digests, and so any message (TENON_KEY_SIGNS_DIGESTS). */
bool tenoni_key_signs_digests(const tenon_key *key);

#endif
