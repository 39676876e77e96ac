/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE /* fcntl.h's FD_CLOEXEC with poll handles */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <tss2/tss2_tctildr.h>

#include "tpm/channel.h"

/* The transports of tpm2-tss. The name was checked by the caller: tctildr would run a command or load a file. */
typedef struct {
    TSS2_TCTI_CONTEXT *tcti;
    char name[];
} loaded;

/* tpm2-tss opens without O_CLOEXEC. A transport that has no handles to set it on has none to leak. */
static void close_on_exec(TSS2_TCTI_CONTEXT *tcti)
{
    enum { MAX = 8 };
    TSS2_TCTI_POLL_HANDLE handles[MAX];
    size_t n = MAX;
    if (Tss2_Tcti_GetPollHandles(tcti, handles, &n) != TSS2_RC_SUCCESS)
        return;
    for (size_t i = 0; i < n && i < MAX; i++)
        fcntl(handles[i].fd, F_SETFD, FD_CLOEXEC);
}

static tenon_status connect_tcti(loaded *tpm)
{
    if (Tss2_TctiLdr_Initialize(tpm->name, &tpm->tcti) != TSS2_RC_SUCCESS) {
        tpm->tcti = NULL;
        return TENON_ERROR_TPM_MISSING;
    }
    close_on_exec(tpm->tcti);
    return TENON_OK;
}

static tenon_status tcti_exchange(void *context, uint8_t *answer, size_t answer_size, size_t *answer_length,
                                  const uint8_t *command, size_t command_length)
{
    const loaded *tpm = context;
    size_t n = answer_size;
    if (tpm->tcti == NULL || Tss2_Tcti_Transmit(tpm->tcti, command_length, command) != TSS2_RC_SUCCESS ||
        Tss2_Tcti_Receive(tpm->tcti, &n, answer, TSS2_TCTI_TIMEOUT_BLOCK) != TSS2_RC_SUCCESS)
        return TENON_ERROR_TPM_TRANSPORT;
    *answer_length = n;
    return TENON_OK;
}

static tenon_status tcti_reopen(void *context)
{
    loaded *tpm = context;
    if (tpm->tcti != NULL)
        Tss2_TctiLdr_Finalize(&tpm->tcti);
    return connect_tcti(tpm);
}

static void tcti_close(void *context)
{
    loaded *tpm = context;
    if (tpm->tcti != NULL)
        Tss2_TctiLdr_Finalize(&tpm->tcti);
    free(tpm);
}

tenon_status tenoni_tcti_open(tenon_tpm_transport *out, const char *name, size_t n)
{
    static const char daemon[] = "tabrmd:";
    if (memchr(name, 0, n) != NULL)
        return TENON_ERROR_TCTI;
    loaded *tpm = calloc(1, sizeof *tpm + n + 1);
    if (tpm == NULL)
        return TENON_ERROR_MEMORY;
    memcpy(tpm->name, name, n);
    tenon_status status = connect_tcti(tpm);
    if (status != TENON_OK) {
        free(tpm);
        return status;
    }
    *out = (tenon_tpm_transport){
        .size = sizeof *out,
        .context = tpm,
        .exchange = tcti_exchange,
        .reopen = tcti_reopen,
        .close = tcti_close,
        .managed = strncmp(tpm->name, daemon, sizeof daemon - 1) == 0,
    };
    return TENON_OK;
}
