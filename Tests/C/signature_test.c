/* SPDX-License-Identifier: Apache-2.0 */
#include "base/signature.h"
#include "test.h"

#define ORDER "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"
#define ORDER_MINUS_1 "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632550"
#define HALF "7fffffff800000007fffffffffffffffde737d56d38bcf4279dce5617e3192a8"
#define HALF_PLUS_1 "7fffffff800000007fffffffffffffffde737d56d38bcf4279dce5617e3192a9"
#define ZERO "0000000000000000000000000000000000000000000000000000000000000000"
#define ONE "0000000000000000000000000000000000000000000000000000000000000001"

static tenon_signature make(const char *r, const char *s)
{
    tenon_signature signature;
    test_hex(signature.bytes, 32, r);
    test_hex(signature.bytes + 32, 32, s);
    return signature;
}

static void round_trip(const char *r, const char *s, const char *der_hex)
{
    tenon_signature signature = make(r, s), back;
    uint8_t der[TENON_SIGNATURE_DER_MAX], expected[TENON_SIGNATURE_DER_MAX];
    size_t n = 0, expected_n = strlen(der_hex) / 2;
    test_about("%s", der_hex);
    test_hex(expected, expected_n, der_hex);
    CHECK_OK(tenon_signature_encode_der(der, sizeof der, &n, &signature));
    CHECK_SAME(der, n, expected, expected_n);
    CHECK_OK(tenon_signature_decode_der(&back, expected, expected_n));
    CHECK_BYTES(&back, &signature, sizeof back);
}

TEST(signature_der_forms)
{
    round_trip(ONE, ONE, "3006020101020101");
    round_trip(ORDER_MINUS_1, ORDER_MINUS_1, "3046022100" ORDER_MINUS_1 "022100" ORDER_MINUS_1);
    round_trip(HALF, ORDER_MINUS_1, "30450220" HALF "022100" ORDER_MINUS_1);
    round_trip(ORDER_MINUS_1, HALF, "3045022100" ORDER_MINUS_1 "0220" HALF);
    round_trip("0000000000000000000000000000000000000000000000000000000000000080", ONE, "300702020080020101");
    round_trip("000000000000000000000000000000000000000000000000000000000000007f", ONE, "300602017f020101");
}

static tenon_status decode(int unused, const char *der_hex)
{
    uint8_t der[200];
    tenon_signature out;
    size_t n = strlen(der_hex) / 2;
    test_hex(der, n, der_hex);
    return CLEARED(tenon_signature_decode_der(&out, der, n), &out);
}

TEST(signature_der_refused)
{
    static const test_texts rows[] = {
        {TENON_ERROR_DER_TRUNCATED, 0, {"", "30", "3000", "3003020101", "3007020101020101"}},
        {TENON_ERROR_DER_TAG, 0, {"3106020101020101", "3006030101020101", "3006020101040101"}},
        {TENON_ERROR_DER_TAG, 0, {"090380fe01090380fe01"}},
        {TENON_ERROR_DER_LENGTH, 0, {"308106020101020101", "30800201010201010000"}},
        {TENON_ERROR_DER_TRAILING, 0, {"3005020101020101", "300602010102010100", "3009020101020101020101"}},
        {TENON_ERROR_DER_INTEGER, 0, {"300702020001020101", "30050200020101", "3006020181020101"}},
        {TENON_ERROR_DER_INTEGER, 0, {"302702220100" ORDER "020101"}},
        {TENON_ERROR_SIGNATURE_RANGE, 0, {"3006020100020101", "3006020101020100", "3026022100" ORDER "020101"}},
        {TENON_ERROR_SIGNATURE_RANGE, 0, {"3026020101022100" ORDER}},
    };
    test_each_text(rows, COUNT(rows), decode);
}

