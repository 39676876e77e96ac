/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_HASH_H
#define TENONI_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "tenon/digest.h"
#include "tenon/status.h"
#include "tenon/types.h"

/* FIPS 180-4: the hashes of nameAlgs and signatures, and of HMAC and the key derivations. */
typedef enum { TENONI_SHA256, TENONI_SHA384, TENONI_SHA512 } tenoni_hash;

enum { TENONI_HASH_MAX = 64, TENONI_HASH_BLOCK_MAX = 128, TENONI_HASH_STATE_SIZE = 224 };

size_t tenoni_hash_size(tenoni_hash hash);
size_t tenoni_hash_block(tenoni_hash hash);

/* Bytes of a message whose parts stand one behind the other. bytes may be NULL when n is 0. */
typedef struct {
    const void *bytes;
    size_t n;
} tenoni_part;

/* The owner of a secret's state must wipe it. out holds tenoni_hash_size bytes. */
typedef struct {
    uint64_t state[TENONI_HASH_STATE_SIZE / sizeof(uint64_t)];
    tenoni_hash hash;
} tenoni_hash_stream;

tenon_status tenoni_hash_begin(tenoni_hash_stream *stream, tenoni_hash hash);
tenon_status tenoni_hash_update(tenoni_hash_stream *stream, const void *data, size_t n);
tenon_status tenoni_hash_finish(tenoni_hash_stream *stream, uint8_t *out);

/* Hashes all the parts; no trace of them stays in memory. */
tenon_status tenoni_hash_parts(tenoni_hash hash, uint8_t *out, const tenoni_part *parts, size_t count);

/* SHA-256 over all the parts. */
tenon_status tenoni_sha256_parts(tenon_digest *out, const tenoni_part *parts, size_t count);

/* HMAC (RFC 2104) over all the parts, with SHA-256 or with another hash. The key may have any length. */
tenon_status tenoni_hmac(tenon_digest *out, const void *key, size_t key_n, const tenoni_part *parts, size_t count);
tenon_status tenoni_hmac_with(tenoni_hash hash, uint8_t *out, const void *key, size_t key_n, const tenoni_part *parts,
                              size_t count);

/*
 * The same as a stream. It holds what a forger needs. finish wipes it, even if it fails; wipe a stream that is never
 * finished.
 */
typedef struct {
    tenoni_hash_stream inner;
    uint8_t pad[TENONI_HASH_BLOCK_MAX];
} tenoni_hmac_stream;

tenon_status tenoni_hmac_begin(tenoni_hmac_stream *stream, tenoni_hash hash, const void *key, size_t key_n);
tenon_status tenoni_hmac_update(tenoni_hmac_stream *stream, const void *data, size_t n);
tenon_status tenoni_hmac_finish(tenoni_hmac_stream *stream, uint8_t *out);

/*
 * What the opaque words of tenon_sha256_stream and tenon_request hold: first a kind, which distinguishes the two from
 * each other and from memory that was never begun, and then the backend's state.
 */
enum { TENONI_SHA256_STATE_SIZE = TENON_SHA256_STREAM_SIZE - 8 };

#define TENONI_STREAM_SHA256 UINT64_C(0x74656e6f6e736861)  /* "tenonsha" */
#define TENONI_STREAM_REQUEST UINT64_C(0x74656e6f6e726571) /* "tenonreq" */

tenon_status tenoni_stream_begin(uint64_t *stream, uint64_t kind);
tenon_status tenoni_stream_update(uint64_t *stream, uint64_t kind, const void *data, size_t n);
tenon_status tenoni_stream_finish(uint64_t *stream, uint64_t kind, tenon_digest *out);

/* ---- What a backend does: one pair of files, hash_*.c ---- */

/* SHA-256. The state fits the room that tenon/digest.h gives it, without memory of its own; out takes 32 bytes. */
tenon_status tenoni_sha256_begin(void *state);
tenon_status tenoni_sha256_update(void *state, const uint8_t *data, size_t n);
tenon_status tenoni_sha256_finish(void *state, uint8_t *out);

/*
 * What the backend has to do for SHA-384 and SHA-512, n being the hash's size. The state fits TENONI_HASH_STATE_SIZE,
 * without memory of its own.
 */
tenon_status tenoni_sha512_begin(void *state, tenoni_hash hash);
tenon_status tenoni_sha512_update(void *state, const uint8_t *data, size_t n);
tenon_status tenoni_sha512_finish(void *state, uint8_t *out, size_t n);

#endif
