/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/secure.h"
#include "tpm/said.h"

/* Part 3, 18.2 TPM2_Certify: the key is authorised as for a signature, the AK by its empty password. */

typedef struct {
    tenon_tpm_key *key;
    tenon_tpm_key *ak;
    const uint8_t *qualifying;
    size_t qualifying_n;
    tenoni_said said;
} job;

enum { QUALIFYING_MAX = 32 };

/* Loaded there still: what is loaded later may have taken its slot. */
static bool is_at(const tenon_tpm_key *key, uint32_t handle)
{
    return handle == (key->slot.handle != 0 ? key->slot.handle : key->file.handle);
}

static tenon_status ready_both(const job *work, uint32_t *object, uint32_t *signer)
{
    tenon_status status = tenoni_key_ready_to_use(work->key, object);
    if (status != TENON_OK)
        return status;
    status = tenoni_key_ready(work->ak, signer);
    /* The key was found just now: it is not gone because an AK of another seed is. */
    if (status == TENON_ERROR_KEY_GONE)
        status = TENON_ERROR_PARENT_MISSING;
    if (status == TENON_OK && !is_at(work->key, *object))
        status = tenoni_key_ready(work->key, object);
    if (status == TENON_OK && !is_at(work->ak, *signer))
        status = tenoni_classify(TENONI_CC_CERTIFY, TENONI_ROLE_KEY, TENONI_RC_OBJECT_MEMORY);
    return status;
}

/* That the statement is about this key: a handle may be another's by now, and a password session does not notice. */
static tenon_status read_answer(job *work, tenoni_reader *answer)
{
    tenoni_attest found;
    tenon_status status = tenoni_said_read(&work->said, &found, TENONI_ATTEST_CERTIFY, answer);
    if (status != TENON_OK)
        return status;
    if (found.name.left != sizeof work->key->name ||
        !tenoni_equal(found.name.at, work->key->name, sizeof work->key->name))
        return TENON_ERROR_KEY_NAME;
    if (found.extra_data.left != work->qualifying_n ||
        !tenoni_equal(found.extra_data.at, work->qualifying, work->qualifying_n))
        return TENON_ERROR_TPM_ANSWER;
    return tenoni_said_verify(&work->said, work->ak);
}

static tenon_status attempt(job *work)
{
    tenoni_call call;
    tenoni_reader answer;
    uint32_t object, signer;
    tenon_status status = ready_both(work, &object, &signer);
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
    tenoni_write_u16(&call.parameters, TENONI_ALG_ECDSA); /* the AK's own, said again */
    tenoni_write_u16(&call.parameters, TENONI_ALG_SHA256);
    status = tenoni_call_send(work->key->tpm, &call, NULL, &answer);
    if (status == TENON_OK)
        status = read_answer(work, &answer);
    tenoni_call_end(&call);
    return status;
}

/*
 * Part 2, 6.6.3: the second session was refused, and an AK's auth value is empty. So it is another key's, whose
 * protection against guessing we do not try again.
 */
static bool is_another_ak(const job *work, tenon_status status)
{
    enum { NUMBER = 0xf00, SECOND_SESSION = 0xa00 };
    return tenon_status_category(status) == TENON_CATEGORY_AUTH &&
           (tenon_status_tpm_rc(status) & NUMBER) == SECOND_SESSION && tenoni_key_look(work->ak) != TENON_OK;
}

static tenon_status certify(tenon_tpm *tpm, void *context)
{
    job *work = context;
    (void)tpm;
    tenon_status status = attempt(work);
    bool mistaken = status == TENON_ERROR_KEY_NAME || status == TENON_ERROR_SIGNATURE_INVALID;
    if (mistaken || tenoni_status_lost_object(status)) {
        tenoni_key_forget(work->key);
        tenoni_key_forget(work->ak);
    }
    return mistaken || is_another_ak(work, status) || tenoni_key_replace(work->key, status) ? attempt(work) : status;
}

static tenon_status encode(uint8_t *out, size_t n, size_t *written, const job *work, tenon_evidence *evidence)
{
    evidence->public_area = (tenon_bytes){work->key->file.public_area, work->key->file.public_n};
    evidence->certified = (tenon_bytes){work->said.statement, work->said.statement_n};
    evidence->signature = (tenon_bytes){work->said.signature, work->said.signature_n};
    return tenon_proof_encode(out, n, written, evidence);
}

/* Before the TPM is asked: whether a proof can hold them. */
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
    job work = {.key = key, .ak = ak, .qualifying = qualifying, .qualifying_n = qualifying_n};
    if (written != NULL)
        *written = 0;
    if (key == NULL || ak == NULL || written == NULL || (out == NULL && n != 0) ||
        (qualifying == NULL && qualifying_n != 0) || (x5c == NULL && x5c_count != 0))
        return TENON_ERROR_NULL;
    if (qualifying_n > QUALIFYING_MAX || x5c_count > TENON_CERTIFICATES_MAX)
        return TENON_ERROR_TOO_LARGE;
    if (x5c_count != 0)
        memcpy(evidence.x5c, x5c, x5c_count * sizeof *x5c);
    tenon_status status = check_x5c(&evidence);
    if (status == TENON_OK && (key->attests || !ak->attests))
        status = TENON_ERROR_KEY_ATTRIBUTES;
    if (status == TENON_OK && key->tpm != ak->tpm)
        status = TENON_ERROR_OPTIONS;
    if (status == TENON_OK)
        status = tenoni_tpm_do(key->tpm, certify, &work);
    return status == TENON_OK ? encode(out, n, written, &work, &evidence) : status;
}
