/* SPDX-License-Identifier: Apache-2.0 */
#include "tpm/key.h"

#include <stdlib.h>
#include <string.h>

#include "base/secure.h"
#include "crypto/quirks.h"
#include "tpm/object.h"

/* How a key becomes usable: by its persistent copy, else by its blob under its parent; and when it is gone for good. */

enum { SECOND_LOOK_MS = 2000 };

/*
 * If the loaded or persistent copy is missing or is another key, that is no reason to fail: the blob is the original.
 */
bool tenoni_is_only_a_cache(tenon_status status)
{
    return status == TENON_ERROR_KEY_NAME || tenoni_status_lost_object(status);
}

void tenoni_key_set_copy(tenon_tpm_key *key, uint32_t handle)
{
    key->file.handle = handle;
    key->trusted = false;
    atomic_store(&key->copy, handle);
}

bool tenoni_key_knows_copy(const tenon_tpm_key *key)
{
    return key->trusted && key->epoch == key->tpm->epoch;
}

/* A handle says nothing of what is behind it: somebody may have put another key there since. */
tenon_status tenoni_key_trust(tenon_tpm_key *key)
{
    tenoni_object found;
    tenon_status status = tenoni_read_public(key->tpm, TENONI_ROLE_KEY, key->file.handle, &found);
    if (status == TENON_OK && !tenoni_equal(found.name, key->name, sizeof found.name)) {
        tenoni_key_set_copy(key, 0);
        return TENON_ERROR_KEY_NAME;
    }
    key->trusted = status == TENON_OK;
    key->epoch = key->tpm->epoch;
    return status;
}

static tenon_status load_under(tenon_tpm_key *key, const tenoni_object *parent)
{
    uint32_t handle = 0;
    tenon_status status = tenoni_load(key->tpm, TENONI_ROLE_KEY, parent, &key->file, &handle);
    if (status == TENON_OK)
        tenoni_slot_fill(key->tpm, &key->slot, handle);
    /* If the file did not have the parent's Name, the parent under which the key loads is its parent from now on. */
    if (status == TENON_OK && key->file.parent_name_n == 0 && parent->name[0] + parent->name[1] != 0) {
        memcpy(key->file.parent_name, parent->name, sizeof parent->name);
        key->file.parent_name_n = sizeof parent->name;
        atomic_store(&key->parent_known, true);
    }
    return status;
}

/* An object of another kind at a persistent handle cannot be a parent. */
static bool is_no_parent(tenon_status status, int place)
{
    bool persistent = place == TENONI_PLACE_RECORDED || place == TENONI_PLACE_SRK;
    return status == TENON_ERROR_PARENT_MISSING || (persistent && tenoni_status_is(status, TENONI_RC_TYPE));
}

/*
 * One observation. TENON_ERROR_KEY_GONE: the witness differs, and the TPM refuses the blob under every parent that
 * there is. TENON_OK: the blob loaded under one of them after all. Anything else says nothing about the key.
 */
static tenon_status observe(tenon_tpm_key *key)
{
    uint8_t witness[TENON_NAME_SIZE];
    /* Computed by the TPM that is there now: what an earlier operation left says nothing. */
    tenoni_slot_flush(key->tpm, &key->tpm->parent);
    tenon_status status = tenoni_parent_witness(key->tpm, witness);
    if (status != TENON_OK)
        return status;
    if (tenoni_equal(witness, key->file.witness, sizeof witness))
        return TENON_ERROR_PARENT_MISSING;
    for (int place = 0; place < TENONI_PLACES; place++) {
        tenoni_object parent;
        status = tenoni_parent_at(key->tpm, place, &key->file, &parent);
        if (status == TENON_OK)
            status = load_under(key, &parent);
        if (is_no_parent(status, place))
            continue;
        if (!tenoni_status_is(status, TENONI_RC_INTEGRITY))
            return status;
    }
    return TENON_ERROR_KEY_GONE;
}

static tenon_status judge(tenon_tpm_key *key)
{
    if (key->file.witness_n == 0)
        return TENON_ERROR_PARENT_MISSING;
    tenon_status status = observe(key);
    if (status != TENON_ERROR_KEY_GONE)
        return status;
    tenoni_tpm_wait(SECOND_LOOK_MS);
    status = tenoni_tpm_reopen(key->tpm);
    if (status == TENON_OK)
        status = observe(key);
    /* Judged once, so that the next signature does not hold up the TPM's other keys for as long again. */
    key->gone = status == TENON_ERROR_KEY_GONE;
    return status;
}

/*
 * Under the storage key at its usual handle no look is needed first: whatever is there by now, it loads no other key,
 * as the Name of what was loaded is compared (decision: unseen-parent). Once only, as the handle may be somebody's who
 * counts failed tries. At other handles the parent is looked at.
 */
