/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/secure.h"
#include "crypto/quirks.h"
#include "tenon/encoding.h"
#include "tenon/p256.h"
#include "tpm/key.h"
#include "tpm/object.h"

/* Part 3, 20.2 TPM2_Sign. */

enum {
    TAG_SESSIONS = 0x8002,
    TAG_HASHCHECK = 0x8024,
    RS_PASSWORD = 0x40000009,
    RH_NULL = 0x40000007,
    PASSWORD_ENTRY = 9,
    HANDLE_AT = 10,
    DIGEST_AT = 10 + 4 + 4 + PASSWORD_ENTRY + 2
};

/* digest, inScheme, validation. A key whose scheme is fixed takes the same scheme again. */
static void write_parameters(tenoni_writer *writer, const tenon_digest *digest)
{
    tenoni_write_sized(writer, digest->bytes, sizeof digest->bytes);
    tenoni_write_u16(writer, TENONI_ALG_ECDSA);
    tenoni_write_u16(writer, TENONI_ALG_SHA256);
    tenoni_write_u16(writer, TAG_HASHCHECK);
    tenoni_write_u32(writer, RH_NULL);
    tenoni_write_u16(writer, 0);
}

void tenoni_key_prepare(tenon_tpm_key *key)
{
    static const tenon_digest later;
    tenoni_writer writer = tenoni_writer_over(key->command, sizeof key->command);
    tenoni_write_u16(&writer, TAG_SESSIONS);
    tenoni_write_u32(&writer, 0);
    tenoni_write_u32(&writer, TENONI_CC_SIGN);
    tenoni_write_u32(&writer, 0);
    tenoni_write_u32(&writer, PASSWORD_ENTRY);
    tenoni_write_u32(&writer, RS_PASSWORD);
    tenoni_write_u16(&writer, 0);
    tenoni_write_u8(&writer, 0);
    tenoni_write_u16(&writer, 0);
    write_parameters(&writer, &later);
    key->command_n = writer.used;
    tenoni_writer size = tenoni_writer_over(key->command + 2, 4);
    tenoni_write_u32(&size, (uint32_t)key->command_n);
}

/* Part 2, 11.3.4 TPMT_SIGNATURE, ECDSA with SHA-256. */
static tenon_status read_signature(tenoni_reader *parameters, tenon_signature *out)
{
    uint16_t scheme, hash;
    if (!tenoni_read_u16(parameters, &scheme) || scheme != TENONI_ALG_ECDSA || !tenoni_read_u16(parameters, &hash) ||
        hash != TENONI_ALG_SHA256)
        return TENON_ERROR_TPM_ANSWER;
    for (size_t i = 0; i < sizeof out->bytes; i += TENON_SCALAR_SIZE) {
        tenoni_reader number;
        if (!tenoni_read_sized(parameters, &number, TENON_SCALAR_SIZE))
            return TENON_ERROR_TPM_ANSWER;
        tenoni_number_pad(out->bytes + i, TENON_SCALAR_SIZE, number);
    }
    return parameters->left == 0 ? TENON_OK : TENON_ERROR_TPM_ANSWER;
}

/* The fast path: one command, from a buffer that was built once. */
static tenon_status sign_by_password(tenon_tpm_key *key, uint32_t handle, tenon_signature *out,
                                     const tenon_digest *digest)
{
    tenoni_writer writer = tenoni_writer_over(key->command + HANDLE_AT, 4);
    tenoni_write_u32(&writer, handle);
    memcpy(key->command + DIGEST_AT, digest->bytes, sizeof digest->bytes);
    tenoni_reader answer, parameters;
    uint32_t n;
    tenon_status status = tenoni_tpm_send(key->tpm, TENONI_ROLE_KEY, key->command, key->command_n, &answer);
    if (status != TENON_OK)
        return status;
    if (!tenoni_read_u32(&answer, &n) || !tenoni_read_part(&answer, &parameters, n) ||
        !tenoni_read_password_entry(&answer))
        return TENON_ERROR_TPM_ANSWER;
    return read_signature(&parameters, out);
}

bool tenoni_key_uses_session(const tenon_tpm_key *key)
{
    return key->auth.n != 0 || key->tpm->session != TENON_TPM_SESSION_PASSWORD;
}

bool tenoni_key_encrypts(const tenon_tpm_key *key)
{
    return key->tpm->session == TENON_TPM_SESSION_ENCRYPTED;
}

void tenoni_key_end_session(tenon_tpm_key *key)
{
    tenoni_slot_flush(key->tpm, &key->session_slot);
    tenoni_session_end(&key->session);
    key->session.handle = 0;
}

/*
 * If the slot of a session was flushed, for example because the transport was opened again, the session is no longer
 * used: its handle may belong to somebody else by then. The salt is for the parent whose Name is in the file.
 */
