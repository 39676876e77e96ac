/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "attestation.h"
#include "sides.h"
#include "worst.h"

enum { SIGNATURE_TEXT_MAX = (TENON_SIGNATURE_DER_MAX + 2) / 3 * 4 };

typedef struct {
    const fixture *fixture;
    tenon_key *key;
    tenon_verifier *verifier;
    char texts[FIXTURE_MESSAGES][SIGNATURE_TEXT_MAX]; /* the signatures, base64 of DER */
    size_t texts_n[FIXTURE_MESSAGES];
    attestation proof;
    worst *worst;
    size_t turn;
} tenon_side;

static void tenon_close(void *context)
{
    tenon_side *self = context;
    worst_free(self->worst);
    tenon_verifier_free(&self->verifier);
    tenon_key_free(&self->key);
    free(self);
}

static bool encode(char *text, size_t *text_n, const tenon_signature *signature)
{
    uint8_t der[TENON_SIGNATURE_DER_MAX];
    size_t n;
    return tenon_signature_encode_der(der, sizeof der, &n, signature) == TENON_OK &&
           tenon_base64_encode(text, SIGNATURE_TEXT_MAX, text_n, der, n) == TENON_OK;
}

static void *tenon_open(const fixture *made)
{
    tenon_side *self = calloc(1, sizeof *self);
    if (self == NULL)
        return NULL;
    self->fixture = made;
    tenon_status status =
        tenon_software_key_import(&self->key, made->scalar, sizeof made->scalar, TENON_KEY_SIGNS_DIGESTS);
    if (status == TENON_OK)
        status = tenon_verifier_new(&self->verifier, &made->key);
    self->worst = worst_new();
    bool ready = status == TENON_OK && self->worst != NULL && attestation_make(&self->proof, made->scalar, NULL, 0);
    for (size_t i = 0; ready && i < FIXTURE_MESSAGES; i++)
        ready = encode(self->texts[i], &self->texts_n[i], &made->signatures[i]);
    if (ready)
        return self;
    tenon_close(self);
    return NULL;
}

static bool hash(const uint8_t *data, size_t n)
{
    tenon_digest digest;
    return tenon_sha256(&digest, data, n) == TENON_OK;
}

static bool sha256_64(void *context)
{
    const tenon_side *self = context;
    return hash(self->fixture->data, 64);
}

static bool sha256_1k(void *context)
{
    const tenon_side *self = context;
    return hash(self->fixture->data, 1024);
}

static bool sha256_16k(void *context)
{
    const tenon_side *self = context;
    return hash(self->fixture->data, 16384);
}

static bool sha256_request(void *context)
{
    const tenon_side *self = context;
    return hash(self->fixture->canonical, self->fixture->canonical_n);
}

static bool request_digest(void *context)
{
    const tenon_side *self = context;
    tenon_request request;
    tenon_digest digest;
    tenon_status status = tenon_request_begin(&request, fixture_method, strlen(fixture_method), fixture_path,
                                              strlen(fixture_path), fixture_timestamp, strlen(fixture_timestamp));
    if (status == TENON_OK)
        status = tenon_request_update(&request, self->fixture->data, FIXTURE_BODY);
    return status == TENON_OK && tenon_request_finish(&request, &digest) == TENON_OK;
}

static bool request_unsigned(void *context)
{
    tenon_side *self = context;
    const tenon_signature *signature = &self->fixture->signatures[fixture_next(&self->turn)];
    char headers[TENON_HEADERS_MAX];
    tenon_header_offsets offsets;
    size_t n;
    return request_digest(context) &&
           tenon_request_headers(headers, sizeof headers, &n, &offsets, signature, fixture_app_id,
                                 strlen(fixture_app_id), fixture_device_id, strlen(fixture_device_id),
                                 fixture_timestamp, strlen(fixture_timestamp), fixture_nonce,
                                 strlen(fixture_nonce)) == TENON_OK;
}

static bool signature_encode(void *context)
{
    tenon_side *self = context;
    char text[SIGNATURE_TEXT_MAX];
    size_t n;
    return encode(text, &n, &self->fixture->signatures[fixture_next(&self->turn)]);
}