/* An accepted signature equals the encoder's form of it. */
static bool check_canonical(const uint8_t *der, size_t n)
{
    tenon_signature signature, unused;
    uint8_t again[TENON_SIGNATURE_DER_MAX];
    size_t again_n = 0;
    memset(&signature, 0xa5, sizeof signature);
    tenon_status status = tenon_signature_decode_der(&signature, der, n);
    if (status != TENON_OK) {
        CHECK_NUMBER(tenon_status_category(status), TENON_CATEGORY_FORMAT);
        CHECK_ZERO(&signature, sizeof signature);
        return false;
    }
    CHECK_OK(tenon_signature_encode_der(again, sizeof again, &again_n, &signature));
    CHECK_SAME(again, again_n, der, n);
    CHECK_STATUS(tenon_signature_decode_der(&unused, der, n + 1), TENON_ERROR_DER_TRAILING);
    return true;
}

TEST(signature_der_mutations)
{
    tenon_signature signature = make(ORDER_MINUS_1, HALF_PLUS_1);
    uint8_t der[TENON_SIGNATURE_DER_MAX + 9];
    size_t n, accepted = 0;
    signature.bytes[32] = 0x80;
    memset(der, 0, sizeof der);
    CHECK_OK(tenon_signature_encode_der(der, sizeof der, &n, &signature));
    CHECK_NUMBER(n, TENON_SIGNATURE_DER_MAX);
    for (size_t at = 0; at < n; at++) {
        uint8_t kept = der[at];
        for (unsigned byte = 0; byte < 256; byte++) {
            der[at] = (uint8_t)byte;
            test_about("byte %zu is %02x", at, byte);
            accepted += byte != kept && check_canonical(der, n);
        }
        der[at] = kept;
        test_about("cut at %zu", at);
        CHECK(!check_canonical(der, at));
    }
    test_about(NULL);
    /* Inside r and s there are as many good values as in any other signature; in the heads there is none. */
    CHECK(accepted > 60 * 200 && accepted < 64 * 255);
    CHECK(check_canonical(der, n));
    for (size_t more = 1; more < 9; more++)
        CHECK(!check_canonical(der, n + more));
}

static void check_normalized(const char *s, const char *low)
{
    tenon_signature signature = make(ONE, s), expected = make(ONE, low);
    test_about("s = %s", s);
    CHECK_NUMBER(tenon_signature_is_low_s(&signature), strcmp(s, low) == 0);
    CHECK_OK(tenon_signature_normalize(&signature));
    CHECK_BYTES(&signature, &expected, sizeof signature);
    CHECK_NUMBER(tenon_signature_is_low_s(&signature), 1);
}

TEST(signature_low_s)
{
    check_normalized(ONE, ONE);
    check_normalized(ORDER_MINUS_1, ONE);
    check_normalized(HALF, HALF);
    check_normalized(HALF_PLUS_1, HALF);
    check_normalized("8000000000000000000000000000000000000000000000000000000000000000",
                     "7fffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551");
}

TEST(signature_range)
{
    static const char *const bad[] = {ZERO, ORDER, "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632552",
                                      "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"};
    for (size_t i = 0; i < COUNT(bad); i++)
        for (int which = 0; which < 2; which++) {
            tenon_signature signature = which == 0 ? make(bad[i], ONE) : make(ONE, bad[i]);
            uint8_t der[TENON_SIGNATURE_DER_MAX];
            size_t n = 12345;
            test_about("%s is %s", which == 0 ? "r" : "s", bad[i]);
            CHECK(!tenoni_signature_in_range(&signature));
            CHECK_STATUS(tenon_signature_encode_der(der, sizeof der, &n, &signature), TENON_ERROR_SIGNATURE_RANGE);
            CHECK_NUMBER(n, 0);
            CHECK_STATUS(tenon_signature_normalize(&signature), TENON_ERROR_SIGNATURE_RANGE);
            CHECK_ZERO(&signature, sizeof signature);
        }
}

OUTPUT(encode) { return tenon_signature_encode_der(out, n, written, input); }

TEST(signature_output_rule)
{
    tenon_signature small = make(ONE, ONE), large = make(ORDER_MINUS_1, ORDER_MINUS_1);
    test_output_rule("encode_der", encode, &small, "\x30\x06\x02\x01\x01\x02\x01\x01", 8);
    test_output_rule("encode_der", encode, &large, NULL, 72);
}

