/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#define G_X "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
#define G_Y "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5"
#define SPKI_HEAD "3059301306072a8648ce3d020106082a8648ce3d030107034200"

static tenon_public_key base_point(void)
{
    tenon_public_key key;
    test_hex(&key, sizeof key, G_X G_Y);
    return key;
}

typedef tenon_status decoder(tenon_public_key *out, const uint8_t *bytes, size_t n);

static void check_decoder(decoder *decode, const void *bytes, size_t n, tenon_status expected,
                          const tenon_public_key *key)
{
    tenon_public_key out;
    memset(&out, 0xa5, sizeof out);
    if (CHECK_STATUS(decode(&out, bytes, n), expected) && expected == TENON_OK)
        CHECK_BYTES(&out, key, sizeof out);
    else
        CHECK_ZERO(&out, sizeof out);
}

/* All three forms of a point that may or may not be on the curve. */
static void check_forms(const tenon_public_key *key, tenon_status expected)
{
    uint8_t point[65] = {4}, spki[91], compressed[33], out[91];
    size_t n = 0;
    test_hex(spki, 26, SPKI_HEAD);
    memcpy(point + 1, key, 64);
    memcpy(spki + 26, point, 65);
    compressed[0] = (uint8_t)(2 + (key->bytes[63] & 1));
    memcpy(compressed + 1, key, 32);
    CHECK_OK(tenon_public_key_encode_point(out, sizeof out, &n, key));
    CHECK(n == sizeof point && memcmp(out, point, n) == 0);
    CHECK_OK(tenon_public_key_encode_spki(out, sizeof out, &n, key));
    CHECK(n == sizeof spki && memcmp(out, spki, n) == 0);
    CHECK_OK(tenon_public_key_encode_compressed(out, sizeof out, &n, key));
    CHECK(n == sizeof compressed && memcmp(out, compressed, n) == 0);
    check_decoder(tenon_public_key_decode_point, point, sizeof point, expected, key);
    check_decoder(tenon_public_key_decode_spki, spki, sizeof spki, expected, key);
    if (expected == TENON_OK)
        check_decoder(tenon_public_key_decode_compressed, compressed, sizeof compressed, TENON_OK, key);
    CHECK_STATUS(tenon_p256_check(key), expected);
}

static tenon_status status_named(const char *name)
{
    static const tenon_status known[] = {TENON_OK, TENON_ERROR_POINT_RANGE, TENON_ERROR_POINT_OFF_CURVE};
    for (size_t i = 0; i < COUNT(known); i++)
        if (strcmp(tenon_status_name(known[i]), name) == 0)
            return known[i];
    return TENON_ERROR_CRYPTO;
}

static void check_thumbprint(const tenon_public_key *key, const char *expected)
{
    char out[TENON_THUMBPRINT_SIZE];
    size_t n = 0;
    CHECK_OK(tenon_public_key_thumbprint(out, sizeof out, &n, key));
    CHECK_SAME(out, n, expected, strlen(expected));
}

static void check_compressed(uint8_t head, const tenon_public_key *key, tenon_status expected)
{
    uint8_t compressed[33] = {head};
    memcpy(compressed + 1, key, 32);
    check_decoder(tenon_public_key_decode_compressed, compressed, sizeof compressed, expected, key);
}

TEST(public_key_hard_points)
{
    OWNED char *text = test_vectors("p256-hard.txt");
    char *at = text, *name, *value;
    size_t points = 0, thumbprints = 0, decompressions = 0;
    tenon_public_key key = {{0}};
    const test_field fields[] = {{"Qx", key.bytes, 32}, {"Qy", key.bytes + 32, 32}};
    while (test_line(&at, &name, &value)) {
        if (test_take(fields, COUNT(fields), name, value))
            continue;
        if (strcmp(name, "Name") == 0)
            test_about("%s", value);
        else if (strcmp(name, "Check") == 0)
            check_forms(&key, status_named(value)), points++;
        else if (strcmp(name, "Thumbprint") == 0)
            check_thumbprint(&key, value), thumbprints++;
        else if (strcmp(name, "Odd") == 0)
            check_compressed(3, &key, status_named(value)), decompressions++;
        else if (strcmp(name, "Even") == 0)
            check_compressed(2, &key, status_named(value)), decompressions++;
    }
    CHECK_NUMBER(points, 26);
    CHECK_NUMBER(thumbprints, 10);
    CHECK_NUMBER(decompressions, 114);
}

