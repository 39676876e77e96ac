/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* pthread_barrier_t */
#include <pthread.h>
#include <string.h>

#include "test.h"

/* Handles are shared by threads without a lock; ThreadSanitizer and helgrind watch this test. */

enum { THREADS = 8, BOTH = TENON_KEY_SIGNS_DIGESTS | TENON_KEY_DETERMINISTIC };

static pthread_barrier_t start;
static tenon_key *random_key, *deterministic_key;
static tenon_verifier *verifier;
static tenon_public_key public_key;

static void one_round(const tenon_digest *digest)
{
    tenon_signature signature, again, other;
    tenon_public_key read;
    tenon_digest wrong = *digest;
    wrong.bytes[31] ^= 1;
    CHECK_STATUS(tenon_key_sign_digest(random_key, &signature, digest), TENON_OK);
    CHECK_STATUS(tenon_verifier_verify(verifier, digest, &signature), TENON_OK);
    CHECK_STATUS(tenon_verifier_verify(verifier, &wrong, &signature), TENON_ERROR_SIGNATURE_INVALID);
    CHECK_STATUS(tenon_key_sign_digest(deterministic_key, &again, digest), TENON_OK);
    CHECK_STATUS(tenon_key_sign_digest(deterministic_key, &other, digest), TENON_OK);
    CHECK_BYTES(&again, &other, sizeof again);
    CHECK_STATUS(tenon_verifier_verify(verifier, digest, &again), TENON_OK);
    CHECK_STATUS(tenon_key_public_key(random_key, &read), TENON_OK);
    CHECK_BYTES(&read, &public_key, sizeof read);
}

static void *work(void *context)
{
    size_t rounds = test_rounds(10, 2);
    tenon_digest digest;
    memset(&digest, *(const int *)context, sizeof digest);
    pthread_barrier_wait(&start);
    for (size_t i = 0; i < rounds; i++) {
        digest.bytes[0] = (uint8_t)i;
        one_round(&digest);
    }
    return NULL;
}

TEST(thread_shared_handles)
{
    pthread_t threads[THREADS];
    int numbers[THREADS];
    uint8_t scalar[32] = {9};
    CHECK_STATUS(tenon_software_key_import(&random_key, scalar, sizeof scalar, TENON_KEY_SIGNS_DIGESTS), TENON_OK);
    CHECK_STATUS(tenon_software_key_import(&deterministic_key, scalar, sizeof scalar, BOTH), TENON_OK);
    CHECK_STATUS(tenon_key_public_key(random_key, &public_key), TENON_OK);
    CHECK_STATUS(tenon_verifier_new(&verifier, &public_key), TENON_OK);
    CHECK_NUMBER(pthread_barrier_init(&start, NULL, THREADS), 0);
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        CHECK_NUMBER(pthread_create(&threads[i], NULL, work, &numbers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        CHECK_NUMBER(pthread_join(threads[i], NULL), 0);
    pthread_barrier_destroy(&start);
    tenon_verifier_free(&verifier);
    tenon_key_free(&deterministic_key);
    tenon_key_free(&random_key);
}
