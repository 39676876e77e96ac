/* SPDX-License-Identifier: Apache-2.0 */
#include "native/sealed.h"

#include <string.h>

#include "base/secure.h"

enum {
    ALG_KEYEDHASH = 0x0008,
    ATTRIBUTES = TENONI_FIXED_TPM | TENONI_FIXED_PARENT | TENONI_USER_WITH_AUTH | TENONI_NO_DA
};

/* Part 2, 12.2.4 TPMT_PUBLIC of sealed data: a keyed hash without a scheme, whose bits come from outside. */
static void write_template(tenoni_writer *parameters)
{
    uint8_t area[32];
    tenoni_writer writer = tenoni_writer_over(area, sizeof area);
    tenoni_write_u16(&writer, ALG_KEYEDHASH);
    tenoni_write_u16(&writer, TENONI_ALG_SHA256);
    tenoni_write_u32(&writer, ATTRIBUTES);
    tenoni_write_u16(&writer, 0); /* authPolicy */
    tenoni_write_u16(&writer, TENONI_ALG_NULL);
    tenoni_write_u16(&writer, 0); /* unique */
    tenoni_write_sized(parameters, area, writer.used);
    tenoni_write_u16(parameters, 0); /* outsideInfo */
    tenoni_write_u32(parameters, 0); /* creationPCR */
}

/* outPrivate and outPublic; what follows says how it was made. */
static tenon_status read_created(tenoni_reader *answer, tenoni_keyfile *out)
{
    tenoni_reader private, public;
    if (!tenoni_read_sized(answer, &private, sizeof out->private_area) || private.left == 0 ||
        !tenoni_read_sized(answer, &public, sizeof out->public_area) || public.left == 0)
        return TENON_ERROR_TPM_ANSWER;
    memcpy(out->private_area, private.at, out->private_n = private.left);
    memcpy(out->public_area, public.at, out->public_n = public.left);
    return TENON_OK;
}

/* Part 3, 12.1 TPM2_Create; the secret is in the first parameter, which the session encrypts. */
static tenon_status create(tenon_tpm *tpm, const tenoni_object *parent, tenoni_session *session, const uint8_t *secret,
                           tenoni_keyfile *out)
{
    tenoni_call call;
    tenoni_reader answer;
    tenoni_call_begin(&call, TENONI_CC_CREATE, TENONI_ROLE_PARENT);
    tenoni_call_object(&call, parent->handle, parent->name);
    call.session = session;
    call.session_attributes = TENONI_SESSION_DECRYPT;
    tenoni_write_u16(&call.parameters, 4 + TENONI_SECRET_SIZE);
    tenoni_write_u16(&call.parameters, 0); /* userAuth */
    tenoni_write_sized(&call.parameters, secret, TENONI_SECRET_SIZE);
    write_template(&call.parameters);
    tenon_status status = tenoni_call_send(tpm, &call, NULL, &answer);
    if (status == TENON_OK)
        status = read_created(&answer, out);
    tenoni_call_end(&call);
    return status;
}

typedef struct {
    tenoni_sealed *sealed;
    const uint8_t *secret;
    uint8_t *out;
    bool another;
} job;

static tenon_status make(tenon_tpm *tpm, void *context)
{
    const job *work = context;
    tenoni_keyfile *file = &work->sealed->file;
    tenoni_session session = {.state = TENONI_SESSION_OVER};
    tenoni_object parent;
    memset(file, 0, sizeof *file);
    tenon_status status = tenoni_parent_witness(tpm, file->witness);
    if (status == TENON_OK)
        status = tenoni_parent_choose(tpm, &parent);
    if (status != TENON_OK)
        return status;
    file->witness_n = sizeof file->witness;
    file->parent = parent.handle == tpm->parent.handle ? (uint32_t)TENONI_PARENT_OWNER : parent.handle;
    memcpy(file->parent_name, parent.name, file->parent_name_n = sizeof parent.name);
    status = tenoni_session_open(tpm, &parent, true, &session);
    if (status == TENON_OK)
        status = create(tpm, &parent, &session, work->secret, file);
    tenoni_session_close(tpm, &session);
    return status == TENON_OK ? tenoni_public_name(work->sealed->name, file->public_area, file->public_n) : status;
}

