/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_CALL_H
#define TENONI_CALL_H

#include "base/bytes.h"
#include "tpm/channel.h"
#include "tpm/session.h"

enum { TENONI_CALL_HANDLES = 2, TENONI_CALL_COMMAND_MAX = 1280 };

/*
 * One command on its way: which, on what, authorised by what, with which parameters; and its answer. Begin, name the
 * handles, write the parameters, send, read, end. A table knows how many authorizations a command has.
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

/* The next handle: a hierarchy or session, which is its own Name; or an object, whose Name is ours and stays in place.
 */
void tenoni_call_handle(tenoni_call *call, uint32_t handle);
void tenoni_call_object(tenoni_call *call, uint32_t handle, const uint8_t *name);
void tenoni_call_named(tenoni_call *call, uint32_t handle, tenoni_part name);

/*
 * Sends, and checks what the session says of the answer. *handle is the handle in the answer, for commands that have
 * one; parameters are what the answer holds, decrypted, in place until the next command.
 */
tenon_status tenoni_call_send(tenon_tpm *tpm, tenoni_call *call, uint32_t *handle, tenoni_reader *parameters);

/* What an answer ends with when the command was authorised by a password. */
bool tenoni_read_password_entry(tenoni_reader *answer);

/* Wipes. */
void tenoni_call_end(tenoni_call *call);

#endif
