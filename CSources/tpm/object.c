/* SPDX-License-Identifier: Apache-2.0 */
#include "tpm/object.h"

#include <string.h>

#include "base/secure.h"

enum { RH_OWNER = 0x40000001 };

/*
 * TPM2B_PUBLIC of an answer. Others may keep any kind of object at a handle. If we cannot compute its Name, the Name is
 * set to zeros, which no object has.
 */
static tenon_status read_area(tenoni_reader *answer, tenoni_object *out, tenoni_keyfile *raw)
{
    enum { AREA_MAX = 1024 };
    tenoni_reader area;
    if (!tenoni_read_sized(answer, &area, raw != NULL ? TENONI_PUBLIC_MAX : AREA_MAX) || area.left == 0)
        return TENON_ERROR_TPM_ANSWER;
    if (raw != NULL) {
        memcpy(raw->public_area, area.at, area.left);
        raw->public_n = area.left;
    }
    out->is_p256 = tenoni_public_read(&out->area, area.at, area.left) == TENON_OK;
    if (tenoni_public_name(out->name, area.at, area.left) != TENON_OK)
        memset(out->name, 0, sizeof out->name);
    return TENON_OK;
}

/* Part 3, 12.4 TPM2_ReadPublic. */
tenon_status tenoni_read_public(tenon_tpm *tpm, tenoni_role role, uint32_t handle, tenoni_object *out)
{
    tenoni_call call;
    tenoni_reader answer;
    tenoni_call_begin(&call, TENONI_CC_READ_PUBLIC, role);
    tenoni_call_handle(&call, handle);
    tenon_status status = tenoni_call_send(tpm, &call, NULL, &answer);
    if (status == TENON_OK)
        status = read_area(&answer, out, NULL);
    out->handle = handle;
    tenoni_call_end(&call);
    return status;
}

/* TPM2B_SENSITIVE_CREATE (Part 2, 11.1.16) with this auth value and no data. */
static void write_sensitive(tenoni_writer *parameters, const tenoni_auth *auth)
{
    size_t n = auth == NULL ? 0 : auth->n;
    tenoni_write_u16(parameters, (uint16_t)(n + 4));
    tenoni_write_sized(parameters, auth == NULL ? NULL : auth->bytes, n);
    tenoni_write_u16(parameters, 0);
}

/* inPublic, outsideInfo and creationPCR: what Create and CreatePrimary take after inSensitive. */
static void write_template(tenoni_writer *parameters, const tenoni_public *template)
{
    uint8_t area[TENONI_PUBLIC_MAX];
    tenoni_writer writer = tenoni_writer_over(area, sizeof area);
    tenoni_public_write(&writer, template);
    tenoni_write_sized(parameters, area, writer.used);
    tenoni_write_u16(parameters, 0);
    tenoni_write_u32(parameters, 0);
}

/* An area that is no P-256 key's is all zeros. Without this check a primary of no Name could become a witness. */
static bool is_made_of(const tenoni_public *area, const tenoni_public *template)
{
    return area->name_algorithm == template->name_algorithm && area->attributes == template->attributes;
}

/* Part 3, 24.1 TPM2_CreatePrimary. What follows the public area in the answer is not used. */
tenon_status tenoni_create_primary(tenon_tpm *tpm, const tenoni_public *template, tenoni_object *out)
{
    tenoni_call call;
    tenoni_reader answer;
    tenoni_call_begin(&call, TENONI_CC_CREATE_PRIMARY, TENONI_ROLE_OWNER);
    tenoni_call_handle(&call, RH_OWNER);
    call.auth = &tpm->owner_auth;
    write_sensitive(&call.parameters, NULL);
    write_template(&call.parameters, template);
    tenon_status status = tenoni_call_send(tpm, &call, &out->handle, &answer);
    if (status == TENON_OK) {
        status = read_area(&answer, out, NULL);
        if (status == TENON_OK && !is_made_of(&out->area, template))
            status = TENON_ERROR_TPM_ANSWER;
        if (status != TENON_OK)
            tenoni_tpm_flush(tpm, out->handle);
    }
    tenoni_call_end(&call);
    return status;
}

