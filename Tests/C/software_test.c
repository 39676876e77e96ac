/* SPDX-License-Identifier: Apache-2.0 */

#ifdef TENON_OPENSSL
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/ecdsa.h>
#endif

#include "test.h"

enum { BOTH = TENON_KEY_SIGNS_DIGESTS | TENON_KEY_DETERMINISTIC };

static tenon_key *import(const char *scalar_hex, uint32_t flags)
{
    uint8_t scalar[32];
    tenon_key *key = NULL;
    test_hex(scalar, sizeof scalar, scalar_hex);
    CHECK_OK(tenon_software_key_import(&key, scalar, sizeof scalar, flags));
    CHECK_NUMBER(tenon_key_is_hardware(key), 0);
    return key;
}

static void check_public_key(const tenon_key *key, const char *hex)
{
    tenon_public_key found, expected;
    test_hex(&expected, sizeof expected, hex);
    CHECK_OK(tenon_key_public_key(key, &found));
    CHECK_BYTES(&found, &expected, sizeof found);
}

static void check_signature(const tenon_key *key, const char *message, const char *expected_hex)
{
    tenon_digest digest;
    tenon_signature signature, expected;
    tenon_public_key public_key;
    test_about("%s", message);
    test_hex(&expected, sizeof expected, expected_hex);
    CHECK_OK(tenon_sha256(&digest, (const uint8_t *)message, strlen(message)));
    CHECK_OK(tenon_key_sign_digest(key, &signature, &digest));
    CHECK_BYTES(&signature, &expected, sizeof signature);
    CHECK_OK(tenon_key_public_key(key, &public_key));
    CHECK_OK(tenon_p256_verify(&public_key, &digest, &signature));
}

/* RFC 6979, A.2.5. */
TEST(software_key_rfc_6979)
{
    OWNED_KEY key = import("c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721", BOTH);
    check_public_key(key, "60fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6"
                          "7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299");
    check_signature(key, "sample",
                    "efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716"
                    "f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8");
    check_signature(key, "test",
                    "f1abb023518351cd71d881567b1ea663ed3efcf6c5132b354f28d3b0b7d38367"
                    "019f4113742a2b14bd25926b49c649155f267e60d3814b4c0cc84250e46f0083");
}

/* 1, 2, n-2 and n-1 times G. */
TEST(software_key_edges_of_the_scalar)
{
    static const char g_x[] = "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296";
    static const char twice_x[] = "7cf27b188d034f7e8a52380304b51ac3c08969e277f21b35a60b48fc47669978";
    static const struct {
        const char *scalar, *x, *y;
    } keys[] = {
        {"0000000000000000000000000000000000000000000000000000000000000001", g_x,
         "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5"},
        {"0000000000000000000000000000000000000000000000000000000000000002", twice_x,
         "07775510db8ed040293d9ac69f7430dbba7dade63ce982299e04b79d227873d1"},
        {"ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc63254f", twice_x,
         "f888aaee24712fc0d6c26539608bcf244582521ac3167dd661fb4862dd878c2e"},
        {"ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632550", g_x,
         "b01cbd1c01e58065711814b583f061e9d431cca994cea1313449bf97c840ae0a"},
    };
    for (size_t i = 0; i < COUNT(keys); i++)
        for (uint32_t flags = TENON_KEY_SIGNS_DIGESTS; flags <= BOTH; flags += TENON_KEY_DETERMINISTIC) {
            char both[129];
            tenon_digest digest = {{1}};
            tenon_signature signature;
            tenon_public_key public_key;
            OWNED_KEY key = import(keys[i].scalar, flags);
            test_about("%s", keys[i].scalar);
            snprintf(both, sizeof both, "%s%s", keys[i].x, keys[i].y);
            check_public_key(key, both);
            CHECK_OK(tenon_key_public_key(key, &public_key));
            CHECK_OK(tenon_key_sign_digest(key, &signature, &digest));
            CHECK_OK(tenon_p256_verify(&public_key, &digest, &signature));
        }
}

