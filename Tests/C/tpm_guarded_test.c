/* SPDX-License-Identifier: Apache-2.0 */
#include "tpm_rig.h"

/* Keys for each use of which somebody gives a value, whose wrong values the TPM counts. */

static const uint8_t pin[] = {'1', '2', '3', '4', '5', '6', 'x'}, wrong[] = {'0', '0', '0', '0'};

static tenon_tpm_key *make(tpm_rig *rig)
{
    tenon_tpm_key *key = NULL;
    CHECK_OK(tenon_tpm_key_create_guarded(rig->tpm, &key, pin, sizeof pin));
    return key;
}

/* With the value it signs; without one nothing is sent; and the value is never on the wire. */
TEST_RIG(tpm_guarded_each_use)
{
    support_transport_watch(rig->wire, pin, sizeof pin);
    OWNED_TPM_KEY key = make(rig);
    CHECK_OK(tpm_rig_sign(key));
    CHECK_OK(tenon_tpm_key_authorize(key, NULL, 0));
    support_transport_reset_counts(rig->wire);
    CHECK_STATUS(tpm_rig_sign(key), TENON_ERROR_AUTH_NEEDED);
    CHECK_NUMBER(support_transport_count(rig->wire, SUPPORT_CC_SIGN), 0);
    CHECK_OK(tenon_tpm_key_authorize(key, pin, sizeof pin));
    CHECK_OK(tpm_rig_sign(key));
    CHECK_NUMBER(support_transport_watched(rig->wire), 0);
    CHECK_NUMBER(tpm_rig_failed_tries(rig), 0);
}

/* A loaded key has no value yet; its persistent copy is not tried without one, either. */
TEST_RIG(tpm_guarded_loaded)
{
    OWNED_TPM_KEY key = make(rig);
    uint32_t handle;
    for (int persistent = 0; persistent < 2; persistent++) {
        test_about(persistent != 0 ? "persistent" : "blob");
        if (persistent != 0)
            CHECK_OK(tenon_tpm_key_persist(key, &handle));
        tpm_pem pem = tpm_rig_export(key);
        OWNED_TPM_KEY again = tpm_rig_loaded(rig, &pem);
        CHECK_STATUS(tpm_rig_sign(again), TENON_ERROR_AUTH_NEEDED);
        CHECK_OK(tenon_tpm_key_authorize(again, pin, sizeof pin));
        CHECK_OK(tpm_rig_sign(again));
    }
    CHECK_OK(tenon_tpm_key_evict(key));
    CHECK_NUMBER(tpm_rig_failed_tries(rig), 0);
}

/* Each wrong value counts once, and the TPM locks; then the right one is refused, too, as a lockout. */
TEST_RIG(tpm_guarded_lockout)
{
    OWNED_TPM_KEY key = make(rig);
    CHECK_NUMBER(support_lockout_parameters(rig->sw, NULL, 2, 86400, 86400), 0);
    for (uint32_t i = 1; i <= 2; i++) {
        CHECK_OK(tenon_tpm_key_authorize(key, wrong, sizeof wrong));
        CHECK_RC(tpm_rig_sign(key), TENON_CATEGORY_AUTH, 0x98e);
        CHECK_NUMBER(tpm_rig_failed_tries(rig), i);
    }
    CHECK_OK(tenon_tpm_key_authorize(key, pin, sizeof pin));
    CHECK_RC(tpm_rig_sign(key), TENON_CATEGORY_AUTH, 0x921);
    CHECK_NUMBER(support_lockout_parameters(rig->sw, NULL, 32, 86400, 86400), 0);
    CHECK_OK(tpm_rig_sign(key));
}

/* A verifier accepts the key, whose attributes lack noDA only; certifying it is a use. */
TEST_RIG(tpm_guarded_attested)
{
    OWNED_TPM_KEY key = make(rig);
    OWNED_TPM_KEY ak = tpm_rig_ak(key);
    static uint8_t proof[TENON_PROOF_MAX];
    uint8_t area[TENON_AREA_MAX];
    tenon_digest nonce = {{1}};
    tenon_public_key public_key;
    size_t n, area_n;
    CHECK_OK(tenon_tpm_key_attest(key, ak, proof, sizeof proof, &n, nonce.bytes, sizeof nonce.bytes, NULL, 0));
    CHECK_OK(tenon_tpm_key_public_area(ak, area, sizeof area, &area_n));
    CHECK_OK(tenon_tpm_key_public_key(key, &public_key));
    const tenon_policy policy = {.size = sizeof policy, .trust = TENON_TRUST_AK, .ak = {area, area_n}};
    CHECK_OK(tenon_proof_verify(NULL, proof, n, &nonce, &public_key, &policy));
    CHECK_OK(tenon_tpm_key_public_area(key, area, sizeof area, &area_n));
    CHECK_BYTES(area + 4, "\x00\x04\x00\x72", 4);
    CHECK_OK(tenon_tpm_key_authorize(key, NULL, 0));
    CHECK_STATUS(tenon_tpm_key_attest(key, ak, proof, sizeof proof, &n, nonce.bytes, sizeof nonce.bytes, NULL, 0),
                 TENON_ERROR_AUTH_NEEDED);
}

/* A file that says that there is no value: wrong values of a key that has one would be counted. */
TEST_RIG(tpm_guarded_file_without_a_value)
{
    OWNED_TPM_KEY key = make(rig);
    tpm_pem pem = tpm_rig_export(key);
    tenon_tpm_key *again = NULL;
    tenoni_keyfile file;
    CHECK_OK(tenoni_keyfile_read(&file, pem.text, pem.n));
    file.empty_auth = true;
    CHECK_OK(tenoni_keyfile_write(pem.text, sizeof pem.text, &pem.n, &file));
    CHECK_STATUS(tpm_rig_load(rig, &again, &pem), TENON_ERROR_KEY_ATTRIBUTES);
    CHECK(again == NULL);
    CHECK_NUMBER(tpm_rig_failed_tries(rig), 0);
}

TEST_RIG(tpm_guarded_arguments)
{
    const uint8_t zeros[4] = {0};
    uint8_t longer[33];
    tenon_tpm_key *key = NULL;
    memset(longer, 1, sizeof longer);
    CHECK_STATUS(tenon_tpm_key_create_guarded(rig->tpm, &key, NULL, 0), TENON_ERROR_AUTH_VALUE);
    CHECK_STATUS(tenon_tpm_key_create_guarded(rig->tpm, &key, zeros, sizeof zeros), TENON_ERROR_AUTH_VALUE);
    CHECK_STATUS(tenon_tpm_key_create_guarded(rig->tpm, &key, longer, sizeof longer), TENON_ERROR_AUTH_VALUE);
    CHECK_STATUS(tenon_tpm_key_create_guarded(NULL, &key, pin, sizeof pin), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_tpm_key_create_guarded(rig->tpm, NULL, pin, sizeof pin), TENON_ERROR_NULL);
    CHECK(key == NULL);
    OWNED_TPM_KEY plain = tpm_rig_key(rig, NULL);
    CHECK_STATUS(tenon_tpm_key_authorize(plain, pin, sizeof pin), TENON_ERROR_AUTH_VALUE);
    CHECK_STATUS(tenon_tpm_key_authorize(NULL, pin, sizeof pin), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_tpm_key_authorize(plain, NULL, 1), TENON_ERROR_NULL);
    CHECK_OK(tpm_rig_sign(plain));
}
