/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_HMAC_H
#define TENONI_HMAC_H

#include "internal/stream.h"
#include "tenon/status.h"
#include "tenon/types.h"

/* Bytes of a message whose parts stand one behind the other. bytes may be NULL when n is 0. */
typedef struct {
    const void *bytes;
    size_t n;
} tenoni_part;

/* SHA-256 over all the parts. */
tenon_status tenoni_sha256_parts(tenon_digest *out, const tenoni_part *parts, size_t count);

/* HMAC-SHA256 (RFC 2104) over all the parts. The key may have any length. */
tenon_status tenoni_hmac(tenon_digest *out, const void *key, size_t key_n, const tenoni_part *parts, size_t count);

/* The same as a stream. It holds what a forger needs: finish wipes it, also when it fails; who does not finish wipes.
 */
typedef struct {
    uint64_t state[TENONI_SHA256_STATE_SIZE / sizeof(uint64_t)];
    uint8_t pad[64];
} tenoni_hmac_stream;

tenon_status tenoni_hmac_begin(tenoni_hmac_stream *stream, const void *key, size_t key_n);
tenon_status tenoni_hmac_update(tenoni_hmac_stream *stream, const void *data, size_t n);
tenon_status tenoni_hmac_finish(tenoni_hmac_stream *stream, tenon_digest *out);

#endif
