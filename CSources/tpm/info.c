/* SPDX-License-Identifier: Apache-2.0 */
#include "tpm/info.h"

#include <string.h>

#include "tenon/tpm/tpm.h"
#include "tpm/call.h"

size_t tenon_tpm_auth_max(void)
{
    return TENON_TPM_AUTH_MAX;
}

size_t tenon_tpm_key_max(void)
{
    return TENON_TPM_KEY_MAX;
}

size_t tenon_tpm_buffer_size(void)
{
    return TENON_TPM_BUFFER_SIZE;
}

/* Part 3, 30.2 TPM2_GetCapability; the properties are those of Part 2, 6.13 and 8.6. */

enum {
    LOADED_SESSION = 0x02,
    TRANSIENT = 0x80,
    PERSISTENT = 0x81,
    CAP_HANDLES = 1,
    CAP_TPM_PROPERTIES = 6,
    KIND_SHIFT = 24,
    GROUP_SHIFT = 8,
    HANDLES_AT_ONCE = 64,
    PROPERTIES_AT_ONCE = 64
};

/* Without this check, an answer with moreData and no value would be asked for forever. */
static tenon_status get(tenon_tpm *tpm, uint32_t capability, uint32_t first, uint32_t count, tenoni_reader *values,
                        uint32_t *found, bool *more)
{
    tenoni_call call;
    uint8_t more_data = 0;
    uint32_t kind;
    tenoni_call_begin(&call, TENONI_CC_GET_CAPABILITY, TENONI_ROLE_ANY);
    tenoni_write_u32(&call.parameters, capability);
    tenoni_write_u32(&call.parameters, first);
    tenoni_write_u32(&call.parameters, count);
    tenon_status status = tenoni_call_send(tpm, &call, NULL, values);
    if (status == TENON_OK &&
        (!tenoni_read_u8(values, &more_data) || !tenoni_read_u32(values, &kind) || kind != capability ||
         !tenoni_read_u32(values, found) || *found > count || (more_data != 0 && *found == 0)))
        status = TENON_ERROR_TPM_ANSWER;
    *more = more_data != 0;
    tenoni_call_end(&call);
    return status;
}

/* One answer's handles. There are more of their kind only if the answer ends with one of it. */
static tenon_status get_handles(tenon_tpm *tpm, uint32_t first, uint32_t *out, size_t n, size_t *count, bool *more)
{
    tenoni_reader values;
    uint32_t found, least = first;
    *count = 0;
    tenon_status status =
        get(tpm, CAP_HANDLES, first, n < HANDLES_AT_ONCE ? (uint32_t)n : HANDLES_AT_ONCE, &values, &found, more);
    for (uint32_t i = 0; status == TENON_OK && i < found; i++) {
        uint32_t handle;
        /* The handles must ascend; otherwise a caller that continues after the last one would never finish. */
        if (!tenoni_read_u32(&values, &handle) || handle < least)
            return TENON_ERROR_TPM_ANSWER;
        if (handle >> KIND_SHIFT == first >> KIND_SHIFT)
            out[(*count)++] = handle;
        least = handle + 1;
        *more = *more && least >> KIND_SHIFT == first >> KIND_SHIFT;
    }
    return status == TENON_OK && values.left != 0 ? TENON_ERROR_TPM_ANSWER : status;
}

tenon_status tenoni_nv_buffer_max(tenon_tpm *tpm, uint32_t *out)
{
    enum { NV_BUFFER_MAX = 0x12c };
    tenoni_reader values;
    uint32_t found, property;
    bool more;
    tenon_status status = get(tpm, CAP_TPM_PROPERTIES, NV_BUFFER_MAX, 1, &values, &found, &more);
    if (status == TENON_OK && (found != 1 || !tenoni_read_u32(&values, &property) || property != NV_BUFFER_MAX ||
                               !tenoni_read_u32(&values, out) || *out == 0 || values.left != 0))
        status = TENON_ERROR_TPM_ANSWER;
    return status;
}

/* A TPM decides how many it gives at once. */
tenon_status tenoni_handles(tenon_tpm *tpm, uint32_t first, uint32_t *out, size_t n, size_t *count)
{
    bool more = true;
    *count = 0;
    while (more && *count < n) {
        size_t given;
        tenon_status status = get_handles(tpm, first, out + *count, n - *count, &given, &more);
        if (status != TENON_OK)
            return status;
        *count += given;
        first = given == 0 ? first : out[*count - 1] + 1;
    }
    return TENON_OK;
}

