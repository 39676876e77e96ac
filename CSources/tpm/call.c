/* SPDX-License-Identifier: Apache-2.0 */
#include "tpm/call.h"

#include <string.h>

#include "base/secure.h"

enum {
    TAG_NO_SESSIONS = 0x8001,
    TAG_SESSIONS = 0x8002,
    RS_PASSWORD = 0x40000009,
    SIZE_AT = 2,
    PLAIN_ENTRY_SIZE = 9,
    NONCE_MAX = 64 /* the largest digest */
};

enum { HT_HMAC_SESSION = 0x02, HT_POLICY_SESSION = 0x03, HT_TRANSIENT = 0x80 };

/*
 * Part 3, the clause of each command: how many of its handles need authorisation, and the kind (Part 2, 7.2 TPM_HT) of
 * the handle that its answer begins with.
 */
typedef struct {
    uint32_t code;
    unsigned authorised;
    uint8_t gives; /* 0: none */
} form;

static const form forms[] = {
    {TENONI_CC_ACTIVATE_CREDENTIAL, 2, 0},
    {TENONI_CC_CERTIFY, 2, 0},
    {TENONI_CC_CERTIFY_CREATION, 1, 0},
    {TENONI_CC_CREATE, 1, 0},
    {TENONI_CC_CREATE_PRIMARY, 1, HT_TRANSIENT},
    {TENONI_CC_EVICT_CONTROL, 1, 0},
    {TENONI_CC_GET_CAPABILITY, 0, 0},
    {TENONI_CC_LOAD, 1, HT_TRANSIENT},
    {TENONI_CC_NV_DEFINE_SPACE, 1, 0},
    {TENONI_CC_NV_INCREMENT, 1, 0},
    {TENONI_CC_NV_READ, 1, 0},
    {TENONI_CC_NV_READ_PUBLIC, 0, 0},
    {TENONI_CC_NV_UNDEFINE_SPACE, 1, 0},
    {TENONI_CC_POLICY_OR, 0, 0},
    {TENONI_CC_POLICY_SECRET, 1, 0},
    {TENONI_CC_QUOTE, 1, 0},
    {TENONI_CC_READ_PUBLIC, 0, 0},
    {TENONI_CC_SIGN, 1, 0},
    {TENONI_CC_START_AUTH_SESSION, 0, HT_HMAC_SESSION},
    {TENONI_CC_UNSEAL, 1, 0},
};

static const form *form_of(uint32_t code)
{
    size_t i = 0;
    while (forms[i].code != code)
        i++;
    return &forms[i];
}

void tenoni_call_begin(tenoni_call *call, uint32_t code, tenoni_role role)
{
    call->code = code;
    call->role = role;
    call->handles = 0;
    call->auth = NULL;
    call->session = NULL;
    call->session_attributes = 0;
    call->last = false;
    call->policy = 0;
    call->parameters = tenoni_writer_over(call->buffer, sizeof call->buffer);
}

void tenoni_call_handle(tenoni_call *call, uint32_t handle)
{
    uint8_t *bytes = call->handle_bytes[call->handles];
    tenoni_writer writer = tenoni_writer_over(bytes, 4);
    tenoni_write_u32(&writer, handle);
    call->names[call->handles++] = (tenoni_part){bytes, 4};
}

void tenoni_call_named(tenoni_call *call, uint32_t handle, tenoni_part name)
{
    tenoni_call_handle(call, handle);
    call->names[call->handles - 1] = name;
}

void tenoni_call_object(tenoni_call *call, uint32_t handle, const uint8_t *name)
{
    tenoni_call_named(call, handle, (tenoni_part){name, TENON_NAME_SIZE});
}

void tenoni_call_end(tenoni_call *call)
{
    tenoni_wipe(call, sizeof *call);
}

static tenoni_session_use use_of(const tenoni_call *call)
{
    return (tenoni_session_use){
        .code = call->code,
        .attributes = (uint8_t)((call->last ? 0 : TENONI_SESSION_CONTINUE) | call->session_attributes),
        .auth = {call->auth == NULL ? NULL : call->auth->bytes, call->auth == NULL ? 0 : call->auth->n},
        .names = call->names,
        .names_count = call->handles,
    };
}

/* Part 2, 10.13.2 TPMS_AUTH_COMMAND. A policy session without a salt has no HMAC, and so it needs no nonce. */
static void write_plain_entry(tenoni_writer *entry, uint32_t session, const tenoni_auth *auth)
{
    tenoni_write_u32(entry, session);
    tenoni_write_u16(entry, 0);
    tenoni_write_u8(entry, 0);
    tenoni_write_sized(entry, auth == NULL ? NULL : auth->bytes, auth == NULL ? 0 : auth->n);
}

/* A password, which is the auth value itself, or a session's entry. */
static tenon_status write_entry(tenoni_call *call, tenoni_writer *entry)
{
    if (call->session != NULL) {
        tenoni_session_use use = use_of(call);
        return tenoni_session_authorise(call->session, entry, &use, call->buffer, call->parameters.used);
    }
    write_plain_entry(entry, RS_PASSWORD, call->auth);
    return TENON_OK;
}

