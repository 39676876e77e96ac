/* SPDX-License-Identifier: Apache-2.0 */
#include "crypto/blake3.h"

#include <string.h>

/* The BLAKE3 paper (2021-11-05), 2: constants in 2.2, flags in 2.1, table 3. */

enum { WORDS = TENONI_BLAKE3_WORDS, BLOCK = TENONI_BLAKE3_BLOCK, BLOCK_WORDS = 16, CHUNK_BLOCKS = 16, ROUNDS = 7 };
enum { CHUNK_START = 1, CHUNK_END = 2, PARENT = 4, ROOT = 8 };

static const uint32_t initial[WORDS] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

/* Which word of the block each step of a round takes: the permutation of 2.2, applied once more for each round. */
static const uint8_t schedule[ROUNDS][BLOCK_WORDS] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8},
    {3, 4, 10, 12, 13, 2, 7, 14, 6, 5, 9, 0, 11, 15, 8, 1}, {10, 7, 12, 9, 14, 3, 13, 15, 4, 0, 11, 2, 5, 8, 1, 6},
    {12, 13, 9, 11, 15, 10, 14, 8, 7, 2, 5, 3, 0, 1, 6, 4}, {9, 14, 11, 5, 8, 12, 15, 1, 13, 3, 0, 10, 2, 6, 4, 7},
    {11, 15, 5, 0, 1, 9, 8, 6, 14, 10, 2, 12, 3, 4, 7, 13}};

static uint32_t rotate(uint32_t word, unsigned bits)
{
    return word >> bits | word << (32 - bits);
}

static void mix(uint32_t *state, size_t a, size_t b, size_t c, size_t d, uint32_t x, uint32_t y)
{
    state[a] += state[b] + x;
    state[d] = rotate(state[d] ^ state[a], 16);
    state[c] += state[d];
    state[b] = rotate(state[b] ^ state[c], 12);
    state[a] += state[b] + y;
    state[d] = rotate(state[d] ^ state[a], 8);
    state[c] += state[d];
    state[b] = rotate(state[b] ^ state[c], 7);
}

/* Columns, then diagonals. */
static void mix_all(uint32_t *state, const uint32_t *words, const uint8_t *order)
{
    for (size_t i = 0; i < 4; i++)
        mix(state, i, 4 + i, 8 + i, 12 + i, words[order[2 * i]], words[order[2 * i + 1]]);
    for (size_t i = 0; i < 4; i++)
        mix(state, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4, words[order[8 + 2 * i]],
            words[order[9 + 2 * i]]);
}

/* What is compressed: a block of a chunk, or two subtrees. */
typedef struct {
    uint32_t chain[WORDS];
    uint32_t words[BLOCK_WORDS];
    uint64_t counter;
    uint32_t n;
    uint32_t flags;
} input;

static void compress(uint32_t *out, const input *of, uint32_t more_flags)
{
    uint32_t state[16];
    memcpy(state, of->chain, sizeof of->chain);
    memcpy(state + WORDS, initial, sizeof initial / 2);
    state[12] = (uint32_t)of->counter;
    state[13] = (uint32_t)(of->counter >> 32);
    state[14] = of->n;
    state[15] = of->flags | more_flags;
    for (size_t i = 0; i < ROUNDS; i++)
        mix_all(state, of->words, schedule[i]);
    for (size_t i = 0; i < WORDS; i++)
        out[i] = state[i] ^ state[i + WORDS];
}

/* The block that the stream holds, with zeros behind its bytes. */
static void block_of(input *out, const tenoni_blake3_stream *stream, uint32_t end)
{
    uint8_t padded[BLOCK] = {0};
    memcpy(padded, stream->block, stream->used);
    memcpy(out->chain, stream->chain, sizeof out->chain);
    for (size_t i = 0; i < BLOCK_WORDS; i++)
        out->words[i] = (uint32_t)padded[4 * i] | (uint32_t)padded[4 * i + 1] << 8 | (uint32_t)padded[4 * i + 2] << 16 |
                        (uint32_t)padded[4 * i + 3] << 24;
    out->counter = stream->chunks;
    out->n = stream->used;
    out->flags = end | (stream->blocks == 0 ? (uint32_t)CHUNK_START : 0);
}

static void parent_of(input *out, const uint32_t *left, const uint32_t *right)
{
    memcpy(out->chain, initial, sizeof initial);
    memcpy(out->words, left, sizeof initial);
    memcpy(out->words + WORDS, right, sizeof initial);
    out->counter = 0;
    out->n = BLOCK;
    out->flags = PARENT;
}

static void begin_chunk(tenoni_blake3_stream *stream)
{
    memcpy(stream->chain, initial, sizeof initial);
    stream->blocks = 0;
    stream->used = 0;
}

/* A subtree with as many chunks as its left neighbour is joined with it: as often as the count has zeros at its end. */
static void end_chunk(tenoni_blake3_stream *stream)
{
    uint32_t subtree[WORDS];
    input next;
    block_of(&next, stream, CHUNK_END);
    compress(subtree, &next, 0);
    stream->chunks++;
    for (uint64_t count = stream->chunks; (count & 1) == 0; count >>= 1) {
        parent_of(&next, stream->subtrees[--stream->depth], subtree);
        compress(subtree, &next, 0);
    }
    memcpy(stream->subtrees[stream->depth++], subtree, sizeof subtree);
    begin_chunk(stream);
}

/* The block is full, and more comes. */
static void end_block(tenoni_blake3_stream *stream)
{
    input next;
    if (stream->blocks == CHUNK_BLOCKS - 1) {
        end_chunk(stream);
        return;
    }
    block_of(&next, stream, 0);
    compress(stream->chain, &next, 0);
    stream->blocks++;
    stream->used = 0;
}

void tenoni_blake3_begin(tenoni_blake3_stream *stream)
{
    stream->depth = 0;
    stream->chunks = 0;
    begin_chunk(stream);
}

void tenoni_blake3_update(tenoni_blake3_stream *stream, const void *data, size_t n)
{
    const uint8_t *bytes = data;
    while (n != 0) {
        if (stream->used == BLOCK)
            end_block(stream);
        uint32_t room = BLOCK - stream->used;
        uint32_t taken = n < room ? (uint32_t)n : room;
        memcpy(stream->block + stream->used, bytes, taken);
        stream->used += taken;
        bytes += taken;
        n -= taken;
    }
}

void tenoni_blake3_finish(const tenoni_blake3_stream *stream, tenon_digest *out)
{
    input last;
    uint32_t words[WORDS];
    block_of(&last, stream, CHUNK_END);
    for (size_t depth = stream->depth; depth != 0; depth--) {
        compress(words, &last, 0);
        parent_of(&last, stream->subtrees[depth - 1], words);
    }
    compress(words, &last, ROOT);
    for (size_t i = 0; i < sizeof out->bytes; i++)
        out->bytes[i] = (uint8_t)(words[i / 4] >> 8 * (i % 4));
}

void tenoni_blake3(tenon_digest *out, const void *data, size_t n)
{
    tenoni_blake3_stream stream;
    tenoni_blake3_begin(&stream);
    tenoni_blake3_update(&stream, data, n);
    tenoni_blake3_finish(&stream, out);
}
