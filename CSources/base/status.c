/* SPDX-License-Identifier: Apache-2.0 */
#include "tenon/status.h"

#include <stdbool.h>

enum { TPM_CAUSE = 0x800000 };

typedef struct {
    const char *name;
    const char *text;
} words;

static const words unnamed = {"TENON_ERROR_UNNAMED", "This version does not know the status."};

#define WORDS(code, value, sentence)                                                                                   \
    case code:                                                                                                         \
        return (words){#code, sentence};

static words words_of_code(tenon_status status)
{
    switch (status) {
        WORDS(TENON_OK, 0, "Success.")
        TENON_STATUS_LIST(WORDS)
    default:
        return unnamed;
    }
}

/* What a caller does about a TPM's code depends only on its category, so the name is that of the category. */
static words words_of_tpm(int32_t category)
{
    switch (category) {
    case TENON_CATEGORY_ARGUMENT:
        return (words){"TENON_TPM_ARGUMENT", "The TPM refused the command's arguments; this is the caller's mistake."};
    case TENON_CATEGORY_FORMAT:
        return (words){"TENON_TPM_FORMAT", "The TPM could not read the bytes that it received."};
    case TENON_CATEGORY_REJECTED:
        return (words){"TENON_TPM_REJECTED", "The TPM refused the key, credential or signature."};
    case TENON_CATEGORY_TRANSIENT:
        return (words){"TENON_TPM_TRANSIENT", "The TPM is busy; try again later."};
    case TENON_CATEGORY_UNAVAILABLE:
        return (words){"TENON_TPM_UNAVAILABLE", "The TPM cannot be used now; no key is lost."};
    case TENON_CATEGORY_PERMISSION:
        return (words){"TENON_TPM_PERMISSION", "This process may not use the TPM."};
    case TENON_CATEGORY_AUTH:
        return (words){"TENON_TPM_AUTH", "The TPM refused the auth value or is in lockout."};
    case TENON_CATEGORY_GONE:
        return (words){"TENON_TPM_GONE",
                       "The TPM no longer accepts the key: it was cleared or replaced; register again."};
    case TENON_CATEGORY_INTERNAL:
        return (words){"TENON_TPM_INTERNAL", "The TPM gave an unexpected answer; please report this."};
    case TENON_CATEGORY_STATE:
        return (words){"TENON_TPM_STATE", "The TPM does not allow this now."};
    case TENON_CATEGORY_UNKNOWN:
        return (words){"TENON_TPM_UNKNOWN", "The TPM gave no answer; ask again later, nothing was lost."};
    default:
        return unnamed;
    }
}

enum { TPM_RC_LOCKOUT = 0x921 };

/* Bits that no status has. */
static bool is_foreign(tenon_status status)
{
    return ((uint32_t)status & 0x80000000) != 0 || (tenon_status_tpm_rc(status) != 0 && (status & 0x700000) != 0);
}

/* TPM 2.0 Part 2, 6.6.3: OBJECT_MEMORY, SESSION_MEMORY, MEMORY, SESSION_HANDLES, OBJECT_HANDLES. */
static bool lacks_room(tenon_status status)
{
    uint32_t code = tenon_status_tpm_rc(status) & 0xffff;
    return tenon_status_category(status) == TENON_CATEGORY_TRANSIENT && code >= 0x902 && code <= 0x906;
}

static words words_of(tenon_status status)
{
    if (is_foreign(status))
        return unnamed;
    if (lacks_room(status))
        return (words){"TENON_TPM_FULL",
                       "The TPM has no room: other programs have loaded keys or sessions; wait until they "
                       "are done, or flush what an ended program left."};
    if (tenon_status_tpm_rc(status) != 0 && (tenon_status_tpm_rc(status) & 0xffff) == TPM_RC_LOCKOUT)
        return (words){"TENON_TPM_LOCKOUT", "The TPM is in lockout after failed tries; wait until it forgives one."};
    return tenon_status_tpm_rc(status) != 0 ? words_of_tpm(tenon_status_category(status)) : words_of_code(status);
}

int32_t tenon_status_category(tenon_status status)
{
    return status >> 24 & 0x7f;
}

uint32_t tenon_status_tpm_rc(tenon_status status)
{
    return (status & TPM_CAUSE) != 0 ? (uint32_t)status & 0xfffff : 0;
}

const char *tenon_status_name(tenon_status status)
{
    return words_of(status).name;
}

const char *tenon_status_text(tenon_status status)
{
    return words_of(status).text;
}
