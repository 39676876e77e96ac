/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <tss2/tss2_tcti.h>

#include "tenon/tpm/tpm.h"

/*
 * A TCTI, as a library beside the program: whoever loads it is in the same process, and nobody pays for a hop. Its
 * configuration is the address of a tenon_tpm_transport.
 */
typedef struct {
    TSS2_TCTI_CONTEXT_COMMON_V2 common;
    const tenon_tpm_transport *table;
    uint8_t command[TENON_TPM_BUFFER_SIZE], answer[TENON_TPM_BUFFER_SIZE];
    size_t command_n, answer_n;
} bench_tcti;

static TSS2_RC transmit(TSS2_TCTI_CONTEXT *context, size_t n, const uint8_t *command)
{
    bench_tcti *self = (bench_tcti *)context;
    if (n > sizeof self->command)
        return TSS2_TCTI_RC_BAD_VALUE;
    memcpy(self->command, command, n);
    self->command_n = n;
    self->answer_n = 0;
    return TSS2_RC_SUCCESS;
}

/* Without a buffer it says how large one has to be. */
static TSS2_RC receive(TSS2_TCTI_CONTEXT *context, size_t *n, uint8_t *answer, int32_t timeout)
{
    bench_tcti *self = (bench_tcti *)context;
    if (self->answer_n == 0 && self->table->exchange(self->table->context, self->answer, sizeof self->answer,
                                                     &self->answer_n, self->command, self->command_n) != TENON_OK)
        return TSS2_TCTI_RC_IO_ERROR;
    if (answer != NULL && *n < self->answer_n)
        return TSS2_TCTI_RC_INSUFFICIENT_BUFFER;
    *n = self->answer_n;
    if (answer == NULL)
        return TSS2_RC_SUCCESS;
    memcpy(answer, self->answer, self->answer_n);
    self->answer_n = 0;
    return TSS2_RC_SUCCESS;
}

static TSS2_RC cancel(TSS2_TCTI_CONTEXT *context) { return TSS2_TCTI_RC_NOT_IMPLEMENTED; }

static TSS2_RC set_locality(TSS2_TCTI_CONTEXT *context, uint8_t locality)
{
    return locality == 0 ? TSS2_RC_SUCCESS : TSS2_TCTI_RC_NOT_IMPLEMENTED;
}

static void finalize(TSS2_TCTI_CONTEXT *context) {}

static TSS2_RC init(TSS2_TCTI_CONTEXT *context, size_t *n, const char *configuration)
{
    bench_tcti *self = (bench_tcti *)context;
    if (self == NULL) {
        *n = sizeof *self;
        return TSS2_RC_SUCCESS;
    }
    if (*n < sizeof *self || configuration == NULL)
        return TSS2_TCTI_RC_BAD_VALUE;
    memset(self, 0, sizeof *self);
    TSS2_TCTI_MAGIC(self) = 0x42454E4348000000;
    TSS2_TCTI_VERSION(self) = 2;
    TSS2_TCTI_TRANSMIT(self) = transmit;
    TSS2_TCTI_RECEIVE(self) = receive;
    TSS2_TCTI_FINALIZE(self) = finalize;
    TSS2_TCTI_CANCEL(self) = cancel;
    TSS2_TCTI_SET_LOCALITY(self) = set_locality;
    self->table = (const tenon_tpm_transport *)(uintptr_t)strtoull(configuration, NULL, 16);
    return TSS2_RC_SUCCESS;
}

const TSS2_TCTI_INFO *Tss2_Tcti_Info(void);

__attribute__((visibility("default"))) const TSS2_TCTI_INFO *Tss2_Tcti_Info(void)
{
    static const TSS2_TCTI_INFO info = {
        .version = 2, .name = "bench", .description = "a TPM of the benches", .config_help = "", .init = init};
    return &info;
}
