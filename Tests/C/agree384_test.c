/* SPDX-License-Identifier: Apache-2.0 */
#include "crypto/p256.h"
#include "crypto/protection.h"
#include "test.h"

enum { SIZE = TENONI_P384_SIZE };

typedef struct {
    uint8_t scalar[SIZE], point[2 * SIZE], ephemeral[2 * SIZE], z[SIZE];
} agreement;

/* The records of credential.txt's [agree], each of which ends with Z. */
static size_t read_all(agreement *out, size_t most)
{
    OWNED char *text = test_vectors("credential.txt");
    char *at = test_section(text, "[agree]"), *name, *value;
    size_t count = 0;
    agreement one;
    const test_field fields[] = {{"Scalar", one.scalar, SIZE},
                                 {"Point", one.point, 2 * SIZE},
                                 {"Ephemeral", one.ephemeral, 2 * SIZE},
                                 {"Z", one.z, SIZE}};
    while (count < most && test_section_line(&at, &name, &value))
        if (test_take(fields, COUNT(fields), name, value) && strcmp(name, "Z") == 0)
            out[count++] = one;
    return count;
}

TEST(agree384_knows_its_vectors)
{
    agreement all[7];
    size_t count = read_all(all, COUNT(all));
    CHECK_NUMBER(count, 6);
    for (size_t i = 0; i < count; i++) {
        uint8_t z[SIZE + 1], ephemeral[2 * SIZE + 1];
        test_about("agreement %zu", i);
        memset(z, 0xa5, sizeof z);
        memset(ephemeral, 0xa5, sizeof ephemeral);
        CHECK_OK(tenoni_agree(TENONI_CURVE_P384, z, ephemeral, all[i].scalar, all[i].point));
        CHECK_BYTES(z, all[i].z, SIZE);
        CHECK_BYTES(ephemeral, all[i].ephemeral, 2 * SIZE);
        CHECK_NUMBER(z[SIZE], 0xa5);
        CHECK_NUMBER(ephemeral[2 * SIZE], 0xa5);
    }
}

static void check_refused(tenoni_curve curve, const uint8_t *scalar, const uint8_t *point, tenon_status why)
{
    uint8_t z[SIZE], ephemeral[2 * SIZE], untouched[2 * SIZE];
    memset(untouched, 0xa5, sizeof untouched);
    memcpy(z, untouched, sizeof z);
    memcpy(ephemeral, untouched, sizeof ephemeral);
    CHECK_STATUS(tenoni_agree(curve, z, ephemeral, scalar, point), why);
    CHECK_BYTES(z, untouched, sizeof z);
    CHECK_BYTES(ephemeral, untouched, sizeof ephemeral);
}

/* SP 800-186, 3.2.1.4; P-256's are those of 3.2.1.3. */
static const char prime[] =
    "fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffeffffffff0000000000000000ffffffff";
static const char order[] =
    "ffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973";
static const char order_256[] = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551";

/* Where y is a root of b: OpenSSL by itself accepts p as x = 0. */
static const char y_of_0[] =
    "c306610fb0ae5a159cf45c06069f22a6c5eb3641c602d42dea2c4b4f75550793406d80d2b91ad54f9048bd487af1ade1";

TEST(agree384_refuses_points_that_are_none)
{
    agreement good;
    CHECK_NUMBER(read_all(&good, 1), 1);
    uint8_t point[2 * SIZE], scalar[SIZE], z[SIZE], ephemeral[2 * SIZE];
    memcpy(point, good.point, sizeof point);
    for (size_t i = 0; i < 2 * SIZE; i += SIZE - 1) {
        memcpy(point, good.point, sizeof point);
        point[i] ^= 1;
        test_about("byte %zu", i);
        check_refused(TENONI_CURVE_P384, good.scalar, point, TENON_ERROR_POINT_OFF_CURVE);
    }
    memset(point, 0, sizeof point);
    check_refused(TENONI_CURVE_P384, good.scalar, point, TENON_ERROR_POINT_OFF_CURVE);
    test_hex(point + SIZE, SIZE, y_of_0);
    CHECK_OK(tenoni_agree(TENONI_CURVE_P384, z, ephemeral, good.scalar, point));
    test_hex(point, SIZE, prime);
    check_refused(TENONI_CURVE_P384, good.scalar, point, TENON_ERROR_POINT_RANGE);
    memcpy(point, good.point, SIZE);
    test_hex(point + SIZE, SIZE, prime);
    check_refused(TENONI_CURVE_P384, good.scalar, point, TENON_ERROR_POINT_RANGE);
    memset(point, 0xff, sizeof point);
    check_refused(TENONI_CURVE_P384, good.scalar, point, TENON_ERROR_POINT_RANGE);
    /* The point is checked before the scalar. */
    memset(scalar, 0, sizeof scalar);
    check_refused(TENONI_CURVE_P384, scalar, point, TENON_ERROR_POINT_RANGE);
}

TEST(agree384_refuses_scalars_out_of_range)
{
    agreement good;
    CHECK_NUMBER(read_all(&good, 1), 1);
    uint8_t scalar[SIZE];
    memset(scalar, 0, sizeof scalar);
    check_refused(TENONI_CURVE_P384, scalar, good.point, TENON_ERROR_SCALAR_RANGE);
    test_hex(scalar, sizeof scalar, order);
    check_refused(TENONI_CURVE_P384, scalar, good.point, TENON_ERROR_SCALAR_RANGE);
    memset(scalar, 0xff, sizeof scalar);
    check_refused(TENONI_CURVE_P384, scalar, good.point, TENON_ERROR_SCALAR_RANGE);
}

/* On P-256, it agrees with the older functions, which have their own tests. */
TEST(agree256_is_the_signer_and_the_agreement)
{
    uint8_t one[32] = {[31] = 1}, two[32] = {[31] = 2}, scalar[32], z[32], ephemeral[64], expected[32];
    tenon_public_key key, own;
    tenoni_signer *signer = NULL;
    CHECK_OK(tenoni_signer_new(&signer, &key, two));
    tenoni_signer_free(signer);
    CHECK_OK(tenoni_signer_new(&signer, &own, one));
    tenoni_signer_free(signer);
    CHECK_OK(tenoni_agree(TENONI_CURVE_P256, z, ephemeral, one, key.bytes));
    CHECK_BYTES(z, key.bytes, sizeof z);
    CHECK_BYTES(ephemeral, own.bytes, sizeof ephemeral);
    CHECK_OK(tenoni_agree(TENONI_CURVE_P256, z, ephemeral, two, key.bytes));
    CHECK_OK(tenoni_p256_agree(expected, two, &key));
    CHECK_BYTES(z, expected, sizeof z);
    CHECK_BYTES(ephemeral, key.bytes, sizeof ephemeral);
    memset(scalar, 0, sizeof scalar);
    check_refused(TENONI_CURVE_P256, scalar, key.bytes, TENON_ERROR_SCALAR_RANGE);
    test_hex(scalar, sizeof scalar, order_256);
    check_refused(TENONI_CURVE_P256, scalar, key.bytes, TENON_ERROR_SCALAR_RANGE);
    key.bytes[63] ^= 1;
    check_refused(TENONI_CURVE_P256, one, key.bytes, TENON_ERROR_POINT_OFF_CURVE);
    memset(key.bytes, 0xff, 32);
    check_refused(TENONI_CURVE_P256, one, key.bytes, TENON_ERROR_POINT_RANGE);
}
