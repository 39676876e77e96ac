/* SPDX-License-Identifier: Apache-2.0 */
#include "service_side.h"

#include <time.h>

const char folded_origin[] = "https://service.example", folded_app[] = "app", folded_relay[] = "https://relay.example";

/* The maker of the TPM certified the EKs of L-1 and H-3; for the others there is an authority of the tests' own. */
static void certify(folded_device *at)
{
    at->chain_n = 1;
    if (at->which == SUPPORT_EK_RSA_L1 || at->which == SUPPORT_EK_P384_H3) {
        at->chain[at->chain_n++] = tpm_rig_ek_issuer();
        at->root = tpm_rig_ek_root();
    } else {
        at->device.certificate = tpm_rig_ek_certify(&at->rig, at->which, NULL);
        at->root = tpm_rig_ek_own_root();
    }
    at->chain[0] = at->device.certificate;
}

folded_device folded_start(support_ek which)
{
    folded_device at = {.rig = tpm_rig_ek_start(NULL), .which = which};
    test_about("%s", tpm_ek_places[which].name);
    at.device = tpm_rig_ek_device(&at.rig, which == SUPPORT_EK_P384_H3 ? TENON_EK_P384 : TENON_EK_RSA_2048);
    certify(&at);
    return at;
}

void folded_stop(folded_device *at)
{
    tpm_rig_ek_free(&at->device);
    tpm_rig_stop(&at->rig);
}

folded_service folded_service_for(const folded_device *at, const char *origin, const char *app)
{
    folded_service service = {.origin = origin, .app = app, .root = at->root, .now = time(NULL)};
    for (size_t i = 0; i < sizeof service.key; i++)
        service.key[i] = (uint8_t)(0x60 + i);
    return service;
}

static tenon_status read_ek(const folded_service *service, tenon_ek *out, const folded_device *at)
{
    tenon_bytes chain[2];
    const tenon_bytes root = {service->root.bytes, service->root.n};
    const tenon_ek_policy policy = {.size = sizeof policy,
                                    .flags = TENON_EK_REQUIRE_USAGE | TENON_EK_ALLOW_SIMULATOR,
                                    .roots = &root,
                                    .roots_count = 1,
                                    .now = service->now,
                                    .denied = service->denied,
                                    .denied_count = service->denied == NULL ? 0 : 1};
    for (size_t i = 0; i < at->chain_n; i++)
        chain[i] = (tenon_bytes){at->chain[i].bytes, at->chain[i].n};
    return tenon_ek_verify(out, NULL, chain, at->chain_n, &policy);
}

static tenon_status new_challenge(char *out)
{
    static uint64_t sequence = 1;
    uint8_t bytes[32];
    size_t n = 0;
    test_random_fill(&sequence, bytes, sizeof bytes);
    memset(out, 0, FOLDED_TEXT_MAX);
    return tenon_base64_encode(out, FOLDED_TEXT_MAX, &n, bytes, sizeof bytes);
}

static tenon_status name_of(const folded_state *state, uint8_t *name)
{
    size_t n;
    return tenon_object_name(name, TENON_NAME_SIZE, &n, state->ak, state->ak_n);
}

tenon_status folded_secret(const folded_service *service, const folded_state *state, tenon_digest *secret)
{
    uint8_t name[TENON_NAME_SIZE];
    TRY(name_of(state, name));
    return tenon_activation_secret(secret, service->key, sizeof service->key, state->challenge,
                                   strlen(state->challenge), &state->ek.id, name, sizeof name);
}

static tenon_status make_credential(tpm_credential *out, const folded_state *state, const tenon_digest *secret)
{
    uint8_t name[TENON_NAME_SIZE];
    TRY(name_of(state, name));
    return tenon_credential_make(out->credential, sizeof out->credential, &out->credential_n, out->encrypted,
                                 sizeof out->encrypted, &out->encrypted_n, &state->ek, name, sizeof name, secret->bytes,
                                 sizeof secret->bytes);
}

tenon_status folded_challenge(const folded_service *service, folded_state *state, folded_offer *offer,
                              const folded_device *at)
{
    tenon_digest secret;
    memset(state, 0, sizeof *state);
    memset(offer, 0, sizeof *offer);
    TRY(tenon_tpm_key_public_area(at->device.ak, state->ak, sizeof state->ak, &state->ak_n));
    TRY(tenon_ak_check(NULL, state->ak, state->ak_n));
    TRY(read_ek(service, &state->ek, at));
    TRY(new_challenge(state->challenge));
    TRY(folded_secret(service, state, &secret));
    memcpy(offer->challenge, state->challenge, sizeof offer->challenge);
    return make_credential(&offer->credential, state, &secret);
}

static tenon_status write_public_key(char *out, size_t n, const tenon_tpm_key *key)
{
    tenon_public_key point;
    uint8_t spki[TENON_SPKI_SIZE];
    size_t written = 0;
    memset(out, 0, n);
    TRY(tenon_tpm_key_public_key(key, &point));
    TRY(tenon_public_key_encode_spki(spki, sizeof spki, &written, &point));
    return tenon_base64_encode(out, n - 1, &written, spki, sizeof spki);
}

