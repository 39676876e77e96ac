/* SPDX-License-Identifier: Apache-2.0 */
#include "fault.h"

#include <string.h>

#include "wire.h"

enum { HEADER = 10 };

support_when support_next(uint32_t code) { return support_times(code, 1, 1); }

support_when support_nth(uint32_t code, uint32_t nth) { return support_times(code, nth, 1); }

support_when support_times(uint32_t code, uint32_t nth, uint32_t times)
{
    support_when when = {code, nth, times};
    return when;
}

bool support_fault_is_due(support_fault *fault, uint32_t code)
{
    const support_when *when = &fault->when;
    if (when->code != SUPPORT_ANY && when->code != code)
        return false;
    fault->seen++;
    return fault->seen >= when->nth && fault->seen - when->nth < when->times;
}

bool support_fault_is_pending(const support_fault *fault)
{
    const support_when *when = &fault->when;
    uint32_t wanted = when->times == SUPPORT_ALWAYS ? 1 : when->times;
    return fault->seen < when->nth || fault->seen - when->nth + 1 < wanted;
}

static void flip(uint8_t *bytes, size_t n, int32_t offset, uint32_t bits)
{
    int64_t at = offset < 0 ? (int64_t)n + offset : offset;
    if (at >= 0 && at < (int64_t)n)
        bytes[at] ^= (uint8_t)bits;
}

void support_fault_change_command(const support_fault *fault, uint8_t *command, size_t n)
{
    if (fault->kind == SUPPORT_FAULT_TAMPER)
        flip(command, n, fault->offset, fault->value);
}

/* Part 3 of the TPM 2.0 Library: the commands that answer with a handle before the parameters. */
static size_t handles_in_answer(uint32_t code)
{
    switch (code) {
    case SUPPORT_CC_CREATE_PRIMARY:
    case SUPPORT_CC_LOAD:
    case SUPPORT_CC_LOAD_EXTERNAL:
    case SUPPORT_CC_CONTEXT_LOAD:
    case SUPPORT_CC_START_AUTH_SESSION:
        return 4;
    default:
        return 0;
    }
}

/* The transport passes the code of the command, because the answer does not contain it. */
static size_t strip(uint8_t *answer, size_t n, uint32_t code)
{
    size_t at = HEADER + handles_in_answer(code);
    if (n < at + 4 || answer[1] != 2)
        return n;
    size_t parameters = support_fetch32(answer + at);
    if (parameters > n - at - 4)
        return n;
    memmove(answer + at, answer + at + 4, parameters);
    answer[1] = 1;
    support_store32(answer + 2, (uint32_t)(at + parameters));
    return at + parameters;
}

static size_t extend(uint8_t *answer, size_t n, size_t more, size_t size)
{
    if (more > size - n)
        more = size - n;
    memset(answer + n, 0xA5, more);
    return n + more;
}

static size_t replace(const support_fault *fault, uint8_t *answer, size_t size)
{
    size_t n = fault->n < size ? fault->n : size;
    memcpy(answer, fault->bytes, n);
    return n;
}

size_t support_fault_change_answer(const support_fault *fault, uint8_t *answer, size_t n, size_t size)
{
    switch (fault->kind) {
    case SUPPORT_FAULT_FLIP:
        flip(answer, n, fault->offset, fault->value);
        return n;
    case SUPPORT_FAULT_TRUNCATE:
        return fault->n < n ? fault->n : n;
    case SUPPORT_FAULT_EXTEND:
        return extend(answer, n, fault->n, size);
    case SUPPORT_FAULT_RESIZE:
    case SUPPORT_FAULT_FIX_SIZE:
        if (n >= HEADER)
            support_store32(answer + 2, fault->kind == SUPPORT_FAULT_RESIZE ? fault->value : (uint32_t)n);
        return n;
    case SUPPORT_FAULT_STRIP:
        return strip(answer, n, fault->value);
    case SUPPORT_FAULT_REPLACE:
        return replace(fault, answer, size);
    case SUPPORT_FAULT_EDIT:
        return fault->edit(fault->context, answer, n, size);
    default:
        return n;
    }
}
