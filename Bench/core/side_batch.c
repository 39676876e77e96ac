/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "owned.h"
#include "tenon/batch/batch.h"

/*
 * Signature version 2 without the signing and the content's digest: what a device computes for a batch of so many
 * requests, from base to headers, and what a verifier computes for one of them when its root is known.
 */

static const size_t sizes[] = {1, 16, 256, 1024};

enum { SIZES = sizeof sizes / sizeof *sizes };

typedef struct {
    char input[TENON_SIGNATURE_INPUT_MAX];
    size_t input_n;
    char signature[TENON_SIGNATURE_VALUE_MAX];
    size_t signature_n;
} sent;

typedef struct {
    tenon_key *key;
    tenon_key *free_of_charge;
    tenon_verifier *verifier;
    tenon_batch *batch;
    char keyid[TENON_THUMBPRINT_SIZE];
    tenon_public_key public_key;
    sent last[SIZES]; /* the last member of a batch of each size */
    tenon_roots roots;
    tenon_request2 received;
} batch_side;

#define TEXT(literal) ((tenon_text){(literal), sizeof(literal) - 1})

/* Its base has 528 bytes. */
static tenon_request2 request_of(const batch_side *self, const char *nonce)
{
    return (tenon_request2){
        .method = TEXT("POST"),
        .authority = TEXT("api.example.com"),
        .path = TEXT("/ingest/v1/events"),
        .query = TEXT("?batch=17"),
        .content_type = TEXT("application/json"),
        .app_id = TEXT("com.example.app"),
        .device_id = TEXT("dev_0123456789abcdef"),
        .nonce = {nonce, TENON_UUID_SIZE},
        .keyid = {self->keyid, sizeof self->keyid},
        .created = 1790000000,
        .expires = 1790000300,
        .form = TENON_FORM_BATCH,
    };
}

static const char fixed_nonce[] = "d8f6c9a2-4f1b-4c5e-9a3d-0b7e6f5a4c3d";

/* A signature that costs nothing. */
static tenon_status sign_for_free(void *context, tenon_signature *out, const tenon_digest *digest)
{
    (void)context;
    *out = (tenon_signature){{[31] = 1}};
    memcpy(out->bytes + 32, digest->bytes, 1);
    out->bytes[63] = 1;
    out->bytes[32] &= 0x3f;
    return TENON_OK;
}

static tenon_status public_key_of(void *context, tenon_public_key *out)
{
    const batch_side *self = context;
    *out = self->public_key;
    return TENON_OK;
}

static void batch_close(void *context)
{
    batch_side *self = context;
    tenon_batch_free(&self->batch);
    tenon_verifier_free(&self->verifier);
    tenon_key_free(&self->free_of_charge);
    tenon_key_free(&self->key);
}

static bool add(batch_side *self, const char *nonce, char *input, size_t *input_n)
{
    const tenon_request2 request = request_of(self, nonce);
    tenon_digest digest;
    size_t index;
    return tenon_request2_input(input, TENON_SIGNATURE_INPUT_MAX, input_n, &digest, &request) == TENON_OK &&
           tenon_batch_add(self->batch, &index, &digest) == TENON_OK;
}

static bool make_sent(batch_side *self, size_t which)
{
    sent *made = &self->last[which];
    tenon_signed2 read;
    tenon_root root;
    tenon_digest digest;
    tenon_batch_clear(self->batch);
    for (size_t i = 0; i < sizes[which]; i++)
        if (!add(self, fixed_nonce, made->input, &made->input_n))
            return false;
    if (tenon_key_sign_batch(self->key, self->batch) != TENON_OK ||
        tenon_batch_signature(self->batch, made->signature, sizeof made->signature, &made->signature_n,
                              sizes[which] - 1) != TENON_OK)
        return false;
    const tenon_request2 request = request_of(self, fixed_nonce);
    if (tenon_signed2_read(&read, made->input, made->input_n, made->signature, made->signature_n) != TENON_OK ||
        tenon_request2_digest(&digest, &request) != TENON_OK || tenon_signed2_root(&read, &root, &digest) != TENON_OK ||
        tenon_root_verify(self->verifier, &root) != TENON_OK)
        return false;
    tenon_roots_learn(&self->roots, &root);
    return true;
}

static bool batch_open(void *context, const fixture *made)
{
    const tenon_key_ops ops = {.size = sizeof ops, .sign = sign_for_free, .public_key = public_key_of};
    batch_side *self = context;
    size_t n;
    self->public_key = made->key;
    bool ready =
        tenon_software_key_import(&self->key, made->scalar, sizeof made->scalar, TENON_KEY_DETERMINISTIC) == TENON_OK &&
        tenon_key_new(&self->free_of_charge, &ops, self) == TENON_OK &&
        tenon_verifier_new(&self->verifier, &made->key) == TENON_OK &&
        tenon_public_key_thumbprint(self->keyid, sizeof self->keyid, &n, &made->key) == TENON_OK &&
        tenon_batch_new(&self->batch, &made->key, TENON_BATCH_MAX) == TENON_OK;
    self->received = request_of(self, fixed_nonce);
    for (size_t i = 0; ready && i < SIZES; i++)
        ready = make_sent(self, i);
    return ready;
}

static bool device(void *context, size_t size)
{
    batch_side *self = context;
    char input[TENON_SIGNATURE_INPUT_MAX], signature[TENON_SIGNATURE_VALUE_MAX], nonce[TENON_UUID_SIZE];
    size_t n;
    tenon_batch_clear(self->batch);
    for (size_t i = 0; i < size; i++)
        if (tenon_request_nonce(nonce, sizeof nonce, &n) != TENON_OK || !add(self, nonce, input, &n))
            return false;
    if (tenon_key_sign_batch(self->free_of_charge, self->batch) != TENON_OK)
        return false;
    for (size_t i = 0; i < size; i++)
        if (tenon_batch_signature(self->batch, signature, sizeof signature, &n, i) != TENON_OK)
            return false;
    return true;
}

static bool known(void *context, size_t which)
{
    batch_side *self = context;
    const sent *of = &self->last[which];
    tenon_signed2 read;
    tenon_root root;
    tenon_digest digest;
    return tenon_signed2_read(&read, of->input, of->input_n, of->signature, of->signature_n) == TENON_OK &&
           tenon_signed2_digest(&read, &digest, &self->received) == TENON_OK &&
           tenon_signed2_root(&read, &root, &digest) == TENON_OK && tenon_roots_knows(&self->roots, &root) == 1;
}

static const side_line lines[] = {
    {"batch-device-1", device, 1, 1},
    {"batch-device-16", device, 16, 16},
    {"batch-device-256", device, 256, 256},
    {"batch-device-1024", device, 1024, 1024},
    {"batch-known-1", known, 0},
    {"batch-known-16", known, 1},
    {"batch-known-256", known, 2},
    {"batch-known-1024", known, 3},
};

const side side_batch = {"tenon", tenon_version_text, sizeof(batch_side), batch_open, batch_close, SIDE_LINES(lines)};
