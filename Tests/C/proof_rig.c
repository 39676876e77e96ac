/* SPDX-License-Identifier: Apache-2.0 */
#include "proof_rig.h"

void rig_hex(support_bytes *out, const char *hex)
{
    size_t n;
    uint8_t *bytes = test_hex_all(hex, &n);
    support_bytes_set(out, bytes, n);
    free(bytes);
}

static void begin(proof_rig *out)
{
    memset(out, 0, sizeof *out);
    tenon_public_key ak = rig_public(rig_ak_scalar);
    out->submitted = rig_public(rig_key_scalar);
    out->area = support_area_of(out->submitted.bytes, SUPPORT_KEY_ATTRIBUTES, false);
    out->ak_area = support_area_of(ak.bytes, SUPPORT_AK_ATTRIBUTES, true);
    memcpy(out->ak_scalar, rig_ak_scalar, sizeof out->ak_scalar);
    memset(&out->nonce, 0x5e, sizeof out->nonce);
    out->trust = TENON_TRUST_AK;
    const support_proof proof = support_proof_of(NULL, NULL, NULL);
    out->format = proof.format;
    out->version = proof.version;
    out->algorithm = proof.algorithm;
}

static void write_proof(proof_rig *out)
{
    support_proof proof = support_proof_of(&out->public_area, &out->certified, &out->signature);
    proof.format = out->format;
    proof.version = out->version;
    proof.algorithm = out->algorithm;
    proof.x5c_count = out->x5c_count;
    for (size_t i = 0; i < out->x5c_count; i++) {
        proof.x5c[i] = out->x5c[i];
        proof.x5c_n[i] = out->x5c_n[i];
    }
    out->proof_n = support_proof_write(out->proof, sizeof out->proof, &proof);
}

static void finish_stage(proof_rig *out, rig_stage stage)
{
    switch (stage) {
    case RIG_AREA:
        out->public_area = support_area_write(&out->area);
        out->attest = support_attest_of(&out->public_area, out->nonce.bytes);
        break;
    case RIG_ATTEST:
        out->certified = support_attest_write(&out->attest);
        break;
    case RIG_CERTIFIED:
        out->ecdsa = support_ecdsa_of(rig_sign(out->ak_scalar, out->certified.bytes, out->certified.n).bytes);
        break;
    case RIG_SIGNATURE:
        out->signature = support_ecdsa_write(&out->ecdsa);
        out->ak = support_area_write(&out->ak_area);
        break;
    case RIG_EVIDENCE:
        write_proof(out);
        break;
    case RIG_PROOF:
        break;
    }
}

void rig_build(proof_rig *out, rig_stage stage, void (*change)(proof_rig *))
{
    begin(out);
    for (int at = RIG_AREA; at <= RIG_PROOF; at++) {
        if (change != NULL && at == (int)stage)
            change(out);
        finish_stage(out, (rig_stage)at);
    }
}

void rig_der(proof_rig *at)
{
    tenon_signature signature;
    support_bytes *out = &at->signature;
    memcpy(signature.bytes, at->ecdsa.r.bytes, TENON_SCALAR_SIZE);
    memcpy(signature.bytes + TENON_SCALAR_SIZE, at->ecdsa.s.bytes, TENON_SCALAR_SIZE);
    CHECK_OK(tenon_signature_encode_der(out->bytes, sizeof out->bytes, &out->n, &signature));
}

void rig_sign_under_ek(proof_rig *at)
{
    rig_hex(&at->ek_name, "000b" RIG_ORDER);
    const support_bytes area = support_area_write(&at->ak_area), parent = support_qualified_ek(&at->ek_name);
    at->attest.signer = support_qualified(&parent, &area);
}

