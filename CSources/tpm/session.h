/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_SESSION_H
#define TENONI_SESSION_H

#include <stdbool.h>

#include "base/bytes.h"
#include "crypto/hash.h"

/*
 * The computations of a salted, unbound HMAC session with SHA-256 (Part 1, 19.6). Nothing is sent here.
 *
 *   start -> TPM2_StartAuthSession -> started -> (authorise -> a command -> check)* -> end
 *
 * After a function has failed, and after end, the session is over: its secrets are wiped, and each function returns
 * TENON_ERROR_SESSION. Its handle stays, for TPM2_FlushContext; it is 0 when the TPM has closed the session itself.
 *
 * A refusal by the TPM has no session area, so nothing authenticates it, and check does not apply to it. After a
 * refusal the session can be used again, unless the code says that the TPM lost it.
 */

/* Part 2, 8.4 TPMA_SESSION. Decrypting is what the TPM does to a command, encrypting what it does to its answer. */
enum { TENONI_SESSION_CONTINUE = 0x01, TENONI_SESSION_DECRYPT = 0x20, TENONI_SESSION_ENCRYPT = 0x40 };

enum {
    TENONI_SESSION_NONCE_SIZE = 32,
    TENONI_SESSION_START_SIZE = 113, /* the parameters of TPM2_StartAuthSession at most */
    TENONI_SESSION_ENTRY_SIZE = 73   /* TPMS_AUTH_COMMAND (Part 2, 10.13.2) */
};

typedef enum { TENONI_SESSION_OVER, TENONI_SESSION_STARTING, TENONI_SESSION_LIVE } tenoni_session_state;

typedef struct {
    tenoni_session_state state;
    uint32_t handle;
    bool encrypts;
    uint8_t attributes; /* of the command on its way */
    uint8_t nonce_caller[TENONI_SESSION_NONCE_SIZE];
    uint8_t nonce_tpm[TENONI_SESSION_NONCE_SIZE];
    uint8_t key[TENON_DIGEST_SIZE]; /* while starting: the salt */
} tenoni_session;

/* A command as a session sees it. The session is its first; any others are policy or password sessions. */
typedef struct {
    uint32_t code;
    uint8_t attributes;       /* TENONI_SESSION_* */
    tenoni_part auth;         /* of the entity that is authorised, at most 32 bytes; empty when there is none */
    const tenoni_part *names; /* of each handle, in order: an object's computed Name, else the handle itself */
    size_t names_count;
} tenoni_session_use;

/*
 * Begins a session that is salted to this key, and writes the parameters of TPM2_StartAuthSession; tpmKey is the key,
 * bind TPM_RH_NULL. With encrypts the session can encrypt parameters, with AES-128-CFB.
 *
 * Where the TPM refuses the first command, tenoni_quirk_salt_misread (crypto/quirks.h) says whether a new start is
 * worth trying.
 */
tenon_status tenoni_session_start(tenoni_session *session, tenoni_writer *parameters, const tenon_public_key *salt_to,
                                  bool encrypts);

/* The answer: a handle and, as parameters, nonceTPM and nothing else. TENON_ERROR_TPM_ANSWER for another form. */
tenon_status tenoni_session_started(tenoni_session *session, uint32_t handle, tenoni_reader *parameters);

/*
 * Writes the session's entry for the authorization area of a command, with a fresh nonce. With TENONI_SESSION_DECRYPT
 * the content of the first parameter, which has to be a TPM2B, is encrypted in place; after that the parameters must
 * not change. TENON_ERROR_FLAGS for attributes that the session or the parameters do not have room for.
 */
tenon_status tenoni_session_authorise(tenoni_session *session, tenoni_writer *entry, const tenoni_session_use *use,
                                      uint8_t *parameters, size_t n);

/*
 * Reads the session's entry in the answer to that command, which the TPM says succeeded, and checks all that it
 * promises: nonceTPM is new, the HMAC is good over the parameters as they came, the attributes are those of the
 * command. Only then is the first parameter decrypted in place, if it is encrypted. Anything else is
 * TENON_ERROR_SESSION, and the parameters stay as they came. An answer without a session area fails, because it has no
 * entry. The caller reads or refuses what is left in entries.
 */
tenon_status tenoni_session_check(tenoni_session *session, tenoni_reader *entries, const tenoni_session_use *use,
                                  uint8_t *parameters, size_t n);

/* Forgets the session; also after a reset of the TPM, a reopened transport, a fork. */
void tenoni_session_end(tenoni_session *session);

#endif
