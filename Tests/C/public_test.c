/* SPDX-License-Identifier: Apache-2.0 */
#include "crypto/structures.h"
#include "test.h"

/* Public areas of TPM objects. */

#define ZEROS "0000000000000000000000000000000000000000000000000000000000000000"

static const char signing_template[] = "0023000b000404720000001000100003001000000000";
static const char storage_template[] = "0023000b00030472000000060080004300100003001000000000";
static const char provisioned_template[] = "0023000b0003047200000006008000430010000300100020" ZEROS "0020" ZEROS;

/* Made by swtpm, with the Names that tpm2_readpublic says; the storage key with template H-2 by tpm2-tools. */
static const char own[] =
    "0023000b0004047200000010001000030010002050bae9f80d81c52b525cdd83ee6457c2bad4e4c4c9962b61ffa08f39018332140020343d"
    "06b189634d4952206d5ebd6ac2d9c1d3a2488873f0ab1444e465c135afbf";
static const char own_name[] = "000b765929e033f92b50089aaae144594b8cb0b2420cc12187c6e25ac4f4bede6e0c";
static const char storage[] =
    "0023000b0003047200000006008000430010000300100020fe414c497cb0459da69a6eebcf5c2be4ce98e16e82c99ad31285e3cbc17819b5"
    "00206e23b3d9c0a92d8ffa0dcd7d0d57415e8f23947178bf6d8f6260f408b65730b4";
static const char storage_name[] = "000b27cca36030e8bcb16095da090c42f700ff9313c0b0a705f0e7ec58c0c1327075";

/* Made by tpm2-openssl 1.1.1: sign and decrypt. */
static const char of_openssl[] =
    "0023000b0006007200000010001000030010002078317e6fa45fe31aa7d8954d6eb839056e9b80089fa2961572effc855a82da9a00207920"
    "74da86b46de3e7967666d72c33477b8b4f84f421a70c185ed05e7f00bf8c";

static tenon_status read_copy(tenoni_public *key, const uint8_t *area, size_t n)
{
    OWNED uint8_t *copy = test_copy(area, n);
    return CLEARED(tenoni_public_read(key, copy, n), key);
}

static tenon_status read_hex(tenoni_public *key, const char *hex)
{
    size_t n;
    OWNED uint8_t *area = test_hex_all(hex, &n);
    tenon_status status = read_copy(key, area, n);
    return status;
}

static tenoni_public known(const char *hex)
{
    tenoni_public key;
    CHECK_OK(read_hex(&key, hex));
    return key;
}

static void check_written(const tenoni_public *key, const uint8_t *expected, size_t n)
{
    uint8_t area[TENONI_PUBLIC_MAX];
    tenoni_writer writer = tenoni_writer_over(area, sizeof area);
    tenoni_public_write(&writer, key);
    CHECK(!writer.overflowed);
    CHECK_SAME(area, writer.used, expected, n);
}

static void check_written_hex(const tenoni_public *key, const char *hex)
{
    size_t n;
    OWNED uint8_t *expected = test_hex_all(hex, &n);
    check_written(key, expected, n);
}

TEST(public_area_templates)
{
    check_written_hex(&tenoni_signing_template, signing_template);
    check_written_hex(&tenoni_storage_template, storage_template);
    check_written_hex(&tenoni_provisioned_template, provisioned_template);
}

TEST(public_area_fields)
{
    tenoni_public key = known(storage);
    CHECK_NUMBER(key.name_algorithm, 0x000b);
    CHECK_NUMBER(key.attributes, 0x00030472);
    CHECK_NUMBER(key.policy_n, 0);
    CHECK_NUMBER(key.symmetric, 0x0006);
    CHECK_NUMBER(key.key_bits, 128);
    CHECK_NUMBER(key.mode, 0x0043);
    CHECK_NUMBER(key.scheme, 0x0010);
    CHECK(key.x.n == 32 && key.x.bytes[0] == 0xfe && key.y.n == 32 && key.y.bytes[31] == 0xb4);
    key = known("0023000b000400720003aabbcc00100018000b0003001000010500020607");
    CHECK(key.policy_n == 3 && key.policy[0] == 0xaa && key.policy[2] == 0xcc);
    CHECK_NUMBER(key.scheme, 0x0018);
    CHECK_NUMBER(key.scheme_hash, 0x000b);
    CHECK(key.x.n == 1 && key.x.bytes[0] == 5 && key.y.n == 2 && key.y.bytes[0] == 6 && key.y.bytes[1] == 7);
}

static const char *const areas[] = {
    signing_template,
    storage_template,
    provisioned_template,
    own,
    storage,
    of_openssl,
    "0023000b000400720003aabbcc00100018000b0003001000010500020607",
    "0023000d000400720040" ZEROS ZEROS "001000100003001000000000",
};

