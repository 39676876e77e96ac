/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/secure.h"
#include "tpm/info.h"
#include "tpm/key.h"

/* The persistent copy of a key is a cache. The exported key remains the original. */

static const uint32_t ours_first = 0x81080000, ours_last = 0x8108ffff;

typedef struct {
    const tenon_tpm_key *key;
    char *out;
    size_t n;
    size_t *written;
} job;

/* A copy of this key that is there already, as after an answer that was lost; or the first free handle of ours. */
static tenon_status choose_handle(tenon_tpm_key *key, uint32_t *handle, bool *there)
{
    tenoni_object found;
    uint32_t free_handle = ours_first;
    uint32_t at = ours_first;
    for (;;) {
        uint32_t next;
        size_t count;
        tenon_status status = tenoni_handles(key->tpm, at, &next, 1, &count);
        if (status != TENON_OK)
            return status;
        if (count == 0 || next > ours_last)
            break;
        if (next == free_handle)
            free_handle++;
        status = tenoni_read_public(key->tpm, TENONI_ROLE_KEY, next, &found);
        if (status != TENON_OK)
            return status;
        *there = tenoni_equal(found.name, key->name, sizeof found.name);
        *handle = next;
        if (*there)
            return TENON_OK;
        at = next + 1;
    }
    *there = false;
    *handle = free_handle;
    return free_handle <= ours_last ? TENON_OK : TENON_ERROR_TOO_LARGE;
}

static tenon_status make_copy(tenon_tpm_key *key, uint32_t *handle)
{
    uint32_t loaded;
    bool there;
    tenon_status status = choose_handle(key, handle, &there);
    if (status != TENON_OK || there)
        return status;
    status = tenoni_key_look(key);
    if (status == TENON_OK || tenoni_is_only_a_cache(status))
        status = tenoni_key_ready(key, &loaded);
    if (status != TENON_OK)
        return status;
    if (loaded != key->slot.handle) {
        *handle = loaded; /* it is persistent at a handle that somebody else chose */
        return TENON_OK;
    }
    return tenoni_evict(key->tpm, loaded, key->name, *handle);
}

typedef struct {
    tenon_tpm_key *key;
    uint32_t handle;
} placing;

static tenon_status persist(tenon_tpm *tpm, void *context)
{
    placing *work = context;
    (void)tpm;
    tenon_status status = make_copy(work->key, &work->handle);
    /* Another process took the handle since it was free, or the TPM lost the loaded key. */
    bool lost = tenoni_status_lost_object(status);
    if (lost)
        tenoni_key_forget(work->key);
    if (lost || tenoni_status_is(status, TENONI_RC_NV_DEFINED))
        status = make_copy(work->key, &work->handle);
    if (status != TENON_OK)
        return status;
    tenoni_key_set_copy(work->key, work->handle);
    tenoni_key_forget(work->key);
    return tenoni_key_trust(work->key);
}

tenon_status tenon_tpm_key_persist(tenon_tpm_key *key, uint32_t *handle)
{
    if (handle != NULL)
        *handle = 0;
    if (key == NULL)
        return TENON_ERROR_NULL;
    placing work = {.key = key};
    tenon_status status = tenoni_tpm_do(key->tpm, persist, &work);
    if (status == TENON_OK && handle != NULL)
        *handle = work.handle;
    return status;
}

/* Only the key itself is removed; if it is not there any more, that is fine. */
static tenon_status evict(tenon_tpm *tpm, void *context)
{
    tenon_tpm_key *key = context;
    if (key->file.handle < ours_first || key->file.handle > ours_last)
        return TENON_ERROR_NOT_PERSISTENT;
    tenon_status status = tenoni_key_trust(key);
    if (status == TENON_OK)
        status = tenoni_evict(tpm, key->file.handle, key->name, key->file.handle);
    if (tenoni_status_is(status, TENONI_RC_HANDLE))
        status = TENON_OK;
    if (status == TENON_OK)
        tenoni_key_set_copy(key, 0);
    return status;
}

tenon_status tenon_tpm_key_evict(tenon_tpm_key *key)
{
    return key == NULL ? TENON_ERROR_NULL : tenoni_tpm_do(key->tpm, evict, key);
}

static tenon_status check(tenon_tpm *tpm, void *context)
{
    tenon_tpm_key *key = context;
    uint32_t handle;
    (void)tpm;
    tenon_status status = tenoni_key_look(key);
    /* Only a handle with another key is given up; a TPM that does not answer says nothing about it. */
    return status == TENON_OK || tenoni_is_only_a_cache(status) ? tenoni_key_ready(key, &handle) : status;
}

tenon_status tenon_tpm_key_check(tenon_tpm_key *key)
{
    return key == NULL ? TENON_ERROR_NULL : tenoni_tpm_do(key->tpm, check, key);
}

/* In its turn, as another thread may be making the key persistent. */
static tenon_status write_file(tenon_tpm *tpm, void *context)
{
    const job *work = context;
    (void)tpm;
    return tenoni_keyfile_write(work->out, work->n, work->written, &work->key->file);
}

tenon_status tenon_tpm_key_export(const tenon_tpm_key *key, char *out, size_t n, size_t *written)
{
    if (written != NULL)
        *written = 0;
    if (key == NULL || written == NULL || (out == NULL && n != 0))
        return TENON_ERROR_NULL;
    job work = {.key = key, .out = out, .n = n, .written = written};
    return tenoni_tpm_read(key->tpm, write_file, &work);
}
