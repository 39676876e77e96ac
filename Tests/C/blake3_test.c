/* SPDX-License-Identifier: Apache-2.0 */
#include "crypto/blake3.h"
#include "test.h"

enum { LONGEST = 102400, PERIOD = 251 };

/* The input of the official vectors. */
static uint8_t *make_input(void)
{
    uint8_t *input = malloc(LONGEST);
    for (size_t i = 0; input != NULL && i < LONGEST; i++)
        input[i] = (uint8_t)(i % PERIOD);
    return input;
}

static void in_pieces(tenon_digest *out, const uint8_t *data, size_t n, size_t piece)
{
    tenoni_blake3_stream stream;
    memset(&stream, 0xa5, sizeof stream);
    tenoni_blake3_begin(&stream);
    for (size_t at = 0; at < n; at += piece)
        tenoni_blake3_update(&stream, data + at, n - at < piece ? n - at : piece);
    tenoni_blake3_finish(&stream, out);
}

/* Around the sizes of a block and a chunk, where a piece ends with one, before it, and behind it. */
static const size_t pieces[] = {1, 3, 63, 64, 65, 127, 1023, 1024, 1025, 2048, 5000, LONGEST};

TEST(blake3_official_vectors)
{
    char *text = test_vectors("blake3.txt"), *at = text, *size, *hex;
    OWNED uint8_t *input = make_input();
    size_t cases = 0;
    while (test_line(&at, &size, &hex)) {
        const size_t n = strtoul(size, NULL, 10);
        tenon_digest digest, expected;
        test_about("%zu bytes", n);
        if (!CHECK(input != NULL && n <= LONGEST))
            break;
        test_hex(&expected, sizeof expected, hex);
        tenoni_blake3(&digest, input, n);
        CHECK_BYTES(&digest, &expected, sizeof expected);
        for (size_t i = 0; i < COUNT(pieces); i++) {
            test_about("%zu bytes in pieces of %zu", n, pieces[i]);
            in_pieces(&digest, input, n, pieces[i]);
            CHECK_BYTES(&digest, &expected, sizeof expected);
        }
        cases++;
    }
    CHECK_NUMBER(cases, 35);
    free(text);
}

/* Nothing depends on how the bytes come, at any length near a chunk's end; and each byte counts. */
TEST(blake3_any_pieces)
{
    OWNED uint8_t *input = make_input();
    uint64_t state = 20;
    const size_t rounds = test_rounds(300, 20);
    for (size_t i = 0; i < rounds && CHECK(input != NULL); i++) {
        const size_t n = (size_t)(test_random(&state) % 9000) + 1;
        const size_t changed = (size_t)(test_random(&state) % n);
        tenon_digest whole, split, other;
        test_about("%zu bytes, %zu changed", n, changed);
        tenoni_blake3(&whole, input, n);
        in_pieces(&split, input, n, (size_t)(test_random(&state) % 1500) + 1);
        CHECK_BYTES(&split, &whole, sizeof whole);
        input[changed] ^= 1;
        tenoni_blake3(&other, input, n);
        input[changed] ^= 1;
        CHECK(memcmp(&other, &whole, sizeof whole) != 0);
    }
}

/* Finish reads the stream only, so a log can be hashed while it grows. */
TEST(blake3_goes_on_after_finish)
{
    tenoni_blake3_stream stream;
    tenon_digest digest, expected;
    tenoni_blake3_begin(&stream);
    tenoni_blake3_finish(&stream, &digest);
    tenoni_blake3(&expected, NULL, 0);
    CHECK_BYTES(&digest, &expected, sizeof digest);
    tenoni_blake3_update(&stream, "abc", 3);
    tenoni_blake3_update(&stream, NULL, 0);
    tenoni_blake3_finish(&stream, &digest);
    tenoni_blake3(&expected, "abc", 3);
    CHECK_BYTES(&digest, &expected, sizeof digest);
}