tenon_policy rig_policy(const proof_rig *built)
{
    tenon_policy policy = {.size = sizeof policy, .trust = built->trust};
    if (built->trust == TENON_TRUST_AK)
        policy.ak = (tenon_bytes){built->ak.bytes, built->ak.n};
    policy.roots = built->roots;
    policy.roots_count = built->roots_count;
    policy.now = built->now;
    policy.flags = built->flags;
    policy.makers = built->makers;
    policy.makers_count = built->makers_count;
    policy.ek_name = (tenon_bytes){built->ek_name.bytes, built->ek_name.n};
    policy.firmware_min = built->firmware_min;
    policy.parent_qualified_name = (tenon_bytes){built->parent_qualified_name.bytes, built->parent_qualified_name.n};
    return policy;
}

tenon_status rig_verify(tenon_report *report, const proof_rig *built)
{
    tenon_policy policy = rig_policy(built);
    return tenon_proof_verify(report, built->proof, built->proof_n, &built->nonce, &built->submitted, &policy);
}

void rig_flip_bits(proof_rig *built, size_t step)
{
    CHECK_OK(rig_verify(NULL, built));
    for (size_t bit = 0; bit < 8 * built->proof_n; bit += step) {
        built->proof[bit / 8] ^= (uint8_t)(1 << bit % 8);
        test_about("bit %zu", bit);
        int32_t category = tenon_status_category(rig_verify(NULL, built));
        CHECK(category == TENON_CATEGORY_FORMAT || category == TENON_CATEGORY_REJECTED);
        built->proof[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
}

tenon_status rig_verify_without(const proof_rig *built, tenon_status rule)
{
    enum { MOST = 64 };
    tenoni_rule rules[MOST];
    size_t count = 0;
    tenon_policy policy = rig_policy(built);
    for (size_t i = 0; i < tenoni_rules_count; i++)
        if (tenoni_rules[i].code != rule)
            rules[count++] = tenoni_rules[i];
    CHECK_NUMBER(count + 1, tenoni_rules_count);
    return tenoni_proof_verify(NULL, built->proof, built->proof_n, &built->nonce, &built->submitted, &policy, rules,
                               count);
}

size_t rig_place(tenon_status status)
{
    tenon_status rule = status;
    size_t i = 0;
    if (status == TENON_ERROR_PROOF_FORM)
        rule = TENON_RULE_3_VERSION;
    else if (status == TENON_ERROR_OPTIONS) /* a firmware that this AK cannot say */
        rule = TENON_RULE_30_FIRMWARE;
    else if (tenon_status_category(status) == TENON_CATEGORY_FORMAT)
        rule = TENON_RULE_2_CBOR;
    while (i < tenoni_rules_count && tenoni_rules[i].code != rule)
        i++;
    if (i == tenoni_rules_count)
        CHECK_OK(status);
    return i;
}

tenon_status rig_verify_good(void)
{
    static proof_rig good;
    tenon_report report;
    if (good.proof_n == 0)
        rig_build(&good, RIG_AREA, NULL);
    tenon_status status = rig_verify(&report, &good);
    CHECK_STATUS(report.verdict, status);
    return status;
}

static void sign_by_another(proof_rig *at) { memcpy(at->ak_scalar, rig_other_scalar, sizeof at->ak_scalar); }

tenon_status rig_verify_forged(void)
{
    static proof_rig forged;
    if (forged.proof_n == 0)
        rig_build(&forged, RIG_AREA, sign_by_another);
    tenon_status status = rig_verify(NULL, &forged);
    CHECK(status != TENON_OK);
    return status == TENON_RULE_32_SIGNATURE ? TENON_OK : status;
}

/* ---- Proofs that a TPM made ---- */

uint32_t certify_child(certify_device *at, support_template which, const char *auth, support_public *area)
{
    support_blob blob;
    uint32_t handle;
    MUST_BE_0(support_create(at->tpm, at->srk, which, auth, &blob));
    MUST_BE_0(support_load(at->tpm, at->srk, &blob, &handle));
    MUST_BE_0(support_read_public(at->tpm, handle, area));
    return handle;
}

certify_device certify_start(void)
{
    certify_device made = {.tpm = support_swtpm_start(NULL)};
    if (made.tpm == NULL)
        exit(2);
    MUST_BE_0(support_create_primary(made.tpm, SUPPORT_RH_OWNER, NULL, SUPPORT_SRK_H2, &made.srk));
    MUST_BE_0(support_read_public(made.tpm, made.srk, &made.srk_area));
    made.key = certify_child(&made, SUPPORT_SIGNING, NULL, &made.key_area);
    made.ak = certify_child(&made, SUPPORT_SIGNING_RESTRICTED, NULL, &made.ak_area);
    memset(&made.nonce, 0x77, sizeof made.nonce);
    return made;
}

void certify_stop(certify_device *at)
{
    support_swtpm_stop(at->tpm);
    at->tpm = NULL;
}

uint32_t certify_load_software_key(certify_device *at, uint32_t attributes, support_public *area, uint32_t *handle)
{
    static support_answer answer;
    uint8_t secret[2 + 2 + 2 + 2 + TENON_SCALAR_SIZE] = {0x00, 0x23, 0, 0, 0, 0, 0, TENON_SCALAR_SIZE};
    const support_area fields = support_area_of(rig_public(rig_other_scalar).bytes, attributes, false);
    const support_bytes bytes = support_area_write(&fields);
    memcpy(secret + 8, rig_other_scalar, TENON_SCALAR_SIZE);
    uint32_t rc = support_run(at->tpm, &answer, SUPPORT_CC_LOAD_EXTERNAL, "bb4", secret, sizeof secret, bytes.bytes,
                              bytes.n, SUPPORT_RH_NULL);
    if (rc != 0)
        return rc;
    *handle = support_get32(&answer);
    return support_read_public(at->tpm, *handle, area);
}

/* Part 3, 18.2. */
static bool run(certify_device *at, const certify_order *order, support_answer *answer)
{
    const bool scheme = order->signer_needs_scheme;
    return MUST_BE_0(support_run(at->tpm, answer, SUPPORT_CC_CERTIFY, scheme ? "44peb22" : "44peb2", order->key,
                                 order->signer, order->auth, at->nonce.bytes, sizeof at->nonce.bytes,
                                 scheme ? 0x0018u : 0x0010u, 0x000bu));
}

void certify(certify_device *at, const certify_order *order, certify_proof *out)
{
    static support_answer answer;
    uint8_t attest[TENON_AREA_MAX], der[TENON_SIGNATURE_DER_MAX];
    size_t attest_n, der_n = 0;
    out->n = 0;
    if (!run(at, order, &answer))
        return;
    size_t parameters = support_get32(&answer);
    support_get_sized(&answer, attest, sizeof attest, &attest_n);
    tenon_evidence evidence = {.public_area = {order->area->bytes, order->area->n}, .certified = {attest, attest_n}};
    evidence.signature = (tenon_bytes){answer.bytes + answer.at, parameters - 2 - attest_n};
    for (size_t i = 0; i < order->x5c_count; i++)
        evidence.x5c[evidence.x5c_count++] = order->x5c[i];
    if (order->der) {
        CHECK_OK(tenon_evidence_signature_der(der, sizeof der, &der_n, &evidence));
        evidence.signature = (tenon_bytes){der, der_n};
    }
    CHECK_OK(tenon_proof_encode(out->proof, sizeof out->proof, &out->n, &evidence));
}

/* Part 1, 16: of its hierarchy and its Name. */
void certify_qualified_name(uint8_t *out, uint32_t hierarchy, const support_public *area)
{
    support_bytes handle = {.n = 4}, name;
    support_store32(handle.bytes, hierarchy);
    support_bytes_set(&name, area->name, area->name_n);
    memcpy(out, support_object_name(&handle, &name).bytes, TENON_NAME_SIZE);
}
