/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_BLAKE3_H
#define TENONI_BLAKE3_H

#include <stddef.h>
#include <stdint.h>

#include "tenon/types.h"

/*
 * BLAKE3, the hash mode with 32 bytes of output. KERI requires it, and neither mbedTLS nor OpenSSL has it. It hashes
 * public data only, so nothing is wiped.
 */
enum {
    TENONI_BLAKE3_BLOCK = 64,
    TENONI_BLAKE3_WORDS = 8,
    TENONI_BLAKE3_DEPTH = 54 /* of a tree over 2^64 bytes, in chunks of 1,024 */
};

/* A message in pieces. Its memory does not depend on the length of the message. */
typedef struct {
    uint32_t chain[TENONI_BLAKE3_WORDS];                         /* of the blocks of this chunk */
    uint32_t subtrees[TENONI_BLAKE3_DEPTH][TENONI_BLAKE3_WORDS]; /* whole ones that wait for their right neighbour */
    size_t depth;                                                /* how many wait */
    uint64_t chunks;                                             /* that are complete */
    uint32_t blocks;                                             /* of this chunk that are compressed */
    uint32_t used;                                               /* bytes of the block */
    uint8_t block[TENONI_BLAKE3_BLOCK];
} tenoni_blake3_stream;

void tenoni_blake3_begin(tenoni_blake3_stream *stream);
void tenoni_blake3_update(tenoni_blake3_stream *stream, const void *data, size_t n);
void tenoni_blake3_finish(const tenoni_blake3_stream *stream, tenon_digest *out);

/* All at once. */
void tenoni_blake3(tenon_digest *out, const void *data, size_t n);

#endif
