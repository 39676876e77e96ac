/* SPDX-License-Identifier: Apache-2.0 */
#include "base/signature.h"

#include "test.h"

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
