/* SPDX-License-Identifier: Apache-2.0 */
#include "tpm/call.h"

#include <string.h>

#include "internal/secure.h"

enum { TAG_NO_SESSIONS = 0x8001, TAG_SESSIONS = 0x8002, RS_PASSWORD = 0x40000009, SIZE_AT = 2 };

enum { HT_HMAC_SESSION = 0x02, HT_TRANSIENT = 0x80 };

/* Part 3, the command's own clause: whether its first handle is authorised, and of which kind (Part 2, 7.2
 * TPM_HT) the handle is that its answer begins with. */
typedef struct {
    uint32_t code;
    bool authorised;
    uint8_t gives; /* 0: none */
} form;

static const form forms[] = {
    {TENONI_CC_CREATE, true, 0},
    {TENONI_CC_CREATE_PRIMARY, true, HT_TRANSIENT},
    {TENONI_CC_EVICT_CONTROL, true, 0},
    {TENONI_CC_GET_CAPABILITY, false, 0},
    {TENONI_CC_LOAD, true, HT_TRANSIENT},
    {TENONI_CC_READ_PUBLIC, false, 0},
    {TENONI_CC_SIGN, true, 0},
    {TENONI_CC_START_AUTH_SESSION, false, HT_HMAC_SESSION},
};

static const form *form_of(uint32_t code)
{
    size_t i = 0;
    while (forms[i].code != code)
        i++;
    return &forms[i];
}

bool tenoni_read_sized(tenoni_reader *reader, tenoni_reader *content, size_t max)
{
    uint16_t n;
    return tenoni_read_u16(reader, &n) && n <= max && tenoni_read_part(reader, content, n);
}

void tenoni_write_sized(tenoni_writer *writer, const void *bytes, size_t n)
{
    tenoni_write_u16(writer, (uint16_t)n);
    tenoni_write_bytes(writer, bytes, n);
}

void tenoni_call_begin(tenoni_call *call, uint32_t code, tenoni_role role)
{
    call->code = code;
    call->role = role;
    call->handles = 0;
    call->auth = NULL;
    call->session = NULL;
    call->session_attributes = 0;
    call->parameters = tenoni_writer_over(call->buffer, sizeof call->buffer);
}

void tenoni_call_handle(tenoni_call *call, uint32_t handle)
{
    uint8_t *bytes = call->handle_bytes[call->handles];
    tenoni_writer writer = tenoni_writer_over(bytes, 4);
    tenoni_write_u32(&writer, handle);
    call->names[call->handles++] = (tenoni_part){bytes, 4};
}

void tenoni_call_object(tenoni_call *call, uint32_t handle, const uint8_t *name)
{
    tenoni_call_handle(call, handle);
    call->names[call->handles - 1] = (tenoni_part){name, TENON_TPM_NAME_SIZE};
}

void tenoni_call_end(tenoni_call *call)
{
    tenoni_wipe(call, sizeof *call);
}

static tenoni_session_use use_of(const tenoni_call *call)
{
    return (tenoni_session_use){
        .code = call->code,
        .attributes = (uint8_t)(TENONI_SESSION_CONTINUE | call->session_attributes),
        .auth = {call->auth == NULL ? NULL : call->auth->bytes, call->auth == NULL ? 0 : call->auth->n},
        .names = call->names,
        .names_count = call->handles,
    };
}

/* Part 2, 10.13.2 TPMS_AUTH_COMMAND: a password, which is the auth value itself, or a session's entry. */
static tenon_status write_entry(tenoni_call *call, tenoni_writer *entry)
{
    if (call->session != NULL) {
        tenoni_session_use use = use_of(call);
        return tenoni_session_authorise(call->session, entry, &use, call->buffer, call->parameters.used);
    }
    tenoni_write_u32(entry, RS_PASSWORD);
    tenoni_write_u16(entry, 0);
    tenoni_write_u8(entry, 0);
    tenoni_write_sized(entry, call->auth == NULL ? NULL : call->auth->bytes, call->auth == NULL ? 0 : call->auth->n);
    return TENON_OK;
}

static tenon_status build(tenoni_call *call, bool authorised, tenoni_writer *command)
{
    uint8_t entry_bytes[TENONI_SESSION_ENTRY_SIZE];
    tenoni_writer entry = tenoni_writer_over(entry_bytes, sizeof entry_bytes);
    tenon_status status = authorised ? write_entry(call, &entry) : TENON_OK;
    tenoni_write_u16(command, authorised ? TAG_SESSIONS : TAG_NO_SESSIONS);
    tenoni_write_u32(command, 0);
    tenoni_write_u32(command, call->code);
    for (size_t i = 0; i < call->handles; i++)
        tenoni_write_bytes(command, call->handle_bytes[i], 4);
    if (authorised) {
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

/* Part 2, 10.13.3 TPMS_AUTH_RESPONSE of a password: nothing, and the attributes' echo. */
bool tenoni_read_password_entry(tenoni_reader *answer)
{
    uint16_t nonce, hmac;
    uint8_t attributes;
    return tenoni_read_u16(answer, &nonce) && nonce == 0 && tenoni_read_u8(answer, &attributes) &&
           tenoni_read_u16(answer, &hmac) && hmac == 0 && answer->left == 0;
}

static tenon_status read_entry(tenon_tpm *tpm, const tenoni_call *call, tenoni_reader *entries,
                               const tenoni_reader *parameters)
{
    if (call->session == NULL)
        return tenoni_read_password_entry(entries) ? TENON_OK : TENON_ERROR_TPM_ANSWER;
    tenoni_session_use use = use_of(call);
    /* The same bytes, in the buffer that they may be decrypted in. */
    uint8_t *in_place = tpm->answer + (parameters->at - tpm->answer);
    tenon_status status = tenoni_session_check(call->session, entries, &use, in_place, parameters->left);
    return status == TENON_OK && entries->left != 0 ? TENON_ERROR_SESSION : status;
}

static tenon_status read_parameters(tenon_tpm *tpm, const tenoni_call *call, bool authorised, tenoni_reader *answer,
                                    tenoni_reader *parameters)
{
    uint32_t n;
    if (!authorised) {
        *parameters = *answer;
        return TENON_OK;
    }
    if (!tenoni_read_u32(answer, &n) || !tenoni_read_part(answer, parameters, n))
        return TENON_ERROR_TPM_ANSWER;
    return read_entry(tpm, call, answer, parameters);
}

/* A handle of another kind is no answer: it is neither kept nor flushed, as it may be somebody else's. */
static tenon_status read_answer(tenon_tpm *tpm, const tenoni_call *call, const form *shape, uint32_t *handle,
                                tenoni_reader *answer, tenoni_reader *parameters)
{
    if (shape->gives != 0 && (!tenoni_read_u32(answer, handle) || *handle >> 24 != shape->gives))
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
    /* A TPM that refuses leaves the session as it was; after any other failure nobody knows its nonce. */
    if (status != TENON_OK && tenon_status_tpm_rc(status) == 0 && call->session != NULL)
        tenoni_session_end(call->session);
    return status;
}
