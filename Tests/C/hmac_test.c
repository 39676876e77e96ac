/* SPDX-License-Identifier: Apache-2.0 */
#include "crypto/hash.h"

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

enum { CASES = COUNT(cases), LONG_KEY = 131 };

/* The same with SHA-384, of RFC 4231 (case 5: the RFC gives its beginning) and of Python. */
static const char *const macs_384[CASES] = {
    "afd03944d84895626b0825f4ab46907f15f9dadbe4101ec682aa034c7cebc59cfaea9ea9076ede7f4af152e8b2fa9cb6",
    "af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47e42ec3736322445e8e2240ca5e69e2c78b3239ecfab21649",
    "88062608d3e6ad8a0aa2ace014c8a86f0aa635d947ac9febe83ef4e55966144b2a5ab39dc13814b94e3ab6e101a34f27",
    "3e8a69b7783c25851933ab6290af6ca77a9981480850009cc5577c6e1f573b4e6801dd23c4a7d679ccf8a386c674cffb",
    "3abf34c3503b2a23a46efc619baef897f4c8e42c934ce55ccbae9740fcbc1af4ca62269e2a37cd88ba926341efe4aeea",
    "4ece084485813e9088d2c63a041bc5b44f9ef1012a2b588f3cd11f05033ac4c60c2ef6ab4030fe8296248df163f44952",
    "6617178e941f020d351e2f254e8fd32c602420feb0b8fb9adccebb82461e99c5a678cc31e799176d3860e6110c46523e",
    "379c20ee3836124323797a822e545d332ba8452d2d8d35d377ff9da4a7921ab010e139815e27547400d89be118a2f2f1",
    "58d42326a65806d4e723dc82f2f9f3eba728ad5f2b5127f73315cfc089d62fa1d161ec9bcebb7203c09cf591043f5a16",
    "036ad04b0e61bd1d44dd1dc85f2bbf670d06bd455b1ec7f3bd70c264314110eeeb14ee9bf9f7523573a5056855843679",
    "6c1f2ee938fad2e24bd91298474382ca218c75db3d83e114b3d4367776d14d3551289e75e8209cd4b792302840234adc"};

/* Keys 00 01 02 ... around its block of 128 bytes, over "abc": Python. */
static const struct {
    size_t key_n;
    const char *mac;
} around_384[] = {
    {127, "7cef8f6a955cbcb3d4d8987ec277ac84f6414e09a58794d7c955d376a6b4a57efd421359644f202168cbd46b8368641d"},
    {128, "627b513f45ba31b9d7e018298deef523ba93e0268c77c633b5ccc049ce41ec940c33e508f0742db23b94d07ec7ce86f0"},
    {129, "92f237cab532514fbd486fa04dfb6fe5288c16800bb95ac1252216ffbe945a92da2af30e5ecdda5eafbd9ab2cd4620eb"},
};

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
        OWNED uint8_t *key = key_of(i, &key_n), *data = test_hex_all(cases[i].data, &n);
        OWNED uint8_t *mac = test_hex_all(cases[i].mac, &mac_n);
        tenon_digest digest;
        test_about("case %zu", i + 1);
        CHECK_OK(tenoni_hmac(&digest, key, key_n, &(tenoni_part){data, n}, 1));
        CHECK_BYTES(digest.bytes, mac, mac_n);
        memset(&digest, 0xa5, sizeof digest);
        CHECK_OK(tenon_hmac_sha256(&digest, key, key_n, data, n));
        CHECK_BYTES(digest.bytes, mac, mac_n);
    }
}

TEST(hmac_public_function_refuses_what_is_missing)
{
    tenon_digest digest;
    const uint8_t byte = 1;
    CHECK_STATUS(tenon_hmac_sha256(NULL, &byte, 1, &byte, 1), TENON_ERROR_NULL);
    CHECK_CLEARS(tenon_hmac_sha256(&digest, NULL, 1, &byte, 1), TENON_ERROR_NULL, &digest);
    CHECK_CLEARS(tenon_hmac_sha256(&digest, &byte, 1, NULL, 1), TENON_ERROR_NULL, &digest);
}

static void check_384(const void *key, size_t key_n, const void *data, size_t n, const char *hex)
{
    uint8_t mac[49], expected[48];
    memset(mac, 0xa5, sizeof mac);
    test_hex(expected, sizeof expected, hex);
    CHECK_OK(tenoni_hmac_with(TENONI_SHA384, mac, key, key_n, &(tenoni_part){data, n}, 1));
    CHECK_BYTES(mac, expected, sizeof expected);
    CHECK_NUMBER(mac[48], 0xa5);
}

TEST(hmac_with_sha384_knows_its_vectors)
{
    uint8_t counted[130];
    for (size_t i = 0; i < sizeof counted; i++)
        counted[i] = (uint8_t)i;
    for (size_t i = 0; i < CASES; i++) {
        size_t key_n, n;
        OWNED uint8_t *key = key_of(i, &key_n), *data = test_hex_all(cases[i].data, &n);
        test_about("case %zu", i + 1);
        check_384(key, key_n, data, n, macs_384[i]);
    }
    for (size_t i = 0; i < COUNT(around_384); i++) {
        test_about("a key of %zu bytes", around_384[i].key_n);
        check_384(counted, around_384[i].key_n, "abc", 3, around_384[i].mac);
    }
}

TEST(hmac_does_not_depend_on_how_it_is_cut)
{
    static const char text[] = "what do ya want for nothing?";
    tenon_digest whole, cut;
    enum { N = sizeof text - 1 };
    CHECK_OK(tenoni_hmac(&whole, "Jefe", 4, &(tenoni_part){text, N}, 1));
    for (size_t i = 0; i <= N; i++) {
        const tenoni_part parts[] = {{text, i}, {NULL, 0}, {text + i, N - i}};
        tenoni_hmac_stream stream;
        test_about("cut at %zu", i);
        CHECK_OK(tenoni_hmac(&cut, "Jefe", 4, parts, 3));
        CHECK_BYTES(cut.bytes, whole.bytes, sizeof whole.bytes);
        CHECK_OK(tenoni_hmac_begin(&stream, TENONI_SHA256, "Jefe", 4));
        CHECK_OK(tenoni_hmac_update(&stream, text, i));
        CHECK_OK(tenoni_hmac_update(&stream, text + i, N - i));
        CHECK_OK(tenoni_hmac_finish(&stream, cut.bytes));
        CHECK_BYTES(cut.bytes, whole.bytes, sizeof whole.bytes);
        CHECK_OK(tenoni_sha256_parts(&cut, parts, 3));
        tenon_digest digest;
        CHECK_OK(tenon_sha256(&digest, (const uint8_t *)text, N));
        CHECK_BYTES(cut.bytes, digest.bytes, sizeof digest.bytes);
    }
}

TEST(hmac_wipes_its_stream)
{
    tenoni_hmac_stream stream;
    uint8_t mac[TENONI_HASH_MAX];
    for (int hash = TENONI_SHA256; hash <= TENONI_SHA512; hash++) {
        CHECK_OK(tenoni_hmac_begin(&stream, (tenoni_hash)hash, "Jefe", 4));
        CHECK_OK(tenoni_hmac_finish(&stream, mac));
        CHECK_ZERO(&stream, sizeof stream);
    }
}
