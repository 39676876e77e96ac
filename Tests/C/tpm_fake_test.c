/* SPDX-License-Identifier: Apache-2.0 */
#include "proof_rig.h"
#include "service_side.h"

/* Keys from outside any TPM that are loaded into one: TPM2_LoadExternal accepts any. */

/* ---- A software key: the TPM, the AK and the activation are the attacker's own, and genuine ---- */

/* TPM2_Certify by the device's own AK, over the nonce that binds the software key to the challenge. */
static void certify_software_key(const folded_scene *s, uint32_t ak, folded_request *request)
{
    certify_device at = {.tpm = s->at.rig.sw};
    uint8_t spki[TENON_SPKI_SIZE];
    support_public area;
    tenon_public_key point;
    certify_proof proof;
    size_t n = 0;
    uint32_t key;
    CHECK_NUMBER(certify_load_software_key(&at, 0x00040040, &area, &key), 0);
    CHECK_OK(tenon_object_public_key(&point, area.bytes, area.n));
    CHECK_OK(tenon_public_key_encode_spki(spki, sizeof spki, &n, &point));
    memset(request, 0, sizeof *request);
    CHECK_OK(tenon_base64_encode(request->public_key, sizeof request->public_key - 1, &n, spki, sizeof spki));
    CHECK_OK(tenon_binding_nonce(&at.nonce, s->state.challenge, strlen(s->state.challenge), request->public_key, n));
    certify(&at, &(certify_order){.key = key, .area = &area, .signer = ak}, &proof);
    memcpy(request->proof, proof.proof, proof.n);
    request->proof_n = proof.n;
    CHECK_NUMBER(support_flush(s->at.rig.sw, key), 0);
}

TEST(tpm_fake_key_of_software)
{
    static folded_scene s;
    uint8_t name[TENON_NAME_SIZE];
    tenon_digest secret;
    uint32_t ak;
    folded_begin(&s, SUPPORT_EK_P384_H3);
    CHECK_OK(tenon_tpm_key_persist(s.at.device.ak, &ak));
    CHECK_OK(tpm_rig_ek_open(s.at.device.ak, &secret, &s.at.chain[0], &s.offer.credential));
    CHECK_NUMBER(support_flush_all(s.at.rig.sw), 0);
    certify_software_key(&s, ak, &s.request);
    const tenon_activation activation = folded_activation(&s.service, &s.state, s.request.public_key, name);
    CHECK_OK(tenon_activation_value(&s.request.activation, secret.bytes, sizeof secret.bytes, &activation));
    s.request.activation_n = sizeof s.request.activation.bytes;
    CHECK_STATUS(folded_register(&s.service, &s.state, &s.request), TENON_RULE_10_QUALIFIED_NAME);
    CHECK_OK(tenon_tpm_key_evict(s.at.device.ak));
    folded_stop(&s.at);
}

/* ---- A fake AK: only the public half of a key that somebody has elsewhere ---- */

enum { CC_POLICY_COMMAND_CODE = 0x16C, AUTH_UNAVAILABLE = 0x12F };

typedef enum { NO_POLICY, WITH_POLICY, POLICY_ONLY, FAKES } fake;

static void write_fake(fake which, support_public *area)
{
    static const uint32_t attributes[] = {0x00050472, 0x00050472, 0x000504b2};
    uint8_t step[TENON_DIGEST_SIZE + 8] = {0};
    support_area fields = support_area_of(rig_public(rig_other_scalar).bytes, attributes[which], true);
    tenon_digest policy;
    /* Part 3, 23.11: PolicyCommandCode of ActivateCredential. */
    support_store32(step + TENON_DIGEST_SIZE, CC_POLICY_COMMAND_CODE);
    support_store32(step + TENON_DIGEST_SIZE + 4, SUPPORT_CC_ACTIVATE_CREDENTIAL);
    CHECK_OK(tenon_sha256(&policy, step, sizeof step));
    if (which != NO_POLICY)
        support_bytes_set(&fields.policy, policy.bytes, sizeof policy.bytes);
    const support_bytes bytes = support_area_write(&fields);
    memset(area, 0, sizeof *area);
    memcpy(area->bytes, bytes.bytes, bytes.n);
    area->n = bytes.n;
}

