/* SPDX-License-Identifier: Apache-2.0 */
#include "tpm/key.h"

/* How a key is opened from its file, and the auth value that it is used with. */

typedef struct {
    tenon_tpm_key *key;
    const uint8_t *auth;
    size_t auth_n;
} authorization;

/* In its turn, as another thread may be using the key. */
static tenon_status authorize(tenon_tpm *tpm, void *context)
{
    const authorization *work = context;
    (void)tpm;
    return tenoni_auth_set(&work->key->auth, work->auth, work->auth_n);
}

tenon_status tenon_tpm_key_authorize(tenon_tpm_key *key, const uint8_t *auth, size_t auth_n)
{
    authorization work = {.key = key, .auth = auth, .auth_n = auth_n};
    if (key == NULL || (auth == NULL && auth_n != 0))
        return TENON_ERROR_NULL;
    return key->file.empty_auth && auth_n != 0 ? TENON_ERROR_AUTH_VALUE : tenoni_tpm_read(key->tpm, authorize, &work);
}

tenon_status tenoni_key_check_value(const tenon_tpm_key *key)
{
    bool lacks = !key->foreign && !key->file.empty_auth && key->auth.n == 0;
    return lacks ? TENON_ERROR_AUTH_NEEDED : TENON_OK;
}

static bool is_guarded(const tenon_tpm_key *key)
{
    return !key->foreign && !key->attests && (key->area.attributes & TENONI_NO_DA) == 0;
}

/*
 * A signing key's copy is tried by its first signature, which shows whose it is. On a bare TPM nothing would stay
 * loaded until the first use, which would load the key again (decision: unseen-key).
 */
static bool waits_for_its_use(const tenon_tpm *tpm, const tenon_tpm_key *key)
{
    bool would_not_stay = tpm->transport.managed == 0 && key->file.parent_name_n != 0;
    return !key->attests && (key->file.handle != 0 || would_not_stay);
}

static tenon_status make_ready(tenon_tpm *tpm, void *context)
{
    tenon_tpm_key *key = context;
    uint32_t handle;
    return waits_for_its_use(tpm, key) ? TENON_OK : tenoni_key_ready(key, &handle);
}

tenon_status tenoni_key_open(tenon_tpm *tpm, tenon_tpm_key **out, const char *pem, size_t pem_n, const uint8_t *auth,
                             size_t auth_n, tenoni_area_check *check)
{
    tenon_tpm_key *key;
    if (out != NULL)
        *out = NULL;
    if (tpm == NULL || out == NULL || (pem == NULL && pem_n != 0))
        return TENON_ERROR_NULL;
    tenon_status status = tenoni_key_begin(tpm, &key, auth, auth_n);
    if (key == NULL)
        return status;
    if (status == TENON_OK)
        status = tenoni_keyfile_read(&key->file, pem, pem_n);
    if (status == TENON_OK)
        status = tenoni_key_set_public(key, check);
    /* Other tools say so of keys with an empty value, too. */
    if (status == TENON_OK && !is_guarded(key))
        status = tenoni_key_check_value(key);
    /* Without a value there is nothing that wrong values could be counted of. */
    if (status == TENON_OK && is_guarded(key) && key->file.empty_auth)
        status = TENON_ERROR_KEY_ATTRIBUTES;
    if (status == TENON_OK)
        status = tenoni_tpm_do(tpm, make_ready, key);
    return tenoni_key_finish(out, key, status);
}

tenon_status tenon_tpm_key_load(tenon_tpm *tpm, tenon_tpm_key **out, const char *pem, size_t pem_n, const uint8_t *auth,
                                size_t auth_n)
{
    return tenoni_key_open(tpm, out, pem, pem_n, auth, auth_n, tenoni_public_check_own);
}

tenon_status tenon_tpm_key_import(tenon_tpm *tpm, tenon_tpm_key **out, const char *pem, size_t pem_n,
                                  const uint8_t *auth, size_t auth_n)
{
    return tenoni_key_open(tpm, out, pem, pem_n, auth, auth_n, tenoni_public_check_foreign);
}
