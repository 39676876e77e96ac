/* SPDX-License-Identifier: Apache-2.0 */
#include "crypto/protection.h"

#include "test.h"

enum { SIZE = TENONI_RSA_SIZE };

typedef struct {
    uint8_t modulus[SIZE], salt[32], message[SIZE], block[SIZE];
    char label[16];
    size_t n;
} encryption;

/* A record of credential.txt's [oaep], which ends with Block. */
static bool next(char **at, bool *inside, encryption *out)
{
    char *name, *value;
    while (test_line(at, &name, &value)) {
        if (name[0] == '[')
            *inside = strcmp(name, "[oaep]") == 0;
        else if (*inside && strcmp(name, "Modulus") == 0)
            test_hex(out->modulus, SIZE, value);
        else if (*inside && strcmp(name, "Label") == 0 && strlen(value) < sizeof out->label)
            memcpy(out->label, value, strlen(value) + 1);
        else if (*inside && strcmp(name, "Salt") == 0)
            test_hex(out->salt, sizeof out->salt, value);
        else if (*inside && strcmp(name, "Message") == 0) {
            out->n = strlen(value) / 2;
            test_hex(out->message, out->n, value);
        } else if (*inside && strcmp(name, "Block") == 0) {
            test_hex(out->block, SIZE, value);
            return true;
        }
    }
    return false;
}

TEST(oaep_knows_its_vectors)
{
    encryption e;
    bool inside = false;
    char *text = test_vectors("credential.txt"), *at = text;
    uint8_t out[SIZE + 1];
    size_t count = 0;
    for (; next(&at, &inside, &e); count++) {
        test_about("%zu bytes", e.n);
        memset(out, 0xa5, sizeof out);
        CHECK(tenoni_rsa_modulus_fits(e.modulus));
        CHECK_OK(tenoni_oaep_encrypt(out, e.modulus, e.label, (tenoni_part){e.message, e.n}, e.salt));
        CHECK_BYTES(out, e.block, SIZE);
        CHECK_NUMBER(out[SIZE], 0xa5);
    }
    CHECK_NUMBER(count, 3);
    CHECK_NUMBER(e.n, TENONI_OAEP_MAX);
    test_about("one byte more");
    CHECK_STATUS(tenoni_oaep_encrypt(out, e.modulus, e.label, (tenoni_part){e.message, e.n + 1}, e.salt),
                 TENON_ERROR_TOO_LARGE);
    free(text);
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
