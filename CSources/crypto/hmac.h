/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_HMAC_H
#define TENONI_HMAC_H

#include "crypto/hash.h"
#include "tenon/status.h"
#include "tenon/types.h"

/* SHA-256 over all the parts. */
tenon_status tenoni_sha256_parts(tenon_digest *out, const tenoni_part *parts, size_t count);

/* HMAC (RFC 2104) over all the parts, with SHA-256 or with another hash. The key may have any length. */
tenon_status tenoni_hmac(tenon_digest *out, const void *key, size_t key_n, const tenoni_part *parts, size_t count);
tenon_status tenoni_hmac_with(tenoni_hash hash, uint8_t *out, const void *key, size_t key_n, const tenoni_part *parts,
                              size_t count);

/* The same as a stream. It holds what a forger needs: finish wipes it, also when it fails; who does not finish wipes.
 */
typedef struct {
    tenoni_hash_stream inner;
    uint8_t pad[TENONI_HASH_BLOCK_MAX];
} tenoni_hmac_stream;

tenon_status tenoni_hmac_begin(tenoni_hmac_stream *stream, tenoni_hash hash, const void *key, size_t key_n);
tenon_status tenoni_hmac_update(tenoni_hmac_stream *stream, const void *data, size_t n);
tenon_status tenoni_hmac_finish(tenoni_hmac_stream *stream, uint8_t *out);

#endif
