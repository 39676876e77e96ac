/* SPDX-License-Identifier: Apache-2.0 */
#include "native/result.h"

#include <errno.h>
#include <stdlib.h>

#include "native/json_text.h"

typedef struct {
    const char *code;
    const char *reason;
    const char *message;
} row;

static const char transient[] = "transient", timeout[] = "timeout", unknown[] = "unknown",
                  misconfigured[] = "misconfigured", unsupported[] = "unsupported";

static const row rows[TENONI_CAUSES] = {
    [TENONI_NOTHING] = {"NATIVE_ABSENT", unknown, "There is no key or value of this name."},
    [TENONI_BAD_ARGUMENT] = {"NATIVE_ARGUMENT", unknown, "An argument is missing, too long, or not UTF-8."},
    [TENONI_NO_MEMORY] = {"NATIVE_MEMORY", transient, "There is not enough memory."},
    [TENONI_LATE] = {"NATIVE_TIMEOUT", timeout, "The time for the call has passed; it may still take effect."},
    [TENONI_FOLDER_UNSAFE] = {"NATIVE_FOLDER", misconfigured,
                              "The state folder belongs to somebody else, or others may write to it, or it is a link."},
    [TENONI_FOLDER_BUSY] = {"NATIVE_BUSY", transient, "Another process works in the state folder."},
    [TENONI_DISK_FAILED] = {"NATIVE_DISK", transient, "A file could not be read or written."},
    [TENONI_DISK_FULL] = {"NATIVE_DISK_FULL", transient, "There is no room on the disk."},
    [TENONI_FILE_DAMAGED] = {"NATIVE_DAMAGED", unknown, "A file is damaged; restore it from a backup."},
    [TENONI_FILE_OF_ANOTHER] = {"NATIVE_EXCHANGED", unknown, "A file belongs to another name; somebody moved it."},
    [TENONI_FILE_MISSING] = {"NATIVE_MISSING", unknown, "A file that should be there is missing; restore it."},
    [TENONI_FILE_STALE] = {"NATIVE_STALE", unknown, "A file is older than the TPM's counter says."},
    [TENONI_STORE_KEY_MISSING] = {"NATIVE_STORE_KEY", unknown,
                                  "There are values, but the file with their key is missing; restore it."},
    [TENONI_STORE_OF_ANOTHER_TPM] = {"NATIVE_TPM_CHANGED", unknown,
                                     "The TPM was cleared or is another one, and cannot open the values."},
    [TENONI_STORE_FULL] = {"NATIVE_FULL", unknown, "A store with a counter holds 65,536 values; delete one."},
    [TENONI_VALUE_KEPT] = {"NATIVE_VALUE_KEPT", unknown,
                           "The value that is there was not read, and is not replaced; load it again, or delete it."},
    [TENONI_NO_CERTIFICATE] = {"NATIVE_NO_CERTIFICATE", misconfigured,
                               "The state folder has no certificate of an attestation key; run tenon register."},
};

tenoni_result tenoni_because(tenoni_cause cause)
{
    return (tenoni_result){.cause = cause, .status = TENON_OK};
}

tenoni_result tenoni_of(tenon_status status)
{
    if (status == TENON_ERROR_MEMORY)
        return tenoni_because(TENONI_NO_MEMORY);
    return (tenoni_result){.cause = status == TENON_OK ? TENONI_DONE : TENONI_TPM_FAILED, .status = status};
}

tenoni_result tenoni_of_errno(int error)
{
    switch (error) {
    case ENOENT:
        return tenoni_because(TENONI_NOTHING);
    case ENOSPC:
    case EDQUOT:
        return tenoni_because(TENONI_DISK_FULL);
    case ENOMEM:
        return tenoni_because(TENONI_NO_MEMORY);
    case ELOOP:
    case ENOTDIR:
    case EACCES:
    case EPERM:
        return tenoni_because(TENONI_FOLDER_UNSAFE);
    default:
        return tenoni_because(TENONI_DISK_FAILED);
    }
}

bool tenoni_done(tenoni_result result)
{
    return result.cause == TENONI_DONE;
}

bool tenoni_nothing(tenoni_result result)
{
    return result.cause == TENONI_NOTHING;
}

/* A TPM that locks itself after failed tries opens again by itself. */
static const char *reason_of_tpm(tenon_status status)
{
    enum { LOCKOUT = 0x921 };
    switch (tenon_status_category(status)) {
    case TENON_CATEGORY_TRANSIENT:
        return transient;
    case TENON_CATEGORY_PERMISSION:
        return misconfigured;
    case TENON_CATEGORY_AUTH:
        return (tenon_status_tpm_rc(status) & 0xfff) == LOCKOUT ? transient : misconfigured;
    default:
        return status == TENON_ERROR_TPM_MISSING ? unsupported : unknown;
    }
}

const char *tenoni_reason(tenoni_result result)
{
    return result.cause == TENONI_TPM_FAILED ? reason_of_tpm(result.status) : rows[result.cause].reason;
}

char *tenoni_result_json(tenoni_result result)
{
    if (tenoni_done(result))
        return NULL;
    bool tpm = result.cause == TENONI_TPM_FAILED;
    const char *reason = tenoni_reason(result);
    bool again = reason == transient || reason == timeout;
    tenoni_text text = {0};
    tenoni_text_add(&text, "{\"code\":\"");
    tenoni_text_add(&text, tpm ? tenon_status_name(result.status) : rows[result.cause].code);
    tenoni_text_add(&text, "\",\"message\":");
    tenoni_text_quote(&text, tpm ? tenon_status_text(result.status) : rows[result.cause].message);
    tenoni_text_add(&text, ",\"retryable\":");
    tenoni_text_add(&text, again ? "true" : "false");
    tenoni_text_add(&text, ",\"reason\":\"");
    tenoni_text_add(&text, reason);
    tenoni_text_add(&text, "\"}");
    return tenoni_text_take(&text);
}
