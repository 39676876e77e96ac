/* SPDX-License-Identifier: Apache-2.0 */
#include "base/secure.h"

#include "test.h"

TEST(secure_wipe)
{
    uint8_t bytes[40];
    memset(bytes, 0xa5, sizeof bytes);
    tenoni_wipe(bytes + 1, 38);
    CHECK_ZERO(bytes + 1, 38);
    CHECK(bytes[0] == 0xa5 && bytes[39] == 0xa5);
    tenoni_wipe(bytes, 0);
    CHECK_NUMBER(bytes[0], 0xa5);
    tenoni_wipe(NULL, 0);
}

TEST(secure_equal)
{
    uint8_t left[33], right[33];
    uint64_t state = 11;
    test_random_fill(&state, left, sizeof left);
    memcpy(right, left, sizeof left);
    CHECK(tenoni_equal(left, right, sizeof left));
    CHECK(tenoni_equal(NULL, NULL, 0));
    for (size_t bit = 0; bit < 8 * sizeof left; bit++) {
        right[bit / 8] ^= (uint8_t)(1 << bit % 8);
        test_about("bit %zu", bit);
        CHECK(!tenoni_equal(left, right, sizeof left));
        CHECK(tenoni_equal(left, right, bit / 8));
        right[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    /* Differences that cancel when they are added or xored together. */
    right[0] ^= 0x80;
    right[1] ^= 0x80;
    CHECK(!tenoni_equal(left, right, sizeof left));
}

TEST(secure_masks)
{
    static const uint32_t numbers[] = {0, 1, 25, 26, 62, 63, 64, 255, 256, 0x7ffffffe, 0x7fffffff};
    for (size_t i = 0; i < COUNT(numbers); i++)
        for (size_t j = 0; j < COUNT(numbers); j++) {
            uint32_t a = numbers[i], b = numbers[j];
            test_about("%u and %u", a, b);
            CHECK_NUMBER(tenoni_mask_below(a, b), a < b ? UINT32_MAX : 0);
            CHECK_NUMBER(tenoni_mask_equal(a, b), a == b ? UINT32_MAX : 0);
            if (b < 0x7fffffff)
                CHECK_NUMBER(tenoni_mask_within(a, 1, b), a >= 1 && a <= b ? UINT32_MAX : 0);
        }
}
