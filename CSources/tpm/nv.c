/* SPDX-License-Identifier: Apache-2.0 */
#include "tpm/nv.h"

#include "tpm/call.h"
#include "tpm/info.h"

enum {
    RH_OWNER = 0x40000001,
    OWNER_READ = 1 << 17, /* Part 2, 13.4 TPMA_NV */
    AUTH_READ = 1 << 18,
    WRITTEN = 1 << 29,
    CHUNK_MAX = 1024,
    NV_PUBLIC_MAX = 128
};

typedef struct {
    uint32_t index;
    uint32_t attributes;
    uint16_t size;
} area;

/* Part 2, 13.5 TPMS_NV_PUBLIC: nvIndex, nameAlg, attributes, authPolicy, dataSize. */
static bool read_area(tenoni_reader *answer, area *out)
{
    tenoni_reader public, policy, name;
    uint32_t index;
    uint16_t name_algorithm;
    return tenoni_read_sized(answer, &public, NV_PUBLIC_MAX) && tenoni_read_u32(&public, &index) &&
           index == out->index && tenoni_read_u16(&public, &name_algorithm) &&
           tenoni_read_u32(&public, &out->attributes) && tenoni_read_sized(&public, &policy, NV_PUBLIC_MAX) &&
           tenoni_read_u16(&public, &out->size) && public.left == 0 &&
           tenoni_read_sized(answer, &name, NV_PUBLIC_MAX) && answer->left == 0;
}

/* Part 3, 31.6 TPM2_NV_ReadPublic. */
static tenon_status describe(tenon_tpm *tpm, area *out)
{
    tenoni_call call;
    tenoni_reader answer;
    tenoni_call_begin(&call, TENONI_CC_NV_READ_PUBLIC, TENONI_ROLE_ANY);
    tenoni_call_handle(&call, out->index);
    tenon_status status = tenoni_call_send(tpm, &call, NULL, &answer);
    if (status == TENON_OK && !read_area(&answer, out))
        status = TENON_ERROR_TPM_ANSWER;
    tenoni_call_end(&call);
    return status;
}

/* Part 3, 31.13 TPM2_NV_Read, by a password: so the index needs no Name here. */
static tenon_status read_part(tenon_tpm *tpm, const area *from, bool as_owner, tenoni_writer *out, size_t n)
{
    tenoni_call call;
    tenoni_reader answer, part;
    tenoni_call_begin(&call, TENONI_CC_NV_READ, as_owner ? TENONI_ROLE_OWNER : TENONI_ROLE_ANY);
    tenoni_call_handle(&call, as_owner ? (uint32_t)RH_OWNER : from->index);
    tenoni_call_handle(&call, from->index);
    if (as_owner)
        call.auth = &tpm->owner_auth;
    tenoni_write_u16(&call.parameters, (uint16_t)n);
    tenoni_write_u16(&call.parameters, (uint16_t)out->used);
    tenon_status status = tenoni_call_send(tpm, &call, NULL, &answer);
    if (status == TENON_OK && (!tenoni_read_sized(&answer, &part, n) || part.left != n || answer.left != 0))
        status = TENON_ERROR_TPM_ANSWER;
    if (status == TENON_OK)
        tenoni_write_bytes(out, part.at, part.left);
    tenoni_call_end(&call);
    return status;
}

static tenon_status read_all(tenon_tpm *tpm, const area *from, bool as_owner, uint8_t *out, uint32_t chunk)
{
    tenoni_writer writer = tenoni_writer_over(out, from->size);
    tenon_status status = TENON_OK;
    while (status == TENON_OK && writer.used < from->size) {
        size_t left = from->size - writer.used;
        status = read_part(tpm, from, as_owner, &writer, left < chunk ? left : chunk);
    }
    return status;
}

tenon_status tenoni_nv_read(tenon_tpm *tpm, uint32_t index, uint8_t *out, size_t n, size_t *found)
{
    area from = {.index = index};
    uint32_t chunk;
    *found = 0;
    tenon_status status = describe(tpm, &from);
    if (tenoni_status_is(status, TENONI_RC_HANDLE))
        return TENON_OK;
    if (status != TENON_OK || (from.attributes & WRITTEN) == 0 || (from.attributes & (AUTH_READ | OWNER_READ)) == 0)
        return status;
    if (from.size > n)
        return TENON_ERROR_TOO_LARGE;
    status = tenoni_nv_buffer_max(tpm, &chunk);
    if (status != TENON_OK)
        return status;
    chunk = chunk < CHUNK_MAX ? chunk : CHUNK_MAX;
    bool as_owner = (from.attributes & AUTH_READ) == 0;
    status = read_all(tpm, &from, as_owner, out, chunk);
    if (!as_owner && (from.attributes & OWNER_READ) != 0 && tenon_status_category(status) == TENON_CATEGORY_AUTH)
        status = read_all(tpm, &from, true, out, chunk);
    *found = status == TENON_OK ? from.size : 0;
    return status;
}