static bool signature_decode(void *context)
{
    tenon_side *self = context;
    uint8_t der[TENON_SIGNATURE_DER_MAX];
    tenon_signature signature;
    size_t n;
    size_t i = fixture_next(&self->turn);
    return tenon_base64_decode(der, sizeof der, &n, self->texts[i], self->texts_n[i]) == TENON_OK &&
           tenon_signature_decode_der(&signature, der, n) == TENON_OK;
}

static bool sign(void *context)
{
    tenon_side *self = context;
    tenon_signature signature;
    const tenon_digest *digest = &self->fixture->digests[fixture_next(&self->turn)];
    return tenon_key_sign_digest(self->key, &signature, digest) == TENON_OK;
}

static bool verify(void *context)
{
    tenon_side *self = context;
    const fixture *made = self->fixture;
    size_t i = fixture_next(&self->turn);
    return tenon_p256_verify(&made->key, &made->digests[i], &made->signatures[i]) == TENON_OK;
}

static bool verify_prepared(void *context)
{
    tenon_side *self = context;
    const fixture *made = self->fixture;
    size_t i = fixture_next(&self->turn);
    return tenon_verifier_verify(self->verifier, &made->digests[i], &made->signatures[i]) == TENON_OK;
}

static bool verifier_new(void *context)
{
    const tenon_side *self = context;
    tenon_verifier *verifier;
    tenon_status status = tenon_verifier_new(&verifier, &self->fixture->key);
    tenon_verifier_free(&verifier);
    return status == TENON_OK;
}

static bool generate(void *context)
{
    (void)context;
    tenon_key *key;
    tenon_status status = tenon_software_key_generate(&key, 0);
    tenon_key_free(&key);
    return status == TENON_OK;
}

static bool proof_verify(void *context)
{
    const tenon_side *self = context;
    const attestation *of = &self->proof;
    const tenon_policy policy = {.size = sizeof policy, .trust = TENON_TRUST_AK, .ak = {of->ak, of->ak_n}};
    return tenon_proof_verify(NULL, of->proof, of->n, &of->nonce, &of->key, &policy) == TENON_OK;
}

/* The same without all the rest. */
static bool proof_public_key(void *context)
{
    const tenon_side *self = context;
    const attestation *of = &self->proof;
    return tenon_p256_check(&of->key) == TENON_OK && tenon_p256_check(&of->ak_point) == TENON_OK &&
           tenon_p256_verify(&of->ak_point, &of->digest, &of->signature) == TENON_OK;
}

static bool of_worst_proof(void *context)
{
    const tenon_side *self = context;
    return worst_proof(self->worst);
}

static bool of_worst_ak_certificate(void *context)
{
    const tenon_side *self = context;
    return worst_ak_certificate(self->worst);
}

static bool of_worst_ek(void *context)
{
    const tenon_side *self = context;
    return worst_ek(self->worst);
}

static bool of_worst_credential(void *context)
{
    const tenon_side *self = context;
    return worst_credential(self->worst);
}

static bool of_worst_activation(void *context)
{
    const tenon_side *self = context;
    return worst_activation(self->worst);
}

static const side_line lines[] = {
    {"sha256-64", sha256_64},
    {"sha256-1k", sha256_1k},
    {"sha256-16k", sha256_16k},
    {"sha256-request", sha256_request},
    {"request-digest", request_digest},
    {"request-unsigned", request_unsigned},
    {"signature-encode", signature_encode},
    {"signature-decode", signature_decode},
    {"sign", sign},
    {"verify", verify},
    {"verify-prepared", verify_prepared},
    {"verifier-new", verifier_new},
    {"generate", generate},
    {"proof-verify", proof_verify},
    {"proof-public-key", proof_public_key},
    {"worst-proof", of_worst_proof},
    {"worst-ak-certificate", of_worst_ak_certificate},
    {"worst-ek", of_worst_ek},
    {"worst-credential", of_worst_credential},
    {"worst-activation", of_worst_activation},
};

const side side_tenon = {
    .name = "tenon",
    .version = tenon_version_text,
    .open = tenon_open,
    .close = tenon_close,
    .lines = lines,
    .lines_n = sizeof lines / sizeof *lines,
};
