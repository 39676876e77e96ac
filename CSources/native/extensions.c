/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/secure.h"
#include "native/attestation.h"
#include "native/envelope.h"
#include "native/last.h"
#include "native/sealed.h"
#include "native/settings.h"
#include "native/worker.h"

/* What Tenon adds to the eight. */

enum { ABI_MAJOR = 1, ABI_MINOR = 0, LOOK_MS = 5000, REPORT_MS = 30000 };

static _Thread_local tenoni_result last;

tenoni_result tenoni_last(tenoni_result result)
{
    last = result;
    return result;
}

int32_t tenoni_outcome(tenoni_result result)
{
    if (tenoni_done(result))
        return TENON_NATIVE_FOUND;
    return tenoni_nothing(result) ? TENON_NATIVE_ABSENT : TENON_NATIVE_UNAVAILABLE;
}

uint32_t tenon_native_abi_version(void)
{
    return (uint32_t)ABI_MAJOR << 16 | ABI_MINOR;
}

int32_t tenon_native_configure(const tenon_native_options *options)
{
    return tenoni_done(tenoni_last(tenoni_because(tenoni_settings_take(options) ? TENONI_DONE : TENONI_BAD_ARGUMENT)))
               ? 0
               : 1;
}

char *tenon_native_last_error(void)
{
    return tenoni_result_json(last);
}

static tenoni_result run(tenoni_result (*function)(tenoni_work *), const char *name, uint32_t deadline_ms,
                         char **answer)
{
    tenoni_work *work = tenoni_work_new(function, name, NULL, NULL);
    return tenoni_last(work == NULL ? tenoni_because(TENONI_NO_MEMORY) : tenoni_work_do(work, deadline_ms, answer));
}

static tenoni_result run_state(tenoni_work *work)
{
    tenoni_folder folder;
    tenon_tpm_key *key;
    tenoni_result result = tenoni_folder_open(&folder, false);
    if (tenoni_done(result))
        result = tenoni_device_key(&folder, work->name, &key);
    tenoni_folder_close(&folder);
    return result;
}

int32_t tenon_native_key_state(const char *device_id)
{
    size_t n;
    if (!tenoni_utf8(device_id, TENON_NATIVE_ID_MAX, false, &n))
        return tenoni_outcome(tenoni_last(tenoni_because(TENONI_BAD_ARGUMENT)));
    return tenoni_outcome(run(run_state, device_id, LOOK_MS, NULL));
}

static tenoni_result run_selftest(tenoni_work *work)
{
    uint8_t secret[TENONI_SECRET_SIZE], back[TENONI_SECRET_SIZE];
    tenoni_sealed sealed;
    tenon_tpm *tpm;
    (void)work;
    memset(&sealed, 0, sizeof sealed);
    tenoni_result result = tenoni_desk_tpm(&tpm);
    if (!tenoni_done(result))
        return result;
    tenon_status status = tenoni_random(secret, sizeof secret);
    if (status == TENON_OK)
        status = tenoni_sealed_make(tpm, &sealed, secret);
    if (status == TENON_OK)
        status = tenoni_sealed_open(tpm, &sealed, back);
    if (status == TENON_OK && !tenoni_equal(secret, back, sizeof back))
        status = TENON_ERROR_TPM_ANSWER;
    tenoni_sealed_clear(tpm, &sealed);
    tenoni_wipe(secret, sizeof secret);
    tenoni_wipe(back, sizeof back);
    return tenoni_of(status);
}

int32_t tenon_native_selftest(void)
{
    return tenoni_done(run(run_selftest, NULL, REPORT_MS, NULL)) ? 0 : 1;
}
