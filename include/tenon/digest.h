/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENON_DIGEST_H
#define TENON_DIGEST_H

#include "tenon/api.h"
#include "tenon/status.h"
#include "tenon/types.h"

TENON_BEGIN

/* SHA-256 of n bytes (FIPS 180-4). */
TENON_API TENON_MUST_USE tenon_status tenon_sha256(tenon_digest *out, const uint8_t *TENON_COUNTED(n) data, size_t n);

/*
 * SHA-256 of data in pieces: begin, update as often as needed, finish once. The stream is a value that owns no memory:
 * you may copy it, and drop it without a call. Finish wipes it. After finish, or before begin, update and finish return
 * TENON_ERROR_STREAM.
 */
typedef struct {
    uint64_t opaque[TENON_SHA256_STREAM_SIZE / 8];
} tenon_sha256_stream;

/* Begins a stream. */
TENON_API TENON_MUST_USE tenon_status tenon_sha256_begin(tenon_sha256_stream *stream);

/* Adds n bytes. */
TENON_API TENON_MUST_USE tenon_status tenon_sha256_update(tenon_sha256_stream *stream,
                                                          const uint8_t *TENON_COUNTED(n) data, size_t n);

/* Gives the digest and wipes the stream. */
TENON_API TENON_MUST_USE tenon_status tenon_sha256_finish(tenon_sha256_stream *stream, tenon_digest *out);

/* HMAC-SHA256 (RFC 2104) of n bytes. The key may have any length; it is wiped from memory. */
TENON_API TENON_MUST_USE tenon_status tenon_hmac_sha256(tenon_digest *out, const uint8_t *TENON_COUNTED(key_n) key,
                                                        size_t key_n, const uint8_t *TENON_COUNTED(n) data, size_t n);

TENON_END

#endif