static tenon_status build(tenoni_call *call, unsigned authorised, tenoni_writer *command)
{
    uint8_t entry_bytes[TENONI_SESSION_ENTRY_SIZE + PLAIN_ENTRY_SIZE];
    tenoni_writer entry = tenoni_writer_over(entry_bytes, sizeof entry_bytes);
    tenon_status status = authorised != 0 ? write_entry(call, &entry) : TENON_OK;
    if (authorised == 2)
        write_plain_entry(&entry, call->policy != 0 ? call->policy : RS_PASSWORD, NULL);
    tenoni_write_u16(command, authorised != 0 ? TAG_SESSIONS : TAG_NO_SESSIONS);
    tenoni_write_u32(command, 0);
    tenoni_write_u32(command, call->code);
    for (size_t i = 0; i < call->handles; i++)
        tenoni_write_bytes(command, call->handle_bytes[i], 4);
    if (authorised != 0) {
        tenoni_write_u32(command, (uint32_t)entry.used);
        tenoni_write_bytes(command, entry_bytes, entry.used);
    }
    tenoni_write_bytes(command, call->buffer, call->parameters.used);
    tenoni_writer size = tenoni_writer_over(command->start + SIZE_AT, 4);
    tenoni_write_u32(&size, (uint32_t)command->used);
    tenoni_wipe(entry_bytes, sizeof entry_bytes);
    if (status == TENON_OK && (call->parameters.overflowed || command->overflowed || entry.overflowed))
        status = TENON_ERROR_TOO_LARGE;
    return status;
}

/* Part 2, 10.13.3 TPMS_AUTH_RESPONSE of a password: nothing, and the attributes' echo. A policy session has a nonce. */
static bool read_plain_entry(tenoni_reader *entries, size_t nonce_max)
{
    tenoni_reader nonce;
    uint16_t hmac;
    uint8_t attributes;
    return tenoni_read_sized(entries, &nonce, nonce_max) && tenoni_read_u8(entries, &attributes) &&
           tenoni_read_u16(entries, &hmac) && hmac == 0;
}

bool tenoni_read_password_entry(tenoni_reader *answer)
{
    return read_plain_entry(answer, 0) && answer->left == 0;
}

static tenon_status read_first_entry(tenon_tpm *tpm, const tenoni_call *call, tenoni_reader *entries,
                                     const tenoni_reader *parameters)
{
    if (call->session == NULL)
        return read_plain_entry(entries, 0) ? TENON_OK : TENON_ERROR_TPM_ANSWER;
    tenoni_session_use use = use_of(call);
    /* The same bytes in the buffer, where they can be decrypted in place. */
    uint8_t *in_place = tpm->answer + (parameters->at - tpm->answer);
    return tenoni_session_check(call->session, entries, &use, in_place, parameters->left);
}

static tenon_status read_entries(tenon_tpm *tpm, const tenoni_call *call, unsigned authorised, tenoni_reader *entries,
                                 const tenoni_reader *parameters)
{
    tenon_status status = read_first_entry(tpm, call, entries, parameters);
    if (status != TENON_OK)
        return status;
    bool second = authorised == 1 || read_plain_entry(entries, call->policy != 0 ? NONCE_MAX : 0);
    if (second && entries->left == 0)
        return TENON_OK;
    return call->session != NULL ? TENON_ERROR_SESSION : TENON_ERROR_TPM_ANSWER;
}

static tenon_status read_parameters(tenon_tpm *tpm, const tenoni_call *call, unsigned authorised, tenoni_reader *answer,
                                    tenoni_reader *parameters)
{
    uint32_t n;
    if (authorised == 0) {
        *parameters = *answer;
        return TENON_OK;
    }
    if (!tenoni_read_u32(answer, &n) || !tenoni_read_part(answer, parameters, n))
        return TENON_ERROR_TPM_ANSWER;
    return read_entries(tpm, call, authorised, answer, parameters);
}

static bool is_of_kind(uint32_t handle, uint8_t kind)
{
    uint32_t found = handle >> 24;
    return found == kind || (kind == HT_HMAC_SESSION && found == HT_POLICY_SESSION);
}

/* A handle of another kind is a malformed answer. It is neither kept nor flushed, because it may belong to others. */
static tenon_status read_answer(tenon_tpm *tpm, const tenoni_call *call, const form *shape, uint32_t *handle,
                                tenoni_reader *answer, tenoni_reader *parameters)
{
    if (shape->gives != 0 && (!tenoni_read_u32(answer, handle) || !is_of_kind(*handle, shape->gives)))
        return TENON_ERROR_TPM_ANSWER;
    tenon_status status = read_parameters(tpm, call, shape->authorised, answer, parameters);
    if (status != TENON_OK && shape->gives != 0)
        tenoni_tpm_flush(tpm, *handle);
    return status;
}

tenon_status tenoni_call_send(tenon_tpm *tpm, tenoni_call *call, uint32_t *handle, tenoni_reader *parameters)
{
    uint8_t bytes[TENONI_CALL_COMMAND_MAX];
    const form *shape = form_of(call->code);
    tenoni_writer command = tenoni_writer_over(bytes, sizeof bytes);
    tenoni_reader answer;
    tenon_status status = build(call, shape->authorised, &command);
    if (status == TENON_OK)
        status = tenoni_tpm_send(tpm, call->role, bytes, command.used, &answer);
    tenoni_wipe(bytes, command.used);
    if (status == TENON_OK)
        status = read_answer(tpm, call, shape, handle, &answer, parameters);
    /* A refusal leaves the session as it was; after any other failure, the TPM's nonce is unknown. */
    if (status != TENON_OK && tenon_status_tpm_rc(status) == 0 && call->session != NULL)
        tenoni_session_end(call->session);
    return status;
}
