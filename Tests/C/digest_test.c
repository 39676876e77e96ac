/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

static size_t run_cavp(const char *file)
{
    char *text = test_vectors(file), *at = text, *name, *value;
    size_t count = 0, n = 0, given = 0;
    uint8_t *message = NULL;
    while (test_line(&at, &name, &value)) {
        tenon_digest digest, expected;
        if (strcmp(name, "Len") == 0)
            n = (size_t)strtoul(value, NULL, 10) / 8;
        if (strcmp(name, "Msg") == 0)
            message = test_hex_all(value, &given);
        if (strcmp(name, "MD") != 0)
            continue;
        test_about("%s, %zu bytes", file, n);
        test_hex(&expected, sizeof expected, value);
        CHECK(n == given || (n == 0 && given == 1));
        CHECK_OK(tenon_sha256(&digest, message, n));
        CHECK_BYTES(&digest, &expected, sizeof digest);
        free(message);
        message = NULL;
        count++;
    }
    free(text);
    return count;
}

TEST(digest_cavp_short_and_long)
{
    CHECK_NUMBER(run_cavp("SHA256ShortMsg.rsp"), 65);
    CHECK_NUMBER(run_cavp("SHA256LongMsg.rsp"), 64);
}

/* The SHA Validation System, 6.4: each digest is that of the three before it, a thousand times. */
TEST(digest_cavp_monte_carlo)
{
    char *text = test_vectors("SHA256Monte.rsp"), *at = text, *name, *value;
    size_t limit = test_rounds(100, 3), count = 0;
    tenon_digest seed = {{0}}, expected;
    while (count < limit && test_line(&at, &name, &value)) {
        if (strcmp(name, "Seed") == 0)
            test_hex(&seed, sizeof seed, value);
        if (strcmp(name, "MD") != 0)
            continue;
        tenon_digest last[3] = {seed, seed, seed};
        for (int i = 0; i < 1000; i++) {
            tenon_digest next;
            CHECK_OK(tenon_sha256(&next, last[0].bytes, sizeof last));
            last[0] = last[1];
            last[1] = last[2];
            last[2] = next;
        }
        seed = last[2];
        test_about("count %zu", count++);
        test_hex(&expected, sizeof expected, value);
        CHECK_BYTES(&seed, &expected, sizeof seed);
    }
    CHECK_NUMBER(count, limit);
    free(text);
}

TEST(digest_pieces_make_the_whole)
{
    uint8_t message[300];
    uint64_t state = 3;
    test_random_fill(&state, message, sizeof message);
    for (size_t n = 0; n <= sizeof message; n++) {
        tenon_sha256_stream stream, copy;
        tenon_digest whole, pieces, of_copy;
        size_t done = 0;
        test_about("%zu bytes", n);
        CHECK_OK(tenon_sha256(&whole, message, n));
        CHECK_OK(tenon_sha256_begin(&stream));
        CHECK_OK(tenon_sha256_update(&stream, NULL, 0));
        while (done < n) {
            size_t piece = (size_t)(test_random(&state) % (n - done)) + 1;
            CHECK_OK(tenon_sha256_update(&stream, message + done, piece));
            done += piece;
            copy = stream; /* a stream is a value */
            stream = copy;
        }
        copy = stream;
        CHECK_OK(tenon_sha256_finish(&stream, &pieces));
        CHECK_OK(tenon_sha256_finish(&copy, &of_copy));
        CHECK_BYTES(&pieces, &whole, sizeof whole);
        CHECK_BYTES(&of_copy, &whole, sizeof whole);
        CHECK_ZERO(&stream, sizeof stream);
    }
}

TEST(digest_bad_input)
{
    tenon_sha256_stream stream;
    tenon_digest digest;
    memset(&digest, 0xa5, sizeof digest);
    CHECK_STATUS(tenon_sha256(NULL, (const uint8_t *)"a", 1), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_sha256(NULL, NULL, 0), TENON_ERROR_NULL);
    CHECK_CLEARS(tenon_sha256(&digest, NULL, 1), TENON_ERROR_NULL, &digest);
    CHECK_STATUS(tenon_sha256(&digest, NULL, SIZE_MAX), TENON_ERROR_NULL);
    CHECK_OK(tenon_sha256(&digest, NULL, 0));
    CHECK_STATUS(tenon_sha256_begin(NULL), TENON_ERROR_NULL);
    CHECK_OK(tenon_sha256_begin(&stream));
    CHECK_STATUS(tenon_sha256_update(NULL, (const uint8_t *)"a", 1), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_sha256_update(NULL, NULL, 0), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_sha256_update(&stream, NULL, 1), TENON_ERROR_NULL);
    CHECK_CLEARS(tenon_sha256_finish(NULL, &digest), TENON_ERROR_NULL, &digest);
    CHECK_STATUS(tenon_sha256_finish(&stream, NULL), TENON_ERROR_NULL);
    CHECK_OK(tenon_sha256_update(&stream, (const uint8_t *)"abc", 3));
    CHECK_OK(tenon_sha256_finish(&stream, &digest));
    CHECK_NUMBER(digest.bytes[0], 0xba);
}

static void check_unusable(tenon_sha256_stream *stream)
{
    tenon_digest digest;
    memset(&digest, 0xa5, sizeof digest);
    CHECK_STATUS(tenon_sha256_update(stream, (const uint8_t *)"a", 1), TENON_ERROR_STREAM);
    CHECK_STATUS(tenon_sha256_update(stream, NULL, 0), TENON_ERROR_STREAM);
    CHECK_CLEARS(tenon_sha256_finish(stream, &digest), TENON_ERROR_STREAM, &digest);
}

TEST(digest_stream_in_the_wrong_state)
{
    tenon_sha256_stream stream;
    tenon_request request;
    tenon_digest digest;
    memset(&stream, 0, sizeof stream);
    check_unusable(&stream);
    memset(&stream, 0xff, sizeof stream);
    check_unusable(&stream);
    CHECK_OK(tenon_sha256_begin(&stream));
    CHECK_OK(tenon_sha256_finish(&stream, &digest));
    check_unusable(&stream);
    CHECK_OK(tenon_request_begin(&request, "GET", 3, "/", 1, "1700000000", 10));
    memcpy(&stream, &request, sizeof stream);
    check_unusable(&stream);
    CHECK_OK(tenon_sha256_begin(&stream));
    memcpy(&request, &stream, sizeof request);
    CHECK_STATUS(tenon_request_update(&request, (const uint8_t *)"a", 1), TENON_ERROR_STREAM);
    CHECK_STATUS(tenon_request_finish(&request, &digest), TENON_ERROR_STREAM);
}