/* creationData, creationHash with the nameAlg, which is SHA-256, and creationTicket (Part 2, 10.7.3). */
static tenon_status read_creation(tenoni_reader *answer, tenoni_creation *out)
{
    enum { ST_CREATION = 0x8021, DIGEST_MAX = 64 };
    tenoni_reader data, hash, digest;
    uint32_t hierarchy;
    uint16_t tag;
    if (!tenoni_read_sized(answer, &data, sizeof out->data) || data.left == 0 ||
        !tenoni_read_sized(answer, &hash, sizeof out->hash) || !tenoni_read_bytes(&hash, out->hash, sizeof out->hash))
        return TENON_ERROR_TPM_ANSWER;
    const tenoni_reader ticket = *answer;
    if (!tenoni_read_u16(answer, &tag) || tag != ST_CREATION || !tenoni_read_u32(answer, &hierarchy) ||
        !tenoni_read_sized(answer, &digest, DIGEST_MAX) || answer->left != 0)
        return TENON_ERROR_TPM_ANSWER;
    memcpy(out->data, data.at, data.left);
    out->data_n = data.left;
    memcpy(out->ticket, ticket.at, ticket.left);
    out->ticket_n = ticket.left;
    return TENON_OK;
}

/* Part 3, 12.1 TPM2_Create. */
tenon_status tenoni_create(tenon_tpm *tpm, const tenoni_object *parent, const tenoni_public *template,
                           const tenoni_auth *auth, tenoni_session *session, tenoni_keyfile *out,
                           tenoni_creation *creation)
{
    tenoni_call call;
    tenoni_reader answer, private;
    tenoni_object object;
    tenoni_call_begin(&call, TENONI_CC_CREATE, TENONI_ROLE_PARENT);
    tenoni_call_object(&call, parent->handle, parent->name);
    call.session = session;
    call.session_attributes = session == NULL ? 0 : TENONI_SESSION_DECRYPT;
    write_sensitive(&call.parameters, auth);
    write_template(&call.parameters, template);
    tenon_status status = tenoni_call_send(tpm, &call, NULL, &answer);
    if (status == TENON_OK && (!tenoni_read_sized(&answer, &private, TENONI_PRIVATE_MAX) || private.left == 0))
        status = TENON_ERROR_TPM_ANSWER;
    if (status == TENON_OK) {
        memcpy(out->private_area, private.at, private.left);
        out->private_n = private.left;
        status = read_area(&answer, &object, out);
    }
    if (status == TENON_OK && creation != NULL)
        status = read_creation(&answer, creation);
    tenoni_call_end(&call);
    return status;
}

/* Part 3, 12.2 TPM2_Load. */
tenon_status tenoni_load(tenon_tpm *tpm, tenoni_role role, const tenoni_object *parent, const tenoni_keyfile *file,
                         uint32_t *handle)
{
    tenoni_call call;
    tenoni_reader answer, name;
    uint8_t expected[TENON_NAME_SIZE];
    tenoni_call_begin(&call, TENONI_CC_LOAD, role);
    tenoni_call_object(&call, parent->handle, parent->name);
    tenoni_write_sized(&call.parameters, file->private_area, file->private_n);
    tenoni_write_sized(&call.parameters, file->public_area, file->public_n);
    tenon_status status = tenoni_public_name(expected, file->public_area, file->public_n);
    if (status == TENON_OK)
        status = tenoni_call_send(tpm, &call, handle, &answer);
    if (status == TENON_OK && (!tenoni_read_sized(&answer, &name, sizeof expected) || answer.left != 0 ||
                               name.left != sizeof expected || !tenoni_equal(name.at, expected, sizeof expected))) {
        tenoni_tpm_flush(tpm, *handle);
        status = TENON_ERROR_KEY_NAME;
    }
    tenoni_call_end(&call);
    return status;
}

