/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"
#include "tenon/encoding.h"
#include "tenon/p256.h"

typedef tenon_status encoder(uint8_t *out, size_t n, size_t *written, const tenon_public_key *key);
typedef tenon_status decoder(tenon_public_key *out, const uint8_t *bytes, size_t n);

typedef struct {
    size_t size;
    encoder *encode;
    decoder *decode;
    tenon_status wrong_form;
} form;

static const form forms[] = {
    {TENON_POINT_SIZE, tenon_public_key_encode_point, tenon_public_key_decode_point, TENON_ERROR_POINT_FORM},
    {TENON_COMPRESSED_SIZE, tenon_public_key_encode_compressed, tenon_public_key_decode_compressed,
     TENON_ERROR_POINT_FORM},
    {TENON_SPKI_SIZE, tenon_public_key_encode_spki, tenon_public_key_decode_spki, TENON_ERROR_SPKI_FORM},
};

/* SP 800-186, 3.2.1.3: the prime p, written independently. */
static const uint8_t prime[TENON_SCALAR_SIZE] = {0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00,
                                                 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff,
                                                 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

enum { FORMS = sizeof forms / sizeof forms[0] };

/* An accepted key has one text in each form, and every form gives the same key. */
static void round_trip(const form *shape, const tenon_public_key *key)
{
    uint8_t bytes[TENON_SPKI_SIZE];
    tenon_public_key again;
    size_t n;
    MUST(shape->encode(bytes, sizeof bytes, &n, key) == TENON_OK && n == shape->size);
    MUST(shape->decode(&again, bytes, n) == TENON_OK);
    MUST(memcmp(&again, key, sizeof again) == 0);
}

static void thumbprint(const tenon_public_key *key)
{
    char text[TENON_THUMBPRINT_SIZE];
    uint8_t digest[TENON_DIGEST_SIZE];
    size_t n;
    MUST(tenon_public_key_thumbprint(text, sizeof text, &n, key) == TENON_OK && n == sizeof text);
    MUST(tenon_base64url_decode(digest, sizeof digest, &n, text, sizeof text) == TENON_OK && n == sizeof digest);
}

static void accepted(const form *shape, const tenon_public_key *key, const uint8_t *data, size_t n)
{
    size_t written;
    OWNED uint8_t *again = fuzz_room(n);
    MUST(tenon_p256_check(key) == TENON_OK);
    MUST(shape->encode(again, n, &written, key) == TENON_OK);
    MUST(written == n && memcmp(again, data, n) == 0);
    for (size_t i = 0; i < FORMS; i++)
        round_trip(&forms[i], key);
    thumbprint(key);
}

/* The status for a refused point of the right form: its coordinates are the last bytes. */
static tenon_status refusal_of_point(const form *shape, const uint8_t *data)
{
    size_t coordinates = shape->size == TENON_COMPRESSED_SIZE ? 1 : 2;
    bool in_range = true;
    for (size_t i = 1; i <= coordinates; i++)
        in_range = in_range && memcmp(data + shape->size - i * sizeof prime, prime, sizeof prime) < 0;
    return in_range ? TENON_ERROR_POINT_OFF_CURVE : TENON_ERROR_POINT_RANGE;
}

static void decode_any(const form *shape, const uint8_t *data, size_t n)
{
    tenon_public_key key;
    memset(&key, FUZZ_FILL, sizeof key);
    tenon_status status = shape->decode(&key, data, n);
    if (status == TENON_OK) {
        accepted(shape, &key, data, n);
        return;
    }
    MUST(status == shape->wrong_form || status == refusal_of_point(shape, data));
    MUST(fuzz_all(&key, sizeof key, 0));
}

/* The decoders refuse exactly the points that the check refuses, each with its code. */
static void check_any(const uint8_t *data)
{
    uint8_t point[TENON_POINT_SIZE] = {4};
    tenon_public_key key, out;
    memcpy(point + 1, data, sizeof key);
    memcpy(&key, data, sizeof key);
    MUST(tenon_public_key_decode_point(&out, point, sizeof point) == tenon_p256_check(&key));
}

FUZZ_TARGET(data, n)
{
    for (size_t i = 0; i < FORMS; i++)
        decode_any(&forms[i], data, n);
    if (n == TENON_PUBLIC_KEY_SIZE)
        check_any(data);
}
