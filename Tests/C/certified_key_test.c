/* SPDX-License-Identifier: Apache-2.0 */
#include "certificate_rig.h"

/* Wycheproof's signatures with P-256 and SHA-256, through the door that certificates use. */
static size_t check_wycheproof(const tenoni_certified_key *key, const char *at, const char *end)
{
    size_t message_n, signature_n, count = 0, every = test_rounds(1, 30);
    for (;;) {
        OWNED char *message_hex = test_json(&at, "msg", end);
        if (message_hex == NULL)
            return count;
        OWNED char *signature_hex = test_json(&at, "sig", end);
        OWNED char *result = test_json(&at, "result", end);
        OWNED uint8_t *message = test_hex_all(message_hex, &message_n);
        OWNED uint8_t *signature = test_hex_all(signature_hex, &signature_n);
        test_about("%s over %s", signature_hex, message_hex);
        tenon_status expected = strcmp(result, "valid") == 0 ? TENON_OK : TENON_ERROR_SIGNATURE_INVALID;
        if (count++ % every == 0)
            CHECK_STATUS(tenoni_certified_key_verify(key, false, TENONI_SHA256, tenoni_reader_over(message, message_n),
                                                     tenoni_reader_over(signature, signature_n)),
                         expected);
    }
}

TEST(certified_key_wycheproof)
{
    OWNED char *text = test_vectors("ecdsa_secp256r1_sha256_test.json");
    const char *at = text;
    size_t count = 0;
    char *point_hex;
    while ((point_hex = test_json(&at, "uncompressed", NULL)) != NULL) {
        size_t n;
        OWNED uint8_t *point = test_hex_all(point_hex, &n);
        tenoni_certified_key key = {.kind = TENONI_KEY_P256, .modulus_or_point = tenoni_reader_over(point, n)};
        const char *end = strstr(at, "\"uncompressed\"");
        count += check_wycheproof(&key, at, end);
        free(point_hex);
    }
    CHECK_NUMBER(count, 484);
}

/* At the edges of the arithmetic, digests as they are given: among them sums at infinity and points off the curve. */
static tenon_status expected_of(const char *verify)
{
    if (strcmp(verify, "TENON_OK") == 0)
        return TENON_OK;
    return strncmp(verify, "TENON_ERROR_POINT", 17) == 0 ? TENON_ERROR_POINT_OFF_CURVE : TENON_ERROR_SIGNATURE_INVALID;
}

TEST(certified_key_hard_signatures)
{
    OWNED char *text = test_vectors("p256-hard.txt");
    char *at = text, *name, *value;
    uint8_t point[65] = {4}, r[32], s[32];
    tenoni_message_digest digest = {.hash = TENONI_SHA256};
    tenoni_certified_key key = {.kind = TENONI_KEY_P256, .modulus_or_point = tenoni_reader_over(point, sizeof point)};
    const test_field fields[] = {
        {"Qx", point + 1, 32}, {"Qy", point + 33, 32}, {"H", digest.bytes, 32}, {"R", r, 32}, {"S", s, 32}};
    size_t count = 0, every = test_rounds(1, 5);
    while (test_line(&at, &name, &value)) {
        if (strcmp(name, "Name") == 0)
            test_about("%s", value);
        if (!test_take(fields, COUNT(fields), name, value) && strcmp(name, "Verify") == 0 && count++ % every == 0)
            CHECK_STATUS(tenoni_ecdsa_verify(&key, &digest, r, s), expected_of(value));
    }
    CHECK(count > 20);
}