tenon_status folded_attest(const folded_device *at, folded_request *request, const char *challenge,
                           const tpm_certificate *ak_certificate)
{
    tenon_bytes x5c = {NULL, 0};
    tenon_digest nonce;
    if (ak_certificate != NULL)
        x5c = (tenon_bytes){ak_certificate->bytes, ak_certificate->n};
    TRY(write_public_key(request->public_key, sizeof request->public_key, at->device.key));
    TRY(tenon_binding_nonce(&nonce, challenge, strlen(challenge), request->public_key, strlen(request->public_key)));
    return tenon_tpm_key_attest(at->device.key, at->device.ak, request->proof, sizeof request->proof, &request->proof_n,
                                nonce.bytes, sizeof nonce.bytes, &x5c, ak_certificate == NULL ? 0 : 1);
}

tenon_status folded_answer(const folded_device *at, folded_request *request, const folded_offer *offer,
                           const char *origin, const char *app)
{
    memset(request, 0, sizeof *request);
    TRY(write_public_key(request->public_key, sizeof request->public_key, at->device.key));
    const tenon_activation activation = test_activation(origin, app, offer->challenge, request->public_key);
    tenon_status status = tenon_tpm_ak_activate(
        at->device.ak, &request->activation, at->chain[0].bytes, at->chain[0].n, offer->credential.credential,
        offer->credential.credential_n, offer->credential.encrypted, offer->credential.encrypted_n, &activation);
    request->activation_n = sizeof request->activation.bytes;
    return status == TENON_OK ? folded_attest(at, request, offer->challenge, NULL) : status;
}

tenon_activation folded_activation(const folded_service *service, const folded_state *state, const char *public_key,
                                   uint8_t *name)
{
    tenon_activation activation = test_activation(service->origin, service->app, state->challenge, public_key);
    CHECK_OK(name_of(state, name));
    activation.ek_id = state->ek.id;
    activation.ak_name = name;
    activation.ak_name_n = TENON_NAME_SIZE;
    return activation;
}

static tenon_status verify_proof(const folded_request *request, const char *challenge, const tenon_policy *policy)
{
    uint8_t spki[TENON_SPKI_SIZE];
    size_t n;
    tenon_public_key key;
    tenon_digest nonce;
    TRY(tenon_base64_decode(spki, sizeof spki, &n, request->public_key, strlen(request->public_key)));
    TRY(tenon_public_key_decode_spki(&key, spki, n));
    TRY(tenon_binding_nonce(&nonce, challenge, strlen(challenge), request->public_key, strlen(request->public_key)));
    return tenon_proof_verify(NULL, request->proof, request->proof_n, &nonce, &key, policy);
}

tenon_status folded_register(const folded_service *service, const folded_state *state, const folded_request *request)
{
    const tenon_policy policy = {.size = sizeof policy, .trust = TENON_TRUST_AK, .ak = {state->ak, state->ak_n}};
    uint8_t name[TENON_NAME_SIZE];
    tenon_digest secret;
    const tenon_activation activation = folded_activation(service, state, request->public_key, name);
    TRY(folded_secret(service, state, &secret));
    TRY(tenon_activation_verify(secret.bytes, sizeof secret.bytes, &activation, request->activation.bytes,
                                request->activation_n));
    return verify_proof(request, state->challenge, &policy);
}

/* ---- AK certificates ---- */

enum { YEAR = 366 * 86400 };

static tenon_key *authority_key(void)
{
    static const uint8_t scalar[TENON_SCALAR_SIZE] = {3, 2, 1};
    tenon_key *key = NULL;
    CHECK_OK(tenon_software_key_import(&key, scalar, sizeof scalar, TENON_KEY_SIGNS_DIGESTS));
    return key;
}

tpm_certificate folded_authority(const folded_service *service)
{
    tpm_certificate out = {{0}, 0};
    const tenon_authority_request request = {.size = sizeof request,
                                             .name = "Service",
                                             .name_n = 7,
                                             .serial = {2},
                                             .not_before = service->now - YEAR,
                                             .not_after = service->now + YEAR};
    OWNED_KEY key = authority_key();
    CHECK_OK(tenon_authority_certificate_issue(out.bytes, sizeof out.bytes, &out.n, key, &request));
    return out;
}

tpm_certificate folded_issue(const folded_service *service, const folded_state *state)
{
    tpm_certificate out = {{0}, 0};
    const tpm_certificate authority = folded_authority(service);
    const tenon_ak_request request = {.size = sizeof request,
                                      .ak = {state->ak, state->ak_n},
                                      .ek = &state->ek,
                                      .serial = {3},
                                      .not_before = service->now - 300,
                                      .not_after = service->now + 90 * 86400};
    OWNED_KEY key = authority_key();
    CHECK_OK(
        tenon_ak_certificate_issue(out.bytes, sizeof out.bytes, &out.n, key, authority.bytes, authority.n, &request));
    return out;
}

tenon_status folded_verify_later(const folded_service *service, const folded_request *request, const char *challenge)
{
    const tpm_certificate authority = folded_authority(service);
    const tenon_bytes root = {authority.bytes, authority.n};
    const tenon_policy policy = {
        .size = sizeof policy, .trust = TENON_TRUST_ROOTS, .roots = &root, .roots_count = 1, .now = service->now};
    return verify_proof(request, challenge, &policy);
}

void folded_begin(folded_scene *s, support_ek which)
{
    memset(s, 0, sizeof *s);
    s->at = folded_start(which);
    s->service = folded_service_for(&s->at, folded_origin, folded_app);
    CHECK_OK(folded_challenge(&s->service, &s->state, &s->offer, &s->at));
}
