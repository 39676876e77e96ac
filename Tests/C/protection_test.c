/* SPDX-License-Identifier: Apache-2.0 */
#include "crypto/p256.h"
#include "crypto/protection.h"
#include "test.h"

/*
 * Made with Python's hashlib and hmac, i from 1, numbers big-endian; R(a, b) are the bytes a ... b-1:
 *   KDFa  hmac.new(key, i32 + label + b"\0" + u + v + (8*n)32, "sha256") ...      cut to n
 *   KDFe  hashlib.sha256(i32 + z + label + b"\0" + u + v) ...                     cut to n
 * and the same with sha384.
 */
enum { MOST = 100 };

/* key, u and v are bytes from ... to. */
static const struct {
    bool keyed;
    tenoni_hash hash;
    const char *label;
    size_t key, key_end, u, u_end, v, v_end, n;
    const char *out;
} cases[] = {
    {true, TENONI_SHA256, "ATH", 0, 32, 32, 64, 64, 96, 32,
     "0e910bfdca487340700b56f80f725785fc10ae9b0fc45c7bd79d2dc606187153"},
    {true, TENONI_SHA256, "CFB", 0, 64, 64, 96, 96, 128, 32,
     "2681d9200ced61c2f6b15ccf754df0aa0d9ea389104e7c50551b643a7858adb2"},
    {true, TENONI_SHA256, "STORAGE", 0, 16, 0, 0, 0, 34, 70,
     "8dee27b792fabe5cb71400a56ec2a41aaa29bedfed30c7f8bbb3ef75565918e978d6106c088d7c1260533d049cbfc7713396045b31e016"
     "7f7d664c51c6cce8d8b79bf07196e5"},
    {true, TENONI_SHA256, "X", 0, 0, 0, 0, 0, 0, 1, "44"},
    {false, TENONI_SHA256, "SECRET", 0, 32, 32, 64, 64, 96, 32,
     "62cf85ca3599cd915a71a6330c3885f986918e12037ba2e39578f72686417cdb"},
    {false, TENONI_SHA256, "IDENTITY", 0, 32, 32, 64, 64, 96, 48,
     "1c73541403051da01a9c8dae6988c5f5db53f8744ad27c896ccdc663d40e3df1da9d2c9bc7c1949657421aa32b28e51f"},
    {true, TENONI_SHA384, "INTEGRITY", 0, 48, 0, 0, 0, 0, 48,
     "f33d1615c2266b2fa774ff368d6ce3af9d8c0b4227e57eb3e28b810755366e9a668857315ae51d8d7cfac92bb0485639"},
    {true, TENONI_SHA384, "STORAGE", 0, 48, 0, 34, 0, 0, 32,
     "fa18bbc689583e1f6c57c8023681e92a54c8c9ef70e78e14ff453949e8e3c821"},
    {true, TENONI_SHA384, "STORAGE", 0, 48, 0, 34, 0, 0, 70,
     "a0c56878b027bba639f2d0c1e92b60f8bcd08a8efc85260a34fb014b4f2508142b3b0352211837f73a378b4c63bae454d8938ce04a400e"
     "f68852b1b2c72d2373140c4fa762c6"},
    {true, TENONI_SHA384, "STORAGE", 0, 48, 0, 34, 0, 0, 100,
     "ac972acc58d653aa4e883b6b7042d207d768ae071a7e46abc471d253fd0ecc5640f9d098d26b95a7ca58432c184d79570715793662a19d"
     "212eacef001f28fa9ae8c5e28043e5d0752c8e5aff95c5344e3bf03f23a6666f5f57f0f6536d4982e24766b2dc"},
    {false, TENONI_SHA384, "IDENTITY", 0, 48, 48, 96, 80, 128, 48,
     "a2781eea507c1b8298b635bffb53daedb083c9f21a9bf620472fa60837cd29af267ce8768c4411690aa87197156193b7"},
    {false, TENONI_SHA384, "IDENTITY", 0, 48, 48, 96, 80, 128, 70,
     "a2781eea507c1b8298b635bffb53daedb083c9f21a9bf620472fa60837cd29af267ce8768c4411690aa87197156193b7b50466ee7d168e"
     "0191ff0b5dd5f2d3448586bebf9a80"},
};

TEST(kdf_knows_its_vectors)
{
    uint8_t bytes[128], out[MOST + 1], expected[MOST];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)i;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *label = cases[i].label;
        size_t n = cases[i].n;
        tenoni_part key = {bytes + cases[i].key, cases[i].key_end - cases[i].key};
        tenoni_part u = {bytes + cases[i].u, cases[i].u_end - cases[i].u};
        tenoni_part v = {bytes + cases[i].v, cases[i].v_end - cases[i].v};
        test_about("%s, hash %d", label, cases[i].hash);
        test_hex(expected, n, cases[i].out);
        memset(out, 0xa5, sizeof out);
        CHECK_OK(cases[i].keyed ? tenoni_kdfa_with(cases[i].hash, out, n, key, label, u, v)
                                : tenoni_kdfe_with(cases[i].hash, out, n, key, label, u, v));
        CHECK_BYTES(out, expected, n);
        CHECK_NUMBER(out[n], 0xa5);
        if (cases[i].hash != TENONI_SHA256)
            continue;
        memset(out, 0xa5, sizeof out);
        CHECK_OK(cases[i].keyed ? tenoni_kdfa(out, n, key, label, u, v) : tenoni_kdfe(out, n, key, label, u, v));
        CHECK_BYTES(out, expected, n);
        CHECK_NUMBER(out[n], 0xa5);
    }
}