TEST(public_key_forms_refused)
{
    tenon_public_key key = base_point();
    uint8_t bytes[92] = {0};
    memcpy(bytes + 1, &key, sizeof key);
    for (unsigned head = 0; head < 256; head++) {
        bytes[0] = (uint8_t)head;
        test_about("first byte %02x", head);
        check_decoder(tenon_public_key_decode_point, bytes, 65, head == 4 ? TENON_OK : TENON_ERROR_POINT_FORM, &key);
        if (head != 2 && head != 3)
            check_decoder(tenon_public_key_decode_compressed, bytes, 33, TENON_ERROR_POINT_FORM, NULL);
    }
    for (size_t n = 0; n <= sizeof bytes; n++) {
        test_about("%zu bytes", n);
        bytes[0] = 4;
        if (n != 65)
            check_decoder(tenon_public_key_decode_point, bytes, n, TENON_ERROR_POINT_FORM, NULL);
        bytes[0] = 3;
        if (n != 33)
            check_decoder(tenon_public_key_decode_compressed, bytes, n, TENON_ERROR_POINT_FORM, NULL);
    }
    test_about("SIZE_MAX");
    check_decoder(tenon_public_key_decode_point, bytes, SIZE_MAX, TENON_ERROR_POINT_FORM, NULL);
    check_decoder(tenon_public_key_decode_compressed, bytes, SIZE_MAX, TENON_ERROR_POINT_FORM, NULL);
    check_decoder(tenon_public_key_decode_spki, bytes, SIZE_MAX, TENON_ERROR_SPKI_FORM, NULL);
}

/* An accepted text equals the encoder's: with any byte of the head or of the key changed, it is refused. */
TEST(public_key_spki_mutations)
{
    uint8_t spki[100], again[91];
    size_t n, rounds = test_rounds(256, 16);
    test_hex(spki, 91, SPKI_HEAD "04" G_X G_Y);
    memset(spki + 91, 0, sizeof spki - 91);
    for (size_t at = 0; at < 91; at++) {
        uint8_t kept = spki[at];
        for (size_t change = 1; change < (at < 27 ? 256 : rounds); change += at < 27 ? 1 : 5) {
            tenon_public_key key;
            spki[at] = (uint8_t)(kept ^ change);
            test_about("byte %zu is %02x", at, spki[at]);
            tenon_status status = tenon_public_key_decode_spki(&key, spki, 91);
            if (at < 27)
                CHECK_STATUS(status, TENON_ERROR_SPKI_FORM);
            CHECK(status != TENON_OK);
            CHECK_NUMBER(tenon_status_category(status), TENON_CATEGORY_FORMAT);
            CHECK_ZERO(&key, sizeof key);
        }
        spki[at] = kept;
        test_about("cut at %zu", at);
        check_decoder(tenon_public_key_decode_spki, spki, at, TENON_ERROR_SPKI_FORM, NULL);
    }
    for (n = 92; n <= sizeof spki; n++)
        check_decoder(tenon_public_key_decode_spki, spki, n, TENON_ERROR_SPKI_FORM, NULL);
    tenon_public_key key;
    CHECK_OK(tenon_public_key_decode_spki(&key, spki, 91));
    CHECK_OK(tenon_public_key_encode_spki(again, sizeof again, &n, &key));
    CHECK(n == 91 && memcmp(again, spki, 91) == 0);
}

/* Other forms of the same key that some readers accept: compressed in SPKI, explicit algorithm with NULL, P-256 as k1.
 * */
