/* SPDX-License-Identifier: Apache-2.0 */
#include "certify_rig.h"

#include <stdlib.h>
#include <string.h>

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
    static support_command command;
    static support_answer answer;
    uint8_t secret[2 + 2 + 2 + 2 + TENON_SCALAR_SIZE] = {0x00, 0x23, 0, 0, 0, 0, 0, TENON_SCALAR_SIZE};
    tenon_public_key point = rig_public(rig_other_scalar);
    rig_area fields = {.type = 0x0023, .name_algorithm = 0x000b, .attributes = attributes};
    rig_bytes bytes;
    rig_hex(&fields.parameters, "0010001000030010");
    rig_set(&fields.x, point.bytes, TENON_SCALAR_SIZE);
    rig_set(&fields.y, point.bytes + TENON_SCALAR_SIZE, TENON_SCALAR_SIZE);
    rig_write_area(&bytes, &fields);
    memcpy(secret + 8, rig_other_scalar, TENON_SCALAR_SIZE);
    support_command_begin(&command, SUPPORT_CC_LOAD_EXTERNAL);
    support_put_sized(&command, secret, sizeof secret);
    support_put_sized(&command, bytes.bytes, bytes.n);
    support_put32(&command, SUPPORT_RH_NULL);
    uint32_t rc = support_command_run(at->tpm, &command, &answer);
    if (rc != 0)
        return rc;
    *handle = support_get32(&answer);
    return support_read_public(at->tpm, *handle, area);
}

/* Part 3, 18.2. */
static bool run(certify_device *at, const certify_order *order, support_answer *answer)
{
    static support_command command;
    support_command_begin(&command, SUPPORT_CC_CERTIFY);
    support_put32(&command, order->key);
    support_put32(&command, order->signer);
    support_password(&command, order->auth);
    support_password(&command, NULL);
    support_put_sized(&command, at->nonce.bytes, sizeof at->nonce.bytes);
    support_put16(&command, order->signer_needs_scheme ? 0x0018 : 0x0010);
    if (order->signer_needs_scheme)
        support_put16(&command, 0x000b);
    return MUST_BE_0(support_command_run(at->tpm, &command, answer));
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
        CHECK_STATUS(tenon_evidence_signature_der(der, sizeof der, &der_n, &evidence), TENON_OK);
        evidence.signature = (tenon_bytes){der, der_n};
    }
    CHECK_STATUS(tenon_proof_encode(out->proof, sizeof out->proof, &out->n, &evidence), TENON_OK);
}

/* Part 1, 16: of its hierarchy and its Name. */
void certify_qualified_name(uint8_t *out, uint32_t hierarchy, const support_public *area)
{
    rig_bytes handle = {.n = 4}, name, qualified;
    support_store32(handle.bytes, hierarchy);
    rig_set(&name, area->name, area->name_n);
    rig_name(&qualified, &handle, &name);
    memcpy(out, qualified.bytes, TENON_NAME_SIZE);
}