/* The first is NIST CAVP, KAS_ECC_CDH_PrimitiveTest, P-256, COUNT 0. The others are multiples of its point by small
 * numbers, of which x begins with zeros, and by n-1: made with Python integers. */
static const struct {
    const char *scalar, *x;
} agreements[] = {
    {"7d7dc5f71eb29ddaf80d6214632eeae03d9058af1fb6d22ed80badb62bc1a534",
     "46fc62106420ff012e54a434fbdd2d25ccc5852060561e68040dd7778997bd7b"},
    {"000000000000000000000000000000000000000000000000000000000000012e",
     "0090ecae15bb98b6fb5dd140b47451c89773e3b939326062c0f3ef8a0f996fdb"},
    {"00000000000000000000000000000000000000000000000000000000000051dc",
     "0000b5198ba2ea6ef71b5c0eed11047669c49c3d680bbae653d6bcdf8914252c"},
    {"ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632550",
     "700c48f77f56584c5cc632ca65640db91b6bacce3a4df6b42ce7cc838833d287"},
};

static void other_point(tenon_public_key *out)
{
    test_hex(out->bytes, sizeof out->bytes,
             "700c48f77f56584c5cc632ca65640db91b6bacce3a4df6b42ce7cc838833d287"
             "db71e509e3fd9b060ddb20ba5c51dcc5948d46fbf640dfe0441782cab85fa4ac");
}

TEST(agree_knows_its_vectors)
{
    tenon_public_key key;
    uint8_t scalar[32], x[33], expected[32];
    other_point(&key);
    for (size_t i = 0; i < COUNT(agreements); i++) {
        test_about("agreement %zu", i);
        test_hex(scalar, sizeof scalar, agreements[i].scalar);
        test_hex(expected, sizeof expected, agreements[i].x);
        memset(x, 0xa5, sizeof x);
        CHECK_OK(tenoni_p256_agree(x, scalar, &key));
        CHECK_BYTES(x, expected, sizeof expected);
        CHECK_NUMBER(x[32], 0xa5);
    }
}

TEST(agree_refuses_points_off_the_curve)
{
    tenon_public_key key;
    uint8_t scalar[32] = {[31] = 2}, x[32], untouched[32];
    memset(x, 0xa5, sizeof x);
    memset(untouched, 0xa5, sizeof untouched);
    other_point(&key);
    key.bytes[63] ^= 1;
    CHECK_STATUS(tenoni_p256_agree(x, scalar, &key), TENON_ERROR_POINT_OFF_CURVE);
    memset(key.bytes, 0, sizeof key.bytes);
    CHECK_STATUS(tenoni_p256_agree(x, scalar, &key), TENON_ERROR_POINT_OFF_CURVE);
    CHECK_BYTES(x, untouched, sizeof x);
}

enum { SIZE = TENONI_RSA_SIZE };

typedef struct {
    uint8_t modulus[SIZE], salt[32], message[SIZE], block[SIZE];
    char label[16];
    size_t n;
} encryption;

TEST(oaep_knows_its_vectors)
{
    encryption e;
    OWNED char *text = test_vectors("credential.txt");
    char *at = test_section(text, "[oaep]"), *name, *value;
    uint8_t out[SIZE + 1];
    size_t count = 0;
    const test_field fields[] = {{"Modulus", e.modulus, SIZE}, {"Salt", e.salt, 32}, {"Block", e.block, SIZE}};
    while (test_section_line(&at, &name, &value)) {
        (void)test_take(fields, COUNT(fields), name, value);
        if (strcmp(name, "Label") == 0)
            snprintf(e.label, sizeof e.label, "%s", value);
        if (strcmp(name, "Message") == 0)
            test_hex(e.message, e.n = strlen(value) / 2, value);
        if (strcmp(name, "Block") != 0)
            continue;
        test_about("%zu bytes", e.n);
        memset(out, 0xa5, sizeof out);
        CHECK(tenoni_rsa_modulus_fits(e.modulus));
        CHECK_OK(tenoni_oaep_encrypt(out, e.modulus, e.label, (tenoni_part){e.message, e.n}, e.salt));
        CHECK_BYTES(out, e.block, SIZE);
        CHECK_NUMBER(out[SIZE], 0xa5);
        count++;
    }
    CHECK_NUMBER(count, 3);
    CHECK_NUMBER(e.n, TENONI_OAEP_MAX);
    test_about("one byte more");
    CHECK_STATUS(tenoni_oaep_encrypt(out, e.modulus, e.label, (tenoni_part){e.message, e.n + 1}, e.salt),
                 TENON_ERROR_TOO_LARGE);
}

/* RSAEP pads its result: for 0 and 1 it is known with any modulus. */
TEST(oaep_raises_small_numbers)
{
    uint8_t modulus[SIZE], number[SIZE] = {0}, out[SIZE];
    memset(modulus, 0xff, sizeof modulus);
    memset(out, 0xa5, sizeof out);
    CHECK_OK(tenoni_rsa_raise(out, modulus, number));
    CHECK_ZERO(out, sizeof out);
    number[SIZE - 1] = 1;
    memset(out, 0xa5, sizeof out);
    CHECK_OK(tenoni_rsa_raise(out, modulus, number));
    CHECK_BYTES(out, number, sizeof out);
}

TEST(oaep_modulus_has_2048_bits_and_is_odd)
{
    uint8_t modulus[SIZE] = {0};
    CHECK(!tenoni_rsa_modulus_fits(modulus));
    modulus[0] = 0x80;
    CHECK(!tenoni_rsa_modulus_fits(modulus));
    modulus[SIZE - 1] = 1;
    CHECK(tenoni_rsa_modulus_fits(modulus));
    modulus[0] = 0x7f;
    CHECK(!tenoni_rsa_modulus_fits(modulus));
}
