/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_CALL_H
#define TENONI_CALL_H

#include "base/bytes.h"
#include "tpm/channel.h"
#include "tpm/session.h"

enum { TENONI_CALL_HANDLES = 2, TENONI_CALL_COMMAND_MAX = 1280 };

/*
 * One command and its answer: the code, the handles, the authorisation and the parameters. The order of calls is:
 * begin, name the handles, write the parameters, send, read, end. A table in call.c says how many authorisations each
 * command has.
 */
typedef struct {
    uint32_t code;
    tenoni_role role;
    size_t handles;
    uint8_t handle_bytes[TENONI_CALL_HANDLES][4];
    tenoni_part names[TENONI_CALL_HANDLES];
    const tenoni_auth *auth;    /* of the first handle; NULL: empty */
    tenoni_session *session;    /* for the first handle; NULL: a password */
    uint8_t session_attributes; /* beside TENONI_SESSION_CONTINUE */
    bool last;                  /* the session's last command: without TENONI_SESSION_CONTINUE */
    uint32_t policy;            /* the session for the second handle, which ends with it; 0: an empty password */
    tenoni_writer parameters;
    uint8_t buffer[1024];
} tenoni_call;

void tenoni_call_begin(tenoni_call *call, uint32_t code, tenoni_role role);

/*
 * Adds the next handle: a hierarchy or a session, whose handle is its Name; or an object with the Name that we
 * computed, which must stay in memory.
 */
void tenoni_call_handle(tenoni_call *call, uint32_t handle);
void tenoni_call_object(tenoni_call *call, uint32_t handle, const uint8_t *name);
void tenoni_call_named(tenoni_call *call, uint32_t handle, tenoni_part name);

/*
 * Sends the command, and checks the answer with the session. *handle is the handle in the answer, if the command gives
 * one. parameters are those of the answer, decrypted; they stay valid until the next command.
 */
tenon_status tenoni_call_send(tenon_tpm *tpm, tenoni_call *call, uint32_t *handle, tenoni_reader *parameters);

/* Reads the end of an answer to a command that was authorised by a password. */
bool tenoni_read_password_entry(tenoni_reader *answer);

/* Wipes. */
void tenoni_call_end(tenoni_call *call);

#endif
