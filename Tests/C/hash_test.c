/* SPDX-License-Identifier: Apache-2.0 */
#include "crypto/hash.h"

#include <string.h>

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
    {TENONI_SHA384, NULL, 1,
     "bec021b4f368e3069134e012c2b4307083d3a9bdd206e24e5f0d86e13d6636655933ec2b413465966817a9c208a11717"},
    {TENONI_SHA384, NULL, 111,
     "f5f9fe110d809d34029de262a01b208356caec6e054c7f926b2591f6c9780579d4b59f5578c6f531a84f158a33660cef"},
    {TENONI_SHA384, NULL, 112,
     "33ba080ec0ccb378e4e95fed3b26c23aa1a280476e007519ee47f60cd9c5c8a65d627259a9aa2fd33ca06d3c14ee5548"},
    {TENONI_SHA384, NULL, 127,
     "d5fcfe2fcf6b3ef375ede37c8123d9b78065fecc1d55197e2f7721e6e9a93d0ba4d7fd15f9b96dea2744df24141ba2ef"},
    {TENONI_SHA384, NULL, 128,
     "ca2385773319124534111a36d0581fc3f00815e907034b90cff9c3a861e126a741d5dfcff65a417b6d7296863ac0ec17"},
    {TENONI_SHA384, NULL, 129,
     "ef49ae5b9ad51433d00323528d81ea8d2e4d2b507dbd9f1cb84f952b66249a788b1c89fcdb77a0db9f1feb901d47fc73"},
    {TENONI_SHA384, NULL, 239,
     "2556cf077a788c49bb6d600f4a3cee635c4443832d169f761537afee2980742b9f34afbc87f598dd0aedc4a826ed6a73"},
    {TENONI_SHA384, NULL, 240,
     "d64769ad58f5a338669b935f3431e5bef31667d0a2437bff78f1e5275075f434fff675f9833ea04ac4e5c2e2c2c99b8c"},
    {TENONI_SHA384, NULL, 256,
     "ffdaebff65ed05cf400f0221c4ccfb4b2104fb6a51f87e40be6c4309386bfdec2892e9179b34632331a59592737db5c5"},
    {TENONI_SHA384, NULL, 300,
     "69672aca50c4279e4cdf788380294d7655bc68c7949e273318d60817f3262cff54e8c78ceaae0853e0a7adf36f392d38"},
    {TENONI_SHA512, "abc", 3,
     "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2"
     "a9ac94fa54ca49f"},
    {TENONI_SHA512, NULL, 0,
     "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a"
     "538327af927da3e"},
    {TENONI_SHA512, NULL, 1,
     "b8244d028981d693af7b456af8efa4cad63d282e19ff14942c246e50d9351d22704a802a71c3580b6370de4ceb293c324a8423342557d4e5c"
     "38438f0e36910ee"},
    {TENONI_SHA512, NULL, 111,
     "a1a111449b198d9b1f538bad7f3fc1022b3a5b1a5e90a0bc860de8512746cbc31599e6c834de3a3235327af0b51ff57bf7acf1974a73014d9"
     "c3953812edc7c8d"},
    {TENONI_SHA512, NULL, 112,
     "c5fbd731d19d2ae1180f001be72c2c1aaba1d7b094b3748880e24593b8e117a750e11c1bd867cc2f96dace8c8b74abd2d5c4f236be444e77d"
     "30d1916174070b9"},
    {TENONI_SHA512, NULL, 127,
     "eab89674feaa34e27aebeeff3c0a4d70070bb872d5e9f186cf1dbbdee517b6e35724d629ff025a5b07185e911ada7e3c8acf830aa0e4f7177"
     "7bd2d44f504f7f0"},
    {TENONI_SHA512, NULL, 128,
     "1dffd5e3adb71d45d2245939665521ae001a317a03720a45732ba1900ca3b8351fc5c9b4ca513eba6f80bc7b1d1fdad4abd13491cb824d61b"
     "08d8c0e1561b3f7"},
    {TENONI_SHA512, NULL, 129,
     "1d9da57fbbdab09afb3506ab2d223d06109d65c1c8ad197f50138f714bc4c3f2fe5787922639c680acad1c651f955990425954ce2cba0c5cc"
     "83f2667d878eb0f"},
    {TENONI_SHA512, NULL, 239,
     "cb4c7fd522756d5781ad3a4f590a1d862906b960e7720136cb3fb36b563caa1ea5689134291fa79c80ccc2b4092b41df32ebdcb36dbe79db4"
     "83440228c1622a8"},
    {TENONI_SHA512, NULL, 240,
     "6c48466c9f6c07e4ab762c696b7eeb35cfe236fca73683e5fab873ac3489b4d2eb3d7afcce7e8165dbbf37aded3b5b0c889c0b7e0f1790a83"
     "30d8677429d91a5"},
    {TENONI_SHA512, NULL, 256,
     "1e7b80bc8edc552c8feeb2780e111477e5bc70465fac1a77b29b35980c3f0ce4a036a6c9462036824bd56801e62af7e9feba5c22ed8a5af87"
     "7bf7de117dcac6d"},
    {TENONI_SHA512, NULL, 300,
     "f1dca2eb677b303265b0b9baff0e061202818f35c1470a69bbaa9bb66025e948d90e565e69642506c6213aef3cf9e929357a59da263deb34d"
     "1236dbdcda279b3"},
};

enum { CASES = sizeof cases / sizeof *cases, LONGEST = 300, SIZE = TENONI_HASH_MAX };

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
        CHECK_STATUS(tenoni_hash_parts(cases[i].hash, out, &(tenoni_part){bytes, cases[i].n}, 1), TENON_OK);
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
    CHECK_NUMBER(tenoni_hash_size(TENONI_SHA512), 64);
    CHECK_NUMBER(tenoni_hash_block(TENONI_SHA512), 128);
}
