/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENON_ATTEST_WORK_H
#define TENON_ATTEST_WORK_H

#include "fuzz.h"
#include "proof/certificate.h"
#include "tenon/tenon.h"
#include "tenon/tpm/tpm.h"

/* The steps of an attestation at a TPM: the fuzzer runs them with answers from its input, and attest_record with a TPM.
 * */
enum {
    CERTIFICATE = 0x01, /* is read from NV; without it there is nothing to activate with */
    RELOAD = 0x02,      /* the AK is exported, freed and loaded again */
    CREATION = 0x04,
    ATTEST = 0x08,
    ACTIVATE = 0x10,
    SECRET = 0x20, /* the secret itself, as an attestation CA of another form wants it */
    GIVEN = 0x40,  /* the credential is the input's, not one that is made for the EK of the certificate */
    AUTH = 0x80    /* the key has an auth value */
};

typedef struct {
    uint8_t what;
    uint8_t kind; /* TENON_EK_*, in the order below */
    const uint8_t *credential, *encrypted;
    size_t credential_n, encrypted_n;
} attest_plan;

static const uint32_t attest_kinds[] = {TENON_EK_RSA_2048, TENON_EK_P256, TENON_EK_P384};

/* Called with each status that the library returned. */
typedef void (*attest_judge)(void *context, tenon_status status);

typedef struct {
    uint8_t bytes[TENON_CREDENTIAL_MAX];
    size_t n;
} attest_blob;

/* For the key in this certificate, whatever its issuer. */
static bool make_credential(attest_blob *credential, attest_blob *encrypted, const uint8_t *certificate, size_t n,
                            uint32_t kind, const tenon_tpm_key *ak)
{
    static const uint8_t secret[32] = {7, 7, 7};
    uint8_t name[TENON_NAME_SIZE];
    size_t name_n;
    tenoni_certificate read;
    tenon_ek ek = {.kind = kind};
    if (tenoni_certificate_read(&read, certificate, n) == TENON_RULE_22_CERTIFICATE ||
        read.key.modulus_or_point.left > sizeof ek.key ||
        tenon_tpm_key_name(ak, name, sizeof name, &name_n) != TENON_OK)
        return false;
    bool is_point = kind != TENON_EK_RSA_2048;
    if (read.key.modulus_or_point.left < 2)
        return false;
    memcpy(ek.key, read.key.modulus_or_point.at + is_point, read.key.modulus_or_point.left - is_point);
    ek.key_n = read.key.modulus_or_point.left - is_point;
    return tenon_credential_make(credential->bytes, sizeof credential->bytes, &credential->n, encrypted->bytes,
                                 sizeof encrypted->bytes, &encrypted->n, &ek, name, name_n, secret,
                                 sizeof secret) == TENON_OK;
}

static void activate(tenon_tpm_key *ak, const attest_plan *plan, const uint8_t *certificate, size_t n,
                     attest_judge judge, void *context)
{
    static const uint8_t name[TENON_NAME_SIZE] = {0, 0x0b};
    static const tenon_activation activation = {
        sizeof activation, "https://a", 9, "demo", 4, "challenge", 9, "key", 3, {{1}}, name, sizeof name};
    attest_blob credential = {.n = plan->credential_n}, encrypted = {.n = plan->encrypted_n};
    tenon_digest value;
    uint8_t secret[64];
    size_t secret_n;
    if ((plan->what & GIVEN) != 0) {
        memcpy(credential.bytes, plan->credential, credential.n);
        memcpy(encrypted.bytes, plan->encrypted, encrypted.n);
    } else if (!make_credential(&credential, &encrypted, certificate, n, attest_kinds[plan->kind], ak)) {
        return;
    }
    if ((plan->what & ACTIVATE) != 0) {
        tenon_status status = tenon_tpm_ak_activate(ak, &value, certificate, n, credential.bytes, credential.n,
                                                    encrypted.bytes, encrypted.n, &activation);
        judge(context, status);
        MUST(status == TENON_OK || fuzz_all(&value, sizeof value, 0));
    }
    if ((plan->what & SECRET) != 0) {
        memset(secret, FUZZ_FILL, sizeof secret);
        tenon_status status = tenon_tpm_ak_secret(ak, secret, sizeof secret, &secret_n, certificate, n,
                                                  credential.bytes, credential.n, encrypted.bytes, encrypted.n);
        judge(context, status);
        MUST(status == TENON_OK ? secret_n >= 1 && secret_n <= sizeof secret : secret_n == 0);
    }
}

static void attest(tenon_tpm_key *key, tenon_tpm_key *ak, attest_judge judge, void *context)
{
    static uint8_t proof[TENON_PROOF_MAX];
    tenon_digest nonce = {{0x5e}};
    tenon_evidence evidence;
    size_t n;
    tenon_status status = tenon_tpm_key_attest(key, ak, proof, sizeof proof, &n, nonce.bytes, sizeof nonce, NULL, 0);
    judge(context, status);
    MUST(status == TENON_OK ? tenon_proof_decode(&evidence, proof, n) == TENON_OK : n == 0);
}

static tenon_tpm_key *reload(tenon_tpm *tpm, tenon_tpm_key *ak, attest_judge judge, void *context)
{
    char pem[TENON_TPM_KEY_MAX];
    size_t n;
    tenon_tpm_key *loaded;
    MUST(tenon_tpm_key_export(ak, pem, sizeof pem, &n) == TENON_OK);
    tenon_tpm_key_free(&ak);
    tenon_status status = tenon_tpm_ak_load(tpm, &loaded, pem, n);
    judge(context, status);
    MUST((status == TENON_OK) == (loaded != NULL));
    return loaded;
}

static void use_ak(tenon_tpm *tpm, tenon_tpm_key *key, const attest_plan *plan, attest_judge judge, void *context)
{
    uint8_t certificate[TENON_CERTIFICATE_MAX];
    size_t n = 0;
    tenon_tpm_creation creation;
    tenon_tpm_key *ak;
    tenon_status status = TENON_OK;
    if ((plan->what & CERTIFICATE) != 0) {
        status = tenon_tpm_ek_certificate(tpm, attest_kinds[plan->kind], certificate, sizeof certificate, &n);
        judge(context, status);
        n = status == TENON_OK ? n : 0;
    }
    status = tenon_tpm_ak_create(key, &ak);
    judge(context, status);
    MUST((status == TENON_OK) == (ak != NULL));
    if (ak != NULL && (plan->what & CREATION) != 0)
        judge(context, tenon_tpm_ak_creation(ak, &creation));
    if (ak != NULL && (plan->what & RELOAD) != 0)
        ak = reload(tpm, ak, judge, context);
    if (ak != NULL && (plan->what & ATTEST) != 0)
        attest(key, ak, judge, context);
    if (ak != NULL && n != 0)
        activate(ak, plan, certificate, n, judge, context);
    tenon_tpm_key_free(&ak);
}

static void attest_work(tenon_tpm *tpm, const attest_plan *plan, attest_judge judge, void *context)
{
    tenon_tpm_key *key;
    size_t auth_n = (plan->what & AUTH) != 0 ? 4 : 0;
    tenon_status status = tenon_tpm_key_create(tpm, &key, auth_n == 0 ? NULL : (const uint8_t *)"auth", auth_n);
    judge(context, status);
    MUST((status == TENON_OK) == (key != NULL));
    if (key != NULL)
        use_ak(tpm, key, plan, judge, context);
    tenon_tpm_key_free(&key);
}

#endif