static tenon_status ready_session(tenon_tpm_key *key)
{
    tenoni_object parent;
    if (!tenoni_key_uses_session(key) || (key->session.state == TENONI_SESSION_LIVE && key->session_slot.handle != 0))
        return TENON_OK;
    tenoni_key_end_session(key);
    tenon_status status = tenoni_parent_for_salt(key->tpm, &key->file, &parent);
    if (status == TENON_OK)
        status = tenoni_session_open(key->tpm, &parent, tenoni_key_encrypts(key), &key->session);
    if (status == TENON_OK)
        tenoni_slot_fill(key->tpm, &key->session_slot, key->session.handle);
    return status;
}

static tenon_status sign_by_session(tenon_tpm_key *key, uint32_t handle, tenon_signature *out,
                                    const tenon_digest *digest)
{
    tenoni_call call;
    tenoni_reader parameters;
    tenoni_call_begin(&call, TENONI_CC_SIGN, TENONI_ROLE_KEY);
    tenoni_call_object(&call, handle, key->name);
    call.auth = &key->auth;
    call.session = &key->session;
    call.session_attributes = tenoni_key_encrypts(key) ? TENONI_SESSION_DECRYPT : 0;
    write_parameters(&call.parameters, digest);
    tenon_status status = tenoni_call_send(key->tpm, &call, NULL, &parameters);
    if (status == TENON_OK)
        status = read_signature(&parameters, out);
    tenoni_call_end(&call);
    return status;
}

tenon_status tenoni_key_ready_to_use(tenon_tpm_key *key, uint32_t *handle)
{
    tenon_status status = key->gone ? TENON_ERROR_KEY_GONE : ready_session(key);
    if (status != TENON_OK && status != TENON_ERROR_PARENT_MISSING)
        return status;
    /* Without the parent there can be no session. Whether the key is gone as well shows when its blob is loaded. */
    if (status == TENON_ERROR_PARENT_MISSING)
        tenoni_key_forget(key);
    tenon_status found = tenoni_key_ready(key, handle);
    return found != TENON_OK ? found : status;
}

static tenon_status sign_at(tenon_tpm_key *key, uint32_t handle, tenon_signature *out, const tenon_digest *digest)
{
    return tenoni_key_uses_session(key) ? sign_by_session(key, handle, out, digest)
                                        : sign_by_password(key, handle, out, digest);
}

static tenon_status attempt(tenon_tpm_key *key, tenon_signature *out, const tenon_digest *digest)
{
    uint32_t handle;
    tenon_status status = tenoni_key_ready_to_use(key, &handle);
    return status == TENON_OK ? sign_at(key, handle, out, digest) : status;
}

/*
 * The first signature with a persistent copy shows by itself whose key is there: verifying it here stands for a command
 * (decision: unseen-copy). Only the first: whatever becomes of it, the handle is looked at before it is used again, so
 * that somebody's count of failed tries goes up by one at most.
 */
static tenon_status sign_unseen(tenon_tpm_key *key, tenon_signature *out, const tenon_digest *digest)
{
    key->tried = true;
    tenon_status status = ready_session(key);
    if (status == TENON_OK)
        status = sign_at(key, key->file.handle, out, digest);
    if (status == TENON_OK)
        status = tenon_p256_verify(&key->public_key, digest, out);
    if (status == TENON_ERROR_SIGNATURE_INVALID)
        tenoni_key_set_copy(key, 0);
    key->trusted = status == TENON_OK;
    key->epoch = key->tpm->epoch;
    if (status != TENON_OK)
        memset(out, 0, sizeof *out);
    return status;
}

/* Whether the blob is to sign instead: what refuses, or answers in another form, may be an object of another kind. */
static bool is_not_ours(tenon_tpm_key *key, tenon_status status)
{
    int32_t category = tenon_status_category(status);
    bool refused = tenon_status_tpm_rc(status) != 0 &&
                   (category == TENON_CATEGORY_INTERNAL || category == TENON_CATEGORY_ARGUMENT);
    if (status == TENON_ERROR_SIGNATURE_INVALID || status == TENON_ERROR_PARENT_MISSING)
        return true;
    return (refused || status == TENON_ERROR_TPM_ANSWER) && tenoni_key_look(key) != TENON_OK;
}

/*
 * After a refused authorization. Somebody may have put another object at the handle, and a second try would count as a
 * guess of its auth value. So the Name is read first. If the key is ours and exempt from the lockout, the session may
 * be at fault.
 */
static bool again_after_refusal(tenon_tpm_key *key, tenon_status refusal)
{
    tenoni_key_end_session(key);
    if (key->slot.handle == 0 && tenoni_key_look(key) != TENON_OK)
        return true;
    return tenoni_key_uses_session(key) && (key->area.attributes & TENONI_NO_DA) != 0 &&
           tenoni_quirk_salt_misread(refusal);
}

