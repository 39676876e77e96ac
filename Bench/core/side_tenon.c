/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "attestation.h"
#include "bench.h"
#include "event_log.h"
#include "owned.h"
#include "worst.h"

enum { SIGNATURE_TEXT_MAX = (TENON_SIGNATURE_DER_MAX + 2) / 3 * 4 };

typedef struct {
    const fixture *fixture;
    tenon_key *key;
    tenon_verifier *verifier;
    char texts[FIXTURE_MESSAGES][SIGNATURE_TEXT_MAX]; /* the signatures, base64 of DER */
    size_t texts_n[FIXTURE_MESSAGES];
    attestation proof;
    event_log log;
    worst *worst;
    size_t turn;
} tenon_side;

static void tenon_close(void *context)
{
    tenon_side *self = context;
    worst_free(self->worst);
    tenon_verifier_free(&self->verifier);
    tenon_key_free(&self->key);
}

static bool encode(char *text, size_t *text_n, const tenon_signature *signature)
{
    uint8_t der[TENON_SIGNATURE_DER_MAX];
    size_t n;
    return tenon_signature_encode_der(der, sizeof der, &n, signature) == TENON_OK &&
           tenon_base64_encode(text, SIGNATURE_TEXT_MAX, text_n, der, n) == TENON_OK;
}

static bool tenon_open(void *context, const fixture *made)
{
    tenon_side *self = context;
    self->fixture = made;
    self->worst = worst_new();
    bool ready =
        self->worst != NULL && attestation_make(&self->proof, made->scalar, NULL, 0) &&
        tenon_software_key_import(&self->key, made->scalar, sizeof made->scalar, TENON_KEY_SIGNS_DIGESTS) == TENON_OK &&
        tenon_verifier_new(&self->verifier, &made->key) == TENON_OK && event_log_make(&self->log, made->scalar);
    for (size_t i = 0; ready && i < FIXTURE_MESSAGES; i++)
        ready = encode(self->texts[i], &self->texts_n[i], &made->signatures[i]);
    return ready;
}

static bool hash(void *context, size_t n)
{
    const tenon_side *self = context;
    tenon_digest digest;
    return tenon_sha256(&digest, self->fixture->data, n) == TENON_OK;
}

static bool hash_request(void *context, size_t unused)
{
    const tenon_side *self = context;
    tenon_digest digest;
    return tenon_sha256(&digest, self->fixture->canonical, self->fixture->canonical_n) == TENON_OK;
}

static bool request_digest(void *context, size_t body_n)
{
    const tenon_side *self = context;
    tenon_digest digest;
    return fixture_digest(self->fixture, &digest, body_n);
}

static bool request_unsigned(void *context, size_t body_n)
{
    tenon_side *self = context;
    return request_digest(context, body_n) && fixture_headers(&self->fixture->signatures[fixture_next(&self->turn)]);
}

/* From the body to six headers. */
static bool request(void *context, size_t body_n)
{
    const tenon_side *self = context;
    tenon_digest digest;
    tenon_signature signature;
    return fixture_digest(self->fixture, &digest, body_n) &&
           tenon_key_sign_digest(self->key, &signature, &digest) == TENON_OK && fixture_headers(&signature);
}

static bool signature_encode(void *context, size_t unused)
{
    tenon_side *self = context;
    char text[SIGNATURE_TEXT_MAX];
    size_t n;
    return encode(text, &n, &self->fixture->signatures[fixture_next(&self->turn)]);
}

static bool signature_decode(void *context, size_t unused)
{
    tenon_side *self = context;
    uint8_t der[TENON_SIGNATURE_DER_MAX];
    tenon_signature signature;
    size_t n;
    size_t i = fixture_next(&self->turn);
    return tenon_base64_decode(der, sizeof der, &n, self->texts[i], self->texts_n[i]) == TENON_OK &&
           tenon_signature_decode_der(&signature, der, n) == TENON_OK;
}

static bool sign(void *context, size_t unused)
{
    tenon_side *self = context;
    tenon_signature signature;
    const tenon_digest *digest = &self->fixture->digests[fixture_next(&self->turn)];
    return tenon_key_sign_digest(self->key, &signature, digest) == TENON_OK;
}

