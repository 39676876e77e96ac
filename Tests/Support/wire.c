/* SPDX-License-Identifier: Apache-2.0 */
#include "wire.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER = 10, TAG_SESSIONS = 2, RETRY = 0x922, TRIES = 10 };

uint32_t support_fetch32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

void support_store32(uint8_t *bytes, uint32_t value)
{
    bytes[0] = (uint8_t)(value >> 24);
    bytes[1] = (uint8_t)(value >> 16);
    bytes[2] = (uint8_t)(value >> 8);
    bytes[3] = (uint8_t)value;
}

void support_command_begin(support_command *command, uint32_t code)
{
    command->n = 0;
    command->sessions_at = 0;
    support_put16(command, 0x8001);
    support_put32(command, 0);
    support_put32(command, code);
}

static void put_entry(support_command *command, uint32_t session, const char *auth)
{
    if (command->sessions_at == 0) {
        command->sessions_at = command->n;
        command->bytes[1] = TAG_SESSIONS;
        support_put32(command, 0);
    }
    support_put32(command, session);
    support_put16(command, 0);
    support_put8(command, 0);
    support_put_text(command, auth);
    support_store32(command->bytes + command->sessions_at, (uint32_t)(command->n - command->sessions_at - 4));
}

void support_password(support_command *command, const char *auth) { put_entry(command, SUPPORT_RS_PASSWORD, auth); }

void support_session(support_command *command, uint32_t session) { put_entry(command, session, NULL); }

void support_put8(support_command *command, uint32_t value)
{
    uint8_t byte = (uint8_t)value;
    support_put(command, &byte, 1);
}

void support_put16(support_command *command, uint32_t value)
{
    support_put8(command, value >> 8);
    support_put8(command, value);
}

void support_put32(support_command *command, uint32_t value)
{
    support_put16(command, value >> 16);
    support_put16(command, value);
}

void support_put(support_command *command, const void *bytes, size_t n)
{
    if (n > sizeof command->bytes - command->n) {
        fprintf(stderr, "support: a command is too long\n");
        abort();
    }
    if (n > 0)
        memcpy(command->bytes + command->n, bytes, n);
    command->n += n;
}

void support_put_sized(support_command *command, const void *bytes, size_t n)
{
    support_put16(command, (uint32_t)n);
    support_put(command, bytes, n);
}

void support_put_text(support_command *command, const char *text)
{
    support_put_sized(command, text, text == NULL ? 0 : strlen(text));
}

static uint32_t run(support_swtpm *tpm, const support_command *command, support_answer *answer)
{
    answer->at = HEADER;
    answer->bad = false;
    if (support_swtpm_exchange(tpm, answer->bytes, sizeof answer->bytes, &answer->n, command->bytes, command->n) !=
        TENON_OK) {
        answer->n = HEADER;
        return SUPPORT_RC_NONE;
    }
    return support_fetch32(answer->bytes + 6);
}

uint32_t support_command_run(support_swtpm *tpm, support_command *command, support_answer *answer)
{
    uint32_t rc = RETRY;
    support_store32(command->bytes + 2, (uint32_t)command->n);
    for (int i = 0; i < TRIES && rc == RETRY; i++)
        rc = run(tpm, command, answer);
    return rc;
}

uint32_t support_run(support_swtpm *tpm, support_answer *answer, uint32_t code, const char *form, ...)
{
    support_command command;
    support_answer unread;
    va_list parts;
    support_command_begin(&command, code);
    va_start(parts, form);
    for (; *form != '\0'; form++) {
        if (*form == '0')
            support_put16(&command, 0);
        else if (*form == 'e')
            support_password(&command, NULL);
        else if (*form == 'p')
            support_password(&command, va_arg(parts, const char *));
        else if (*form == 's')
            support_session(&command, va_arg(parts, uint32_t));
        else if (*form == 't')
            support_put_text(&command, va_arg(parts, const char *));
        else if (*form == '1')
            support_put8(&command, va_arg(parts, uint32_t));
        else if (*form == '2')
            support_put16(&command, va_arg(parts, uint32_t));
        else if (*form == '4')
            support_put32(&command, va_arg(parts, uint32_t));
        else {
            const void *bytes = va_arg(parts, const void *);
            (*form == 'b' ? support_put_sized : support_put)(&command, bytes, va_arg(parts, size_t));
        }
    }
    va_end(parts);
    return support_command_run(tpm, &command, answer == NULL ? &unread : answer);
}

void support_get(support_answer *answer, void *out, size_t n)
{
    if (answer->bad || n > answer->n - answer->at) {
        answer->bad = true;
        memset(out, 0, n);
        return;
    }
    memcpy(out, answer->bytes + answer->at, n);
    answer->at += n;
}

uint32_t support_get8(support_answer *answer)
{
    uint8_t byte;
    support_get(answer, &byte, 1);
    return byte;
}

uint32_t support_get16(support_answer *answer)
{
    uint32_t high = support_get8(answer);
    return high << 8 | support_get8(answer);
}

uint32_t support_get32(support_answer *answer)
{
    uint32_t high = support_get16(answer);
    return high << 16 | support_get16(answer);
}

void support_get_sized(support_answer *answer, void *out, size_t size, size_t *n)
{
    *n = support_get16(answer);
    if (*n > size)
        answer->bad = true;
    if (answer->bad)
        *n = 0;
    support_get(answer, out, *n);
}
