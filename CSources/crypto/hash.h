/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_HASH_H
#define TENONI_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "tenon/status.h"

/* FIPS 180-4: of nameAlgs and signatures, and what HMAC and the key derivations stand on. */
typedef enum { TENONI_SHA256, TENONI_SHA384, TENONI_SHA512 } tenoni_hash;

enum { TENONI_HASH_MAX = 64, TENONI_HASH_BLOCK_MAX = 128, TENONI_HASH_STATE_SIZE = 224 };

size_t tenoni_hash_size(tenoni_hash hash);
size_t tenoni_hash_block(tenoni_hash hash);

/* Bytes of a message whose parts stand one behind the other. bytes may be NULL when n is 0. */
typedef struct {
    const void *bytes;
    size_t n;
} tenoni_part;

/* Who hashes a secret wipes the state. out takes tenoni_hash_size bytes. */
typedef struct {
    uint64_t state[TENONI_HASH_STATE_SIZE / sizeof(uint64_t)];
    tenoni_hash hash;
} tenoni_hash_stream;

tenon_status tenoni_hash_begin(tenoni_hash_stream *stream, tenoni_hash hash);
tenon_status tenoni_hash_update(tenoni_hash_stream *stream, const void *data, size_t n);
tenon_status tenoni_hash_finish(tenoni_hash_stream *stream, uint8_t *out);

/* Over all the parts; nothing of them stays in memory. */
tenon_status tenoni_hash_parts(tenoni_hash hash, uint8_t *out, const tenoni_part *parts, size_t count);

/*
 * What the backend has to do for SHA-384 and SHA-512, n being the hash's size. The state fits TENONI_HASH_STATE_SIZE,
 * without memory of its own.
 */
tenon_status tenoni_sha512_begin(void *state, tenoni_hash hash);
tenon_status tenoni_sha512_update(void *state, const uint8_t *data, size_t n);
tenon_status tenoni_sha512_finish(void *state, uint8_t *out, size_t n);

#endif