static void check_flips(const uint8_t *area, size_t n)
{
    for (size_t bit = 0; bit < 8 * n; bit++) {
        tenoni_public key;
        uint8_t flipped[TENONI_PUBLIC_MAX];
        memcpy(flipped, area, n);
        flipped[bit / 8] ^= (uint8_t)(1 << bit % 8);
        test_about("%zu bytes, byte %zu, bit %zu", n, bit / 8, bit % 8);
        tenon_status status = read_copy(&key, flipped, n);
        if (status == TENON_OK)
            check_written(&key, flipped, n);
        else
            CHECK_STATUS(status, TENON_ERROR_KEY_PUBLIC);
    }
}

TEST(public_area_whole_and_nothing_else)
{
    for (size_t i = 0; i < COUNT(areas); i++) {
        tenoni_public key;
        size_t n;
        OWNED uint8_t *area = test_hex_all(areas[i], &n);
        uint8_t longer[TENONI_PUBLIC_MAX] = {0};
        test_about("%s", areas[i]);
        CHECK_OK(read_copy(&key, area, n));
        check_written(&key, area, n);
        for (size_t less = 0; less < n; less++)
            CHECK_STATUS(read_copy(&key, area, less), TENON_ERROR_KEY_PUBLIC);
        memcpy(longer, area, n);
        CHECK_STATUS(read_copy(&key, longer, n + 1), TENON_ERROR_KEY_PUBLIC);
        check_flips(area, n);
    }
}

TEST(public_area_of_others)
{
    static const char *const others[] = {
        "0001000b000400720000001000100800000000000000",         /* RSA-2048 */
        "0025000b000400720000001000100003001000000000",         /* SYMCIPHER where ECC is */
        "0023000b000404720000001000100004001000000000",         /* P-384 */
        "0023000b000404720000001000100010001000000000",         /* BN P-256 */
        "0023000b000404720000001000100003002000000000",         /* kdf: KDF1_SP800_56A */
        "0023000b000404720000001000190003001000000000",         /* scheme: ECDH, without its hash */
        "0023000b00040472000000100019000b0003001000000000",     /* with it */
        "0023000b0004047200000010001a000b00000003001000000000", /* ECDAA */
        "0023000b000404720000000a000b00100003001000000000",     /* symmetric: XOR */
        "0023000b00040472000000260080004300100003001000000000", /* Camellia */
        "0023000b000404720041" ZEROS ZEROS "00001000100003001000000000",
        "0023000b00040472000000100010000300100021" ZEROS "000000",
        "0023000b000404720000001000100003001000000021" ZEROS "00",
    };
    for (size_t i = 0; i < COUNT(others); i++) {
        tenoni_public key;
        test_about("%s", others[i]);
        CHECK_STATUS(read_hex(&key, others[i]), TENON_ERROR_KEY_PUBLIC);
    }
}

TEST(public_area_name)
{
    uint8_t name[TENON_NAME_SIZE], expected[TENON_NAME_SIZE];
    size_t n;
    uint8_t *area = test_hex_all(own, &n);
    test_hex(expected, sizeof expected, own_name);
    CHECK_OK(tenoni_public_name(name, area, n));
    CHECK_BYTES(name, expected, sizeof name);
    area[3] = 0x0c;
    CHECK_STATUS(tenoni_public_name(name, area, n), TENON_ERROR_KEY_PUBLIC);
    CHECK_ZERO(name, sizeof name);
    area[2] = 0x01;
    area[3] = 0x0b;
    CHECK_STATUS(tenoni_public_name(name, area, n), TENON_ERROR_KEY_PUBLIC);
    free(area);
    area = test_hex_all(storage, &n);
    test_hex(expected, sizeof expected, storage_name);
    CHECK_OK(tenoni_public_name(name, area, n));
    CHECK_BYTES(name, expected, sizeof name);
    for (size_t less = 0; less < 4; less++)
        CHECK_STATUS(tenoni_public_name(name, area, less), TENON_ERROR_KEY_PUBLIC);
    /* An RSA key has a Name, too. */
    area[1] = 0x01;
    CHECK_OK(tenoni_public_name(name, area, n));
    CHECK_STATUS(tenoni_public_name(name, NULL, 0), TENON_ERROR_KEY_PUBLIC);
    free(area);
}

/* Points of P-256 whose x, and whose y, is 5. */
#define Y_OF_5 "459243b9aa581806fe913bce99817ade11ca503c64d9a3c533415c083248fbcc"
#define X_OF_5 "d7325d7646cd60d80a92738ceb345f844cffaf35841022cab176f692de8de1d7"
#define HEAD "0023000b000404720000001000100003001000"