tenon_status tenoni_sealed_make(tenon_tpm *tpm, tenoni_sealed *out, const uint8_t *secret)
{
    job work = {.sealed = out, .secret = secret};
    tenon_status status = tenoni_tpm_do(tpm, make, &work);
    out->known = status == TENON_OK;
    return status;
}

static bool has_session(const tenoni_sealed *sealed)
{
    return sealed->session.state == TENONI_SESSION_LIVE && sealed->session_slot.handle != 0;
}

static void end_session(tenon_tpm *tpm, tenoni_sealed *sealed)
{
    tenoni_slot_flush(tpm, &sealed->session_slot);
    tenoni_session_end(&sealed->session);
    sealed->session.handle = 0;
}

void tenoni_sealed_drop(tenon_tpm *tpm, tenoni_sealed *sealed)
{
    end_session(tpm, sealed);
    tenoni_slot_flush(tpm, &sealed->slot);
}

static tenon_status open_session(tenon_tpm *tpm, tenoni_sealed *sealed, const tenoni_object *parent)
{
    end_session(tpm, sealed);
    tenon_status status = tenoni_session_open(tpm, parent, true, &sealed->session);
    if (status == TENON_OK)
        tenoni_slot_fill(tpm, &sealed->session_slot, sealed->session.handle);
    return status;
}

tenon_status tenoni_sealed_session(tenon_tpm *tpm, tenoni_sealed *sealed)
{
    tenoni_object parent;
    if (has_session(sealed))
        return TENON_OK;
    tenon_status status = tenoni_parent_find(tpm, &sealed->file, &parent);
    return status == TENON_OK ? open_session(tpm, sealed, &parent) : status;
}

/* The session first: what its parent needs in the TPM may take the object's place. */
static tenon_status get_ready(tenon_tpm *tpm, tenoni_sealed *sealed)
{
    tenoni_object parent;
    uint32_t handle = 0;
    if (has_session(sealed) && sealed->slot.handle != 0)
        return TENON_OK;
    tenon_status status = tenoni_parent_find(tpm, &sealed->file, &parent);
    if (status == TENON_OK && !has_session(sealed))
        status = open_session(tpm, sealed, &parent);
    if (status != TENON_OK || sealed->slot.handle != 0)
        return status;
    status = tenoni_load(tpm, TENONI_ROLE_KEY, &parent, &sealed->file, &handle);
    if (status == TENON_OK)
        tenoni_slot_fill(tpm, &sealed->slot, handle);
    return status;
}

/* The answer lies in the TPM's buffer, in clear: wiped there. */
static tenon_status read_secret(tenon_tpm *tpm, tenoni_reader *answer, uint8_t *out)
{
    tenoni_reader secret;
    bool good = tenoni_read_sized(answer, &secret, TENONI_SECRET_SIZE) && secret.left == TENONI_SECRET_SIZE &&
                answer->left == 0 && tenoni_read_bytes(&secret, out, TENONI_SECRET_SIZE);
    tenoni_wipe(tpm->answer, sizeof tpm->answer);
    return good ? TENON_OK : TENON_ERROR_TPM_ANSWER;
}

/* Part 3, 12.7 TPM2_Unseal. */
static tenon_status attempt(tenon_tpm *tpm, const job *work)
{
    tenoni_sealed *sealed = work->sealed;
    tenoni_call call;
    tenoni_reader answer;
    tenon_status status = get_ready(tpm, sealed);
    if (status != TENON_OK)
        return status;
    tenoni_call_begin(&call, TENONI_CC_UNSEAL, TENONI_ROLE_KEY);
    tenoni_call_object(&call, sealed->slot.handle, sealed->name);
    call.session = &sealed->session;
    call.session_attributes = TENONI_SESSION_ENCRYPT;
    status = tenoni_call_send(tpm, &call, NULL, &answer);
    if (status == TENON_OK)
        status = read_secret(tpm, &answer, work->out);
    tenoni_call_end(&call);
    return status;
}