TEST(public_key_spki_of_others)
{
    static const char *const forms[] = {
        "3039301306072a8648ce3d020106082a8648ce3d03010703220003" G_X,
        "3056301006072a8648ce3d020106052b8104000a03420004" G_X G_Y,
        "305a301306072a8648ce3d020106082a8648ce3d03010703430000"
        "04" G_X G_Y,
        "308159301306072a8648ce3d020106082a8648ce3d03010703420004" G_X G_Y,
    };
    for (size_t i = 0; i < COUNT(forms); i++) {
        size_t n;
        OWNED uint8_t *spki = test_hex_all(forms[i], &n);
        test_about("form %zu", i);
        check_decoder(tenon_public_key_decode_spki, spki, n, TENON_ERROR_SPKI_FORM, NULL);
    }
}

/* IT-Wallet, client data: RFC 7638 thumbprints by other implementations. */
TEST(public_key_thumbprint_of_the_services)
{
    tenon_public_key key;
    size_t n;
    CHECK_OK(tenon_base64url_decode(key.bytes, 32, &n, "4HNptI-xr2pjyRJKGMnz4WmdnQD_uJSq4R95Nj98b44", 43));
    CHECK_OK(tenon_base64url_decode(key.bytes + 32, 32, &n, "LIZnSB39vFJhYgS3k7jXE4r3-CoGFQwZtPBIRqpNlrg", 43));
    CHECK_OK(tenon_p256_check(&key));
    check_thumbprint(&key, "vbeXJksM45xphtANnCiG6mCyuU4jfGNzopGuKvogg9c");
}

OUTPUT(encode_point) { return tenon_public_key_encode_point(out, n, written, input); }

OUTPUT(encode_compressed) { return tenon_public_key_encode_compressed(out, n, written, input); }

OUTPUT(encode_spki) { return tenon_public_key_encode_spki(out, n, written, input); }

OUTPUT(thumbprint) { return tenon_public_key_thumbprint((char *)out, n, written, input); }

TEST(public_key_output_rule)
{
    tenon_public_key key = base_point();
    test_output_rule("encode_point", encode_point, &key, NULL, TENON_POINT_SIZE);
    test_output_rule("encode_compressed", encode_compressed, &key, NULL, TENON_COMPRESSED_SIZE);
    test_output_rule("encode_spki", encode_spki, &key, NULL, TENON_SPKI_SIZE);
    test_output_rule("thumbprint", thumbprint, &key, NULL, TENON_THUMBPRINT_SIZE);
}

TEST(public_key_bad_input)
{
    static const test_output encoders[] = {encode_point, encode_compressed, encode_spki, thumbprint};
    static decoder *const decoders[] = {tenon_public_key_decode_point, tenon_public_key_decode_compressed,
                                        tenon_public_key_decode_spki};
    static const size_t lengths[] = {TENON_POINT_SIZE, TENON_COMPRESSED_SIZE, TENON_SPKI_SIZE};
    uint8_t bytes[100] = {4};
    for (size_t i = 0; i < 4; i++) {
        size_t n = 12345;
        test_about("encoder %zu", i);
        CHECK_STATUS(encoders[i](NULL, bytes, sizeof bytes, &n), TENON_ERROR_NULL);
        CHECK_NUMBER(n, 0);
    }
    for (size_t i = 0; i < 3; i++) {
        test_about("decoder %zu", i);
        CHECK_STATUS(decoders[i](NULL, bytes, lengths[i]), TENON_ERROR_NULL);
        check_decoder(decoders[i], NULL, lengths[i], TENON_ERROR_NULL, NULL);
        check_decoder(decoders[i], NULL, SIZE_MAX, TENON_ERROR_NULL, NULL);
        check_decoder(decoders[i], NULL, 0, i == 2 ? TENON_ERROR_SPKI_FORM : TENON_ERROR_POINT_FORM, NULL);
    }
}
