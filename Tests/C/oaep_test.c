/* SPDX-License-Identifier: Apache-2.0 */
#include "crypto/protection.h"

#include "test.h"

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