/* Whatever loses an object, such as a reset, loses the session, too. */
bool tenoni_key_replace(tenon_tpm_key *key, tenon_status status)
{
    if (tenoni_status_lost_object(status)) {
        key->tpm->epoch += key->slot.handle != 0;
        tenoni_key_forget(key);
        tenoni_key_end_session(key);
        return true;
    }
    if (tenoni_key_uses_session(key) && tenoni_status_lost_session(status)) {
        tenoni_key_end_session(key);
        return true;
    }
    return tenon_status_tpm_rc(status) != 0 && tenon_status_category(status) == TENON_CATEGORY_AUTH &&
           !tenoni_status_is(status, TENONI_RC_LOCKOUT) && again_after_refusal(key, status);
}

typedef struct {
    tenon_tpm_key *key;
    tenon_signature *out;
    const tenon_digest *digest;
} job;

static tenon_status sign_once_more_if_lost(tenon_tpm *tpm, void *context)
{
    const job *work = context;
    (void)tpm;
    tenon_tpm_key *key = work->key;
    tenon_status known = tenoni_key_check_value(key);
    if (known != TENON_OK)
        return known;
    bool unseen =
        key->slot.handle == 0 && key->file.handle != 0 && !key->tried && !key->gone && !tenoni_key_knows_copy(key);
    tenon_status status = unseen ? sign_unseen(key, work->out, work->digest) : attempt(key, work->out, work->digest);
    bool again = (unseen && is_not_ours(key, status)) || tenoni_key_replace(key, status);
    return again ? attempt(key, work->out, work->digest) : status;
}

tenon_status tenoni_key_sign(tenon_tpm_key *key, tenon_signature *out, const tenon_digest *digest)
{
    job work = {.key = key, .out = out, .digest = digest};
    return tenoni_tpm_do(key->tpm, sign_once_more_if_lost, &work);
}

/* A key of a TPM behind the seam of tenon/key.h. */
typedef struct {
    tenon_tpm_key *key;
    tenon_verifier *verifier; /* with TENON_TPM_KEY_VERIFIED */
    bool low_s;
} shared;

static tenon_status sign_verified(const shared *view, tenon_signature *out, const tenon_digest *digest)
{
    tenon_status status = tenoni_key_sign(view->key, out, digest);
    bool verify = status == TENON_OK && view->verifier != NULL;
    return verify ? tenon_verifier_verify(view->verifier, digest, out) : status;
}

static tenon_status shared_sign(void *context, tenon_signature *out, const tenon_digest *digest)
{
    const shared *view = context;
    tenon_status status = sign_verified(view, out, digest);
    /* Another object may have taken the key's place; then the key is loaded again. */
    if (status == TENON_ERROR_SIGNATURE_INVALID) {
        status = tenon_tpm_key_check(view->key);
        if (status == TENON_OK)
            status = sign_verified(view, out, digest);
        if (status == TENON_ERROR_SIGNATURE_INVALID)
            status = TENON_ERROR_TPM_ANSWER;
    }
    if (status == TENON_OK && view->low_s)
        status = tenon_signature_normalize(out);
    return status;
}

static tenon_status shared_public_key(void *context, tenon_public_key *out)
{
    const shared *view = context;
    return tenon_tpm_key_public_key(view->key, out);
}

static void shared_free(void *context)
{
    shared *view = context;
    tenon_verifier_free(&view->verifier);
    tenon_tpm_key_free(&view->key);
    free(view);
}

static tenon_status new_view(shared **out, tenon_tpm_key *key, uint32_t flags)
{
    *out = calloc(1, sizeof **out);
    if (*out == NULL)
        return TENON_ERROR_MEMORY;
    (*out)->low_s = (flags & TENON_TPM_KEY_LOW_S) != 0;
    if ((flags & TENON_TPM_KEY_VERIFIED) == 0)
        return TENON_OK;
    return tenon_verifier_new(&(*out)->verifier, &key->public_key);
}

tenon_status tenon_tpm_key_open(tenon_tpm_key *tpm_key, tenon_key **out, uint32_t flags)
{
    const uint32_t known = TENON_KEY_SIGNS_DIGESTS | TENON_TPM_KEY_LOW_S | TENON_TPM_KEY_VERIFIED;
    tenon_key_ops ops = {
        .size = sizeof ops,
        .flags = flags & TENON_KEY_SIGNS_DIGESTS,
        .sign = shared_sign,
        .public_key = shared_public_key,
        .free = shared_free,
    };
    shared *view;
    if (out != NULL)
        *out = NULL;
    if (tpm_key == NULL || out == NULL)
        return TENON_ERROR_NULL;
    if ((flags & ~known) != 0)
        return TENON_ERROR_FLAGS;
    if (tpm_key->attests)
        return TENON_ERROR_KEY_ATTRIBUTES;
    if (tenoni_public_is_bound(&tpm_key->area))
        ops.flags |= TENON_KEY_HARDWARE;
    tenon_status status = new_view(&view, tpm_key, flags);
    if (view == NULL)
        return status;
    tenoni_key_keep(tpm_key);
    view->key = tpm_key;
    if (status == TENON_OK)
        status = tenon_key_new(out, &ops, view);
    if (status != TENON_OK)
        shared_free(view);
    return status;
}