static tenon_status load_unseen(tenon_tpm_key *key)
{
    tenoni_object parent = {.handle = tenoni_srk};
    if (key->parent_tried || key->file.parent != tenoni_srk || key->file.parent_name_n == 0)
        return TENON_ERROR_PARENT_MISSING;
    key->parent_tried = true;
    memcpy(parent.name, key->file.parent_name, sizeof parent.name);
    tenon_status status = load_under(key, &parent);
    key->parent_tried = status != TENON_OK;
    bool refused = tenon_status_tpm_rc(status) != 0 && tenon_status_category(status) != TENON_CATEGORY_TRANSIENT;
    return refused ? TENON_ERROR_PARENT_MISSING : status;
}

static tenon_status load_blob(tenon_tpm_key *key)
{
    tenoni_object parent;
    tenon_status status = load_unseen(key);
    if (status != TENON_ERROR_PARENT_MISSING)
        return status;
    status = tenoni_parent_find(key->tpm, &key->file, &parent);
    if (status == TENON_OK)
        return load_under(key, &parent);
    return status == TENON_ERROR_PARENT_MISSING ? judge(key) : status;
}

tenon_status tenoni_key_look(tenon_tpm_key *key)
{
    tenoni_object found;
    if (key->slot.handle == 0)
        return key->file.handle != 0 ? tenoni_key_trust(key) : TENON_OK;
    tenon_status status = tenoni_read_public(key->tpm, TENONI_ROLE_KEY, key->slot.handle, &found);
    if (status == TENON_OK && !tenoni_equal(found.name, key->name, sizeof found.name))
        status = TENON_ERROR_KEY_NAME;
    /*
     * Flushed even if the answer says that another key is there: the answer may lie. What we loaded is ours alone,
     * behind a resource manager and within one operation.
     */
    if (tenoni_is_only_a_cache(status))
        tenoni_slot_flush(key->tpm, &key->slot);
    return status;
}

void tenoni_key_forget(tenon_tpm_key *key)
{
    tenoni_slot_flush(key->tpm, &key->slot);
    key->trusted = false;
}

tenon_status tenoni_key_ready(tenon_tpm_key *key, uint32_t *handle)
{
    *handle = key->slot.handle;
    if (*handle != 0)
        return TENON_OK;
    if (key->gone)
        return TENON_ERROR_KEY_GONE;
    tenon_status status = TENON_ERROR_KEY_NAME;
    if (key->file.handle != 0) {
        status = tenoni_key_knows_copy(key) ? TENON_OK : tenoni_key_trust(key);
    }
    if (status == TENON_OK) {
        *handle = key->file.handle;
        return TENON_OK;
    }
    if (!tenoni_is_only_a_cache(status))
        return status;
    status = load_blob(key);
    *handle = key->slot.handle;
    return status;
}

static tenon_tpm_key *new_key(tenon_tpm *tpm)
{
    tenon_tpm_key *key = calloc(1, sizeof *key);
    if (key == NULL)
        return NULL;
    atomic_init(&key->references, 1);
    tenoni_tpm_keep(tpm);
    key->tpm = tpm;
    return key;
}

void tenoni_key_keep(tenon_tpm_key *key)
{
    atomic_fetch_add(&key->references, 1);
}

static tenon_status flush_key(tenon_tpm *tpm, void *context)
{
    tenon_tpm_key *key = context;
    tenoni_key_end_session(key);
    tenoni_slot_flush(tpm, &key->slot);
    return TENON_OK;
}

static void release(tenon_tpm_key *key)
{
    if (atomic_fetch_sub(&key->references, 1) != 1)
        return;
    /* In a fork's child nothing is flushed, because the object belongs to the parent process. */
    (void)tenoni_tpm_do(key->tpm, flush_key, key);
    tenon_tpm_free(&key->tpm);
    tenoni_wipe(key, sizeof *key);
    free(key);
}

void tenon_tpm_key_free(tenon_tpm_key **key)
{
    if (key == NULL || *key == NULL)
        return;
    release(*key);
    *key = NULL;
}

/* Sets what follows from the public area alone. */
static tenon_status set_public(tenon_tpm_key *key, tenoni_area_check *check)
{
    tenon_status status = tenoni_public_read(&key->area, key->file.public_area, key->file.public_n);
    if (status == TENON_OK)
        status = check(&key->area);
    if (status == TENON_OK)
        status = tenoni_public_point(&key->public_key, &key->area);
    if (status == TENON_OK)
        status = tenoni_public_name(key->name, key->file.public_area, key->file.public_n);
    key->foreign = check == tenoni_public_check_foreign;
    key->attests = check == tenoni_public_check_attestation;
    if (status == TENON_OK)
        tenoni_key_prepare(key);
    return status;
}

/* Without a witness the key works and is never called gone. */
static tenon_status set_witness(tenon_tpm *tpm, tenoni_keyfile *file)
{
    tenon_status status = tenoni_parent_witness(tpm, file->witness);
    int32_t category = tenon_status_category(status);
    bool refused =
        tenon_status_tpm_rc(status) != 0 && (category == TENON_CATEGORY_AUTH || category == TENON_CATEGORY_UNAVAILABLE);
    file->witness_n = status == TENON_OK ? sizeof file->witness : 0;
    return refused ? TENON_OK : status;
}

