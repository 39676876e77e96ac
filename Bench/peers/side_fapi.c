/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tss2/tss2_fapi.h>

#include "peer.h"
#include "tpm_sides.h"

/* tpm2-tss by its highest interface, with its context and its key store kept. */
typedef struct {
    peer peer;
    FAPI_CONTEXT *fapi;
    uint8_t digest[TENON_DIGEST_SIZE];
} fapi_side;

static const char key_path[] = "HS/SRK/bench";

static const char *version(void)
{
    return peer_package("libtss2-fapi1");
}

static void fapi_close(void *context)
{
    fapi_side *self = context;
    if (self->fapi != NULL)
        Fapi_Finalize(&self->fapi);
    peer_close(&self->peer);
    free(self);
}

/* Everything that it writes lies in the peer's folder. */
static bool configure(const fapi_side *self)
{
    char *text, *path = peer_path(&self->peer, "fapi.json");
    const char *profiles = getenv("BENCH_FAPI_PROFILES");
    int n = asprintf(&text,
                     "{\"profile_name\":\"P_ECCP256SHA256\",\"profile_dir\":\"%s\",\"user_dir\":\"%s/user\","
                     "\"system_dir\":\"%s/system\",\"log_dir\":\"%s\",\"tcti\":\"%s\",\"system_pcrs\":[],"
                     "\"ek_cert_less\":\"yes\"}",
                     profiles == NULL ? "" : profiles, self->peer.folder, self->peer.folder, self->peer.folder,
                     self->peer.inside);
    bool done = n > 0 && peer_write(&self->peer, "fapi.json", text, (size_t)n);
    setenv("TSS2_FAPICONF", path, 1);
    free(path);
    free(text);
    return done;
}

static void *fapi_open(const fixture *made)
{
    fapi_side *self = calloc(1, sizeof *self);
    if (self == NULL)
        return NULL;
    memcpy(self->digest, made->digests[0].bytes, sizeof self->digest);
    /* It provisions the TPM its own way: there must be no storage key yet. */
    if (peer_open(&self->peer, false) && configure(self) && Fapi_Initialize(&self->fapi, NULL) == TSS2_RC_SUCCESS &&
        Fapi_Provision(self->fapi, NULL, NULL, NULL) == TSS2_RC_SUCCESS &&
        Fapi_CreateKey(self->fapi, key_path, "sign,noDa", NULL, NULL) == TSS2_RC_SUCCESS)
        return self;
    fapi_close(self);
    return NULL;
}

static bool sign(void *context)
{
    fapi_side *self = context;
    uint8_t *signature = NULL;
    size_t n;
    bool done = Fapi_Sign(self->fapi, key_path, NULL, self->digest, sizeof self->digest, &signature, &n, NULL, NULL) ==
                TSS2_RC_SUCCESS;
    Fapi_Free(signature);
    return done;
}

static const side_line lines[] = {{"tpm-sign", sign}};

const side side_fapi = {
    .name = "fapi",
    .version = version,
    .open = fapi_open,
    .close = fapi_close,
    .lines = lines,
    .lines_n = 1,
    .commands = &rig_own_commands,
};
