/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "service_side.h"

/* The folded activation end to end, on an EK of each template; and each way to cheat in it, with the check that stops
 * it. */

/* ---- Success, which also makes the vectors ---- */

static void put(FILE *out, const char *name, const void *bytes, size_t n)
{
    fprintf(out, "%s = ", name);
    for (size_t i = 0; i < n; i++)
        fprintf(out, "%02x", ((const uint8_t *)bytes)[i]);
    putc('\n', out);
}

static void put_status(FILE *out, const char *name, tenon_status status)
{
    fprintf(out, "%s = %s\n", name, tenon_status_name(status));
}

static void put_texts(FILE *out, const folded_scene *s)
{
    fprintf(out, "\n[%s]\norigin = %s\napp = %s\nchallenge = %s\nnow = %" PRId64 "\npublic_key = %s\n",
            tpm_ek_places[s->at.which].name, folded_origin, folded_app, s->state.challenge, s->service.now,
            s->request.public_key);
}

static void write_vector(FILE *out, const folded_scene *s, const folded_request *relayed, tenon_status relay_status)
{
    uint8_t name[TENON_NAME_SIZE];
    tenon_digest secret;
    (void)folded_activation(&s->service, &s->state, s->request.public_key, name);
    CHECK_OK(folded_secret(&s->service, &s->state, &secret));
    put_texts(out, s);
    for (size_t i = 0; i < s->at.chain_n; i++)
        put(out, "ek_certificate", s->at.chain[i].bytes, s->at.chain[i].n);
    put(out, "ek_root", s->at.root.bytes, s->at.root.n);
    put(out, "ek_id", &s->state.ek.id, sizeof s->state.ek.id);
    put(out, "ak", s->state.ak, s->state.ak_n);
    put(out, "ak_name", name, sizeof name);
    put(out, "K_act", s->service.key, sizeof s->service.key);
    put(out, "secret", &secret, sizeof secret);
    put(out, "credential", s->offer.credential.credential, s->offer.credential.credential_n);
    put(out, "encrypted_secret", s->offer.credential.encrypted, s->offer.credential.encrypted_n);
    put(out, "activation", &s->request.activation, sizeof s->request.activation);
    put(out, "proof", s->request.proof, s->request.proof_n);
    put_status(out, "verdict", folded_register(&s->service, &s->state, &s->request));
    fprintf(out, "relay_origin = %s\n", folded_relay);
    put(out, "relay_activation", &relayed->activation, sizeof relayed->activation);
    put_status(out, "relay_verdict", relay_status);
}

/* TENON_TEST_FOLDED in the environment names the file that is written anew. */
static FILE *vectors_file(void)
{
    const char *name = getenv("TENON_TEST_FOLDED");
    FILE *out = name == NULL ? NULL : fopen(name, "w");
    if (out != NULL)
        fputs("# The folded activation on an EK of each template: see README.md. By tpm_folded_works; do not edit.\n",
              out);
    return out;
}

/* The device keeps the certificate that it gets, and its next proof is valid with it. */
static void check_certificate(const folded_scene *s)
{
    static const char next[] = "the next challenge";
    static folded_request later;
    const tpm_certificate issued = folded_issue(&s->service, &s->state), authority = folded_authority(&s->service);
    const tenon_bytes leaf = {issued.bytes, issued.n}, root = {authority.bytes, authority.n};
    const tenon_policy policy = {
        .size = sizeof policy, .trust = TENON_TRUST_ROOTS, .roots = &root, .roots_count = 1, .now = s->service.now};
    tenon_public_key ak;
    CHECK_OK(tenon_object_public_key(&ak, s->state.ak, s->state.ak_n));
    CHECK_OK(tenon_ak_certificate_verify(NULL, &leaf, 1, &ak, &policy));
    CHECK_OK(folded_attest(&s->at, &later, next, &issued));
    CHECK_OK(folded_verify_later(&s->service, &later, next));
    CHECK_STATUS(folded_verify_later(&s->service, &later, s->state.challenge), TENON_RULE_7_NONCE);
}

