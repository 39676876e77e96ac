/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

/* Handles are shared by threads without a lock; ThreadSanitizer and helgrind watch this test. */

enum { THREADS = 8, BOTH = TENON_KEY_SIGNS_DIGESTS | TENON_KEY_DETERMINISTIC };

static tenon_key *random_key, *deterministic_key;
static tenon_verifier *verifier;
static tenon_public_key public_key;

static void one_round(const tenon_digest *digest)
{
    tenon_signature signature, again, other;
    tenon_public_key read;
    tenon_digest wrong = *digest;
    wrong.bytes[31] ^= 1;
    CHECK_OK(tenon_key_sign_digest(random_key, &signature, digest));
    CHECK_OK(tenon_verifier_verify(verifier, digest, &signature));
    CHECK_STATUS(tenon_verifier_verify(verifier, &wrong, &signature), TENON_ERROR_SIGNATURE_INVALID);
    CHECK_OK(tenon_key_sign_digest(deterministic_key, &again, digest));
    CHECK_OK(tenon_key_sign_digest(deterministic_key, &other, digest));
    CHECK_BYTES(&again, &other, sizeof again);
    CHECK_OK(tenon_verifier_verify(verifier, digest, &again));
    CHECK_OK(tenon_key_public_key(random_key, &read));
    CHECK_BYTES(&read, &public_key, sizeof read);
}

static void work(void *context)
{
    size_t rounds = test_rounds(10, 2);
    tenon_digest digest;
    memset(&digest, *(const int *)context, sizeof digest);
    for (size_t i = 0; i < rounds; i++) {
        digest.bytes[0] = (uint8_t)i;
        one_round(&digest);
    }
}

TEST(thread_shared_handles)
{
    int numbers[THREADS] = {0, 1, 2, 3, 4, 5, 6, 7};
    uint8_t scalar[32] = {9};
    CHECK_OK(tenon_software_key_import(&random_key, scalar, sizeof scalar, TENON_KEY_SIGNS_DIGESTS));
    CHECK_OK(tenon_software_key_import(&deterministic_key, scalar, sizeof scalar, BOTH));
    CHECK_OK(tenon_key_public_key(random_key, &public_key));
    CHECK_OK(tenon_verifier_new(&verifier, &public_key));
    test_threads(THREADS, work, numbers, sizeof *numbers);
    tenon_verifier_free(&verifier);
    tenon_key_free(&deterministic_key);
    tenon_key_free(&random_key);
}
