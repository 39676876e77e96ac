/* SPDX-License-Identifier: Apache-2.0 */
#include "tpm/parent.h"

#include <string.h>

#include "base/secure.h"

static const uint32_t srk = 0x81000001;

/* A transient parent is held in the TPM's own slot: one at a time, and within an operation no second time. */
static tenon_status primary(tenon_tpm *tpm, const tenoni_public *template, tenoni_object *out)
{
    if (tpm->parent_template == template && tpm->parent.handle != 0) {
        *out = tpm->parent_object;
        return TENON_OK;
    }
    tenoni_slot_flush(tpm, &tpm->parent);
    tenon_status status = tenoni_create_primary(tpm, template, out);
    if (status == TENON_OK) {
        tenoni_slot_fill(tpm, &tpm->parent, out->handle);
        tpm->parent_object = *out;
        tpm->parent_template = template;
    }
    return status;
}

static tenon_status persistent(tenon_tpm *tpm, uint32_t handle, tenoni_object *out)
{
    tenon_status status = tenoni_read_public(tpm, TENONI_ROLE_PARENT, handle, out);
    return tenoni_status_is(status, TENONI_RC_HANDLE) ? TENON_ERROR_PARENT_MISSING : status;
}

tenon_status tenoni_parent_at(tenon_tpm *tpm, int place, const tenoni_keyfile *file, tenoni_object *out)
{
    switch (place) {
    case TENONI_PLACE_RECORDED:
        if (file->parent == TENONI_PARENT_OWNER || file->parent == srk)
            return TENON_ERROR_PARENT_MISSING; /* it is one of the next places */
        return persistent(tpm, file->parent, out);
    case TENONI_PLACE_SRK:
        return persistent(tpm, srk, out);
    case TENONI_PLACE_PRIMARY:
        return primary(tpm, &tenoni_storage_template, out);
    default:
        return primary(tpm, &tenoni_provisioned_template, out);
    }
}

tenon_status tenoni_parent_choose(tenon_tpm *tpm, tenoni_object *out)
{
    tenon_status status = persistent(tpm, srk, out);
    if (status == TENON_OK && out->is_p256 && tenoni_public_is_storage(&out->area))
        return TENON_OK;
    if (status != TENON_OK && status != TENON_ERROR_PARENT_MISSING)
        return status;
    return primary(tpm, &tenoni_storage_template, out);
}

static bool is_named(const tenoni_object *object, const uint8_t *name)
{
    return tenoni_equal(object->name, name, sizeof object->name);
}

static bool needs_owner(int place)
{
    return place == TENONI_PLACE_PRIMARY || place == TENONI_PLACE_PROVISIONED;
}

static tenon_status find_by_name(tenon_tpm *tpm, const tenoni_keyfile *file, tenoni_object *out)
{
    /* A key made under the primary is sought there first: that is one command, and the SRK another. */
    int first = file->parent == TENONI_PARENT_OWNER ? TENONI_PLACE_PRIMARY : TENONI_PLACE_RECORDED;
    tenon_status result = TENON_ERROR_PARENT_MISSING;
    for (int i = 0; i < TENONI_PLACES; i++) {
        int place = (first + i) % TENONI_PLACES;
        tenon_status status = tenoni_parent_at(tpm, place, file, out);
        if (status == TENON_OK && is_named(out, file->parent_name))
            return TENON_OK;
        if (status == TENON_OK || status == TENON_ERROR_PARENT_MISSING)
            continue;
        /* A primary that the owner's auth is lacking for is not one that is missing; but the parent may be persistent.
         */
        if (!needs_owner(place) || tenon_status_tpm_rc(status) == 0)
            return status;
        result = result == TENON_ERROR_PARENT_MISSING ? status : result;
    }
    return result;
}

tenon_status tenoni_parent_find(tenon_tpm *tpm, const tenoni_keyfile *file, tenoni_object *out)
{
    if (file->parent_name_n != 0)
        return find_by_name(tpm, file, out);
    return file->parent == TENONI_PARENT_OWNER ? primary(tpm, &tenoni_storage_template, out)
                                               : persistent(tpm, file->parent, out);
}

tenon_status tenoni_parent_for_salt(tenon_tpm *tpm, const tenoni_keyfile *file, tenoni_object *out)
{
    tenon_status status = tenoni_parent_find(tpm, file, out);
    return status == TENON_OK && !out->is_p256 ? primary(tpm, &tenoni_storage_template, out) : status;
}

tenon_status tenoni_parent_witness(tenon_tpm *tpm, uint8_t *name)
{
    tenoni_object object;
    tenon_status status = primary(tpm, &tenoni_storage_template, &object);
    if (status == TENON_OK)
        memcpy(name, object.name, sizeof object.name);
    return status;
}