static tenon_status make_under(tenon_tpm_key *key, const tenoni_object *parent, const tenoni_public *template)
{
    tenoni_creation *creation = template == &tenoni_attestation_template ? &key->creation : NULL;
    tenoni_session session = {.state = TENONI_SESSION_OVER};
    bool sealed = key->auth.n != 0;
    tenon_status status = sealed ? tenoni_session_open(key->tpm, parent, true, &session) : TENON_OK;
    if (status == TENON_OK)
        status = tenoni_create(key->tpm, parent, template, &key->auth, sealed ? &session : NULL, &key->file, creation);
    tenoni_session_close(key->tpm, &session);
    return status;
}

tenon_status tenoni_key_make(tenon_tpm_key *key, const tenoni_object *parent, const tenoni_public *template,
                             tenoni_area_check *check)
{
    uint32_t handle;
    tenon_status status = make_under(key, parent, template);
    /* Safe to try again: a storage key is not under the lockout. */
    if (key->auth.n != 0 && tenoni_quirk_salt_misread(status))
        status = make_under(key, parent, template);
    if (status == TENON_OK)
        status = set_public(key, check);
    return status == TENON_OK ? tenoni_key_ready(key, &handle) : status;
}

typedef struct {
    tenon_tpm_key *key;
    const tenoni_public *template;
} making;

static tenon_status create(tenon_tpm *tpm, void *context)
{
    const making *work = context;
    tenon_tpm_key *key = work->key;
    tenoni_object parent;
    memset(&key->file, 0, sizeof key->file);
    /* The witness first: its primary is often the parent, too. */
    tenon_status status = set_witness(tpm, &key->file);
    if (status == TENON_OK)
        status = tenoni_parent_choose(tpm, &parent);
    if (status != TENON_OK)
        return status;
    /*
     * A persistent parent takes one of the TPM's places while it is used, so the primary of the witness is flushed
     * first.
     */
    if (parent.handle != tpm->parent.handle)
        tenoni_slot_flush(tpm, &tpm->parent);
    key->file.parent = parent.handle == tpm->parent.handle ? (uint32_t)TENONI_PARENT_OWNER : parent.handle;
    key->file.empty_auth = key->auth.n == 0;
    memcpy(key->file.parent_name, parent.name, sizeof parent.name);
    key->file.parent_name_n = sizeof parent.name;
    return tenoni_key_make(key, &parent, work->template, tenoni_public_check_own);
}

tenon_status tenoni_key_finish(tenon_tpm_key **out, tenon_tpm_key *key, tenon_status status)
{
    atomic_store(&key->parent_known, key->file.parent_name_n != 0);
    atomic_store(&key->copy, key->file.handle);
    if (status == TENON_OK)
        *out = key;
    else
        release(key);
    return status;
}

tenon_status tenoni_key_begin(tenon_tpm *tpm, tenon_tpm_key **key, const uint8_t *auth, size_t auth_n)
{
    *key = new_key(tpm);
    if (*key == NULL)
        return TENON_ERROR_MEMORY;
    return tenoni_auth_set(&(*key)->auth, auth, auth_n);
}

static tenon_status create_of(tenon_tpm *tpm, tenon_tpm_key **out, const uint8_t *auth, size_t auth_n,
                              const tenoni_public *template)
{
    tenon_tpm_key *key;
    if (out != NULL)
        *out = NULL;
    if (tpm == NULL || out == NULL)
        return TENON_ERROR_NULL;
    tenon_status status = tenoni_key_begin(tpm, &key, auth, auth_n);
    if (key == NULL)
        return status;
    making work = {.key = key, .template = template};
    if (status == TENON_OK && template == &tenoni_guarded_template && key->auth.n == 0)
        status = TENON_ERROR_AUTH_VALUE;
    if (status == TENON_OK)
        status = tenoni_tpm_do(tpm, create, &work);
    return tenoni_key_finish(out, key, status);
}

tenon_status tenon_tpm_key_create(tenon_tpm *tpm, tenon_tpm_key **out, const uint8_t *auth, size_t auth_n)
{
    return create_of(tpm, out, auth, auth_n, &tenoni_signing_template);
}

tenon_status tenon_tpm_key_create_guarded(tenon_tpm *tpm, tenon_tpm_key **out, const uint8_t *auth, size_t auth_n)
{
    return create_of(tpm, out, auth, auth_n, &tenoni_guarded_template);
}

/* A signing key's copy is tried by its first signature, which shows whose it is. */
static tenon_status make_ready(tenon_tpm *tpm, void *context)
{
    tenon_tpm_key *key = context;
    uint32_t handle;
    (void)tpm;
    return key->file.handle != 0 && !key->attests ? TENON_OK : tenoni_key_ready(key, &handle);
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
        status = set_public(key, check);
    /* Other tools say so of keys with an empty value, too. */
    if (status == TENON_OK && !tenoni_key_is_guarded(key))
        status = tenoni_key_check_value(key);
    /* Without a value there is nothing that wrong values could be counted of. */
    if (status == TENON_OK && tenoni_key_is_guarded(key) && key->file.empty_auth)
        status = TENON_ERROR_KEY_ATTRIBUTES;
    if (status == TENON_OK)
        status = tenoni_tpm_do(tpm, make_ready, key);
    return tenoni_key_finish(out, key, status);
}
