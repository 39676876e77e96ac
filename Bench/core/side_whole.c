/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "crowd.h"
#include "sides.h"

/* Whole requests, a key that is not kept, and many threads at one key. */

enum { SIZES = 3, ONE = 1, FOUR = 4, SIXTEEN = 16, TIMES = 16 };

typedef struct {
    const fixture *fixture;
    const tenon_key *key;
    const tenon_verifier *verifier;
    size_t turn;
} thread_of;

typedef struct {
    const fixture *fixture;
    tenon_key *key;
    tenon_verifier *verifier;
    thread_of threads[CROWD_MAX];
    crowd *signing[SIZES], *verifying[SIZES];
} whole_side;

static const size_t sizes[SIZES] = {ONE, FOUR, SIXTEEN};

static bool sign_in_thread(void *context)
{
    thread_of *self = context;
    const tenon_digest *digest = &self->fixture->digests[fixture_next(&self->turn)];
    tenon_signature signature;
    return tenon_key_sign_digest(self->key, &signature, digest) == TENON_OK;
}

static bool verify_in_thread(void *context)
{
    thread_of *self = context;
    size_t i = fixture_next(&self->turn);
    return tenon_verifier_verify(self->verifier, &self->fixture->digests[i], &self->fixture->signatures[i]) == TENON_OK;
}

static void whole_close(void *context)
{
    whole_side *self = context;
    for (size_t i = 0; i < SIZES; i++) {
        crowd_free(self->signing[i]);
        crowd_free(self->verifying[i]);
    }
    tenon_verifier_free(&self->verifier);
    tenon_key_free(&self->key);
    free(self);
}

static bool make_crowds(whole_side *self)
{
    void *contexts[CROWD_MAX];
    bool made = true;
    for (size_t i = 0; i < CROWD_MAX; i++) {
        self->threads[i] = (thread_of){self->fixture, self->key, self->verifier, i};
        contexts[i] = &self->threads[i];
    }
    for (size_t i = 0; i < SIZES; i++) {
        self->signing[i] = crowd_new(sign_in_thread, contexts, sizes[i], TIMES);
        self->verifying[i] = crowd_new(verify_in_thread, contexts, sizes[i], TIMES);
        made = made && self->signing[i] != NULL && self->verifying[i] != NULL;
    }
    return made;
}

static void *whole_open(const fixture *made)
{
    whole_side *self = calloc(1, sizeof *self);
    if (self == NULL)
        return NULL;
    self->fixture = made;
    if (tenon_software_key_import(&self->key, made->scalar, sizeof made->scalar, TENON_KEY_SIGNS_DIGESTS) == TENON_OK &&
        tenon_verifier_new(&self->verifier, &made->key) == TENON_OK && make_crowds(self))
        return self;
    whole_close(self);
    return NULL;
}

/* From the body to six headers. */
static bool request(whole_side *self, size_t body_n)
{
    tenon_request made;
    tenon_digest digest;
    tenon_signature signature;
    char headers[TENON_HEADERS_MAX];
    tenon_header_offsets offsets;
    size_t n;
    tenon_status status = tenon_request_begin(&made, fixture_method, strlen(fixture_method), fixture_path,
                                              strlen(fixture_path), fixture_timestamp, strlen(fixture_timestamp));
    if (status == TENON_OK)
        status = tenon_request_update(&made, self->fixture->data, body_n);
    if (status == TENON_OK)
        status = tenon_request_finish(&made, &digest);
    if (status == TENON_OK)
        status = tenon_key_sign_digest(self->key, &signature, &digest);
    return status == TENON_OK &&
           tenon_request_headers(headers, sizeof headers, &n, &offsets, &signature, fixture_app_id,
                                 strlen(fixture_app_id), fixture_device_id, strlen(fixture_device_id),
                                 fixture_timestamp, strlen(fixture_timestamp), fixture_nonce,
                                 strlen(fixture_nonce)) == TENON_OK;
}

static bool request_0(void *context)
{
    return request(context, 0);
}

static bool request_1k(void *context)
{
    return request(context, 1024);
}

static bool request_64k(void *context)
{
    return request(context, 65536);
}

static bool request_1m(void *context)
{
    return request(context, 1 << 20);
}

static bool sign_cold(void *context)
{
    const whole_side *self = context;
    const fixture *made = self->fixture;
    tenon_key *key;
    tenon_signature signature;
    tenon_status status = tenon_software_key_import(&key, made->scalar, sizeof made->scalar, TENON_KEY_SIGNS_DIGESTS);
    if (status == TENON_OK)
        status = tenon_key_sign_digest(key, &signature, &made->digests[0]);
    tenon_key_free(&key);
    return status == TENON_OK;
}

static bool sign_1(void *context)
{
    const whole_side *self = context;
    return crowd_run(self->signing[0]);
}

static bool sign_4(void *context)
{
    const whole_side *self = context;
    return crowd_run(self->signing[1]);
}

static bool sign_16(void *context)
{
    const whole_side *self = context;
    return crowd_run(self->signing[2]);
}

static bool verify_1(void *context)
{
    const whole_side *self = context;
    return crowd_run(self->verifying[0]);
}

static bool verify_4(void *context)
{
    const whole_side *self = context;
    return crowd_run(self->verifying[1]);
}

static bool verify_16(void *context)
{
    const whole_side *self = context;
    return crowd_run(self->verifying[2]);
}

static const side_line lines[] = {
    {"request-0", request_0},
    {"request-1k", request_1k},
    {"request-64k", request_64k},
    {"request-1m", request_1m},
    {"sign-cold", sign_cold},
    {"sign-threads-1", sign_1, ONE *TIMES},
    {"sign-threads-4", sign_4, FOUR *TIMES},
    {"sign-threads-16", sign_16, SIXTEEN *TIMES},
    {"verify-threads-1", verify_1, ONE *TIMES},
    {"verify-threads-4", verify_4, FOUR *TIMES},
    {"verify-threads-16", verify_16, SIXTEEN *TIMES},
};

const side side_tenon_whole = {
    .name = "tenon",
    .version = tenon_version_text,
    .open = whole_open,
    .close = whole_close,
    .lines = lines,
    .lines_n = sizeof lines / sizeof *lines,
};
