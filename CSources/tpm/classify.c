/* SPDX-License-Identifier: Apache-2.0 */
#include "tpm/classify.h"

#include <stddef.h>

#include "crypto/quirks.h"

enum { TPM_CAUSE = 0x800000, FORMAT_ONE = 0x80, ANY_FORMAT_ONE = 0xffff, ANY_WARNING = 0xfffe, ANY_VENDOR = 0xfffd };

typedef struct {
    uint32_t command;
    uint32_t code;
    uint32_t last; /* of a range, or 0 */
    tenoni_role role;
    int32_t category;
} row;

/*
 * One code means different things after different commands and about different keys: a bad credential and a lost seed
 * are both INTEGRITY. So the first row that fits all three decides. No row says *gone*: that takes more than a code.
 */
static const row rows[] = {
    {TENONI_CC_ANY, TENONI_RC_INTEGRITY, 0, TENONI_ROLE_ANY, TENON_CATEGORY_REJECTED},
    {TENONI_CC_ANY, TENONI_RC_HANDLE, 0, TENONI_ROLE_ANY, TENON_CATEGORY_UNAVAILABLE},
    {TENONI_CC_ANY, 0x085 /* HIERARCHY */, 0, TENONI_ROLE_ANY, TENON_CATEGORY_UNAVAILABLE},
    {TENONI_CC_ANY, TENONI_RC_BAD_AUTH, 0, TENONI_ROLE_ANY, TENON_CATEGORY_AUTH},
    {TENONI_CC_ANY, 0x08e /* AUTH_FAIL */, 0, TENONI_ROLE_ANY, TENON_CATEGORY_AUTH},
    {TENONI_CC_ANY, TENONI_RC_LOCKOUT, 0, TENONI_ROLE_ANY, TENON_CATEGORY_AUTH},
    {TENONI_CC_ANY, 0x126 /* POLICY */, 0, TENONI_ROLE_ANY, TENON_CATEGORY_AUTH},
    {TENONI_CC_ANY, 0x09d /* POLICY_FAIL */, 0, TENONI_ROLE_ANY, TENON_CATEGORY_AUTH},
    {TENONI_CC_ACTIVATE_CREDENTIAL, 0x12f /* AUTH_UNAVAILABLE */, 0, TENONI_ROLE_ANY, TENON_CATEGORY_REJECTED},
    {TENONI_CC_ANY, 0x12f, 0, TENONI_ROLE_ANY, TENON_CATEGORY_AUTH},
    {TENONI_CC_ANY, 0x0a0 /* TICKET */, 0, TENONI_ROLE_ANY, TENON_CATEGORY_ARGUMENT},
    {TENONI_CC_ANY, 0x100 /* INITIALIZE */, 0x101 /* FAILURE */, TENONI_ROLE_ANY, TENON_CATEGORY_UNAVAILABLE},
    {TENONI_CC_ANY, 0x120 /* DISABLED */, 0, TENONI_ROLE_ANY, TENON_CATEGORY_UNAVAILABLE},
    {TENONI_CC_ANY, 0x12d /* UPGRADE */, 0, TENONI_ROLE_ANY, TENON_CATEGORY_UNAVAILABLE},
    {TENONI_CC_ANY, 0x130 /* REBOOT */, 0, TENONI_ROLE_ANY, TENON_CATEGORY_UNAVAILABLE},
    {TENONI_CC_ANY, 0x143 /* COMMAND_CODE */, 0, TENONI_ROLE_ANY, TENON_CATEGORY_UNAVAILABLE},
    {TENONI_CC_ANY, 0x14b /* NV_SPACE */, 0, TENONI_ROLE_ANY, TENON_CATEGORY_UNAVAILABLE},
    {TENONI_CC_ANY, 0x907 /* LOCALITY */, 0, TENONI_ROLE_ANY, TENON_CATEGORY_UNAVAILABLE},
    /* A TPM refuses a damaged public area with a code that depends on the damage. */
    {TENONI_CC_LOAD, ANY_FORMAT_ONE, 0, TENONI_ROLE_KEY, TENON_CATEGORY_REJECTED},
    /* And so is a credential that somebody else made. */
    {TENONI_CC_ACTIVATE_CREDENTIAL, ANY_FORMAT_ONE, 0, TENONI_ROLE_ANY, TENON_CATEGORY_REJECTED},
    {TENONI_CC_ACTIVATE_CREDENTIAL, 0x154 /* NO_RESULT */, 0, TENONI_ROLE_ANY, TENON_CATEGORY_REJECTED},
    {TENONI_CC_ANY, ANY_WARNING, 0, TENONI_ROLE_ANY, TENON_CATEGORY_TRANSIENT},
    {TENONI_CC_ANY, ANY_VENDOR, 0, TENONI_ROLE_ANY, TENON_CATEGORY_UNAVAILABLE},
};

