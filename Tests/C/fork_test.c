/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* fork */
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

/* Random values after a fork: parent and children must not share any. */
typedef struct {
    char nonce[TENON_UUID_SIZE];
    tenon_public_key generated;
    tenon_signature signature, again;
} made;

enum { PROCESSES = 3 };

static bool make(const tenon_key *key, made *out)
{
    static const tenon_digest digest = {{1}};
    tenon_key *fresh = NULL;
    size_t n;
    bool good = tenon_request_nonce(out->nonce, sizeof out->nonce, &n) == TENON_OK &&
                tenon_software_key_generate(&fresh, 0) == TENON_OK &&
                tenon_key_public_key(fresh, &out->generated) == TENON_OK &&
                tenon_key_sign_digest(key, &out->signature, &digest) == TENON_OK &&
                tenon_key_sign_digest(key, &out->again, &digest) == TENON_OK;
    tenon_key_free(&fresh);
    return good;
}

static void check_differ(const made *left, const made *right)
{
    CHECK(memcmp(left->nonce, right->nonce, sizeof left->nonce) != 0);
    CHECK(memcmp(&left->generated, &right->generated, sizeof left->generated) != 0);
    CHECK(memcmp(left->signature.bytes, right->signature.bytes, 32) != 0);
    CHECK(memcmp(left->signature.bytes, right->again.bytes, 32) != 0);
    CHECK(memcmp(left->again.bytes, right->again.bytes, 32) != 0);
}

/* The child writes its values and frees everything, because a leak checker checks it, too. */
static void run_child(tenon_key **key, int to)
{
    made mine;
    memset(&mine, 0, sizeof mine);
    bool good = make(*key, &mine) && write(to, &mine, sizeof mine) == (ssize_t)sizeof mine;
    tenon_key_free(key);
    exit(good ? 0 : 1);
}

TEST(fork_repeats_nothing)
{
    uint8_t scalar[32] = {3};
    OWNED_KEY key = NULL;
    made all[PROCESSES];
    memset(all, 0, sizeof all);
    CHECK_OK(tenon_software_key_import(&key, scalar, sizeof scalar, TENON_KEY_SIGNS_DIGESTS));
    CHECK(make(key, &all[0])); /* any generator has begun */
    for (int i = 1; i < PROCESSES; i++) {
        int ends[2], status = -1;
        CHECK_NUMBER(pipe(ends), 0);
        pid_t child = fork();
        if (child == 0)
            run_child(&key, ends[1]);
        CHECK(child > 0);
        CHECK_NUMBER(read(ends[0], &all[i], sizeof all[i]), sizeof all[i]);
        CHECK_NUMBER(waitpid(child, &status, 0), child);
        CHECK_NUMBER(status, 0);
        close(ends[0]);
        close(ends[1]);
    }
    CHECK(make(key, &all[0]));
    for (int i = 0; i < PROCESSES; i++) {
        CHECK(memcmp(all[i].signature.bytes, all[i].again.bytes, 32) != 0);
        for (int j = 0; j < i; j++) {
            test_about("processes %d and %d", i, j);
            check_differ(&all[i], &all[j]);
        }
    }
}
