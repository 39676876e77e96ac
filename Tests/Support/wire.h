/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SUPPORT_WIRE_H
#define SUPPORT_WIRE_H

/* Writes TPM commands and reads answers without the library's code. */
#include "codes.h"
#include "swtpm.h"

uint32_t support_fetch32(const uint8_t *bytes);
void support_store32(uint8_t *bytes, uint32_t value);

typedef struct {
    uint8_t bytes[4096];
    size_t n;
    size_t sessions_at; /* where the session area begins; 0 if there is none */
} support_command;

/* Bytes of an answer; reading past the end gives zeros and sets bad. */
typedef struct {
    uint8_t bytes[4096];
    size_t n;
    size_t at;
    bool bad;
} support_answer;

/* Order: code, support_put32 for each handle, support_password for each authorised handle, then the parameters. */
void support_command_begin(support_command *command, uint32_t code);
void support_password(support_command *command, const char *auth);
void support_session(support_command *command, uint32_t session); /* a policy session, which ends with the command */
void support_put8(support_command *command, uint32_t value);
void support_put16(support_command *command, uint32_t value);
void support_put32(support_command *command, uint32_t value);
void support_put(support_command *command, const void *bytes, size_t n);
void support_put_sized(support_command *command, const void *bytes, size_t n); /* with a 16-bit length before them */
void support_put_text(support_command *command, const char *text);             /* the same; NULL is empty */

/*
 * Sends the command, and again while the TPM answers 0x922, as it does when it must first write its lockout state.
 * Returns the response code, or SUPPORT_RC_NONE. Reading the answer then starts behind its header.
 */
uint32_t support_command_run(support_swtpm *tpm, support_command *command, support_answer *answer);

/*
 * A whole command. The form has a letter for each part: 1, 2 and 4 are numbers of so many bytes, 0 an empty TPM2B, b
 * the bytes and the size of one, r bytes and a size that are sent as they are, t a text as a TPM2B, p a password, e the
 * empty password, s a policy session. The answer may be NULL.
 */
uint32_t support_run(support_swtpm *tpm, support_answer *answer, uint32_t code, const char *form, ...);

uint32_t support_get8(support_answer *answer);
uint32_t support_get16(support_answer *answer);
uint32_t support_get32(support_answer *answer);
void support_get(support_answer *answer, void *out, size_t n);

/* Reads a TPM2B: its bytes, at most size of them, and its length *n. */
void support_get_sized(support_answer *answer, void *out, size_t size, size_t *n);

#endif
