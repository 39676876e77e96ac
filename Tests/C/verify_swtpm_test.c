/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "admin.h"
#include "verify_rig.h"
#include "wire.h"

/* Proofs that a TPM made: what it says of keys of its own, of a primary of the NULL hierarchy, and from outside. */

typedef struct {
    support_swtpm *tpm;
    uint32_t srk, key, ak;
    support_public srk_area, key_area, ak_area;
    tenon_digest nonce;
} device;

#define MUST_BE_0(call) CHECK_NUMBER(call, 0)

static uint32_t make_child(device *at, support_template which, support_public *area)
{
    support_blob blob;
    uint32_t handle;
    MUST_BE_0(support_create(at->tpm, at->srk, which, NULL, &blob));
    MUST_BE_0(support_load(at->tpm, at->srk, &blob, &handle));
    MUST_BE_0(support_read_public(at->tpm, handle, area));
    return handle;
}

static device start(void)
{
    device made = {.tpm = support_swtpm_start(NULL)};
    if (made.tpm == NULL)
        exit(2);
    MUST_BE_0(support_create_primary(made.tpm, SUPPORT_RH_OWNER, NULL, SUPPORT_SRK_H2, &made.srk));
    MUST_BE_0(support_read_public(made.tpm, made.srk, &made.srk_area));
    made.key = make_child(&made, SUPPORT_SIGNING, &made.key_area);
    made.ak = make_child(&made, SUPPORT_SIGNING_RESTRICTED, &made.ak_area);
    memset(&made.nonce, 0x77, sizeof made.nonce);
    return made;
}

typedef struct {
    uint8_t proof[TENON_PROOF_MAX];
    size_t n;
} made_proof;

/* TPM2_Certify (Part 3, 18.2) by signer, which need not be an AK: the key's scheme is asked for then. */
static void certify(device *at, uint32_t key, const support_public *area, uint32_t signer, bool restricted,
                    made_proof *out)
{
    static support_command command;
    static support_answer answer;
    uint8_t attest[TENON_AREA_MAX];
    size_t attest_n, parameters;
    out->n = 0;
    support_command_begin(&command, SUPPORT_CC_CERTIFY);
    support_put32(&command, key);
    support_put32(&command, signer);
    support_password(&command, NULL);
    support_password(&command, NULL);
    support_put_sized(&command, at->nonce.bytes, sizeof at->nonce.bytes);
    support_put16(&command, restricted ? 0x0010 : 0x0018);
    if (!restricted)
        support_put16(&command, 0x000b);
    if (!MUST_BE_0(support_command_run(at->tpm, &command, &answer)))
        return;
    parameters = support_get32(&answer);
    support_get_sized(&answer, attest, sizeof attest, &attest_n);
    tenon_evidence evidence = {.public_area = {area->bytes, area->n}, .certified = {attest, attest_n}};
    evidence.signature = (tenon_bytes){answer.bytes + answer.at, parameters - 2 - attest_n};
    CHECK_STATUS(tenon_proof_encode(out->proof, sizeof out->proof, &out->n, &evidence), TENON_OK);
}

static tenon_status verify(const device *at, const made_proof *proof, const support_public *key,
                           const support_public *ak, const uint8_t *parent)
{
    tenon_public_key point;
    tenon_policy policy = {.size = sizeof policy, .trust = TENON_TRUST_AK, .ak = {ak->bytes, ak->n}};
    policy.parent_qualified_name = (tenon_bytes){parent, parent == NULL ? 0 : TENON_NAME_SIZE};
    CHECK_STATUS(tenon_object_public_key(&point, key->bytes, key->n), TENON_OK);
    return tenon_proof_verify(NULL, proof->proof, proof->n, &at->nonce, &point, &policy);
}

static uint32_t line_of_firmware(const tenon_report *report)
{
    for (size_t i = 0; i < report->count; i++)
        if (report->checks[i].rule == TENON_RULE_34_FIRMWARE)
            return report->checks[i].held;
    return UINT32_MAX;
}

/* Part 1, 16: of a primary, of its hierarchy and its Name. */
static void qualified_name_of_primary(uint8_t *out, uint32_t hierarchy, const support_public *area)
{
    uint8_t both[4 + TENON_NAME_SIZE];
    tenon_digest digest;
    support_store32(both, hierarchy);
    memcpy(both + 4, area->name, TENON_NAME_SIZE);
    CHECK_STATUS(tenon_sha256(&digest, both, sizeof both), TENON_OK);
    out[0] = 0;
    out[1] = 0x0b;
    memcpy(out + 2, digest.bytes, sizeof digest.bytes);
}

TEST(verify_what_a_tpm_certified)
{
    static made_proof proof;
    device at = start();
    uint8_t parent[TENON_NAME_SIZE];
    qualified_name_of_primary(parent, SUPPORT_RH_OWNER, &at.srk_area);
    certify(&at, at.key, &at.key_area, at.ak, true, &proof);
    CHECK_STATUS(verify(&at, &proof, &at.key_area, &at.ak_area, NULL), TENON_OK);
    CHECK_STATUS(verify(&at, &proof, &at.key_area, &at.ak_area, parent), TENON_OK);
    parent[33] ^= 1;
    CHECK_STATUS(verify(&at, &proof, &at.key_area, &at.ak_area, parent), TENON_RULE_12A_PARENT);
    at.nonce.bytes[0] ^= 1;
    CHECK_STATUS(verify(&at, &proof, &at.key_area, &at.ak_area, NULL), TENON_RULE_9_NONCE);
    at.nonce.bytes[0] ^= 1;
    CHECK_STATUS(tenon_ak_check(NULL, at.ak_area.bytes, at.ak_area.n), TENON_OK);
    CHECK_STATUS(tenon_ak_check(NULL, at.key_area.bytes, at.key_area.n), TENON_RULE_29_AK);
    CHECK_STATUS(tenon_ak_check(NULL, at.srk_area.bytes, at.srk_area.n), TENON_RULE_29_AK);
    support_swtpm_stop(at.tpm);
}

