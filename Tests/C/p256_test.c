/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

typedef struct {
    tenon_public_key key;
    tenon_digest digest;
    tenon_signature signature;
} sample;

/* Both ways to verify agree. */
static tenon_status verify(const sample *of)
{
    tenon_verifier *verifier = NULL;
    tenon_status once = tenon_p256_verify(&of->key, &of->digest, &of->signature);
    tenon_status made = tenon_verifier_new(&verifier, &of->key);
    CHECK((made == TENON_OK) == (verifier != NULL));
    if (made == TENON_OK)
        made = tenon_verifier_verify(verifier, &of->digest, &of->signature);
    CHECK_STATUS(made, once);
    tenon_verifier_free(&verifier);
    CHECK(verifier == NULL);
    return once;
}

static void check_hard(const sample *of, const char *expected)
{
    tenon_status status = verify(of);
    if (strcmp(tenon_status_name(status), expected) != 0)
        test_fail(__FILE__, __LINE__, "found %s, expected %s", tenon_status_name(status), expected);
}

/* And every function refuses a point that is not on the curve, with its own code. */
TEST(p256_hard_signatures_and_points)
{
    OWNED char *text = test_vectors("p256-hard.txt");
    char *at = text, *name, *value;
    size_t signatures = 0, points = 0, every = test_rounds(1, 10);
    sample of = {0}, of_bad = {.digest = {{1}}, .signature = {{[31] = 1, [63] = 1}}};
    const test_field fields[] = {{"Qx", of.key.bytes, 32},
                                 {"Qy", of.key.bytes + 32, 32},
                                 {"H", of.digest.bytes, 32},
                                 {"R", of.signature.bytes, 32},
                                 {"S", of.signature.bytes + 32, 32}};
    while (test_line(&at, &name, &value)) {
        if (test_take(fields, COUNT(fields), name, value))
            continue;
        if (strcmp(name, "Name") == 0)
            test_about("%s", value);
        of_bad.key = of.key;
        if (strcmp(name, "Verify") == 0 && signatures++ % every == 0)
            check_hard(&of, value);
        if (strcmp(name, "Check") == 0 && strcmp(value, "TENON_OK") != 0 && ++points != 0)
            check_hard(&of_bad, value);
    }
    CHECK(signatures == 146 && points == 16);
}

/* NIST CAVP, 186-3, section [P-256,SHA-256]. */
TEST(p256_cavp)
{
    OWNED char *text = test_vectors("SigVer.rsp");
    char *at = test_section(text, "[P-256,SHA-256]"), *name, *value;
    size_t good = 0, bad = 0, n;
    sample of = {0};
    const test_field fields[] = {{"Qx", of.key.bytes, 32},
                                 {"Qy", of.key.bytes + 32, 32},
                                 {"R", of.signature.bytes, 32},
                                 {"S", of.signature.bytes + 32, 32}};
    while (test_section_line(&at, &name, &value)) {
        if (strcmp(name, "Msg") == 0) {
            OWNED uint8_t *message = test_hex_all(value, &n);
            CHECK_OK(tenon_sha256(&of.digest, message, n));
        }
        if (test_take(fields, COUNT(fields), name, value) || strcmp(name, "Result") != 0)
            continue;
        test_about("vector %zu: %s", good + bad, value);
        tenon_status status = verify(&of);
        value[0] == 'P' ? good++ : bad++;
        if (value[0] == 'P' || value[3] != '4')
            CHECK_STATUS(status, value[0] == 'P' ? TENON_OK : TENON_ERROR_SIGNATURE_INVALID);
        else
            CHECK(status != TENON_OK);
    }
    CHECK(good == 3 && bad == 12);
}

static void check_wycheproof(sample *of, const char *message_hex, const char *signature_hex, bool valid)
{
    size_t message_n, signature_n;
    OWNED uint8_t *message = test_hex_all(message_hex, &message_n);
    OWNED uint8_t *der = test_hex_all(signature_hex, &signature_n);
    CHECK_OK(tenon_sha256(&of->digest, message, message_n));
    tenon_status status = tenon_signature_decode_der(&of->signature, der, signature_n);
    CHECK(!valid || status == TENON_OK);
    if (status == TENON_OK)
        status = verify(of);
    if (valid)
        CHECK_OK(status);
    else
        CHECK(tenon_status_category(status) == TENON_CATEGORY_FORMAT || status == TENON_ERROR_SIGNATURE_INVALID);
}

TEST(p256_wycheproof)
{
    OWNED char *text = test_vectors("ecdsa_secp256r1_sha256_test.json");
    const char *at = text, *next;
    size_t count = 0, valid = 0, every = test_rounds(1, 10);
    sample of = {0};
    while ((next = strstr(at, "\"tcId\"")) != NULL) {
        OWNED char *key = test_json(&at, "uncompressed", next);
        at = next + 1;
        OWNED char *message = test_json(&at, "msg", NULL);
        OWNED char *signature = test_json(&at, "sig", NULL);
        OWNED char *result = test_json(&at, "result", NULL);
        if (key != NULL && strlen(key) == 2 * TENON_POINT_SIZE)
            test_hex(&of.key, sizeof of.key, key + 2);
        test_about("test %zu", ++count);
        valid += strcmp(result, "valid") == 0;
        if (count % every == 0)
            check_wycheproof(&of, message, signature, strcmp(result, "valid") == 0);
    }
    CHECK(count == 484 && valid == 174);
}