/* Part 3, 28.5 TPM2_EvictControl. */
tenon_status tenoni_evict(tenon_tpm *tpm, uint32_t object, const uint8_t *name, uint32_t handle)
{
    tenoni_call call;
    tenoni_reader answer;
    tenoni_call_begin(&call, TENONI_CC_EVICT_CONTROL, TENONI_ROLE_OWNER);
    tenoni_call_handle(&call, RH_OWNER);
    tenoni_call_object(&call, object, name);
    call.auth = &tpm->owner_auth;
    tenoni_write_u32(&call.parameters, handle);
    tenon_status status = tenoni_call_send(tpm, &call, NULL, &answer);
    tenoni_call_end(&call);
    return status;
}

/* Part 3, 11.1 TPM2_StartAuthSession: tpmKey is what the salt is for, bind is nothing. */
tenon_status tenoni_session_open(tenon_tpm *tpm, const tenoni_object *salt_to, bool encrypts, tenoni_session *out)
{
    enum { RH_NULL = 0x40000007 };
    tenoni_call call;
    tenoni_reader answer;
    tenon_public_key point;
    uint32_t handle;
    /* The salt is encrypted to the key whose Name was compared, and to no other. */
    tenon_status status = salt_to->is_p256 ? tenoni_public_point(&point, &salt_to->area) : TENON_ERROR_KEY_PUBLIC;
    if (status != TENON_OK)
        return status;
    tenoni_call_begin(&call, TENONI_CC_START_AUTH_SESSION, TENONI_ROLE_PARENT);
    tenoni_call_object(&call, salt_to->handle, salt_to->name);
    tenoni_call_handle(&call, RH_NULL);
    status = tenoni_session_start(out, &call.parameters, &point, encrypts);
    if (status == TENON_OK)
        status = tenoni_call_send(tpm, &call, &handle, &answer);
    if (status == TENON_OK)
        status = tenoni_session_started(out, handle, &answer);
    if (status != TENON_OK)
        tenoni_session_close(tpm, out);
    tenoni_call_end(&call);
    return status;
}

void tenoni_session_close(tenon_tpm *tpm, tenoni_session *session)
{
    if (session->handle != 0)
        tenoni_tpm_flush(tpm, session->handle);
    tenoni_session_end(session);
    session->handle = 0;
}

/* A transient parent is held in the TPM's own slot, one at a time: it costs more than any other command to make it. */
static tenon_status primary(tenon_tpm *tpm, const tenoni_public *template, tenoni_object *out)
{
    tpm->parent_used = true;
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
        if (file->parent == TENONI_PARENT_OWNER || file->parent == tenoni_srk)
            return TENON_ERROR_PARENT_MISSING; /* it is one of the next places */
        return persistent(tpm, file->parent, out);
    case TENONI_PLACE_SRK:
        return persistent(tpm, tenoni_srk, out);
    case TENONI_PLACE_PRIMARY:
        return primary(tpm, &tenoni_storage_template, out);
    default:
        return primary(tpm, &tenoni_provisioned_template, out);
    }
}

tenon_status tenoni_parent_choose(tenon_tpm *tpm, tenoni_object *out)
{
    tenon_status status = persistent(tpm, tenoni_srk, out);
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
    /* If the key was made under the primary, the search begins there, which saves the command that reads the SRK. */
    int first = file->parent == TENONI_PARENT_OWNER ? TENONI_PLACE_PRIMARY : TENONI_PLACE_RECORDED;
    tenon_status result = TENON_ERROR_PARENT_MISSING;
    for (int i = 0; i < TENONI_PLACES; i++) {
        int place = (first + i) % TENONI_PLACES;
        tenon_status status = tenoni_parent_at(tpm, place, file, out);
        if (status == TENON_OK && is_named(out, file->parent_name))
            return TENON_OK;
        if (status == TENON_OK || status == TENON_ERROR_PARENT_MISSING)
            continue;
        /*
         * If the owner's auth value is missing, the primary may still be the parent; so go on, because the parent may
         * also be persistent.
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
