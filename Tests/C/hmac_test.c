/* SPDX-License-Identifier: Apache-2.0 */
#include "internal/hmac.h"

#include <stdlib.h>
#include <string.h>

#include "test.h"

/* RFC 4231, 4.2-4.8; of case 5 the RFC gives the first 16 bytes. Then keys around the length of a block (00 01 02 ...,
 * over "abc"), made with Python's hmac module. */
static const struct {
    const char *key, *data, *mac;
} cases[] = {
    {"0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b", "4869205468657265",
     "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
    {"4a656665", "7768617420646f2079612077616e7420666f72206e6f7468696e673f",
     "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
    {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
     "dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd",
     "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"},
    {"0102030405060708090a0b0c0d0e0f10111213141516171819",
     "cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd",
     "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"},
    {"0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c", "546573742057697468205472756e636174696f6e",
     "a3b6167473100ee06e0c796c2955552b"},
    {"@aa",
     "54657374205573696e67204c6172676572205468616e20426c6f636b2d53697a65204b6579202d2048617368204b6579204669727374",
     "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"},
    {"@aa",
     "5468697320697320612074657374207573696e672061206c6172676572207468616e20626c6f636b2d73697a65206b657920616e642061206"
     "c"
     "6172676572207468616e20626c6f636b2d73697a6520646174612e20546865206b6579206e6565647320746f2062652068617368656420"
     "6265666f7265206265696e6720757365642062792074686520484d414320616c676f726974686d2e",
     "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"},
    {"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
     "202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e",
     "616263", "d2bee6f325e7ec9e0e412319f6775134f43f4e16e168b7386de22a29c70a7b9d"},
    {"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
     "202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f",
     "616263", "6ab541b4869dca71c4ca11d8bb1b02533b789a557583161429292c7404bc21f6"},
    {"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
     "202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f40",
     "616263", "dfbffee4671bad00ed5d1e1999d55ed3b0cc774ac357f9ebf649c1612414fcec"},
    /* NIST SP 800-224 has no vector without key and message; Python: hmac.new(b"", b"", "sha256") */
    {"", "", "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"},
};

enum { CASES = sizeof cases / sizeof *cases, LONG_KEY = 131 };

/* "@aa" is the byte aa, 131 times. */
static uint8_t *key_of(size_t i, size_t *n)
{
    if (cases[i].key[0] != '@')
        return test_hex_all(cases[i].key, n);
    uint8_t *key = malloc(LONG_KEY);
    if (key != NULL)
        memset(key, 0xaa, LONG_KEY);
    *n = LONG_KEY;
    return key;
}

TEST(hmac_knows_its_vectors)
{
    for (size_t i = 0; i < CASES; i++) {
        size_t key_n, n, mac_n;
        uint8_t *key = key_of(i, &key_n), *data = test_hex_all(cases[i].data, &n);
        uint8_t *mac = test_hex_all(cases[i].mac, &mac_n);
        tenon_digest digest;
        test_about("case %zu", i + 1);
        CHECK_STATUS(tenoni_hmac(&digest, key, key_n, &(tenoni_part){data, n}, 1), TENON_OK);
        CHECK_BYTES(digest.bytes, mac, mac_n);
        free(mac);
        free(data);
        free(key);
    }
}

TEST(hmac_does_not_depend_on_how_it_is_cut)
{
    static const char text[] = "what do ya want for nothing?";
    tenon_digest whole, cut;
    enum { N = sizeof text - 1 };
    CHECK_STATUS(tenoni_hmac(&whole, "Jefe", 4, &(tenoni_part){text, N}, 1), TENON_OK);
    for (size_t i = 0; i <= N; i++) {
        const tenoni_part parts[] = {{text, i}, {NULL, 0}, {text + i, N - i}};
        tenoni_hmac_stream stream;
        test_about("cut at %zu", i);
        CHECK_STATUS(tenoni_hmac(&cut, "Jefe", 4, parts, 3), TENON_OK);
        CHECK_BYTES(cut.bytes, whole.bytes, sizeof whole.bytes);
        CHECK_STATUS(tenoni_hmac_begin(&stream, "Jefe", 4), TENON_OK);
        CHECK_STATUS(tenoni_hmac_update(&stream, text, i), TENON_OK);
        CHECK_STATUS(tenoni_hmac_update(&stream, text + i, N - i), TENON_OK);
        CHECK_STATUS(tenoni_hmac_finish(&stream, &cut), TENON_OK);
        CHECK_BYTES(cut.bytes, whole.bytes, sizeof whole.bytes);
        CHECK_STATUS(tenoni_sha256_parts(&cut, parts, 3), TENON_OK);
        tenon_digest digest;
        CHECK_STATUS(tenon_sha256(&digest, (const uint8_t *)text, N), TENON_OK);
        CHECK_BYTES(cut.bytes, digest.bytes, sizeof digest.bytes);
    }
}

TEST(hmac_wipes_its_stream)
{
    tenoni_hmac_stream stream;
    tenon_digest digest;
    CHECK_STATUS(tenoni_hmac_begin(&stream, "Jefe", 4), TENON_OK);
    CHECK_STATUS(tenoni_hmac_finish(&stream, &digest), TENON_OK);
    CHECK_ZERO(&stream, sizeof stream);
}
