/* SPDX-License-Identifier: Apache-2.0 */
#include "base/secure.h"
#include "tpm/key.h"

/* Keys from files, and the auth values of keys: given when a key is loaded, or for each use of it (decision:
 * guarded-keys). */

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
    tenoni_wipe(&work->key->auth, sizeof work->key->auth);
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

bool tenoni_key_is_guarded(const tenon_tpm_key *key)
{
    return !key->foreign && !key->attests && (key->area.attributes & TENONI_NO_DA) == 0;
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
