/* SPDX-License-Identifier: Apache-2.0 */
#include "tpm/attest.h"

#include <string.h>

#include "base/secure.h"
#include "tenon/digest.h"
#include "tenon/p256.h"
#include "tpm/key.h"
#include "tpm/object.h"

static tenon_status read_signature(tenon_signature *out, const tenoni_attestation *attestation)
{
    const tenon_evidence evidence = {.signature = {attestation->signature, attestation->signature_n}};
    return tenon_evidence_signature(out, &evidence);
}

/* A TPMT_SIGNATURE begins with 00, and so is not taken for its DER form. */
tenon_status tenoni_attestation_read(tenoni_attestation *out, tenoni_attest *found, uint16_t type,
                                     tenoni_reader *answer)
{
    tenoni_reader statement;
    tenon_signature signature;
    if (!tenoni_read_sized(answer, &statement, sizeof out->statement) || answer->left > sizeof out->signature ||
        answer->left == 0 || answer->at[0] != 0)
        return TENON_ERROR_TPM_ANSWER;
    memcpy(out->statement, statement.at, statement.left);
    out->statement_n = statement.left;
    memcpy(out->signature, answer->at, answer->left);
    out->signature_n = answer->left;
    if (!tenoni_attest_read(found, out->statement, out->statement_n) || found->magic != TENONI_ATTEST_MAGIC ||
        found->type != type || read_signature(&signature, out) != TENON_OK)
        return TENON_ERROR_TPM_ANSWER;
    return TENON_OK;
}

tenon_status tenoni_attestation_verify(const tenoni_attestation *attestation, const tenon_tpm_key *ak)
{
    tenon_signature signature;
    tenon_digest digest;
    tenon_status status = read_signature(&signature, attestation);
    if (status == TENON_OK)
        status = tenon_sha256(&digest, attestation->statement, attestation->statement_n);
    return status == TENON_OK ? tenon_p256_verify(&ak->public_key, &digest, &signature) : status;
}

/* An attestation key is made from another template, under the parent of the key beside it. */

typedef struct {
    const tenon_tpm_key *beside;
    tenon_tpm_key *ak;
} ak_job;

static tenon_status create_ak(tenon_tpm *tpm, void *context)
{
    const ak_job *work = context;
    tenoni_keyfile *file = &work->ak->file;
    tenoni_object parent;
    /* The AK is found where the key is found, because both have the same parent, by its Name. */
    *file = work->beside->file;
    file->handle = 0;
    file->empty_auth = true;
    tenon_status status = tenoni_parent_find(tpm, file, &parent);
    if (status != TENON_OK)
        return status;
    return tenoni_key_make(work->ak, &parent, &tenoni_attestation_template, tenoni_public_check_attestation);
}

tenon_status tenon_tpm_ak_create(tenon_tpm_key *beside, tenon_tpm_key **out)
{
    ak_job work = {.beside = beside};
    if (out != NULL)
        *out = NULL;
    if (beside == NULL || out == NULL)
        return TENON_ERROR_NULL;
    tenon_status status = tenoni_key_begin(beside->tpm, &work.ak, NULL, 0);
    if (work.ak == NULL)
        return status;
    if (status == TENON_OK)
        status = tenoni_tpm_do(beside->tpm, create_ak, &work);
    return tenoni_key_finish(out, work.ak, status);
}

tenon_status tenon_tpm_ak_load(tenon_tpm *tpm, tenon_tpm_key **out, const char *pem, size_t pem_n)
{
    return tenoni_key_open(tpm, out, pem, pem_n, NULL, 0, tenoni_public_check_attestation);
}

tenon_status tenon_tpm_key_public_area(const tenon_tpm_key *key, uint8_t *out, size_t n, size_t *written)
{
    if (written != NULL)
        *written = 0;
    return key == NULL ? TENON_ERROR_NULL
                       : tenoni_output_copy(out, n, written, key->file.public_area, key->file.public_n);
}

/* Part 3, 18.2 TPM2_Certify: the key is authorised as for a signature, the AK by its empty password. */

typedef struct {
    tenon_tpm_key *key;
    tenon_tpm_key *ak;
    const uint8_t *qualifying;
    size_t qualifying_n;
    tenoni_attestation attestation;
} certification;

/* Whether the key is still at this handle: loading the other key may have flushed it. */
static bool is_at(const tenon_tpm_key *key, uint32_t handle)
{
    return handle == (key->slot.handle != 0 ? key->slot.handle : key->file.handle);
}

static tenon_status ready_both(const certification *work, uint32_t *object, uint32_t *signer)
{
    tenon_status status = tenoni_key_ready_to_use(work->key, object);
    if (status != TENON_OK)
        return status;
    status = tenoni_key_ready(work->ak, signer);
    /* The key was found just now, so it is not gone; only an AK of another seed is. */
    if (status == TENON_ERROR_KEY_GONE)
        status = TENON_ERROR_PARENT_MISSING;
    if (status == TENON_OK && !is_at(work->key, *object))
        status = tenoni_key_ready(work->key, object);
    if (status == TENON_OK && !is_at(work->ak, *signer))
        status = tenoni_classify(TENONI_CC_CERTIFY, TENONI_ROLE_KEY, TENONI_RC_OBJECT_MEMORY);
    return status;
}