/* The AK may certify any object of its TPM. */
TEST(verify_other_keys_that_a_tpm_certified)
{
    static made_proof proof;
    device at = start();
    certify(&at, at.srk, &at.srk_area, at.ak, true, &proof);
    CHECK_STATUS(verify(&at, &proof, &at.srk_area, &at.ak_area, NULL), TENON_RULE_14_SIGNS_ONLY);
    certify(&at, at.ak, &at.ak_area, at.ak, true, &proof);
    CHECK_STATUS(verify(&at, &proof, &at.ak_area, &at.ak_area, NULL), TENON_RULE_14_SIGNS_ONLY);
    certify(&at, at.key, &at.key_area, at.key, false, &proof);
    CHECK_STATUS(verify(&at, &proof, &at.key_area, &at.key_area, NULL), TENON_RULE_29_AK);
    certify(&at, at.key, &at.key_area, at.ak, true, &proof);
    CHECK_STATUS(verify(&at, &proof, &at.key_area, &at.srk_area, NULL), TENON_RULE_29_AK);
    support_swtpm_stop(at.tpm);
}

/* A primary of the NULL hierarchy dies at the next reset; only its qualified Name shows it. */
TEST(verify_a_key_of_the_null_hierarchy)
{
    static made_proof proof;
    device at = start();
    support_public area;
    uint32_t handle;
    uint8_t parent[TENON_NAME_SIZE];
    qualified_name_of_primary(parent, SUPPORT_RH_OWNER, &at.srk_area);
    MUST_BE_0(support_flush(at.tpm, at.key));
    MUST_BE_0(support_create_primary(at.tpm, SUPPORT_RH_NULL, NULL, SUPPORT_SIGNING, &handle));
    MUST_BE_0(support_read_public(at.tpm, handle, &area));
    certify(&at, handle, &area, at.ak, true, &proof);
    CHECK_STATUS(verify(&at, &proof, &area, &at.ak_area, NULL), TENON_OK);
    CHECK_STATUS(verify(&at, &proof, &area, &at.ak_area, parent), TENON_RULE_12A_PARENT);
    support_swtpm_stop(at.tpm);
}

/*
 * The AK right under a primary of the endorsement hierarchy, which stands in for the EK. Of this signer the TPM says
 * its firmware's version as it is, of one in the owner hierarchy it does not.
 */
TEST(verify_firmware_of_a_signer_under_the_ek)
{
    static made_proof under, beside;
    device at = start();
    support_public ek_area, area;
    support_blob blob;
    uint32_t ek, handle;
    tenon_public_key point;
    tenon_report report;
    certify(&at, at.key, &at.key_area, at.ak, true, &beside);
    MUST_BE_0(support_flush(at.tpm, at.ak));
    MUST_BE_0(support_create_primary(at.tpm, SUPPORT_RH_ENDORSEMENT, NULL, SUPPORT_SRK_H2, &ek));
    MUST_BE_0(support_read_public(at.tpm, ek, &ek_area));
    MUST_BE_0(support_flush(at.tpm, at.srk));
    MUST_BE_0(support_create(at.tpm, ek, SUPPORT_SIGNING_RESTRICTED, NULL, &blob));
    MUST_BE_0(support_load(at.tpm, ek, &blob, &handle));
    MUST_BE_0(support_read_public(at.tpm, handle, &area));
    certify(&at, at.key, &at.key_area, handle, true, &under);
    CHECK_STATUS(tenon_object_public_key(&point, at.key_area.bytes, at.key_area.n), TENON_OK);
    tenon_policy policy = {.size = sizeof policy, .trust = TENON_TRUST_AK, .ak = {area.bytes, area.n}};
    policy.ek_name = (tenon_bytes){ek_area.name, ek_area.name_n};
    policy.firmware_min = 1;
    CHECK_STATUS(tenon_proof_verify(&report, under.proof, under.n, &at.nonce, &point, &policy), TENON_OK);
    CHECK_NUMBER(line_of_firmware(&report), 1);
    policy.firmware_min = UINT64_MAX;
    CHECK_STATUS(tenon_proof_verify(&report, under.proof, under.n, &at.nonce, &point, &policy), TENON_RULE_34_FIRMWARE);
    policy.ak = (tenon_bytes){at.ak_area.bytes, at.ak_area.n};
    CHECK_STATUS(tenon_proof_verify(&report, beside.proof, beside.n, &at.nonce, &point, &policy), TENON_OK);
    CHECK_NUMBER(line_of_firmware(&report), 2);
    support_swtpm_stop(at.tpm);
}

/* TPM2_LoadExternal of a software key with its private half (Part 3, 12.3). */
static uint32_t load_software_key(device *at, uint32_t attributes, support_public *area, uint32_t *handle)
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

TEST(verify_a_software_key_that_a_tpm_certified)
{
    static made_proof proof;
    device at = start();
    support_public area;
    uint32_t handle;
    MUST_BE_0(support_flush(at.tpm, at.key));
    CHECK(load_software_key(&at, 0x00040472, &area, &handle) != 0); /* it is not born here, and the TPM knows */
    MUST_BE_0(load_software_key(&at, 0x00040040, &area, &handle));
    certify(&at, handle, &area, at.ak, true, &proof);
    CHECK_STATUS(verify(&at, &proof, &area, &at.ak_area, NULL), TENON_RULE_12_QUALIFIED_NAME);
    support_swtpm_stop(at.tpm);
}