/* And the same device, which believes that it talks to the relay: the service refuses its answer. */
TEST(tpm_folded_works)
{
    static folded_scene s;
    static folded_request relayed;
    FILE *out = vectors_file();
    for (support_ek which = SUPPORT_EK_RSA_L1; which < SUPPORT_EKS; which++) {
        folded_begin(&s, which);
        CHECK_OK(folded_answer(&s.at, &s.request, &s.offer, folded_origin, folded_app));
        CHECK_OK(folded_register(&s.service, &s.state, &s.request));
        check_certificate(&s);
        CHECK_OK(folded_answer(&s.at, &relayed, &s.offer, folded_relay, folded_app));
        tenon_status status = folded_register(&s.service, &s.state, &relayed);
        CHECK_STATUS(status, TENON_ERROR_ACTIVATION);
        if (out != NULL)
            write_vector(out, &s, &relayed, status);
        folded_stop(&s.at);
    }
    if (out != NULL)
        CHECK_NUMBER(fclose(out), 0);
}

/* ---- Messages of a stranger ---- */

/* An EK of each kind. */
static void each_kind(void (*visit)(folded_scene *s))
{
    static const support_ek kinds[] = {SUPPORT_EK_P384_H3, SUPPORT_EK_RSA_L1, SUPPORT_EK_P256_L2};
    static folded_scene s;
    for (size_t i = 0; i < test_rounds(3, 1); i++) {
        folded_begin(&s, kinds[i]);
        visit(&s);
        folded_stop(&s.at);
    }
}

/* Another app of the same service, and the same message under another challenge. */
static void check_another_place(folded_scene *s)
{
    static folded_state other;
    folded_offer offer;
    folded_service neighbour = folded_service_for(&s->at, folded_origin, "another");
    CHECK_OK(folded_answer(&s->at, &s->request, &s->offer, folded_origin, folded_app));
    CHECK_STATUS(folded_register(&neighbour, &s->state, &s->request), TENON_ERROR_ACTIVATION);
    CHECK_OK(folded_challenge(&s->service, &other, &offer, &s->at));
    CHECK(strcmp(other.challenge, s->state.challenge) != 0);
    CHECK_STATUS(folded_register(&s->service, &other, &s->request), TENON_ERROR_ACTIVATION);
    /* The credential of one, under the challenge of the other. */
    offer.credential = s->offer.credential;
    CHECK_OK(folded_answer(&s->at, &s->request, &offer, folded_origin, folded_app));
    CHECK_STATUS(folded_register(&s->service, &other, &s->request), TENON_ERROR_ACTIVATION);
}

TEST(tpm_folded_for_another_app_or_challenge) { each_kind(check_another_place); }

/* A secret of an earlier challenge, for example leaked by a device, does not help with the next one. */
static void check_reused_secret(folded_scene *s)
{
    static folded_state next;
    folded_offer offer;
    uint8_t name[TENON_NAME_SIZE];
    tenon_digest secret, fresh;
    CHECK_OK(tpm_rig_ek_open(s->at.device.ak, &secret, &s->at.chain[0], &s->offer.credential));
    CHECK_OK(folded_secret(&s->service, &s->state, &fresh));
    CHECK_BYTES(secret.bytes, fresh.bytes, sizeof fresh.bytes);
    CHECK_OK(folded_challenge(&s->service, &next, &offer, &s->at));
    CHECK_OK(folded_attest(&s->at, &s->request, next.challenge, NULL));
    const tenon_activation wanted = folded_activation(&s->service, &next, s->request.public_key, name);
    CHECK_OK(tenon_activation_value(&s->request.activation, secret.bytes, sizeof secret.bytes, &wanted));
    s->request.activation_n = sizeof s->request.activation.bytes;
    CHECK_STATUS(folded_register(&s->service, &next, &s->request), TENON_ERROR_ACTIVATION);
    CHECK_OK(folded_secret(&s->service, &next, &fresh));
    CHECK_OK(tenon_activation_value(&s->request.activation, fresh.bytes, sizeof fresh.bytes, &wanted));
    CHECK_OK(folded_register(&s->service, &next, &s->request));
}

TEST(tpm_folded_secret_of_before) { each_kind(check_reused_secret); }

/* A credential for the AK or the EK of another device: the TPM does not open it, and loses nothing. */
static void check_another_key(folded_scene *s)
{
    folded_device other = s->at;
    folded_state state;
    folded_offer offer;
    other.device.ak = NULL;
    CHECK_OK(tenon_tpm_ak_create(s->at.device.key, &other.device.ak));
    CHECK_OK(folded_challenge(&s->service, &state, &offer, &other));
    CHECK_RC(folded_answer(&s->at, &s->request, &offer, folded_origin, folded_app), TENON_CATEGORY_REJECTED, 0x1DF);
    CHECK_ZERO(&s->request.activation, sizeof s->request.activation);
    /* The other AK's value is not valid for this one, even if it was opened. */
    CHECK_OK(folded_answer(&other, &s->request, &offer, folded_origin, folded_app));
    CHECK_OK(folded_register(&s->service, &state, &s->request));
    CHECK_STATUS(folded_register(&s->service, &s->state, &s->request), TENON_ERROR_ACTIVATION);
    tenon_tpm_key_free(&other.device.ak);
    CHECK_OK(tpm_rig_sign(s->at.device.key));
}