/*
 * Checks that the statement is about this key: another key may be at the handle by now, and a password session does not
 * notice that.
 */
static tenon_status read_certified(certification *work, tenoni_reader *answer)
{
    tenoni_attest found;
    tenon_status status = tenoni_attestation_read(&work->attestation, &found, TENONI_ATTEST_CERTIFY, answer);
    if (status != TENON_OK)
        return status;
    if (found.name.left != sizeof work->key->name ||
        !tenoni_equal(found.name.at, work->key->name, sizeof work->key->name))
        return TENON_ERROR_KEY_NAME;
    if (found.extra_data.left != work->qualifying_n ||
        !tenoni_equal(found.extra_data.at, work->qualifying, work->qualifying_n))
        return TENON_ERROR_TPM_ANSWER;
    return tenoni_attestation_verify(&work->attestation, work->ak);
}

static tenon_status attempt_key(certification *work)
{
    tenoni_call call;
    tenoni_reader answer;
    uint32_t object, signer;
    tenon_status status = tenoni_key_check_value(work->key);
    if (status == TENON_OK)
        status = ready_both(work, &object, &signer);
    if (status != TENON_OK)
        return status;
    tenoni_call_begin(&call, TENONI_CC_CERTIFY, TENONI_ROLE_KEY);
    tenoni_call_object(&call, object, work->key->name);
    tenoni_call_object(&call, signer, work->ak->name);
    call.auth = &work->key->auth;
    if (tenoni_key_uses_session(work->key))
        call.session = &work->key->session;
    call.session_attributes = tenoni_key_encrypts(work->key) ? TENONI_SESSION_DECRYPT : 0;
    tenoni_write_sized(&call.parameters, work->qualifying, work->qualifying_n);
    tenoni_write_u16(&call.parameters, TENONI_ALG_ECDSA); /* the AK's own scheme, which the command repeats */
    tenoni_write_u16(&call.parameters, TENONI_ALG_SHA256);
    status = tenoni_call_send(work->key->tpm, &call, NULL, &answer);
    if (status == TENON_OK)
        status = read_certified(work, &answer);
    tenoni_call_end(&call);
    return status;
}

/*
 * Part 2, 6.6.3: the TPM refused the second session, but an AK's auth value is empty. So another key is at the handle.
 * A second try would count as a guess of its auth value.
 */
static bool is_another_ak(const certification *work, tenon_status status)
{
    enum { NUMBER = 0xf00, SECOND_SESSION = 0xa00 };
    return tenon_status_category(status) == TENON_CATEGORY_AUTH &&
           (tenon_status_tpm_rc(status) & NUMBER) == SECOND_SESSION && tenoni_key_look(work->ak) != TENON_OK;
}

static tenon_status certify_key(tenon_tpm *tpm, void *context)
{
    certification *work = context;
    tenon_status status = attempt_key(work);
    bool mistaken = status == TENON_ERROR_KEY_NAME || status == TENON_ERROR_SIGNATURE_INVALID;
    if (mistaken || tenoni_status_lost_object(status)) {
        tenoni_key_forget(work->key);
        tenoni_key_forget(work->ak);
    }
    if (mistaken || is_another_ak(work, status) || tenoni_key_replace(work->key, status))
        status = attempt_key(work);
    tpm->parent_used |= status == TENON_OK; /* the next operation may need it: (decision: kept-primary) */
    return status;
}

static tenon_status encode(uint8_t *out, size_t n, size_t *written, const certification *work, tenon_evidence *evidence)
{
    evidence->public_area = (tenon_bytes){work->key->file.public_area, work->key->file.public_n};
    evidence->certified = (tenon_bytes){work->attestation.statement, work->attestation.statement_n};
    evidence->signature = (tenon_bytes){work->attestation.signature, work->attestation.signature_n};
    return tenon_proof_encode(out, n, written, evidence);
}

/* Checks, before the TPM is used, that a proof can hold the certificates. */
static tenon_status check_x5c(const tenon_evidence *evidence)
{
    size_t needed;
    tenon_status status = tenon_proof_encode(NULL, 0, &needed, evidence);
    return status == TENON_ERROR_BUFFER_TOO_SMALL ? TENON_OK : status;
}