static uint32_t open_policy(support_swtpm *sw)
{
    uint32_t session;
    CHECK_NUMBER(support_policy_session(sw, 0x000B, &session), 0);
    CHECK_NUMBER(support_run(sw, NULL, CC_POLICY_COMMAND_CODE, "44", session, SUPPORT_CC_ACTIVATE_CREDENTIAL), 0);
    return session;
}

static uint32_t activate_for(folded_scene *s, uint32_t object, const support_public *area, uint32_t session)
{
    static const tenon_digest secret = {{4}};
    uint8_t name[TENON_NAME_SIZE], opened[64];
    tpm_credential credential;
    size_t n;
    CHECK_OK(tenon_object_name(name, sizeof name, &n, area->bytes, area->n));
    CHECK_OK(tenon_credential_make(credential.credential, sizeof credential.credential, &credential.credential_n,
                                   credential.encrypted, sizeof credential.encrypted, &credential.encrypted_n,
                                   &s->state.ek, name, sizeof name, secret.bytes, sizeof secret.bytes));
    uint32_t rc = support_activate_by(s->at.rig.sw, SUPPORT_EK_P384_H3, object, session, EK_P384_HANDLE,
                                      credential.credential, credential.credential_n, credential.encrypted,
                                      credential.encrypted_n, opened, sizeof opened, &n);
    if (rc != 0 && session != 0)
        CHECK_NUMBER(support_flush(s->at.rig.sw, session), 0);
    return rc;
}

/* The same credential with the AK of this TPM is opened: so the others are refused for what they are. */
static void check_genuine(folded_scene *s)
{
    support_public area = {.n = 0};
    uint32_t ak;
    CHECK_OK(tenon_tpm_key_persist(s->at.device.ak, &ak));
    CHECK_NUMBER(support_flush_all(s->at.rig.sw), 0);
    CHECK_NUMBER(support_read_public(s->at.rig.sw, ak, &area), 0);
    CHECK_NUMBER(activate_for(s, ak, &area, 0), 0);
    CHECK_OK(tenon_tpm_key_evict(s->at.device.ak));
}

/* Trust in an AK rests on this: a TPM opens no credential for an AK whose private half it does not have. */
TEST(tpm_fake_ak)
{
    static const uint32_t hierarchies[] = {SUPPORT_RH_OWNER, SUPPORT_RH_ENDORSEMENT, SUPPORT_RH_NULL};
    static const char *const names[FAKES] = {"no policy", "a policy and a password", "a policy alone"};
    static folded_scene s;
    folded_begin(&s, SUPPORT_EK_P384_H3);
    check_genuine(&s);
    for (int which = 0; which < FAKES; which++)
        for (size_t i = 0; i < 3; i++) {
            support_public area;
            uint32_t object;
            test_about("%s, %08x", names[which], (unsigned)hierarchies[i]);
            write_fake((fake)which, &area);
            CHECK_NUMBER(support_load_external(s.at.rig.sw, hierarchies[i], &area, &object), 0);
            uint32_t session = which == POLICY_ONLY ? open_policy(s.at.rig.sw) : 0;
            CHECK_NUMBER(activate_for(&s, object, &area, session), AUTH_UNAVAILABLE);
            /* A service would accept only the first. */
            CHECK_STATUS(tenon_ak_check(NULL, area.bytes, area.n), which == NO_POLICY ? TENON_OK : TENON_RULE_29_AK);
            CHECK_NUMBER(support_flush(s.at.rig.sw, object), 0);
        }
    folded_stop(&s.at);
}
