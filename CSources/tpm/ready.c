/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/secure.h"
#include "tpm/key.h"
#include "tpm/parent.h"

/* How a key comes to be usable: the persistent copy, else the blob under its parent; and when it is gone for good. */

enum { SECOND_LOOK_MS = 2000 };

/* What is missing or another key, loaded or persistent, is no reason to fail: the blob is the truth. */
bool tenoni_is_only_a_cache(tenon_status status)
{
    return status == TENON_ERROR_KEY_NAME || tenoni_status_lost_object(status);
}

/* A handle says nothing of what is behind it: somebody may have put another key there since. */
tenon_status tenoni_key_trust(tenon_tpm_key *key)
{
    tenoni_object found;
    tenon_status status = tenoni_read_public(key->tpm, TENONI_ROLE_KEY, key->file.handle, &found);
    if (status == TENON_OK && !tenoni_equal(found.name, key->name, sizeof found.name))
        status = TENON_ERROR_KEY_NAME;
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
    /* Where a key came without its parent's Name, the parent that it loads under is its parent from now on. */
    if (status == TENON_OK && key->file.parent_name_n == 0 && parent->name[0] + parent->name[1] != 0) {
        memcpy(key->file.parent_name, parent->name, sizeof parent->name);
        key->file.parent_name_n = sizeof parent->name;
        atomic_store(&key->parent_known, true);
    }
    return status;
}

/* An object of another kind at a persistent handle is no parent of anybody's. */
static bool is_no_parent(tenon_status status, int place)
{
    bool persistent = place == TENONI_PLACE_RECORDED || place == TENONI_PLACE_SRK;
    return status == TENON_ERROR_PARENT_MISSING || (persistent && tenoni_status_is(status, TENONI_RC_TYPE));
}

/*
 * One observation: TENON_ERROR_KEY_GONE when the witness is another and the TPM refuses the blob under every parent
 * that there is; TENON_OK when one of them takes it after all; anything else says nothing about the key.
 */
static tenon_status observe(tenon_tpm_key *key)
{
    uint8_t witness[TENON_NAME_SIZE];
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
    /* Judged once: the next signature shall not hold up the TPM's other keys for as long again. */
    key->gone = status == TENON_ERROR_KEY_GONE;
    return status;
}

static tenon_status load_blob(tenon_tpm_key *key)
{
    tenoni_object parent;
    tenon_status status = tenoni_parent_find(key->tpm, &key->file, &parent);
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
    /* Flushed even where the answer says that it is another's: the answer may lie. What is loaded is ours alone, behind
     * a resource manager as within one operation. */
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
        bool known = key->trusted && key->epoch == key->tpm->epoch;
        status = known ? TENON_OK : tenoni_key_trust(key);
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
