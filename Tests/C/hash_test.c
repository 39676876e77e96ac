/* SPDX-License-Identifier: Apache-2.0 */
#include "internal/hash.h"

#include <string.h>

#include "test.h"

/* FIPS 180-4's example "abc", and Python's hashlib over the bytes 00 01 02 ...: lengths around a block of 128 bytes. */
static const struct {
    const char *text;
    size_t n;
    const char *digest;
} cases[] = {
    {"abc", 3, "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7"},
    {NULL, 0, "38b060a751ac96384cd9327eb1b1e36a21fdb71114be07434c0cc7bf63f6e1da274edebfe76f65fbd51ad2f14898b95b"},
    {NULL, 1, "bec021b4f368e3069134e012c2b4307083d3a9bdd206e24e5f0d86e13d6636655933ec2b413465966817a9c208a11717"},
    {NULL, 111, "f5f9fe110d809d34029de262a01b208356caec6e054c7f926b2591f6c9780579d4b59f5578c6f531a84f158a33660cef"},
    {NULL, 112, "33ba080ec0ccb378e4e95fed3b26c23aa1a280476e007519ee47f60cd9c5c8a65d627259a9aa2fd33ca06d3c14ee5548"},
    {NULL, 127, "d5fcfe2fcf6b3ef375ede37c8123d9b78065fecc1d55197e2f7721e6e9a93d0ba4d7fd15f9b96dea2744df24141ba2ef"},
    {NULL, 128, "ca2385773319124534111a36d0581fc3f00815e907034b90cff9c3a861e126a741d5dfcff65a417b6d7296863ac0ec17"},
    {NULL, 129, "ef49ae5b9ad51433d00323528d81ea8d2e4d2b507dbd9f1cb84f952b66249a788b1c89fcdb77a0db9f1feb901d47fc73"},
    {NULL, 239, "2556cf077a788c49bb6d600f4a3cee635c4443832d169f761537afee2980742b9f34afbc87f598dd0aedc4a826ed6a73"},
    {NULL, 240, "d64769ad58f5a338669b935f3431e5bef31667d0a2437bff78f1e5275075f434fff675f9833ea04ac4e5c2e2c2c99b8c"},
    {NULL, 256, "ffdaebff65ed05cf400f0221c4ccfb4b2104fb6a51f87e40be6c4309386bfdec2892e9179b34632331a59592737db5c5"},
    {NULL, 300, "69672aca50c4279e4cdf788380294d7655bc68c7949e273318d60817f3262cff54e8c78ceaae0853e0a7adf36f392d38"},
};

enum { CASES = sizeof cases / sizeof *cases, LONGEST = 300, SIZE = 48 };

static const uint8_t *message(size_t i, uint8_t *room)
{
    for (size_t at = 0; at < LONGEST; at++)
        room[at] = (uint8_t)at;
    return cases[i].text != NULL ? (const uint8_t *)cases[i].text : room;
}

TEST(hash_sha384_knows_its_vectors)
{
    uint8_t room[LONGEST], expected[SIZE], out[SIZE + 1];
    for (size_t i = 0; i < CASES; i++) {
        const uint8_t *bytes = message(i, room);
        test_about("%zu bytes", cases[i].n);
        test_hex(expected, sizeof expected, cases[i].digest);
        memset(out, 0xa5, sizeof out);
        CHECK_STATUS(tenoni_hash_parts(TENONI_SHA384, out, &(tenoni_part){bytes, cases[i].n}, 1), TENON_OK);
        CHECK_BYTES(out, expected, sizeof expected);
        CHECK_NUMBER(out[SIZE], 0xa5);
    }
}

TEST(hash_does_not_depend_on_how_it_is_cut)
{
    uint8_t room[LONGEST], whole[SIZE], cut[SIZE];
    message(0, room);
    for (int hash = TENONI_SHA256; hash <= TENONI_SHA384; hash++) {
        size_t size = tenoni_hash_size((tenoni_hash)hash);
        CHECK_STATUS(tenoni_hash_parts((tenoni_hash)hash, whole, &(tenoni_part){room, LONGEST}, 1), TENON_OK);
        for (size_t i = 0; i <= LONGEST; i += 7) {
            const tenoni_part parts[] = {{room, i}, {NULL, 0}, {room + i, LONGEST - i}};
            test_about("hash %d, cut at %zu", hash, i);
            CHECK_STATUS(tenoni_hash_parts((tenoni_hash)hash, cut, parts, 3), TENON_OK);
            CHECK_BYTES(cut, whole, size);
        }
    }
}

TEST(hash_sha256_is_the_public_one)
{
    uint8_t out[SIZE];
    tenon_digest digest;
    memset(out, 0xa5, sizeof out);
    CHECK_STATUS(tenon_sha256(&digest, (const uint8_t *)"abc", 3), TENON_OK);
    CHECK_STATUS(tenoni_hash_parts(TENONI_SHA256, out, &(tenoni_part){"abc", 3}, 1), TENON_OK);
    CHECK_BYTES(out, digest.bytes, sizeof digest.bytes);
    CHECK_NUMBER(out[32], 0xa5);
    CHECK_NUMBER(tenoni_hash_size(TENONI_SHA256), 32);
    CHECK_NUMBER(tenoni_hash_size(TENONI_SHA384), 48);
    CHECK_NUMBER(tenoni_hash_block(TENONI_SHA256), 64);
    CHECK_NUMBER(tenoni_hash_block(TENONI_SHA384), 128);
}
