/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <tss2/tss2_sys.h>

#include "peer.h"
#include "tcti.h"
#include "tpm_sides.h"

/* tpm2-tss by its lowest interface, in a password session. */
typedef struct {
    peer peer;
    TSS2_TCTI_CONTEXT *tcti;
    TSS2_SYS_CONTEXT *sys;
    TPM2B_DIGEST digest;
} sapi_side;

static const char *version(void)
{
    return peer_package("libtss2-dev");
}

static void sapi_close(void *context)
{
    sapi_side *self = context;
    if (self->sys != NULL)
        Tss2_Sys_Finalize(self->sys);
    free(self->sys);
    free(self->tcti);
    peer_close(&self->peer);
    free(self);
}

static void *sapi_open(const fixture *made)
{
    sapi_side *self = calloc(1, sizeof *self);
    if (self == NULL)
        return NULL;
    TSS2_ABI_VERSION abi = TSS2_ABI_VERSION_CURRENT;
    size_t n = Tss2_Sys_GetContextSize(0);
    self->sys = calloc(1, n);
    self->digest.size = sizeof made->digests[0].bytes;
    memcpy(self->digest.buffer, made->digests[0].bytes, self->digest.size);
    if (self->sys != NULL && peer_open(&self->peer, true) && (self->tcti = tcti_new(&self->peer)) != NULL &&
        Tss2_Sys_Initialize(self->sys, n, self->tcti, &abi) == TSS2_RC_SUCCESS)
        return self;
    sapi_close(self);
    return NULL;
}

static bool sign(void *context)
{
    static const TSS2L_SYS_AUTH_COMMAND authorisation = {.count = 1, .auths = {{.sessionHandle = TPM2_RS_PW}}};
    static const TPMT_SIG_SCHEME scheme = {.scheme = TPM2_ALG_ECDSA, .details.ecdsa.hashAlg = TPM2_ALG_SHA256};
    static const TPMT_TK_HASHCHECK ticket = {.tag = TPM2_ST_HASHCHECK, .hierarchy = TPM2_RH_NULL};
    sapi_side *self = context;
    TSS2L_SYS_AUTH_RESPONSE answers;
    TPMT_SIGNATURE signature;
    return Tss2_Sys_Sign(self->sys, self->peer.rig->handle, &authorisation, &self->digest, &scheme, &ticket, &signature,
                         &answers) == TSS2_RC_SUCCESS;
}

static const side_line lines[] = {{"tpm-sign", sign}};

const side side_sapi = {
    .name = "sapi",
    .version = version,
    .open = sapi_open,
    .close = sapi_close,
    .lines = lines,
    .lines_n = 1,
    .commands = &rig_own_commands,
};
