/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "peer.h"
#include "process.h"
#include "tpm_sides.h"

/* A process for each signature: Tenon's sign_once beside this program, openssl pkeyutl with tpm2-openssl, tpm2_sign. */
enum { WORDS = 20 };

typedef struct {
    peer peer;
    char **environment;
    const char *words[WORDS]; /* the command; NULL ends it */
    char *key, *digest, *signature, *program;
    char handle[32];
    double cpu;
} process_side;

static void side_close(void *context)
{
    process_side *self = context;
    if (self->environment != NULL)
        free(self->environment[0]);
    free(self->environment);
    free(self->key);
    free(self->digest);
    free(self->signature);
    free(self->program);
    peer_close(&self->peer);
    free(self);
}

/* The digest and the key as files, and what tells a program which TPM it is. */
static process_side *side_new(const fixture *made, const char *variable)
{
    process_side *self = calloc(1, sizeof *self);
    if (self == NULL)
        return NULL;
    if (peer_open(&self->peer, true) &&
        peer_write(&self->peer, "digest", made->digests[0].bytes, sizeof made->digests[0].bytes) &&
        peer_write(&self->peer, "key.pem", self->peer.rig->kept.text, self->peer.rig->kept.n) &&
        (self->environment = process_environment(variable, self->peer.outside)) != NULL) {
        self->digest = peer_path(&self->peer, "digest");
        self->key = peer_path(&self->peer, "key.pem");
        self->signature = peer_path(&self->peer, "signature");
        return self;
    }
    side_close(self);
    return NULL;
}

static void *tenon_open(const fixture *made)
{
    process_side *self = side_new(made, "BENCH_TCTI");
    if (self == NULL)
        return NULL;
    self->program = calloc(1, PEER_NAME_MAX);
    ssize_t n = self->program == NULL ? 0 : readlink("/proc/self/exe", self->program, PEER_NAME_MAX - 16);
    char *slash = n <= 0 ? NULL : strrchr(self->program, '/');
    if (slash != NULL) {
        strcpy(slash, "/sign_once");
        memcpy(self->words, (const char *[]){self->program, self->peer.socket, self->key, self->digest},
               4 * sizeof(char *));
        return self;
    }
    side_close(self);
    return NULL;
}

static void *pkeyutl_open(const fixture *made)
{
    process_side *self = side_new(made, "TPM2OPENSSL_TCTI");
    if (self == NULL)
        return NULL;
    snprintf(self->handle, sizeof self->handle, "handle:0x%x", self->peer.rig->handle);
    const char *words[] = {"openssl",    "pkeyutl", "-provider-path", getenv("BENCH_OPENSSL_MODULES"),
                           "-provider",  "tpm2",    "-provider",      "default",
                           "-sign",      "-inkey",  self->handle,     "-in",
                           self->digest, "-out",    self->signature};
    if (words[3] == NULL) {
        side_close(self);
        return NULL;
    }
    memcpy(self->words, words, sizeof words);
    return self;
}

static void *tpm2_sign_open(const fixture *made)
{
    process_side *self = side_new(made, "TPM2TOOLS_TCTI");
    if (self == NULL)
        return NULL;
    snprintf(self->handle, sizeof self->handle, "0x%x", self->peer.rig->handle);
    const char *words[] = {"tpm2_sign", "-c", self->handle,    "-g",        "sha256", "-s", "ecdsa",
                           "-d",        "-o", self->signature, self->digest};
    memcpy(self->words, words, sizeof words);
    return self;
}

static const char *pkeyutl_version(void)
{
    return peer_package("tpm2-openssl") == NULL ? NULL : peer_package("openssl");
}

static const char *tpm2_sign_version(void)
{
    return peer_package("tpm2-tools");
}

static bool run(void *context)
{
    process_side *self = context;
    return process_run(self->words, self->environment, &self->cpu);
}

static double cpu(void *context)
{
    const process_side *self = context;
    return self->cpu;
}

static const side_line lines[] = {{"tpm-process", run}};

const side side_process_tenon = {
    .name = "tenon",
    .version = tenon_version_text,
    .open = tenon_open,
    .close = side_close,
    .lines = lines,
    .lines_n = 1,
    .commands = &rig_own_commands,
    .cpu = cpu,
};

const side side_pkeyutl = {
    .name = "openssl-pkeyutl",
    .version = pkeyutl_version,
    .open = pkeyutl_open,
    .close = side_close,
    .lines = lines,
    .lines_n = 1,
    .commands = &rig_own_commands,
    .cpu = cpu,
};

const side side_tpm2_sign = {
    .name = "tpm2_sign",
    .version = tpm2_sign_version,
    .open = tpm2_sign_open,
    .close = side_close,
    .lines = lines,
    .lines_n = 1,
    .commands = &rig_own_commands,
    .cpu = cpu,
};