TEST(software_key_generate)
{
    size_t rounds = test_rounds(20, 3);
    tenon_public_key last = {{0}};
    for (size_t i = 0; i < rounds; i++) {
        uint32_t flags = i % 2 == 0 ? TENON_KEY_SIGNS_DIGESTS : BOTH;
        tenon_key *key = NULL;
        tenon_public_key public_key;
        tenon_signature first, second;
        tenon_digest digest = {{(uint8_t)i}};
        CHECK_OK(tenon_software_key_generate(&key, flags));
        CHECK_OK(tenon_key_public_key(key, &public_key));
        CHECK_OK(tenon_p256_check(&public_key));
        CHECK(memcmp(&public_key, &last, sizeof last) != 0);
        CHECK_OK(tenon_key_sign_digest(key, &first, &digest));
        CHECK_OK(tenon_key_sign_digest(key, &second, &digest));
        CHECK((memcmp(first.bytes, second.bytes, 32) == 0) == (flags == BOTH));
        CHECK_OK(tenon_p256_verify(&public_key, &digest, &first));
        CHECK_OK(tenon_p256_verify(&public_key, &digest, &second));
        last = public_key;
        tenon_key_free(&key);
        CHECK(key == NULL);
    }
}

TEST(software_key_bad_scalars)
{
    static const char *const bad[] = {"0000000000000000000000000000000000000000000000000000000000000000",
                                      "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551",
                                      "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632552",
                                      "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"};
    uint8_t scalar[40] = {1};
    tenon_key *key;
    for (size_t i = 0; i < COUNT(bad); i++) {
        test_hex(scalar, 32, bad[i]);
        key = (tenon_key *)scalar;
        CHECK_STATUS(tenon_software_key_import(&key, scalar, 32, 0), TENON_ERROR_SCALAR_RANGE);
        CHECK(key == NULL);
    }
    memset(scalar, 1, sizeof scalar);
    static const size_t lengths[] = {0, 1, 31, 33, 40, SIZE_MAX};
    for (size_t i = 0; i < COUNT(lengths); i++) {
        key = (tenon_key *)scalar;
        CHECK_STATUS(tenon_software_key_import(&key, scalar, lengths[i], 0), TENON_ERROR_SCALAR_RANGE);
        CHECK(key == NULL);
    }
}

TEST(software_key_bad_input)
{
    uint8_t scalar[32] = {1};
    tenon_key *key = (tenon_key *)scalar;
    CHECK_STATUS(tenon_software_key_generate(NULL, 0), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_software_key_import(NULL, scalar, 32, 0), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_software_key_import(&key, NULL, 32, 0), TENON_ERROR_NULL);
    CHECK(key == NULL);
    /* tenon.h: a pointer may be NULL if its length is 0; then the length is the mistake. */
    CHECK_STATUS(tenon_software_key_import(&key, NULL, 0, 0), TENON_ERROR_SCALAR_RANGE);
    for (int bit = 0; bit < 32; bit++) {
        uint32_t flag = UINT32_C(1) << bit;
        if ((flag & BOTH) != 0)
            continue;
        key = (tenon_key *)scalar;
        test_about("flag %08x", flag);
        CHECK_STATUS(tenon_software_key_generate(&key, flag), TENON_ERROR_FLAGS);
        CHECK(key == NULL);
        key = (tenon_key *)scalar;
        CHECK_STATUS(tenon_software_key_import(&key, scalar, 32, flag), TENON_ERROR_FLAGS);
        CHECK(key == NULL);
    }
}

#ifdef TENON_OPENSSL

/* By -Wl,--wrap: one signature in 128 has a number that is shorter than 32 bytes; this has two. */
ECDSA_SIG *__real_ECDSA_do_sign(const unsigned char *digest, int n, EC_KEY *key);
ECDSA_SIG *__wrap_ECDSA_do_sign(const unsigned char *digest, int n, EC_KEY *key);

static _Thread_local bool signs_short;

ECDSA_SIG *__wrap_ECDSA_do_sign(const unsigned char *digest, int n, EC_KEY *key)
{
    ECDSA_SIG *made = __real_ECDSA_do_sign(digest, n, key);
    BIGNUM *r = BN_new(), *s = BN_new();
    if (signs_short && made != NULL && r != NULL && s != NULL && BN_set_word(r, 0x1234) == 1 &&
        BN_set_word(s, 0x56) == 1 && ECDSA_SIG_set0(made, r, s) == 1)
        return made;
    BN_free(r);
    BN_free(s);
    return made;
}

TEST(software_key_short_numbers)
{
    static const tenon_signature expected = {.bytes = {[30] = 0x12, 0x34, [63] = 0x56}};
    static const tenon_digest digest = {{1}};
    tenon_key *key =
        import("c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721", TENON_KEY_SIGNS_DIGESTS);
    tenon_signature found;
    memset(&found, 0xff, sizeof found);
    signs_short = true;
    CHECK_OK(tenon_key_sign_digest(key, &found, &digest));
    signs_short = false;
    CHECK_BYTES(&found, &expected, sizeof found);
    tenon_key_free(&key);
}

#endif
