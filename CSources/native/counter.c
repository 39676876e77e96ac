/* SPDX-License-Identifier: Apache-2.0 */
#include "native/counter.h"

#include <string.h>

#include "base/secure.h"

enum {
    RH_OWNER = 0x40000001,
    SIZE = 8,
    AUTH_WRITE = 1 << 2, /* Part 2, 13.4 TPMA_NV, as are the next */
    COUNTER = 1 << 4,
    AUTH_READ = 1 << 18,
    NO_DA = 1 << 25,
    WRITTEN = 1 << 29,
    ATTRIBUTES = AUTH_WRITE | COUNTER | AUTH_READ | NO_DA,
    PUBLIC_SIZE = 14,
    PUBLIC_MAX = 128
};

/* Part 2, 13.5 TPMS_NV_PUBLIC. */
static void write_public(uint8_t *out, uint32_t index, uint32_t attributes)
{
    tenoni_writer writer = tenoni_writer_over(out, PUBLIC_SIZE);
    tenoni_write_u32(&writer, index);
    tenoni_write_u16(&writer, TENONI_ALG_SHA256);
    tenoni_write_u32(&writer, attributes);
    tenoni_write_u16(&writer, 0); /* authPolicy */
    tenoni_write_u16(&writer, SIZE);
}

/* Computed: another index in its place has another Name, and then the session's HMAC does not fit. */
static tenon_status set_name(uint8_t *name, uint32_t index, bool written)
{
    uint8_t area[PUBLIC_SIZE];
    tenon_digest digest;
    write_public(area, index, written ? ATTRIBUTES | WRITTEN : ATTRIBUTES);
    tenon_status status = tenon_sha256(&digest, area, sizeof area);
    name[0] = TENONI_ALG_SHA256 >> 8;
    name[1] = TENONI_ALG_SHA256 & 0xff;
    memcpy(name + 2, digest.bytes, sizeof digest.bytes);
    return status;
}

typedef struct {
    tenoni_sealed *sealed;
    const uint8_t *secret;
    uint64_t count;
    uint64_t wanted;
    bool first; /* it was never counted */
} job;

static tenon_status set_auth(tenoni_auth *auth, const job *work)
{
    return tenoni_auth_set(auth, work->secret + TENONI_SECRET_KEY, TENONI_SECRET_SIZE - TENONI_SECRET_KEY);
}

/* Part 3, 31.3 TPM2_NV_DefineSpace, by the owner. */
static tenon_status define(tenon_tpm *tpm, const job *work)
{
    tenoni_call call;
    tenoni_reader answer;
    tenoni_auth auth;
    uint8_t area[PUBLIC_SIZE];
    tenon_status status = tenoni_sealed_session(tpm, work->sealed);
    if (status == TENON_OK)
        status = set_auth(&auth, work);
    if (status != TENON_OK)
        return status;
    tenoni_call_begin(&call, TENONI_CC_NV_DEFINE_SPACE, TENONI_ROLE_OWNER);
    tenoni_call_handle(&call, RH_OWNER);
    call.auth = &tpm->owner_auth;
    call.session = &work->sealed->session;
    call.session_attributes = TENONI_SESSION_DECRYPT;
    tenoni_write_sized(&call.parameters, auth.bytes, auth.n);
    write_public(area, work->sealed->counter, ATTRIBUTES);
    tenoni_write_sized(&call.parameters, area, sizeof area);
    status = tenoni_call_send(tpm, &call, NULL, &answer);
    tenoni_wipe(&auth, sizeof auth);
    tenoni_call_end(&call);
    return status;
}

static tenon_status use(tenon_tpm *tpm, job *work, uint32_t command)
{
    tenoni_call call;
    tenoni_reader answer, number;
    tenoni_auth auth;
    uint8_t name[TENON_NAME_SIZE];
    uint32_t index = work->sealed->counter;
    tenon_status status = tenoni_sealed_session(tpm, work->sealed);
    if (status == TENON_OK)
        status = set_auth(&auth, work);
    if (status == TENON_OK)
        status = set_name(name, index, !work->first);
    if (status != TENON_OK)
        return status;
    tenoni_call_begin(&call, command, TENONI_ROLE_ANY);
    tenoni_call_object(&call, index, name);
    tenoni_call_object(&call, index, name);
    call.auth = &auth;
    call.session = &work->sealed->session;
    if (command == TENONI_CC_NV_READ) {
        tenoni_write_u16(&call.parameters, SIZE);
        tenoni_write_u16(&call.parameters, 0);
    }
    status = tenoni_call_send(tpm, &call, NULL, &answer);
    if (status == TENON_OK && command == TENONI_CC_NV_READ &&
        !(tenoni_read_sized(&answer, &number, SIZE) && tenoni_read_u64(&number, &work->count)))
        status = TENON_ERROR_TPM_ANSWER;
    tenoni_wipe(&auth, sizeof auth);
    tenoni_call_end(&call);
    return status;
}

static tenon_status again(tenon_tpm *tpm, job *work, uint32_t command)
{
    tenon_status status = use(tpm, work, command);
    if (!tenoni_sealed_again(status))
        return status;
    tenoni_sealed_drop(tpm, work->sealed);
    return use(tpm, work, command);
}

