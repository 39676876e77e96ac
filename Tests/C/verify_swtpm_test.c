/* SPDX-License-Identifier: Apache-2.0 */
#include "proof_rig.h"

/* Cases with a TPM that evidence_test.c lacks: keys that are not signing keys, other signers, the firmware of a signer.
 * */

/* What certify does without more. */
static void certify_by(certify_device *at, uint32_t key, const support_public *area, uint32_t signer,
                       certify_proof *out)
{
    const certify_order order = {.key = key, .area = area, .signer = signer};
    certify(at, &order, out);
}

static tenon_status verify(const certify_device *at, const certify_proof *proof, const support_public *key,
                           const support_public *ak)
{
    tenon_public_key point;
    const tenon_policy policy = {.size = sizeof policy, .trust = TENON_TRUST_AK, .ak = {ak->bytes, ak->n}};
    CHECK_OK(tenon_object_public_key(&point, key->bytes, key->n));
    return tenon_proof_verify(NULL, proof->proof, proof->n, &at->nonce, &point, &policy);
}

static uint32_t line_of_firmware(const tenon_report *report)
{
    for (size_t i = 0; i < report->count; i++)
        if (report->checks[i].rule == TENON_RULE_30_FIRMWARE)
            return report->checks[i].held;
    return UINT32_MAX;
}

/* The AK may certify any object of its TPM. */
TEST(verify_other_keys_that_a_tpm_certified)
{
    static certify_proof proof;
    certify_device at = certify_start();
    certify_by(&at, at.srk, &at.srk_area, at.ak, &proof);
    CHECK_STATUS(verify(&at, &proof, &at.srk_area, &at.ak_area), TENON_RULE_13_SIGNS_ONLY);
    certify_by(&at, at.ak, &at.ak_area, at.ak, &proof);
    CHECK_STATUS(verify(&at, &proof, &at.ak_area, &at.ak_area), TENON_RULE_13_SIGNS_ONLY);
    const certify_order by_itself = {at.key, &at.key_area, NULL, at.key, true, NULL, 0, false};
    certify(&at, &by_itself, &proof);
    CHECK_STATUS(verify(&at, &proof, &at.key_area, &at.key_area), TENON_RULE_29_AK);
    certify_by(&at, at.key, &at.key_area, at.ak, &proof);
    CHECK_STATUS(verify(&at, &proof, &at.key_area, &at.srk_area), TENON_RULE_29_AK);
    CHECK_OK(tenon_ak_check(NULL, at.ak_area.bytes, at.ak_area.n));
    CHECK_STATUS(tenon_ak_check(NULL, at.key_area.bytes, at.key_area.n), TENON_RULE_29_AK);
    certify_stop(&at);
}

/*
 * The AK directly under a primary of the endorsement hierarchy, which replaces the EK. For this signer, the TPM gives
 * its true firmware version; for one in the owner hierarchy, it does not.
 */
TEST(verify_firmware_of_a_signer_under_the_ek)
{
    static certify_proof under, beside;
    certify_device at = certify_start();
    support_public ek_area, area;
    support_blob blob;
    uint32_t ek, handle;
    tenon_public_key point;
    tenon_report report;
    certify_by(&at, at.key, &at.key_area, at.ak, &beside);
    MUST_BE_0(support_flush(at.tpm, at.ak));
    MUST_BE_0(support_create_primary(at.tpm, SUPPORT_RH_ENDORSEMENT, NULL, SUPPORT_SRK_H2, &ek));
    MUST_BE_0(support_read_public(at.tpm, ek, &ek_area));
    MUST_BE_0(support_flush(at.tpm, at.srk));
    MUST_BE_0(support_create(at.tpm, ek, SUPPORT_SIGNING_RESTRICTED, NULL, &blob));
    MUST_BE_0(support_load(at.tpm, ek, &blob, &handle));
    MUST_BE_0(support_read_public(at.tpm, handle, &area));
    certify_by(&at, at.key, &at.key_area, handle, &under);
    CHECK_OK(tenon_object_public_key(&point, at.key_area.bytes, at.key_area.n));
    tenon_policy policy = {.size = sizeof policy, .trust = TENON_TRUST_AK, .ak = {area.bytes, area.n}};
    policy.ek_name = (tenon_bytes){ek_area.name, ek_area.name_n};
    policy.firmware_min = 1;
    CHECK_OK(tenon_proof_verify(&report, under.proof, under.n, &at.nonce, &point, &policy));
    CHECK_NUMBER(line_of_firmware(&report), 1);
    policy.firmware_min = UINT64_MAX;
    CHECK_STATUS(tenon_proof_verify(&report, under.proof, under.n, &at.nonce, &point, &policy), TENON_RULE_30_FIRMWARE);
    policy.ak = (tenon_bytes){at.ak_area.bytes, at.ak_area.n};
    CHECK_STATUS(tenon_proof_verify(&report, beside.proof, beside.n, &at.nonce, &point, &policy), TENON_ERROR_OPTIONS);
    CHECK_NUMBER(line_of_firmware(&report), 0);
    policy.firmware_min = 0;
    CHECK_OK(tenon_proof_verify(&report, beside.proof, beside.n, &at.nonce, &point, &policy));
    CHECK_NUMBER(line_of_firmware(&report), 2);
    certify_stop(&at);
}

/* The key was not made here, and the TPM's attributes show that. */
TEST(verify_a_software_key_is_not_loaded_as_one_of_the_tpm)
{
    certify_device at = certify_start();
    support_public area;
    uint32_t handle;
    MUST_BE_0(support_flush(at.tpm, at.key));
    CHECK(certify_load_software_key(&at, 0x00040472, &area, &handle) != 0);
    certify_stop(&at);
}
