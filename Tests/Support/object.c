/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "admin.h"
#include "wire.h"

enum { ALG_SHA256 = 0xB, ALG_ECDSA = 0x18, TAG_HASHCHECK = 0x8024, TRIES_TO_LOCK = 40 };

/* Create and CreatePrimary: TPM2B_SENSITIVE_CREATE, public, outsideInfo, creationPCR. */
static void put_new_object(support_command *command, support_template which, const char *auth)
{
    support_public area;
    size_t n = auth == NULL ? 0 : strlen(auth);
    support_template_public(which, &area);
    support_put16(command, (uint32_t)(4 + n));
    support_put_text(command, auth);
    support_put16(command, 0);
    support_put_sized(command, area.bytes, area.n);
    support_put16(command, 0);
    support_put32(command, 0);
}

static uint32_t create_primary(support_swtpm *tpm, uint32_t hierarchy, const char *auth, support_template which,
                               const char *object_auth, uint32_t *handle)
{
    support_command command;
    support_answer answer;
    uint32_t rc;
    *handle = 0;
    support_command_begin(&command, SUPPORT_CC_CREATE_PRIMARY);
    support_put32(&command, hierarchy);
    support_password(&command, auth);
    put_new_object(&command, which, object_auth);
    rc = support_command_run(tpm, &command, &answer);
    if (rc == 0)
        *handle = support_get32(&answer);
    return rc;
}

uint32_t support_create_primary(support_swtpm *tpm, uint32_t hierarchy, const char *auth, support_template which,
                                uint32_t *handle)
{
    return create_primary(tpm, hierarchy, auth, which, NULL, handle);
}

uint32_t support_create(support_swtpm *tpm, uint32_t parent, support_template which, const char *auth,
                        support_blob *out)
{
    support_command command;
    support_answer answer;
    uint32_t rc;
    memset(out, 0, sizeof *out);
    support_command_begin(&command, SUPPORT_CC_CREATE);
    support_put32(&command, parent);
    support_password(&command, NULL);
    put_new_object(&command, which, auth);
    rc = support_command_run(tpm, &command, &answer);
    if (rc != 0)
        return rc;
    support_get32(&answer);
    support_get_sized(&answer, out->secret, sizeof out->secret, &out->secret_n);
    support_get_sized(&answer, out->area.bytes, sizeof out->area.bytes, &out->area.n);
    return answer.bad ? SUPPORT_RC_NONE : 0;
}

uint32_t support_load(support_swtpm *tpm, uint32_t parent, const support_blob *blob, uint32_t *handle)
{
    support_command command;
    support_answer answer;
    uint32_t rc;
    *handle = 0;
    support_command_begin(&command, SUPPORT_CC_LOAD);
    support_put32(&command, parent);
    support_password(&command, NULL);
    support_put_sized(&command, blob->secret, blob->secret_n);
    support_put_sized(&command, blob->area.bytes, blob->area.n);
    rc = support_command_run(tpm, &command, &answer);
    if (rc == 0)
        *handle = support_get32(&answer);
    return rc;
}

uint32_t support_load_external(support_swtpm *tpm, uint32_t hierarchy, const support_public *area, uint32_t *handle)
{
    support_command command;
    support_answer answer;
    uint32_t rc;
    *handle = 0;
    support_command_begin(&command, SUPPORT_CC_LOAD_EXTERNAL);
    support_put16(&command, 0);
    support_put_sized(&command, area->bytes, area->n);
    support_put32(&command, hierarchy);
    rc = support_command_run(tpm, &command, &answer);
    if (rc == 0)
        *handle = support_get32(&answer);
    return rc;
}

uint32_t support_read_public(support_swtpm *tpm, uint32_t handle, support_public *out)
{
    support_command command;
    support_answer answer;
    uint32_t rc;
    memset(out, 0, sizeof *out);
    support_command_begin(&command, SUPPORT_CC_READ_PUBLIC);
    support_put32(&command, handle);
    rc = support_command_run(tpm, &command, &answer);
    if (rc != 0)
        return rc;
    support_get_sized(&answer, out->bytes, sizeof out->bytes, &out->n);
    support_get_sized(&answer, out->name, sizeof out->name, &out->name_n);
    return answer.bad ? SUPPORT_RC_NONE : 0;
}

