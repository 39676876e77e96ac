/* SPDX-License-Identifier: Apache-2.0 */
#include "admin.h"

#include <stdlib.h>

#include "wire.h"

enum { CAP_HANDLES = 1, CAP_PROPERTIES = 6, HANDLES_AT_ONCE = 64, ALG_SHA256 = 0xB, ALG_NULL = 0x10, SE_HMAC = 0 };

static uint32_t get_capability(support_swtpm *tpm, uint32_t what, uint32_t property, uint32_t n, support_answer *answer)
{
    return support_run(tpm, answer, SUPPORT_CC_GET_CAPABILITY, "444", what, property, n);
}

uint32_t support_handles(support_swtpm *tpm, uint32_t first, uint32_t *out, size_t n, size_t *written)
{
    support_answer answer;
    uint32_t at = first, more = 1, rc = 0;
    *written = 0;
    while (more != 0 && rc == 0) {
        rc = get_capability(tpm, CAP_HANDLES, at, HANDLES_AT_ONCE, &answer);
        if (rc != 0)
            break;
        more = support_get8(&answer);
        support_get32(&answer);
        uint32_t count = support_get32(&answer);
        for (uint32_t i = 0; i < count && !answer.bad; i++) {
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
    return support_run(tpm, NULL, SUPPORT_CC_FLUSH_CONTEXT, "4", handle);
}

static uint32_t flush_kind(support_swtpm *tpm, uint32_t first)
{
    uint32_t handles[HANDLES_AT_ONCE];
    size_t n;
    uint32_t rc = support_handles(tpm, first, handles, HANDLES_AT_ONCE, &n);
    for (size_t i = 0; i < n && i < HANDLES_AT_ONCE && rc == 0; i++)
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

uint32_t support_session_start(support_swtpm *tpm, uint32_t kind, uint32_t hash, uint32_t *session)
{
    static const uint8_t nonce[16] = {0};
    support_answer answer;
    uint32_t rc = support_run(tpm, &answer, SUPPORT_CC_START_AUTH_SESSION, "44b0122", SUPPORT_RH_NULL, SUPPORT_RH_NULL,
                              nonce, sizeof nonce, kind, ALG_NULL, hash);
    *session = rc == 0 ? support_get32(&answer) : 0;
    return rc;
}

uint32_t support_fill_sessions(support_swtpm *tpm)
{
    uint32_t session, rc;
    while ((rc = support_session_start(tpm, SE_HMAC, ALG_SHA256, &session)) == 0)
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

uint32_t support_clear(support_swtpm *tpm, uint32_t by, const char *auth)
{
    return support_run(tpm, NULL, SUPPORT_CC_CLEAR, "4p", by, auth);
}

uint32_t support_clear_control(support_swtpm *tpm, uint32_t by, const char *auth, bool disable)
{
    return support_run(tpm, NULL, SUPPORT_CC_CLEAR_CONTROL, "4p1", by, auth, (uint32_t)disable);
}

uint32_t support_change_auth(support_swtpm *tpm, uint32_t hierarchy, const char *old, const char *fresh)
{
    return support_run(tpm, NULL, SUPPORT_CC_HIERARCHY_CHANGE_AUTH, "4pt", hierarchy, old, fresh);
}

uint32_t support_hierarchy_control(support_swtpm *tpm, uint32_t hierarchy, bool on)
{
    return support_run(tpm, NULL, SUPPORT_CC_HIERARCHY_CONTROL, "4e41", SUPPORT_RH_PLATFORM, hierarchy, (uint32_t)on);
}

uint32_t support_lockout_parameters(support_swtpm *tpm, const char *lockout_auth, uint32_t max_tries,
                                    uint32_t interval_s, uint32_t recovery_s)
{
    return support_run(tpm, NULL, SUPPORT_CC_DICTIONARY_ATTACK_PARAMETERS, "4p444", SUPPORT_RH_LOCKOUT, lockout_auth,
                       max_tries, interval_s, recovery_s);
}