tenon_status tenon_tpm_key_attest(tenon_tpm_key *key, tenon_tpm_key *ak, uint8_t *out, size_t n, size_t *written,
                                  const uint8_t *qualifying, size_t qualifying_n, const tenon_bytes *x5c,
                                  size_t x5c_count)
{
    tenon_evidence evidence = {.x5c_count = x5c_count};
    certification work = {.key = key, .ak = ak, .qualifying = qualifying, .qualifying_n = qualifying_n};
    if (written != NULL)
        *written = 0;
    if (key == NULL || ak == NULL || written == NULL || (out == NULL && n != 0) ||
        (qualifying == NULL && qualifying_n != 0) || (x5c == NULL && x5c_count != 0))
        return TENON_ERROR_NULL;
    if (qualifying_n > TENONI_QUALIFYING_MAX || x5c_count > TENON_CERTIFICATES_MAX)
        return TENON_ERROR_TOO_LARGE;
    if (x5c_count != 0)
        memcpy(evidence.x5c, x5c, x5c_count * sizeof *x5c);
    tenon_status status = check_x5c(&evidence);
    if (status == TENON_OK && (key->attests || !ak->attests))
        status = TENON_ERROR_KEY_ATTRIBUTES;
    if (status == TENON_OK && key->tpm != ak->tpm)
        status = TENON_ERROR_OPTIONS;
    if (status == TENON_OK)
        status = tenoni_tpm_do(key->tpm, certify_key, &work);
    return status == TENON_OK ? encode(out, n, written, &work, &evidence) : status;
}

/* Part 3, 18.3 TPM2_CertifyCreation: an AK states how it was made. */

typedef struct {
    tenon_tpm_key *ak;
    tenoni_attestation attestation;
} creation_job;

static bool is_equal(const tenoni_reader *found, const uint8_t *bytes, size_t n)
{
    return found->left == n && tenoni_equal(found->at, bytes, n);
}

/* Part 2, 10.12.7 TPMS_CREATION_INFO: of this AK, and of the data that we have. */
static tenon_status read_creation(creation_job *work, tenoni_reader *answer)
{
    const tenon_tpm_key *ak = work->ak;
    tenoni_attest found;
    tenoni_reader name, hash;
    tenon_status status = tenoni_attestation_read(&work->attestation, &found, TENONI_ATTEST_CREATION, answer);
    if (status != TENON_OK)
        return status;
    if (!tenoni_read_sized(&found.attested, &name, sizeof ak->name) ||
        !tenoni_read_sized(&found.attested, &hash, sizeof ak->creation.hash) || found.attested.left != 0 ||
        found.extra_data.left != 0 || !is_equal(&name, ak->name, sizeof ak->name) ||
        !is_equal(&hash, ak->creation.hash, sizeof ak->creation.hash))
        return TENON_ERROR_TPM_ANSWER;
    return tenoni_attestation_verify(&work->attestation, ak);
}

static tenon_status attempt_creation(creation_job *work)
{
    const tenoni_creation *creation = &work->ak->creation;
    tenoni_call call;
    tenoni_reader answer;
    uint32_t handle;
    tenon_status status = tenoni_key_ready(work->ak, &handle);
    if (status != TENON_OK)
        return status;
    tenoni_call_begin(&call, TENONI_CC_CERTIFY_CREATION, TENONI_ROLE_AK);
    tenoni_call_object(&call, handle, work->ak->name);
    tenoni_call_object(&call, handle, work->ak->name);
    tenoni_write_u16(&call.parameters, 0); /* qualifyingData */
    tenoni_write_sized(&call.parameters, creation->hash, sizeof creation->hash);
    tenoni_write_u16(&call.parameters, TENONI_ALG_ECDSA); /* the AK's own scheme, which the command repeats */
    tenoni_write_u16(&call.parameters, TENONI_ALG_SHA256);
    tenoni_write_bytes(&call.parameters, creation->ticket, creation->ticket_n);
    status = tenoni_call_send(work->ak->tpm, &call, NULL, &answer);
    if (status == TENON_OK)
        status = read_creation(work, &answer);
    tenoni_call_end(&call);
    return status;
}

bool tenoni_attestation_again(tenon_tpm_key *ak, tenon_status status)
{
    int32_t category = tenon_status_category(status);
    if (category != TENON_CATEGORY_REJECTED && category != TENON_CATEGORY_AUTH && category != TENON_CATEGORY_ARGUMENT &&
        !tenoni_status_lost_object(status))
        return false;
    tenoni_key_forget(ak);
    return true;
}

/* The ticket is the AK's, too. */
static tenon_status certify_creation(tenon_tpm *tpm, void *context)
{
    creation_job *work = context;
    (void)tpm;
    tenon_status status = attempt_creation(work);
    return tenoni_attestation_again(work->ak, status) ? attempt_creation(work) : status;
}

tenon_status tenon_tpm_ak_creation(tenon_tpm_key *ak, tenon_tpm_creation *out)
{
    creation_job work = {.ak = ak};
    if (out != NULL)
        memset(out, 0, sizeof *out);
    if (ak == NULL || out == NULL)
        return TENON_ERROR_NULL;
    if (!ak->attests)
        return TENON_ERROR_KEY_ATTRIBUTES;
    if (ak->creation.data_n == 0)
        return TENON_ERROR_NOT_MADE_HERE;
    tenon_status status = tenoni_tpm_do(ak->tpm, certify_creation, &work);
    if (status != TENON_OK)
        return status;
    memcpy(out->data, ak->creation.data, ak->creation.data_n);
    out->data_n = ak->creation.data_n;
    memcpy(out->statement, work.attestation.statement, work.attestation.statement_n);
    out->statement_n = work.attestation.statement_n;
    memcpy(out->signature, work.attestation.signature, work.attestation.signature_n);
    out->signature_n = work.attestation.signature_n;
    return TENON_OK;
}
