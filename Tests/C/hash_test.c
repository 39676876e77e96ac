/* SPDX-License-Identifier: Apache-2.0 */
#include "crypto/hash.h"

#include "test.h"

/* FIPS 180-4's example "abc", and Python's hashlib over the bytes 00 01 02 ...: lengths around a block of 128 bytes. */
static const struct {
    tenoni_hash hash;
    const char *text;
    size_t n;
    const char *digest;
} cases[] = {
    {TENONI_SHA384, "abc", 3,
     "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7"},
    {TENONI_SHA384, NULL, 0,
     "38b060a751ac96384cd9327eb1b1e36a21fdb71114be07434c0cc7bf63f6e1da274edebfe76f65fbd51ad2f14898b95b"},
    {TENONI_SHA384, NULL, 112,
     "33ba080ec0ccb378e4e95fed3b26c23aa1a280476e007519ee47f60cd9c5c8a65d627259a9aa2fd33ca06d3c14ee5548"},
    {TENONI_SHA384, NULL, 300,
     "69672aca50c4279e4cdf788380294d7655bc68c7949e273318d60817f3262cff54e8c78ceaae0853e0a7adf36f392d38"},
    {TENONI_SHA512, "abc", 3,
     "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
     "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"},
    {TENONI_SHA512, NULL, 0,
     "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce"
     "47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e"},
    {TENONI_SHA512, NULL, 111,
     "a1a111449b198d9b1f538bad7f3fc1022b3a5b1a5e90a0bc860de8512746cbc3"
     "1599e6c834de3a3235327af0b51ff57bf7acf1974a73014d9c3953812edc7c8d"},
    {TENONI_SHA512, NULL, 112,
     "c5fbd731d19d2ae1180f001be72c2c1aaba1d7b094b3748880e24593b8e117a7"
     "50e11c1bd867cc2f96dace8c8b74abd2d5c4f236be444e77d30d1916174070b9"},
    {TENONI_SHA512, NULL, 128,
     "1dffd5e3adb71d45d2245939665521ae001a317a03720a45732ba1900ca3b835"
     "1fc5c9b4ca513eba6f80bc7b1d1fdad4abd13491cb824d61b08d8c0e1561b3f7"},
    {TENONI_SHA512, NULL, 240,
     "6c48466c9f6c07e4ab762c696b7eeb35cfe236fca73683e5fab873ac3489b4d2"
     "eb3d7afcce7e8165dbbf37aded3b5b0c889c0b7e0f1790a8330d8677429d91a5"},
    {TENONI_SHA512, NULL, 300,
     "f1dca2eb677b303265b0b9baff0e061202818f35c1470a69bbaa9bb66025e948"
     "d90e565e69642506c6213aef3cf9e929357a59da263deb34d1236dbdcda279b3"},
};

enum { CASES = COUNT(cases), LONGEST = 300, SIZE = TENONI_HASH_MAX };

static const uint8_t *message(size_t i, uint8_t *room)
{
    for (size_t at = 0; at < LONGEST; at++)
        room[at] = (uint8_t)at;
    return cases[i].text != NULL ? (const uint8_t *)cases[i].text : room;
}

TEST(hash_knows_its_vectors)
{
    uint8_t room[LONGEST], expected[SIZE], out[SIZE + 1];
    for (size_t i = 0; i < CASES; i++) {
        const uint8_t *bytes = message(i, room);
        test_about("%zu bytes", cases[i].n);
        size_t size = tenoni_hash_size(cases[i].hash);
        test_hex(expected, size, cases[i].digest);
        memset(out, 0xa5, sizeof out);
        CHECK_OK(tenoni_hash_parts(cases[i].hash, out, &(tenoni_part){bytes, cases[i].n}, 1));
        CHECK_BYTES(out, expected, size);
        CHECK_NUMBER(out[size], 0xa5);
    }
}

TEST(hash_does_not_depend_on_how_it_is_cut)
{
    uint8_t room[LONGEST], whole[SIZE], cut[SIZE];
    message(0, room);
    for (int hash = TENONI_SHA256; hash <= TENONI_SHA512; hash++) {
        size_t size = tenoni_hash_size((tenoni_hash)hash);
        CHECK_OK(tenoni_hash_parts((tenoni_hash)hash, whole, &(tenoni_part){room, LONGEST}, 1));
        for (size_t i = 0; i <= LONGEST; i += 7) {
            const tenoni_part parts[] = {{room, i}, {NULL, 0}, {room + i, LONGEST - i}};
            test_about("hash %d, cut at %zu", hash, i);
            CHECK_OK(tenoni_hash_parts((tenoni_hash)hash, cut, parts, 3));
            CHECK_BYTES(cut, whole, size);
        }
    }
}

TEST(hash_sha256_is_the_public_one)
{
    uint8_t out[SIZE];
    tenon_digest digest;
    memset(out, 0xa5, sizeof out);
    CHECK_OK(tenon_sha256(&digest, (const uint8_t *)"abc", 3));
    CHECK_OK(tenoni_hash_parts(TENONI_SHA256, out, &(tenoni_part){"abc", 3}, 1));
    CHECK_BYTES(out, digest.bytes, sizeof digest.bytes);
    CHECK_NUMBER(out[32], 0xa5);
    CHECK_NUMBER(tenoni_hash_size(TENONI_SHA256), 32);
    CHECK_NUMBER(tenoni_hash_size(TENONI_SHA384), 48);
    CHECK_NUMBER(tenoni_hash_block(TENONI_SHA256), 64);
    CHECK_NUMBER(tenoni_hash_block(TENONI_SHA384), 128);
    CHECK_NUMBER(tenoni_hash_size(TENONI_SHA512), 64);
    CHECK_NUMBER(tenoni_hash_block(TENONI_SHA512), 128);
}
