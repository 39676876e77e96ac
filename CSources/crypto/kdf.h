/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_KDF_H
#define TENONI_KDF_H

#include "crypto/hmac.h"

/*
 * The key derivations of TPM 2.0, whole bytes only, with SHA-256 or with another hash. The label's terminating NUL is
 * part of what is hashed. On failure out is wiped.
 */

/* Part 1, 11.4.10.2 KDFa: SP 800-108 in counter mode with HMAC; u and v are the contexts, and the length in bits is
 * hashed too, so that a shorter output is not the beginning of a longer one. */
tenon_status tenoni_kdfa(uint8_t *out, size_t n, tenoni_part key, const char *label, tenoni_part u, tenoni_part v);
tenon_status tenoni_kdfa_with(tenoni_hash hash, uint8_t *out, size_t n, tenoni_part key, const char *label,
                              tenoni_part u, tenoni_part v);

/* Part 1, 11.4.10.3 KDFe: SP 800-56A, of an ECDH secret z and the x coordinates u and v of both sides. */
tenon_status tenoni_kdfe(uint8_t *out, size_t n, tenoni_part z, const char *label, tenoni_part u, tenoni_part v);
tenon_status tenoni_kdfe_with(tenoni_hash hash, uint8_t *out, size_t n, tenoni_part z, const char *label, tenoni_part u,
                              tenoni_part v);

#endif