static void get_number(support_answer *answer, uint8_t *out)
{
    uint8_t bytes[32];
    size_t n;
    support_get_sized(answer, bytes, sizeof bytes, &n);
    memset(out, 0, sizeof bytes);
    memcpy(out + sizeof bytes - n, bytes, n);
}

uint32_t support_sign(support_swtpm *tpm, uint32_t key, const char *auth, const uint8_t *digest, uint8_t *signature)
{
    support_command command;
    support_answer answer;
    uint32_t rc;
    support_command_begin(&command, SUPPORT_CC_SIGN);
    support_put32(&command, key);
    support_password(&command, auth);
    support_put_sized(&command, digest, 32);
    support_put16(&command, ALG_ECDSA);
    support_put16(&command, ALG_SHA256);
    support_put16(&command, TAG_HASHCHECK);
    support_put32(&command, SUPPORT_RH_NULL);
    support_put16(&command, 0);
    rc = support_command_run(tpm, &command, &answer);
    if (rc != 0)
        return rc;
    support_get32(&answer);
    support_get32(&answer); /* ECDSA, SHA-256 */
    get_number(&answer, signature);
    get_number(&answer, signature + 32);
    return answer.bad ? SUPPORT_RC_NONE : 0;
}

uint32_t support_evict(support_swtpm *tpm, const char *owner_auth, uint32_t object, uint32_t persistent)
{
    support_command command;
    support_answer answer;
    support_command_begin(&command, SUPPORT_CC_EVICT_CONTROL);
    support_put32(&command, SUPPORT_RH_OWNER);
    support_put32(&command, object);
    support_password(&command, owner_auth);
    support_put32(&command, persistent);
    return support_command_run(tpm, &command, &answer);
}

static uint32_t persist_primary(support_swtpm *tpm, const char *owner_auth, support_template which, uint32_t persistent)
{
    uint32_t handle;
    uint32_t rc = support_create_primary(tpm, SUPPORT_RH_OWNER, owner_auth, which, &handle);
    if (rc != 0)
        return rc;
    rc = support_evict(tpm, owner_auth, handle, persistent);
    support_flush(tpm, handle);
    return rc;
}

uint32_t support_persist_srk(support_swtpm *tpm, const char *owner_auth, support_template which)
{
    return persist_primary(tpm, owner_auth, which, SUPPORT_HANDLE_SRK);
}

uint32_t support_evict_srk(support_swtpm *tpm, const char *owner_auth)
{
    return support_evict(tpm, owner_auth, SUPPORT_HANDLE_SRK, SUPPORT_HANDLE_SRK);
}

uint32_t support_swap_persistent(support_swtpm *tpm, const char *owner_auth, uint32_t persistent)
{
    support_public there;
    uint32_t rc = 0;
    if (support_read_public(tpm, persistent, &there) == 0)
        rc = support_evict(tpm, owner_auth, persistent, persistent);
    return rc == 0 ? persist_primary(tpm, owner_auth, SUPPORT_SIGNING, persistent) : rc;
}

static uint32_t fail_until_locked(support_swtpm *tpm, uint32_t key)
{
    static const uint8_t digest[32] = {0};
    uint8_t signature[64];
    uint32_t rc = 0;
    int i;
    for (i = 0; i < TRIES_TO_LOCK && rc != 0x921; i++)
        rc = support_sign(tpm, key, "wrong", digest, signature);
    return rc == 0x921 ? 0 : rc;
}

uint32_t support_lock_out(support_swtpm *tpm, const char *owner_auth, const char *lockout_auth)
{
    uint32_t key;
    uint32_t rc = support_lockout_parameters(tpm, lockout_auth, 1, 86400, 86400);
    if (rc != 0)
        return rc;
    rc = create_primary(tpm, SUPPORT_RH_OWNER, owner_auth, SUPPORT_SIGNING_DA, "right", &key);
    if (rc != 0)
        return rc;
    rc = fail_until_locked(tpm, key);
    support_flush(tpm, key);
    return rc;
}
