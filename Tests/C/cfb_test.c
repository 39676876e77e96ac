/* SPDX-License-Identifier: Apache-2.0 */
#include "crypto/protection.h"

#include "test.h"

/* NIST SP 800-38A, F.3.13 to F.3.18: CFB128 with AES-128 and AES-256. */
enum { SIZE = 64 };

static const char iv_text[] = "000102030405060708090a0b0c0d0e0f";
static const char plain_text[] = "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
                                 "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710";
static const struct {
    size_t key_n;
    const char *key, *text;
} cases[] = {
    {16, "2b7e151628aed2a6abf7158809cf4f3c",
     "3b3fd92eb72dad20333449f8e83cfb4ac8a64537a0b3a93fcde3cdad9f1ce58b"
     "26751f67a3cbb140b1808cf187a4f4dfc04b05357c5d1c0eeac4c66f9ff7f2e6"},
    {32, "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
     "dc7e84bfda79164b7ecd8486985d386039ffed143b28b1c832113c6331e5407b"
     "df10132415e54b92a13ed0a8267ae2f975a385741ab9cef82031623d55b1e471"},
};

/* Each length up to the vector's: CFB of a beginning is the beginning, and nothing behind it changes. */
TEST(cfb_knows_its_vectors)
{
    uint8_t iv[16], iv_before[16], plain[SIZE], key[32], text[SIZE], data[SIZE];
    test_hex(iv, sizeof iv, iv_text);
    memcpy(iv_before, iv, sizeof iv);
    test_hex(plain, sizeof plain, plain_text);
    for (size_t i = 0; i < COUNT(cases); i++) {
        test_hex(key, cases[i].key_n, cases[i].key);
        test_hex(text, sizeof text, cases[i].text);
        for (size_t n = 0; n <= SIZE; n++) {
            test_about("key of %zu bytes, %zu bytes of text", cases[i].key_n, n);
            memcpy(data, plain, sizeof data);
            CHECK_OK(tenoni_cfb_encrypt(data, n, key, cases[i].key_n, iv));
            CHECK_BYTES(data, text, n);
            CHECK_BYTES(data + n, plain + n, SIZE - n);
            memcpy(data, text, sizeof data);
            CHECK_OK(tenoni_cfb_decrypt(data, n, key, cases[i].key_n, iv));
            CHECK_BYTES(data, plain, n);
            CHECK_BYTES(data + n, text + n, SIZE - n);
        }
    }
    CHECK_BYTES(iv, iv_before, sizeof iv);
}

TEST(cfb_refuses_keys_of_other_lengths)
{
    uint8_t key[33] = {0}, iv[16] = {0}, data[1] = {7};
    CHECK_STATUS(tenoni_cfb_encrypt(data, 1, key, 15, iv), TENON_ERROR_CRYPTO);
    CHECK_STATUS(tenoni_cfb_decrypt(data, 1, key, 33, iv), TENON_ERROR_CRYPTO);
    CHECK_STATUS(tenoni_cfb_encrypt(data, 1, key, 0, iv), TENON_ERROR_CRYPTO);
    CHECK_NUMBER(data[0], 7);
}