/* Part 2, 6.6: bit 7 is format one, with the code in bits 0-5; else bit 11 is a warning, bit 10 the vendor's own. */
uint32_t tenoni_rc_base(uint32_t rc)
{
    uint32_t code = rc & 0xfff;
    return (code & FORMAT_ONE) != 0 ? code & 0xbf : code;
}

static bool code_fits(const row *candidate, uint32_t base)
{
    switch (candidate->code) {
    case ANY_FORMAT_ONE:
        return (base & FORMAT_ONE) != 0;
    case ANY_WARNING:
        return (base & FORMAT_ONE) == 0 && (base & 0x900) == 0x900;
    case ANY_VENDOR:
        return (base & FORMAT_ONE) == 0 && (base & 0x400) != 0;
    default:
        return base >= candidate->code && base <= (candidate->last != 0 ? candidate->last : candidate->code);
    }
}

static bool fits(const row *candidate, uint32_t command, tenoni_role role, uint32_t base)
{
    return (candidate->command == TENONI_CC_ANY || candidate->command == command) &&
           (candidate->role == TENONI_ROLE_ANY || candidate->role == role) && code_fits(candidate, base);
}

tenon_status tenoni_classify(uint32_t command, tenoni_role role, uint32_t rc)
{
    int32_t category = TENON_CATEGORY_INTERNAL;
    uint32_t base = tenoni_quirk_answer(command, tenoni_rc_base(rc));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (fits(&rows[i], command, role, base)) {
            category = rows[i].category;
            break;
        }
    }
    return (tenon_status)((uint32_t)category << 24 | TPM_CAUSE | (rc & 0xfffff));
}

bool tenoni_rc_is_retry(uint32_t rc)
{
    switch (tenoni_rc_base(rc)) {
    case 0x908: /* YIELDED */
    case 0x90a: /* TESTING */
    case 0x920: /* NV_RATE */
    case 0x922: /* RETRY */
    case 0x923: /* NV_UNAVAILABLE */
        return true;
    default:
        return false;
    }
}

bool tenoni_status_is(tenon_status status, uint32_t base)
{
    uint32_t rc = tenon_status_tpm_rc(status);
    return rc != 0 && tenoni_rc_base(rc) == base;
}

bool tenoni_status_lacks_room(tenon_status status)
{
    uint32_t base = tenoni_rc_base(tenon_status_tpm_rc(status));
    return base >= TENONI_RC_OBJECT_MEMORY && base <= 0x906 /* OBJECT_HANDLES */;
}

bool tenoni_status_lost_object(tenon_status status)
{
    uint32_t base = tenoni_rc_base(tenon_status_tpm_rc(status));
    return base == TENONI_RC_HANDLE || (base >= TENONI_RC_REFERENCE_H0 && base <= 0x916);
}

bool tenoni_status_lost_session(tenon_status status)
{
    uint32_t base = tenoni_rc_base(tenon_status_tpm_rc(status));
    return base == 0x901 /* CONTEXT_GAP */ || (base >= TENONI_RC_REFERENCE_S0 && base <= 0x91e) ||
           base == 0x084 /* VALUE: a session handle that is none */;
}
