/* SPDX-License-Identifier: Apache-2.0 */
#include "bench.h"
#include "crowd.h"

/* Many threads at one key. */

enum { TIMES = 16 };

typedef struct {
    const fixture *fixture;
    const tenon_key *key;
    const tenon_verifier *verifier;
    size_t turn;
} member;

typedef struct {
    tenon_key *key;
    tenon_verifier *verifier;
    member members[CROWD_MAX];
    crowd *signing, *verifying;
} threads_side;

static bool sign_in_thread(void *context, size_t unused)
{
    member *self = context;
    const tenon_digest *digest = &self->fixture->digests[fixture_next(&self->turn)];
    tenon_signature signature;
    return tenon_key_sign_digest(self->key, &signature, digest) == TENON_OK;
}

static bool verify_in_thread(void *context, size_t unused)
{
    member *self = context;
    size_t i = fixture_next(&self->turn);
    return tenon_verifier_verify(self->verifier, &self->fixture->digests[i], &self->fixture->signatures[i]) == TENON_OK;
}

static void threads_close(void *context)
{
    threads_side *self = context;
    crowd_free(self->signing);
    crowd_free(self->verifying);
    tenon_verifier_free(&self->verifier);
    tenon_key_free(&self->key);
}

static bool make_crowds(threads_side *self, const fixture *made)
{
    void *contexts[CROWD_MAX];
    for (size_t i = 0; i < CROWD_MAX; i++) {
        self->members[i] = (member){made, self->key, self->verifier, i};
        contexts[i] = &self->members[i];
    }
    self->signing = crowd_new(sign_in_thread, contexts, TIMES);
    self->verifying = crowd_new(verify_in_thread, contexts, TIMES);
    return self->signing != NULL && self->verifying != NULL;
}

static bool threads_open(void *context, const fixture *made)
{
    threads_side *self = context;
    return tenon_software_key_import(&self->key, made->scalar, sizeof made->scalar, TENON_KEY_SIGNS_DIGESTS) ==
               TENON_OK &&
           tenon_verifier_new(&self->verifier, &made->key) == TENON_OK && make_crowds(self, made);
}

static bool sign(void *context, size_t threads)
{
    const threads_side *self = context;
    return crowd_run(self->signing, threads);
}

static bool verify(void *context, size_t threads)
{
    const threads_side *self = context;
    return crowd_run(self->verifying, threads);
}

static const side_line lines[] = {
    {"sign-threads-1", sign, CROWD_ONE, CROWD_ONE *TIMES},
    {"sign-threads-4", sign, CROWD_FOUR, CROWD_FOUR *TIMES},
    {"sign-threads-16", sign, CROWD_MAX, CROWD_MAX *TIMES},
    {"verify-threads-1", verify, CROWD_ONE, CROWD_ONE *TIMES},
    {"verify-threads-4", verify, CROWD_FOUR, CROWD_FOUR *TIMES},
    {"verify-threads-16", verify, CROWD_MAX, CROWD_MAX *TIMES},
};

const side side_threads = {"tenon",      tenon_version_text, sizeof(threads_side),
                           threads_open, threads_close,      SIDE_LINES(lines)};