bool tenoni_sealed_again(tenon_status status)
{
    return status == TENON_ERROR_SESSION || tenoni_status_lost_object(status) || tenoni_status_lost_session(status) ||
           (tenon_status_category(status) == TENON_CATEGORY_AUTH && !tenoni_status_is(status, TENONI_RC_LOCKOUT));
}

static tenon_status unseal(tenon_tpm *tpm, void *context)
{
    const job *work = context;
    tenon_status status = attempt(tpm, work);
    if (!tenoni_sealed_again(status))
        return status;
    tenoni_sealed_drop(tpm, work->sealed);
    return attempt(tpm, work);
}

tenon_status tenoni_sealed_open(tenon_tpm *tpm, tenoni_sealed *sealed, uint8_t *secret)
{
    job work = {.sealed = sealed, .out = secret};
    tenon_status status = tenoni_tpm_do(tpm, unseal, &work);
    if (status != TENON_OK)
        tenoni_wipe(secret, TENONI_SECRET_SIZE);
    return status;
}

static tenon_status compare(tenon_tpm *tpm, void *context)
{
    job *work = context;
    uint8_t witness[TENON_NAME_SIZE];
    /* Computed by the TPM that is there now, and not what an earlier operation left. */
    tenoni_slot_flush(tpm, &tpm->parent);
    tenon_status status = tenoni_parent_witness(tpm, witness);
    work->another = status == TENON_OK && !tenoni_equal(witness, work->sealed->file.witness, sizeof witness);
    return status;
}

bool tenoni_sealed_is_of_another(tenon_tpm *tpm, const tenoni_sealed *sealed)
{
    tenoni_sealed copy = {.file = sealed->file};
    job work = {.sealed = &copy};
    return tenoni_tpm_do(tpm, compare, &work) == TENON_OK && work.another;
}

void tenoni_sealed_write(tenoni_writer *writer, const tenoni_sealed *sealed)
{
    const tenoni_keyfile *file = &sealed->file;
    tenoni_write_u32(writer, sealed->counter);
    tenoni_write_u32(writer, file->parent);
    tenoni_write_sized(writer, file->parent_name, file->parent_name_n);
    tenoni_write_sized(writer, file->witness, file->witness_n);
    tenoni_write_sized(writer, file->public_area, file->public_n);
    tenoni_write_sized(writer, file->private_area, file->private_n);
}

/* All that it takes, or at least one byte. */
static bool read_part(tenoni_reader *from, uint8_t *out, size_t max, bool whole, size_t *n)
{
    tenoni_reader part;
    if (!tenoni_read_sized(from, &part, max) || part.left == 0 || (whole && part.left != max))
        return false;
    *n = part.left;
    return tenoni_read_bytes(&part, out, part.left);
}

bool tenoni_sealed_read(tenoni_sealed *out, const uint8_t *bytes, size_t n)
{
    tenoni_reader from = tenoni_reader_over(bytes, n);
    tenoni_keyfile *file = &out->file;
    memset(out, 0, sizeof *out);
    out->known = tenoni_read_u32(&from, &out->counter) && tenoni_read_u32(&from, &file->parent) &&
                 read_part(&from, file->parent_name, sizeof file->parent_name, true, &file->parent_name_n) &&
                 read_part(&from, file->witness, sizeof file->witness, true, &file->witness_n) &&
                 read_part(&from, file->public_area, sizeof file->public_area, false, &file->public_n) &&
                 read_part(&from, file->private_area, sizeof file->private_area, false, &file->private_n) &&
                 from.left == 0 && tenoni_public_name(out->name, file->public_area, file->public_n) == TENON_OK;
    return out->known;
}

static tenon_status put_away(tenon_tpm *tpm, void *context)
{
    const job *work = context;
    tenoni_sealed_drop(tpm, work->sealed);
    return TENON_OK;
}

void tenoni_sealed_clear(tenon_tpm *tpm, tenoni_sealed *sealed)
{
    job work = {.sealed = sealed};
    if (sealed->known)
        (void)tenoni_tpm_do(tpm, put_away, &work);
    tenoni_wipe(sealed, sizeof *sealed);
}