/* Takes one property to its place. */
static void take(tenon_tpm_info *info, uint32_t property, uint32_t value)
{
    tenoni_writer maker = tenoni_writer_over((uint8_t *)info->maker, 4);
    tenoni_writer model = tenoni_writer_over((uint8_t *)info->model + 4 * ((property - 0x106) & 3), 4);
    switch (property) {
    case 0x102: /* TPM_PT_REVISION */
        info->revision = value;
        break;
    case 0x105: /* TPM_PT_MANUFACTURER */
        tenoni_write_u32(&maker, value);
        break;
    case 0x106: /* TPM_PT_VENDOR_STRING_1 to _4 */
    case 0x107:
    case 0x108:
    case 0x109:
        tenoni_write_u32(&model, value);
        break;
    case 0x10b: /* TPM_PT_FIRMWARE_VERSION_1 and _2 */
    case 0x10c:
        info->firmware[property - 0x10b] = value;
        break;
    case 0x200: /* TPM_PT_PERMANENT: TPMA_PERMANENT */
        info->owner_auth_set = value & 1;
        info->endorsement_auth_set = value >> 1 & 1;
        info->lockout_auth_set = value >> 2 & 1;
        info->clear_disabled = value >> 8 & 1;
        info->in_lockout = value >> 9 & 1;
        break;
    case 0x201: /* TPM_PT_STARTUP_CLEAR: TPMA_STARTUP_CLEAR */
        info->storage_enabled = value >> 1 & 1;
        info->endorsement_enabled = value >> 2 & 1;
        break;
    case 0x20e: /* TPM_PT_LOCKOUT_COUNTER and what follows it */
        info->lockout_counter = value;
        break;
    case 0x20f:
        info->lockout_max = value;
        break;
    case 0x210:
        info->lockout_interval = value;
        break;
    case 0x211:
        info->lockout_recovery = value;
        break;
    default:
        break;
    }
}

/* The properties of one group, in order: an answer holds as many as the TPM likes. */
static tenon_status take_properties(tenon_tpm *tpm, tenon_tpm_info *info, uint32_t first)
{
    uint32_t next = first;
    bool more = true;
    while (more) {
        tenoni_reader values;
        uint32_t found;
        tenon_status status = get(tpm, CAP_TPM_PROPERTIES, next, PROPERTIES_AT_ONCE, &values, &found, &more);
        if (status != TENON_OK)
            return status;
        for (uint32_t i = 0; i < found; i++) {
            uint32_t property, value;
            if (!tenoni_read_u32(&values, &property) || !tenoni_read_u32(&values, &value) || property < next)
                return TENON_ERROR_TPM_ANSWER;
            take(info, property, value);
            next = property + 1;
        }
        more = more && next >> GROUP_SHIFT == first >> GROUP_SHIFT;
    }
    return TENON_OK;
}

/* TCG EK Credential Profile 2.5, 2.2.1.4 and 2.2.1.5: where EK certificates lie. */
static tenon_status take_certificates(tenon_tpm *tpm, tenon_tpm_info *info)
{
    static const uint32_t places[] = {0x01c00002, 0x01c0000a, 0x01c00012, 0x01c00014, 0x01c00016};
    enum { PLACES = sizeof places / sizeof places[0], RANGE = 0x01c00016 - 0x01c00002 + 1 };
    uint32_t found[RANGE];
    size_t count;
    tenon_status status = tenoni_handles(tpm, places[0], found, RANGE, &count);
    for (size_t i = 0; status == TENON_OK && i < count * PLACES; i++)
        if (found[i / PLACES] == places[i % PLACES])
            info->ek_certificates |= 1u << i % PLACES;
    return status;
}

static tenon_status read_info(tenon_tpm *tpm, void *context)
{
    tenon_tpm_info *info = context;
    memset(info, 0, sizeof *info);
    tenon_status status = take_properties(tpm, info, 0x100);
    if (status == TENON_OK)
        status = take_properties(tpm, info, 0x200);
    return status == TENON_OK ? take_certificates(tpm, info) : status;
}

tenon_status tenon_tpm_read_info(tenon_tpm *tpm, tenon_tpm_info *out)
{
    if (out != NULL)
        memset(out, 0, sizeof *out);
    if (tpm == NULL || out == NULL)
        return TENON_ERROR_NULL;
    tenon_status status = tenoni_tpm_do(tpm, read_info, out);
    if (status != TENON_OK)
        memset(out, 0, sizeof *out);
    return status;
}

