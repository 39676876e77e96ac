/* SPDX-License-Identifier: Apache-2.0 */
#include "tenon/activate.h"

#include <string.h>

#include "base/secure.h"
#include "crypto/quirks.h"
#include "tenon/digest.h"
#include "tpm/ek.h"
#include "tpm/key.h"
#include "tpm/object.h"

/* Part 3, 12.5 TPM2_ActivateCredential: the AK by its password or a session, the EK by its policy. */

enum { SECRET_MAX = 64 };

typedef struct {
    tenon_tpm_key *ak;
    tenon_ek ek;
    tenon_bytes credential;
    tenon_bytes encrypted;
    bool salted; /* the command was sent in a salted session */
    uint8_t secret[SECRET_MAX];
    size_t secret_n;
} job;

/* A session that encrypts, so that the secret does not cross the bus as it is. */
static tenon_status open_session(const job *work, tenoni_session *session)
{
    tenoni_object parent;
    uint32_t handle;
    tenon_status status = tenoni_parent_for_salt(work->ak->tpm, &work->ak->file, &parent);
    if (status == TENON_OK)
        return tenoni_session_open(work->ak->tpm, &parent, true, session);
    /* There is no session if the parent is missing: then the AK may be gone, too, or it has a persistent copy. */
    if (status != TENON_ERROR_PARENT_MISSING)
        return status;
    tenoni_key_forget(work->ak);
    return tenoni_key_ready(work->ak, &handle);
}

static tenon_status send(job *work, uint32_t handle, const tenoni_ek *ek, tenoni_session *session, uint32_t policy)
{
    tenon_tpm *tpm = work->ak->tpm;
    tenoni_call call;
    tenoni_reader answer, secret;
    tenoni_call_begin(&call, TENONI_CC_ACTIVATE_CREDENTIAL, TENONI_ROLE_AK);
    tenoni_call_object(&call, handle, work->ak->name);
    tenoni_call_named(&call, ek->handle, (tenoni_part){ek->name, ek->name_n});
    call.policy = policy;
    work->salted = session->state == TENONI_SESSION_LIVE;
    if (work->salted) {
        call.session = session;
        call.session_attributes = TENONI_SESSION_DECRYPT | TENONI_SESSION_ENCRYPT;
        call.last = true;
    }
    tenoni_write_bytes(&call.parameters, work->credential.bytes, work->credential.n);
    tenoni_write_bytes(&call.parameters, work->encrypted.bytes, work->encrypted.n);
    tenon_status status = tenoni_call_send(tpm, &call, NULL, &answer);
    if (status == TENON_OK && (!tenoni_read_sized(&answer, &secret, sizeof work->secret) || answer.left != 0))
        status = TENON_ERROR_TPM_ANSWER;
    if (status == TENON_OK) {
        work->secret_n = secret.left;
        memcpy(work->secret, secret.at, secret.left);
    }
    tenoni_wipe(tpm->answer, sizeof tpm->answer);
    tenoni_call_end(&call);
    return status;
}

/*
 * Three places must suffice for the AK, the EK and the key that is certified next. The parent for the session is
 * therefore loaded before the EK, and not beside it. The AK is found last, because it may have been flushed to make
 * room.
 */
static tenon_status attempt(job *work)
{
    tenon_tpm *tpm = work->ak->tpm;
    tenoni_session session = {.state = TENONI_SESSION_OVER};
    tenoni_ek ek = {.handle = 0};
    uint32_t handle, policy = 0;
    work->salted = false;
    tenon_status status = open_session(work, &session);
    tenoni_slot_flush(tpm, &tpm->parent);
    if (status == TENON_OK)
        status = tenoni_ek_find(tpm, &work->ek, &ek);
    if (status == TENON_OK)
        status = tenoni_policy_open(tpm, ek.name_algorithm, ek.policy, &policy);
    if (status == TENON_OK)
        status = tenoni_key_ready(work->ak, &handle);
    if (status == TENON_OK)
        status = send(work, handle, &ek, &session, policy);
    /* A command that succeeded has ended both sessions. */
    if (status != TENON_OK && policy != 0)
        tenoni_tpm_flush(tpm, policy);
    tenoni_session_close(tpm, &session);
    tenoni_ek_release(tpm, &ek);
    return status;
}