/*
 * Part 3, 31.6 TPM2_NV_ReadPublic. Only an index whose Name is one of ours is offered the secret: a wrong one at
 * another's may count as an attack. Whether it was ever counted is part of the Name.
 */
static tenon_status look_at(tenon_tpm *tpm, job *work, bool *like_ours)
{
    tenoni_call call;
    tenoni_reader answer, public, found;
    uint8_t name[TENON_NAME_SIZE];
    *like_ours = false;
    tenoni_call_begin(&call, TENONI_CC_NV_READ_PUBLIC, TENONI_ROLE_ANY);
    tenoni_call_handle(&call, work->sealed->counter);
    tenon_status status = tenoni_call_send(tpm, &call, NULL, &answer);
    if (status == TENON_OK &&
        !(tenoni_read_sized(&answer, &public, PUBLIC_MAX) && tenoni_read_sized(&answer, &found, PUBLIC_MAX)))
        status = TENON_ERROR_TPM_ANSWER;
    for (int counted = 0; counted < 2 && status == TENON_OK && !*like_ours; counted++) {
        work->first = counted == 0;
        status = set_name(name, work->sealed->counter, !work->first);
        *like_ours = status == TENON_OK && found.left == sizeof name && tenoni_equal(found.at, name, sizeof name);
    }
    tenoni_call_end(&call);
    return status;
}

/* An index is ours if it takes our secret. */
static tenon_status count_ours(tenon_tpm *tpm, job *work, bool *ours)
{
    tenon_status status = look_at(tpm, work, ours);
    if (status != TENON_OK || !*ours)
        return status;
    status = use(tpm, work, TENONI_CC_NV_INCREMENT);
    if (tenon_status_category(status) != TENON_CATEGORY_AUTH)
        return status;
    tenoni_sealed_drop(tpm, work->sealed);
    *ours = false;
    return TENON_OK;
}

static tenon_status make(tenon_tpm *tpm, void *context)
{
    job *work = context;
    bool ours = true;
    tenon_status defined = define(tpm, work);
    if (defined == TENON_OK)
        return use(tpm, work, TENONI_CC_NV_INCREMENT);
    if (!tenoni_status_is(defined, TENONI_RC_NV_DEFINED))
        return defined;
    tenon_status status = count_ours(tpm, work, &ours);
    return status == TENON_OK && !ours ? defined : status;
}

/* Part 3, 31.4 TPM2_NV_UndefineSpace, by the owner. */
static tenon_status undefine(tenon_tpm *tpm, const job *work)
{
    tenoni_call call;
    tenoni_reader answer;
    tenoni_call_begin(&call, TENONI_CC_NV_UNDEFINE_SPACE, TENONI_ROLE_OWNER);
    tenoni_call_handle(&call, RH_OWNER);
    tenoni_call_handle(&call, work->sealed->counter);
    call.auth = &tpm->owner_auth;
    tenon_status status = tenoni_call_send(tpm, &call, NULL, &answer);
    tenoni_call_end(&call);
    return status;
}

static tenon_status take_away(tenon_tpm *tpm, void *context)
{
    job *work = context;
    bool ours;
    tenon_status status = count_ours(tpm, work, &ours);
    if (tenoni_status_is(status, TENONI_RC_HANDLE))
        return TENON_OK; /* there is no such index */
    return status == TENON_OK && ours ? undefine(tpm, work) : status;
}

/* Read first: an increment whose answer was lost is not repeated. */
static tenon_status raise(tenon_tpm *tpm, void *context)
{
    job *work = context;
    tenon_status status = again(tpm, work, TENONI_CC_NV_READ);
    if (status == TENON_OK && work->count + 1 == work->wanted)
        status = use(tpm, work, TENONI_CC_NV_INCREMENT);
    return status;
}

static tenon_status look(tenon_tpm *tpm, void *context)
{
    return again(tpm, context, TENONI_CC_NV_READ);
}

tenon_status tenoni_counter_make(tenon_tpm *tpm, tenoni_sealed *sealed, const uint8_t *secret)
{
    job work = {.sealed = sealed, .secret = secret, .first = true};
    return tenoni_tpm_do(tpm, make, &work);
}

tenon_status tenoni_counter_remove(tenon_tpm *tpm, tenoni_sealed *sealed, const uint8_t *secret)
{
    job work = {.sealed = sealed, .secret = secret};
    return tenoni_tpm_do(tpm, take_away, &work);
}

tenon_status tenoni_counter_read(tenon_tpm *tpm, tenoni_sealed *sealed, const uint8_t *secret, uint64_t *out)
{
    job work = {.sealed = sealed, .secret = secret};
    tenon_status status = tenoni_tpm_do(tpm, look, &work);
    *out = work.count;
    return status;
}

tenon_status tenoni_counter_raise(tenon_tpm *tpm, tenoni_sealed *sealed, const uint8_t *secret, uint64_t to)
{
    job work = {.sealed = sealed, .secret = secret, .wanted = to};
    return tenoni_tpm_do(tpm, raise, &work);
}