TEST(public_area_point)
{
    static const char *const fives[] = {HEAD "01050020" Y_OF_5, HEAD "0200050020" Y_OF_5,
                                        HEAD "200000000000000000000000000000000000000000000000000000000000000005"
                                             "0020" Y_OF_5};
    static const struct {
        tenon_status expected;
        const char *area;
    } bad[] = {
        {TENON_ERROR_KEY_PUBLIC, signing_template},
        {TENON_ERROR_KEY_PUBLIC, HEAD "000020" Y_OF_5},
        {TENON_ERROR_KEY_PUBLIC, HEAD "01050000"},
        {TENON_ERROR_POINT_OFF_CURVE, provisioned_template},
        {TENON_ERROR_POINT_OFF_CURVE, HEAD "01060020" Y_OF_5},
        {TENON_ERROR_POINT_RANGE, HEAD "20ffffffff00000001000000000000000000000000ffffffffffffffffffffffff0020" Y_OF_5},
    };
    tenon_public_key point, expected;
    test_hex(expected.bytes, 32, "0000000000000000000000000000000000000000000000000000000000000005");
    test_hex(expected.bytes + 32, 32, Y_OF_5);
    for (size_t i = 0; i < COUNT(fives); i++) {
        tenoni_public key = known(fives[i]);
        CHECK_OK(tenoni_public_point(&point, &key));
        CHECK_BYTES(point.bytes, expected.bytes, sizeof point.bytes);
    }
    for (size_t i = 0; i < COUNT(bad); i++) {
        tenoni_public key = known(bad[i].area);
        CHECK_CLEARS(tenoni_public_point(&point, &key), bad[i].expected, &point);
    }
    tenoni_public key = known(HEAD "20" X_OF_5 "0001"
                                   "05");
    CHECK_OK(tenoni_public_point(&point, &key));
    test_hex(expected.bytes, 32, X_OF_5);
    test_hex(expected.bytes + 32, 32, "0000000000000000000000000000000000000000000000000000000000000005");
    CHECK_BYTES(point.bytes, expected.bytes, sizeof point.bytes);
    key = known(own);
    CHECK_OK(tenoni_public_point(&point, &key));
    CHECK_BYTES(point.bytes, key.x.bytes, 32);
    CHECK_BYTES(point.bytes + 32, key.y.bytes, 32);
}

TEST(public_area_is_storage)
{
    static const char *const good[] = {storage, storage_template, provisioned_template};
    for (size_t i = 0; i < COUNT(good); i++) {
        tenoni_public key = known(good[i]);
        CHECK(tenoni_public_is_storage(&key));
        CHECK_STATUS(tenoni_public_check_own(&key), TENON_ERROR_KEY_ATTRIBUTES);
        CHECK_STATUS(tenoni_public_check_foreign(&key), TENON_ERROR_KEY_ATTRIBUTES);
    }
    tenoni_public key = known(own);
    CHECK(!tenoni_public_is_storage(&key));
}

/* Sets one field to another value, and says how each verdict changes. */
#define CHANGED(base, change, storage_expected, own_expected, foreign_expected)                                        \
    do {                                                                                                               \
        tenoni_public key = known(base);                                                                               \
        key.change;                                                                                                    \
        test_about("%s with %s", #base, #change);                                                                      \
        CHECK(tenoni_public_is_storage(&key) == (storage_expected));                                                   \
        CHECK((tenoni_public_check_own(&key) == TENON_OK) == (own_expected));                                          \
        CHECK((tenoni_public_check_foreign(&key) == TENON_OK) == (foreign_expected));                                  \
    } while (0)

TEST(public_area_verdicts)
{
    CHANGED(storage, x.bytes[0] = 0, true, false, false);
    CHANGED(storage, y.n = 3, true, false, false);
    CHANGED(storage, name_algorithm = 0x000c, false, false, false);
    CHANGED(storage, policy_n = 32, false, false, false);
    CHANGED(storage, symmetric = 0x0010, false, false, false);
    CHANGED(storage, key_bits = 256, false, false, false);
    CHANGED(storage, mode = 0x0042, false, false, false);
    CHANGED(storage, scheme = 0x0018, false, false, false);

    CHANGED(own, x.n = 31, false, true, true);
    CHANGED(own, y.bytes[31] = 0, false, true, true);
    CHANGED(own, name_algorithm = 0x000c, false, false, false);
    CHANGED(own, policy_n = 32, false, false, false);
    CHANGED(own, symmetric = 0x0006, false, false, false);
    /* Scheme ECDSA without its hash, which is 0 then; with SHA-256; with SHA-384. */
    CHANGED(own, scheme = 0x0018, false, false, false);
    CHANGED(own, scheme_hash = 0x000b; key.scheme = 0x0018, false, false, true);
    CHANGED(own, scheme_hash = 0x000c; key.scheme = 0x0018, false, false, false);

    CHANGED(of_openssl, attributes = 0x00060072, false, false, true);
    CHANGED(of_openssl, attributes = 0x00070072, false, false, false);
    CHANGED(of_openssl, attributes = 0x00020072, false, false, false);
    CHANGED(of_openssl, attributes = 0x00040000, false, false, true);
    CHANGED(of_openssl, attributes = 0x00040472, false, true, true);
}

TEST(public_area_attributes)
{
    for (unsigned bit = 0; bit < 32; bit++) {
        uint32_t flip = UINT32_C(1) << bit;
        CHANGED(storage, attributes ^= flip, false, false, false);
        CHANGED(own, attributes ^= flip, false, bit == 10 /* noDA */, bit != 16 && bit != 18);
    }
    tenoni_public key = known(of_openssl);
    CHECK_STATUS(tenoni_public_check_own(&key), TENON_ERROR_KEY_ATTRIBUTES);
    CHECK_OK(tenoni_public_check_foreign(&key));
    key = known(own);
    CHECK_OK(tenoni_public_check_own(&key));
}