/* Makes again what the TPM lost, and the session if the TPM may have misread its salt; a bad credential stays bad. */
static bool is_worth_another(const job *work, tenon_status status)
{
    if (tenoni_status_lost_object(status))
        return true;
    if (tenon_status_category(status) == TENON_CATEGORY_REJECTED)
        return false;
    return tenoni_status_lost_session(status) || (work->salted && tenoni_quirk_salt_misread(status));
}

static tenon_status activate(tenon_tpm *tpm, void *context)
{
    job *work = context;
    (void)tpm;
    tenon_status status = attempt(work);
    if (!is_worth_another(work, status))
        return status;
    tenoni_key_forget(work->ak);
    return attempt(work);
}

/* One TPM2B that is not empty, and nothing behind it. */
static bool is_sized(const tenon_bytes *bytes)
{
    tenoni_reader reader = tenoni_reader_over(bytes->bytes, bytes->n);
    tenoni_reader content;
    return tenoni_read_sized(&reader, &content, TENON_CREDENTIAL_MAX - 2) && content.left != 0 && reader.left == 0;
}

static tenon_status open_credential(job *work, tenon_tpm_key *ak, tenon_bytes certificate, tenon_bytes credential,
                                    tenon_bytes encrypted)
{
    if (ak == NULL || certificate.bytes == NULL || credential.bytes == NULL || encrypted.bytes == NULL)
        return TENON_ERROR_NULL;
    if (!ak->attests)
        return TENON_ERROR_KEY_ATTRIBUTES;
    memset(work, 0, sizeof *work);
    work->ak = ak;
    work->credential = credential;
    work->encrypted = encrypted;
    if (!is_sized(&credential) || !is_sized(&encrypted))
        return TENON_ERROR_CREDENTIAL_FORM;
    tenon_status status = tenon_ek_read(&work->ek, certificate.bytes, certificate.n);
    return status == TENON_OK ? tenoni_tpm_do(ak->tpm, activate, work) : status;
}

static tenon_status compute(tenon_digest *out, const job *work, const tenon_activation *activation)
{
    tenon_activation whole = *activation;
    whole.ak_name = work->ak->name;
    whole.ak_name_n = sizeof work->ak->name;
    whole.ek_id = work->ek.id;
    return tenon_activation_value(out, work->secret, work->secret_n, &whole);
}

tenon_status tenon_tpm_ak_activate(tenon_tpm_key *ak, tenon_digest *out, const uint8_t *certificate,
                                   size_t certificate_n, const uint8_t *credential, size_t credential_n,
                                   const uint8_t *encrypted, size_t encrypted_n, const tenon_activation *activation)
{
    job work;
    if (out != NULL)
        memset(out, 0, sizeof *out);
    if (out == NULL || activation == NULL)
        return TENON_ERROR_NULL;
    if (activation->size != sizeof *activation)
        return TENON_ERROR_OPTIONS;
    tenon_status status =
        open_credential(&work, ak, (tenon_bytes){certificate, certificate_n}, (tenon_bytes){credential, credential_n},
                        (tenon_bytes){encrypted, encrypted_n});
    if (status == TENON_OK)
        status = compute(out, &work, activation);
    tenoni_wipe(&work, sizeof work);
    return status;
}

tenon_status tenon_tpm_ak_secret(tenon_tpm_key *ak, uint8_t *out, size_t n, size_t *written, const uint8_t *certificate,
                                 size_t certificate_n, const uint8_t *credential, size_t credential_n,
                                 const uint8_t *encrypted, size_t encrypted_n)
{
    job work;
    if (written != NULL)
        *written = 0;
    if (written == NULL || (out == NULL && n != 0))
        return TENON_ERROR_NULL;
    tenon_status status =
        open_credential(&work, ak, (tenon_bytes){certificate, certificate_n}, (tenon_bytes){credential, credential_n},
                        (tenon_bytes){encrypted, encrypted_n});
    if (status == TENON_OK)
        status = tenoni_output_copy(out, n, written, work.secret, work.secret_n);
    tenoni_wipe(&work, sizeof work);
    return status;
}