typedef struct {
    uint32_t *out;
    size_t n;
    size_t *written;
} listing;

/* Ours are not listed. */
static void add(const tenon_tpm *tpm, const listing *to, uint32_t handle)
{
    for (const tenoni_slot *slot = tpm->slots; slot != NULL; slot = slot->next)
        if (slot->handle == handle)
            return;
    if (*to->written < to->n)
        to->out[*to->written] = handle;
    ++*to->written;
}

/* Asks again after the last handle until there are no more. */
static tenon_status walk(tenon_tpm *tpm, const listing *to, uint32_t kind)
{
    uint32_t handles[HANDLES_AT_ONCE];
    uint32_t next = kind << KIND_SHIFT;
    size_t count;
    do {
        tenon_status status = tenoni_handles(tpm, next, handles, HANDLES_AT_ONCE, &count);
        if (status != TENON_OK)
            return status;
        for (size_t i = 0; i < count; i++)
            add(tpm, to, handles[i]);
        next = count == 0 ? next : handles[count - 1] + 1;
    } while (count == HANDLES_AT_ONCE && next >> KIND_SHIFT == kind);
    return TENON_OK;
}

/* They come in the order of their places, HMAC and policy sessions (Part 2, 7.2) mixed; a TPM has 64 at most. */
static tenon_status add_sessions(tenon_tpm *tpm, const listing *to)
{
    enum { POLICY_SESSION = 0x03 };
    tenoni_reader values;
    uint32_t found, handle;
    bool more;
    tenon_status status =
        get(tpm, CAP_HANDLES, (uint32_t)LOADED_SESSION << KIND_SHIFT, HANDLES_AT_ONCE, &values, &found, &more);
    for (uint32_t i = 0; status == TENON_OK && i < found; i++) {
        if (!tenoni_read_u32(&values, &handle))
            return TENON_ERROR_TPM_ANSWER;
        if (handle >> KIND_SHIFT == LOADED_SESSION || handle >> KIND_SHIFT == POLICY_SESSION)
            add(tpm, to, handle);
    }
    return status == TENON_OK && values.left != 0 ? TENON_ERROR_TPM_ANSWER : status;
}

/* Counted first: what does not fit is not begun. Another process may make one more meanwhile. */
static tenon_status list(tenon_tpm *tpm, void *context)
{
    const listing *to = context;
    const listing none = {.n = 0, .written = to->written};
    *to->written = 0;
    tenon_status status = walk(tpm, &none, PERSISTENT);
    if (status == TENON_OK && to->n != 0 && *to->written <= to->n) {
        *to->written = 0;
        status = walk(tpm, to, PERSISTENT);
    }
    return status == TENON_OK && *to->written > to->n ? TENON_ERROR_BUFFER_TOO_SMALL : status;
}

/* In one go, and undone if something does not fit, so that a full TPM gets no more commands than necessary. */
static tenon_status list_loaded(tenon_tpm *tpm, void *context)
{
    const listing *to = context;
    *to->written = 0;
    tenon_status status = walk(tpm, to, TRANSIENT);
    if (status == TENON_OK)
        status = add_sessions(tpm, to);
    bool too_many = status == TENON_OK && *to->written > to->n;
    if ((status != TENON_OK || too_many) && to->n != 0)
        memset(to->out, 0, to->n * sizeof *to->out);
    return too_many ? TENON_ERROR_BUFFER_TOO_SMALL : status;
}

static tenon_status list_by(tenon_tpm *tpm, uint32_t *out, size_t n, size_t *written, tenoni_operation *operation)
{
    if (written != NULL)
        *written = 0;
    if (tpm == NULL || written == NULL || (out == NULL && n != 0))
        return TENON_ERROR_NULL;
    listing to = {.out = out, .n = n, .written = written};
    tenon_status status = tenoni_tpm_do(tpm, operation, &to);
    if (status != TENON_OK && status != TENON_ERROR_BUFFER_TOO_SMALL)
        *written = 0;
    return status;
}

tenon_status tenon_tpm_handles(tenon_tpm *tpm, uint32_t *out, size_t n, size_t *written)
{
    return list_by(tpm, out, n, written, list);
}

tenon_status tenon_tpm_loaded_handles(tenon_tpm *tpm, uint32_t *out, size_t n, size_t *written)
{
    return list_by(tpm, out, n, written, list_loaded);
}
