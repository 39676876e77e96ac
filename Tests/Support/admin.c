/* SPDX-License-Identifier: Apache-2.0 */
#include "admin.h"

#include <stdlib.h>

#include "wire.h"

enum { CAP_HANDLES = 1, CAP_PROPERTIES = 6, HANDLES_AT_ONCE = 64, ALG_SHA256 = 0xB };

static uint32_t get_capability(support_swtpm *tpm, uint32_t what, uint32_t property, uint32_t n, support_answer *answer)
{
    support_command command;
    support_command_begin(&command, SUPPORT_CC_GET_CAPABILITY);
    support_put32(&command, what);
    support_put32(&command, property);
    support_put32(&command, n);
    return support_command_run(tpm, &command, answer);
}

uint32_t support_handles(support_swtpm *tpm, uint32_t first, uint32_t *out, size_t n, size_t *written)
{
    support_answer answer;
    uint32_t at = first, more = 1, rc = 0;
    *written = 0;
    while (more != 0 && rc == 0) {
        uint32_t count, i;
        rc = get_capability(tpm, CAP_HANDLES, at, HANDLES_AT_ONCE, &answer);
        if (rc != 0)
            break;
        more = support_get8(&answer);
        support_get32(&answer);
        count = support_get32(&answer);
        for (i = 0; i < count && !answer.bad; i++) {
            at = support_get32(&answer);
            if (*written < n)
                out[*written] = at;
            ++*written;
        }
        at++;
        if (answer.bad || count == 0)
            more = 0;
    }
    return rc;
}

static uint32_t count_handles(support_swtpm *tpm, uint32_t first)
{
    size_t n;
    return support_handles(tpm, first, NULL, 0, &n) == 0 ? (uint32_t)n : SUPPORT_RC_NONE;
}

uint32_t support_transient_count(support_swtpm *tpm) { return count_handles(tpm, SUPPORT_FIRST_TRANSIENT); }

uint32_t support_session_count(support_swtpm *tpm)
{
    uint32_t loaded = count_handles(tpm, SUPPORT_FIRST_SESSION);
    uint32_t saved = count_handles(tpm, SUPPORT_FIRST_SAVED_SESSION);
    return loaded == SUPPORT_RC_NONE || saved == SUPPORT_RC_NONE ? SUPPORT_RC_NONE : loaded + saved;
}

uint32_t support_persistent_count(support_swtpm *tpm) { return count_handles(tpm, SUPPORT_FIRST_PERSISTENT); }

uint32_t support_flush(support_swtpm *tpm, uint32_t handle)
{
    support_command command;
    support_answer answer;
    support_command_begin(&command, SUPPORT_CC_FLUSH_CONTEXT);
    support_put32(&command, handle);
    return support_command_run(tpm, &command, &answer);
}

static uint32_t flush_kind(support_swtpm *tpm, uint32_t first)
{
    uint32_t handles[HANDLES_AT_ONCE];
    size_t n, i;
    uint32_t rc = support_handles(tpm, first, handles, HANDLES_AT_ONCE, &n);
    for (i = 0; i < n && i < HANDLES_AT_ONCE && rc == 0; i++)
        rc = support_flush(tpm, handles[i]);
    return rc;
}

uint32_t support_flush_all(support_swtpm *tpm)
{
    uint32_t rc = flush_kind(tpm, SUPPORT_FIRST_TRANSIENT);
    if (rc == 0)
        rc = flush_kind(tpm, SUPPORT_FIRST_SESSION);
    return rc == 0 ? flush_kind(tpm, SUPPORT_FIRST_SAVED_SESSION) : rc;
}

uint32_t support_property(support_swtpm *tpm, uint32_t property, uint32_t *value)
{
    support_answer answer;
    uint32_t rc = get_capability(tpm, CAP_PROPERTIES, property, 1, &answer);
    *value = 0;
    if (rc != 0)
        return rc;
    support_get8(&answer);
    support_get32(&answer);
    support_get32(&answer);
    if (support_get32(&answer) != property)
        return SUPPORT_RC_NONE;
    *value = support_get32(&answer);
    return answer.bad ? SUPPORT_RC_NONE : 0;
}

static uint32_t start_session(support_swtpm *tpm)
{
    static const uint8_t nonce[16] = {0};
    support_command command;
    support_answer answer;
    support_command_begin(&command, SUPPORT_CC_START_AUTH_SESSION);
    support_put32(&command, SUPPORT_RH_NULL);
    support_put32(&command, SUPPORT_RH_NULL);
    support_put_sized(&command, nonce, sizeof nonce);
    support_put_sized(&command, NULL, 0);
    support_put8(&command, 0); /* HMAC */
    support_put16(&command, 0x10);
    support_put16(&command, ALG_SHA256);
    return support_command_run(tpm, &command, &answer);
}

uint32_t support_fill_sessions(support_swtpm *tpm)
{
    uint32_t rc;
    while ((rc = start_session(tpm)) == 0)
        continue;
    return rc == 0x903 ? 0 : rc;
}

uint32_t support_fill_transient(support_swtpm *tpm)
{
    uint32_t handle, rc;
    while ((rc = support_create_primary(tpm, SUPPORT_RH_NULL, NULL, SUPPORT_SIGNING, &handle)) == 0)
        continue;
    return rc == 0x902 ? 0 : rc;
}

/* Most of an administrator's commands: one handle, its auth value, at most a few parameters. */
static void begin(support_command *command, uint32_t code, uint32_t by, const char *auth)
{
    support_command_begin(command, code);
    support_put32(command, by);
    support_password(command, auth);
}

uint32_t support_clear(support_swtpm *tpm, uint32_t by, const char *auth)
{
    support_command command;
    support_answer answer;
    begin(&command, SUPPORT_CC_CLEAR, by, auth);
    return support_command_run(tpm, &command, &answer);
}

uint32_t support_clear_control(support_swtpm *tpm, uint32_t by, const char *auth, bool disable)
{
    support_command command;
    support_answer answer;
    begin(&command, SUPPORT_CC_CLEAR_CONTROL, by, auth);
    support_put8(&command, disable);
    return support_command_run(tpm, &command, &answer);
}

uint32_t support_change_auth(support_swtpm *tpm, uint32_t hierarchy, const char *old, const char *fresh)
{
    support_command command;
    support_answer answer;
    begin(&command, SUPPORT_CC_HIERARCHY_CHANGE_AUTH, hierarchy, old);
    support_put_text(&command, fresh);
    return support_command_run(tpm, &command, &answer);
}

uint32_t support_hierarchy_control(support_swtpm *tpm, uint32_t hierarchy, bool on)
{
    support_command command;
    support_answer answer;
    begin(&command, SUPPORT_CC_HIERARCHY_CONTROL, SUPPORT_RH_PLATFORM, NULL);
    support_put32(&command, hierarchy);
    support_put8(&command, on);
    return support_command_run(tpm, &command, &answer);
}

uint32_t support_lockout_parameters(support_swtpm *tpm, const char *lockout_auth, uint32_t max_tries,
                                    uint32_t interval_s, uint32_t recovery_s)
{
    support_command command;
    support_answer answer;
    begin(&command, SUPPORT_CC_DICTIONARY_ATTACK_PARAMETERS, SUPPORT_RH_LOCKOUT, lockout_auth);
    support_put32(&command, max_tries);
    support_put32(&command, interval_s);
    support_put32(&command, recovery_s);
    return support_command_run(tpm, &command, &answer);
}