TEST(signature_bad_input)
{
    uint8_t der[80] = {0x30, 6, 2, 1, 1, 2, 1, 1};
    tenon_signature signature;
    size_t n = 12345;
    CHECK_STATUS(tenon_signature_encode_der(der, sizeof der, &n, NULL), TENON_ERROR_NULL);
    CHECK_NUMBER(n, 0);
    CHECK_STATUS(tenon_signature_decode_der(NULL, der, 8), TENON_ERROR_NULL);
    CHECK_CLEARS(tenon_signature_decode_der(&signature, NULL, 8), TENON_ERROR_NULL, &signature);
    CHECK_STATUS(tenon_signature_decode_der(&signature, NULL, SIZE_MAX), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_signature_decode_der(&signature, NULL, 0), TENON_ERROR_DER_TRUNCATED);
    CHECK_STATUS(tenon_signature_decode_der(&signature, der, SIZE_MAX), TENON_ERROR_DER_TRAILING);
    CHECK_STATUS(tenon_signature_normalize(NULL), TENON_ERROR_NULL);
    CHECK_NUMBER(tenon_signature_is_low_s(NULL), 0);
}

/* n, p and n/2 with their neighbours; the numbers are from SP 800-186, 3.2.1.3, and Python. */
static const struct {
    const char *hex;
    bool scalar, field, high;
} numbers[] = {
    {"0000000000000000000000000000000000000000000000000000000000000000", false, true, false},
    {"0000000000000000000000000000000000000000000000000000000000000001", true, true, false},
    {"0100000000000000000000000000000000000000000000000000000000000000", true, true, false},
    {"0000000000000000000000000000000080000000000000000000000000000000", true, true, false},
    {"7fffffff800000007fffffffffffffffde737d56d38bcf4279dce5617e3192a7", true, true, false},
    {"7fffffff800000007fffffffffffffffde737d56d38bcf4279dce5617e3192a8", true, true, false},
    {"7fffffff800000007fffffffffffffffde737d56d38bcf4279dce5617e3192a9", true, true, true},
    {"8000000000000000000000000000000000000000000000000000000000000000", true, true, true},
    {"ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632550", true, true, true},
    {"ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551", false, true, true},
    {"ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632552", false, true, true},
    {"ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632450", true, true, true},
    {"ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fd632550", false, true, true},
    {"ffffffff00000001000000000000000000000000fffffffffffffffffffffffe", false, true, true},
    {"ffffffff00000001000000000000000000000000ffffffffffffffffffffffff", false, false, true},
    {"ffffffff00000001000000000000000000000001000000000000000000000000", false, false, true},
    {"ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff", false, false, true},
};

TEST(scalar_ranges)
{
    for (size_t i = 0; i < COUNT(numbers); i++) {
        uint8_t bytes[32];
        test_about("%s", numbers[i].hex);
        test_hex(bytes, sizeof bytes, numbers[i].hex);
        CHECK_NUMBER(tenoni_scalar_in_range(bytes), numbers[i].scalar);
        CHECK_NUMBER(tenoni_field_in_range(bytes), numbers[i].field);
        CHECK_NUMBER(tenoni_scalar_is_high(bytes), numbers[i].high);
    }
}

/* a + (n - a) = n, added up here byte by byte. */
TEST(scalar_negate)
{
    uint64_t state = 9;
    uint8_t order[32];
    test_hex(order, sizeof order, "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551");
    for (int round = 0; round < 1000; round++) {
        uint8_t scalar[32], negated[32], sum[32];
        unsigned carry = 0;
        test_random_fill(&state, scalar, sizeof scalar);
        scalar[0] &= 0x7f;
        memset(scalar, 0, (size_t)round % 32);
        scalar[31] |= 1;
        memcpy(negated, scalar, sizeof scalar);
        tenoni_scalar_negate(negated);
        for (size_t i = sizeof sum; i-- > 0; carry >>= 8) {
            carry += (unsigned)scalar[i] + negated[i];
            sum[i] = (uint8_t)carry;
        }
        test_about("round %d", round);
        CHECK_NUMBER(carry, 0);
        CHECK_BYTES(sum, order, sizeof sum);
        CHECK(tenoni_scalar_in_range(negated));
        CHECK(tenoni_scalar_is_high(negated) != tenoni_scalar_is_high(scalar));
        tenoni_scalar_negate(negated);
        CHECK_BYTES(negated, scalar, sizeof scalar);
    }
}