/* A signature of IT-Wallet's client data that a TPM made. */
static sample wallet_sample(void)
{
    static const char data[] = "{\"challenge\":\"i4ThI2Jhbu81i8mqyWEuDG5t\","
                               "\"jwk_thumbprint\":\"vU8IDR-OlS8oK4yu-wbzbJL6gVfrT5z-whzMGJlFOBU\"}";
    static const char signature[] = "MEYCIQDmCs9viZjFnNhkAP-ap-E_Ti5LFFeZGgFyMj77ochYuQIhAIcsv_"
                                    "AyLS1hJdE7fzBVfWq0QlJdGvcW1ozjK5D0ZbdV";
    sample of;
    tenon_digest expected;
    uint8_t der[TENON_SIGNATURE_DER_MAX];
    size_t n = 0;
    test_hex(&expected, sizeof expected, "55e073984b622b8bd24ea11a8ca2a3ec0cc7c8f879f1a40f512809f843038d60");
    CHECK_OK(tenon_sha256(&of.digest, (const uint8_t *)data, sizeof data - 1));
    CHECK_BYTES(&of.digest, &expected, sizeof expected);
    CHECK_OK(tenon_base64url_decode(of.key.bytes, 32, &n, "Nj-KAJVIFKRUmTtoqERORaeoQn5ZpxnQacWnT4k_WAA", 43));
    CHECK_OK(tenon_base64url_decode(of.key.bytes + 32, 32, &n, "B84ZC8Iv-CFOZDPJdBequqwkPRq9PxvCXfDqwF5NaTI", 43));
    CHECK_OK(tenon_base64url_decode(der, sizeof der, &n, signature, sizeof signature - 1));
    CHECK_OK(tenon_signature_decode_der(&of.signature, der, n));
    return of;
}

TEST(p256_signature_of_a_tpm)
{
    sample of = wallet_sample(), normalized = of;
    CHECK_OK(verify(&of));
    CHECK_NUMBER(tenon_signature_is_low_s(&of.signature), 0);
    CHECK_OK(tenon_signature_normalize(&normalized.signature));
    CHECK_OK(verify(&normalized));
}

/* Every bit of key, digest and signature counts. */
TEST(p256_changed_bits_are_refused)
{
    sample of = wallet_sample();
    size_t step = test_rounds(5, 97);
    uint8_t *bytes[] = {of.key.bytes, of.digest.bytes, of.signature.bytes};
    static const size_t sizes[] = {64, 32, 64};
    for (size_t part = 0; part < 3; part++)
        for (size_t bit = part; bit < 8 * sizes[part]; bit += step) {
            bytes[part][bit / 8] ^= (uint8_t)(1 << bit % 8);
            test_about("part %zu, bit %zu", part, bit);
            tenon_status status = verify(&of);
            CHECK(status != TENON_OK);
            CHECK(tenon_status_category(status) == TENON_CATEGORY_FORMAT || status == TENON_ERROR_SIGNATURE_INVALID);
            bytes[part][bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
    CHECK_OK(verify(&of));
}

TEST(p256_one_verifier_many_signatures)
{
    sample of = wallet_sample(), other = of;
    OWNED_VERIFIER verifier = NULL;
    other.digest.bytes[0] ^= 1;
    CHECK_OK(tenon_verifier_new(&verifier, &of.key));
    for (int i = 0; i < 3; i++) {
        CHECK_OK(tenon_verifier_verify(verifier, &of.digest, &of.signature));
        CHECK_STATUS(tenon_verifier_verify(verifier, &other.digest, &of.signature), TENON_ERROR_SIGNATURE_INVALID);
    }
}

TEST(p256_bad_input)
{
    sample of = wallet_sample();
    tenon_verifier *verifier, *none = NULL;
    CHECK_STATUS(tenon_p256_check(NULL), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_p256_verify(NULL, &of.digest, &of.signature), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_p256_verify(&of.key, NULL, &of.signature), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_p256_verify(&of.key, &of.digest, NULL), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_verifier_new(NULL, &of.key), TENON_ERROR_NULL);
    verifier = (tenon_verifier *)&of;
    CHECK_STATUS(tenon_verifier_new(&verifier, NULL), TENON_ERROR_NULL);
    CHECK(verifier == NULL);
    verifier = (tenon_verifier *)&of;
    tenon_public_key bad = of.key;
    bad.bytes[63] ^= 1;
    CHECK_STATUS(tenon_verifier_new(&verifier, &bad), TENON_ERROR_POINT_OFF_CURVE);
    CHECK(verifier == NULL);
    CHECK_OK(tenon_verifier_new(&verifier, &of.key));
    CHECK_STATUS(tenon_verifier_verify(NULL, &of.digest, &of.signature), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_verifier_verify(verifier, NULL, &of.signature), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_verifier_verify(verifier, &of.digest, NULL), TENON_ERROR_NULL);
    tenon_verifier_free(&verifier);
    CHECK(verifier == NULL);
    tenon_verifier_free(&verifier);
    tenon_verifier_free(&none);
    tenon_verifier_free(NULL);
}