static bool verify(void *context, size_t unused)
{
    tenon_side *self = context;
    const fixture *made = self->fixture;
    size_t i = fixture_next(&self->turn);
    return tenon_p256_verify(&made->key, &made->digests[i], &made->signatures[i]) == TENON_OK;
}

static bool verify_prepared(void *context, size_t unused)
{
    tenon_side *self = context;
    const fixture *made = self->fixture;
    size_t i = fixture_next(&self->turn);
    return tenon_verifier_verify(self->verifier, &made->digests[i], &made->signatures[i]) == TENON_OK;
}

static bool verifier_new(void *context, size_t unused)
{
    const tenon_side *self = context;
    OWNED_VERIFIER verifier = NULL;
    return tenon_verifier_new(&verifier, &self->fixture->key) == TENON_OK;
}

static bool generate(void *context, size_t unused)
{
    OWNED_KEY key = NULL;
    return tenon_software_key_generate(&key, 0) == TENON_OK;
}

static bool proof_verify(void *context, size_t unused)
{
    const tenon_side *self = context;
    const attestation *of = &self->proof;
    const tenon_policy policy = {.size = sizeof policy, .trust = TENON_TRUST_AK, .ak = {of->ak, of->ak_n}};
    return tenon_proof_verify(NULL, of->proof, of->n, &of->nonce, &of->key, &policy) == TENON_OK;
}

/* The same without all the rest. */
static bool proof_public_key(void *context, size_t unused)
{
    const tenon_side *self = context;
    const attestation *of = &self->proof;
    return tenon_p256_check(&of->key) == TENON_OK && tenon_p256_check(&of->ak_point) == TENON_OK &&
           tenon_p256_verify(&of->ak_point, &of->digest, &of->signature) == TENON_OK;
}

static bool sign_cold(void *context, size_t unused)
{
    const tenon_side *self = context;
    const fixture *made = self->fixture;
    OWNED_KEY key = NULL;
    tenon_signature signature;
    return tenon_software_key_import(&key, made->scalar, sizeof made->scalar, TENON_KEY_SIGNS_DIGESTS) == TENON_OK &&
           tenon_key_sign_digest(key, &signature, &made->digests[0]) == TENON_OK;
}

static bool run_worst(void *context, size_t which)
{
    const tenon_side *self = context;
    return worst_run(self->worst, (worst_input)which);
}

static bool keri_inception(void *context, size_t unused)
{
    const tenon_side *self = context;
    return event_log_begin(&self->log);
}

static bool keri_append(void *context, size_t unused)
{
    const tenon_side *self = context;
    return event_log_append(&self->log);
}

static bool keri_verify(void *context, size_t unused)
{
    const tenon_side *self = context;
    return event_log_verify(&self->log);
}

static const side_line lines[] = {
    {"sha256-64", hash, 64},
    {"sha256-1k", hash, 1024},
    {"sha256-16k", hash, 16384},
    {"sha256-request", hash_request},
    {"request-digest", request_digest, FIXTURE_BODY},
    {"request-unsigned", request_unsigned, FIXTURE_BODY},
    {"signature-encode", signature_encode},
    {"signature-decode", signature_decode},
    {"sign", sign},
    {"verify", verify},
    {"verify-prepared", verify_prepared},
    {"verifier-new", verifier_new},
    {"generate", generate},
    {"proof-verify", proof_verify},
    {"proof-public-key", proof_public_key},
    {"keri-inception", keri_inception},
    {"keri-append", keri_append},
    {"keri-verify", keri_verify},
    {"worst-proof", run_worst, WORST_PROOF},
    {"worst-ak-certificate", run_worst, WORST_AK_CERTIFICATE},
    {"worst-ek", run_worst, WORST_EK},
    {"worst-credential", run_worst, WORST_CREDENTIAL},
    {"worst-activation", run_worst, WORST_ACTIVATION},
    {"request-0", request, 0},
    {"request-1k", request, 1024},
    {"request-64k", request, 65536},
    {"request-1m", request, 1 << 20},
    {"sign-cold", sign_cold},
};

const side side_tenon = {"tenon", tenon_version_text, sizeof(tenon_side), tenon_open, tenon_close, SIDE_LINES(lines)};
