/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "admin.h"
#include "wire.h"

enum { ALG_SHA256 = 0xB, ALG_ECDSA = 0x18, TAG_HASHCHECK = 0x8024, TRIES_TO_LOCK = 40 };

/* Create and CreatePrimary: TPM2B_SENSITIVE_CREATE, public, outsideInfo, creationPCR. */
static uint32_t run_create(support_swtpm *tpm, support_answer *answer, uint32_t code, uint32_t parent,
                           const char *parent_auth, support_template which, const char *auth)
{
    support_public area;
    size_t n = auth == NULL ? 0 : strlen(auth);
    support_template_public(which, &area);
    return support_run(tpm, answer, code, "4p2t0b04", parent, parent_auth, (uint32_t)(4 + n), auth, area.bytes, area.n,
                       0u);
}

static uint32_t create_primary(support_swtpm *tpm, uint32_t hierarchy, const char *auth, support_template which,
                               const char *object_auth, uint32_t *handle)
{
    support_answer answer;
    uint32_t rc = run_create(tpm, &answer, SUPPORT_CC_CREATE_PRIMARY, hierarchy, auth, which, object_auth);
    *handle = rc == 0 ? support_get32(&answer) : 0;
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
    support_answer answer;
    memset(out, 0, sizeof *out);
    uint32_t rc = run_create(tpm, &answer, SUPPORT_CC_CREATE, parent, NULL, which, auth);
    if (rc != 0)
        return rc;
    support_get32(&answer);
    support_get_sized(&answer, out->secret, sizeof out->secret, &out->secret_n);
    support_get_sized(&answer, out->area.bytes, sizeof out->area.bytes, &out->area.n);
    return answer.bad ? SUPPORT_RC_NONE : 0;
}

uint32_t support_load(support_swtpm *tpm, uint32_t parent, const support_blob *blob, uint32_t *handle)
{
    support_answer answer;
    uint32_t rc = support_run(tpm, &answer, SUPPORT_CC_LOAD, "4ebb", parent, blob->secret, blob->secret_n,
                              blob->area.bytes, blob->area.n);
    *handle = rc == 0 ? support_get32(&answer) : 0;
    return rc;
}

uint32_t support_load_external(support_swtpm *tpm, uint32_t hierarchy, const support_public *area, uint32_t *handle)
{
    support_answer answer;
    uint32_t rc = support_run(tpm, &answer, SUPPORT_CC_LOAD_EXTERNAL, "0b4", area->bytes, area->n, hierarchy);
    *handle = rc == 0 ? support_get32(&answer) : 0;
    return rc;
}

uint32_t support_read_public(support_swtpm *tpm, uint32_t handle, support_public *out)
{
    support_answer answer;
    memset(out, 0, sizeof *out);
    uint32_t rc = support_run(tpm, &answer, SUPPORT_CC_READ_PUBLIC, "4", handle);
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
    support_answer answer;
    uint32_t rc = support_run(tpm, &answer, SUPPORT_CC_SIGN, "4pb22240", key, auth, digest, (size_t)32, ALG_ECDSA,
                              ALG_SHA256, TAG_HASHCHECK, SUPPORT_RH_NULL);
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
    return support_run(tpm, NULL, SUPPORT_CC_EVICT_CONTROL, "44p4", SUPPORT_RH_OWNER, object, owner_auth, persistent);
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
    for (int i = 0; i < TRIES_TO_LOCK && rc != 0x921; i++)
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