TEST(tpm_folded_for_another_ak) { each_kind(check_another_key); }

/* The other TPM is a fresh one: the certificates of the tests' state are all of one. */
static void certify_other(folded_device *other, support_ek which)
{
    OWNED_RIG fresh = tpm_rig_start(NULL);
    other->chain[0] = tpm_rig_ek_certify(&fresh, which, NULL);
    other->chain_n = 1;
    other->root = tpm_rig_ek_own_root();
}

static void check_another_ek(folded_scene *s)
{
    folded_device other = s->at;
    folded_state state;
    folded_offer offer;
    certify_other(&other, s->at.which);
    const folded_service service = folded_service_for(&other, folded_origin, folded_app);
    CHECK_OK(folded_challenge(&service, &state, &offer, &other));
    /* With its own certificate, and with the other's, whose EK is not in this TPM. */
    CHECK_CATEGORY(folded_answer(&s->at, &s->request, &offer, folded_origin, folded_app), TENON_CATEGORY_REJECTED);
    CHECK_STATUS(folded_answer(&other, &s->request, &offer, folded_origin, folded_app), TENON_ERROR_EK_MISSING);
    CHECK_ZERO(&s->request.activation, sizeof s->request.activation);
    /* The credential that was made for this EK, with the certificate of the other. */
    CHECK_OK(folded_answer(&s->at, &s->request, &s->offer, folded_origin, folded_app));
    CHECK_STATUS(folded_register(&service, &state, &s->request), TENON_ERROR_ACTIVATION);
    CHECK_OK(tpm_rig_sign(s->at.device.key));
}

TEST(tpm_folded_for_another_ek) { each_kind(check_another_ek); }

/* A service that does not trust the EK's maker, or this EK, makes no challenge. */
static void check_another_root(folded_scene *s)
{
    folded_state state;
    folded_offer offer;
    folded_service service = s->service;
    bool own = s->at.chain_n == 1;
    service.root = own ? tpm_rig_ek_root() : tpm_rig_ek_own_root();
    CHECK_STATUS(folded_challenge(&service, &state, &offer, &s->at), TENON_RULE_33_EK_CHAIN);
    service = s->service;
    service.denied = &s->state.ek.id;
    CHECK_STATUS(folded_challenge(&service, &state, &offer, &s->at), TENON_RULE_37_EK_ALLOWED);
}

TEST(tpm_folded_without_trust) { each_kind(check_another_root); }

/* ---- A genuine activation with a proof of something else ---- */

TEST(tpm_folded_with_another_proof)
{
    static folded_scene s;
    static folded_request good, bad;
    tenon_evidence evidence;
    folded_begin(&s, SUPPORT_EK_P384_H3);
    CHECK_OK(folded_answer(&s.at, &good, &s.offer, folded_origin, folded_app));
    bad = good;
    bad.activation_n = 0;
    CHECK_STATUS(folded_register(&s.service, &s.state, &bad), TENON_ERROR_ACTIVATION);
    bad = good;
    CHECK_OK(folded_attest(&s.at, &bad, "another challenge", NULL));
    CHECK_STATUS(folded_register(&s.service, &s.state, &bad), TENON_RULE_7_NONCE);
    folded_device other = s.at;
    other.device.ak = NULL;
    CHECK_OK(tenon_tpm_ak_create(s.at.device.key, &other.device.ak));
    CHECK_OK(folded_attest(&other, &bad, s.state.challenge, NULL));
    CHECK_STATUS(folded_register(&s.service, &s.state, &bad), TENON_RULE_32_SIGNATURE);
    tenon_tpm_key_free(&other.device.ak);
    CHECK_OK(tenon_proof_decode(&evidence, good.proof, good.proof_n));
    evidence.x5c[0] = (tenon_bytes){s.at.chain[0].bytes, s.at.chain[0].n};
    evidence.x5c_count = 1;
    CHECK_OK(tenon_proof_encode(bad.proof, sizeof bad.proof, &bad.proof_n, &evidence));
    CHECK_STATUS(folded_register(&s.service, &s.state, &bad), TENON_RULE_22_CERTIFICATE);
    CHECK_OK(folded_register(&s.service, &s.state, &good));
    folded_stop(&s.at);
}
