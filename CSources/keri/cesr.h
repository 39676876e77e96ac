/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_CESR_H
#define TENONI_CESR_H

#include <stdbool.h>

#include "base/bytes.h"
#include "tenon/keri.h"
#include "tenon/status.h"
#include "tenon/types.h"

/*
 * CESR: a value in base64url with a code in front. The value gets zero bytes in front until its text has no odd bits,
 * and the code takes the place of the characters that these zeros make.
 */

/* 44 and 48 characters. */
tenon_status tenoni_cesr_write_digest(char *out, const tenon_digest *digest);
tenon_status tenoni_cesr_write_key(char *out, const tenon_public_key *key);

/* Whether this is the text of a BLAKE3 digest. */
bool tenoni_cesr_is_digest(tenoni_reader text);

/* TENON_ERROR_CESR for another text, or what is wrong with the point. */
tenon_status tenoni_cesr_read_key(tenon_public_key *out, tenoni_reader text);

/* TENON_ERROR_CESR for another text, or TENON_ERROR_SIGNATURE_RANGE. */
tenon_status tenoni_cesr_read_attachment(tenon_signature *out, tenoni_reader text);

/* The digest of a key's text, as an event commits to it. */
tenon_status tenoni_cesr_commit(char *out, const void *text, size_t n);

#endif
