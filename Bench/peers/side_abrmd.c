/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <tss2/tss2_sys.h>
#include <tss2/tss2_tctildr.h>
#include <unistd.h>

#include "peer.h"
#include "process.h"
#include "tpm_sides.h"

/* SAPI through tpm2-abrmd, which runs on a D-Bus of its own. */
typedef struct {
    peer peer;
    process bus, daemon;
    TSS2_TCTI_CONTEXT *tcti;
    TSS2_SYS_CONTEXT *sys;
    TPM2B_DIGEST digest;
} abrmd_side;

enum { TRIES = 1000, TRY_NS = 10000000 };

static const char *version(void)
{
    return peer_package("libtss2-tcti-tabrmd0") == NULL ? NULL : peer_package("tpm2-abrmd");
}

static void abrmd_close(void *context)
{
    abrmd_side *self = context;
    if (self->sys != NULL)
        Tss2_Sys_Finalize(self->sys);
    free(self->sys);
    Tss2_TctiLdr_Finalize(&self->tcti);
    process_stop(&self->daemon);
    process_stop(&self->bus);
    peer_close(&self->peer);
    free(self);
}

/* It prints its address when it listens. */
static bool start_bus(abrmd_side *self)
{
    char *text, *option, address[PEER_NAME_MAX];
    if (asprintf(&text,
                 "<busconfig><type>session</type><listen>unix:path=%s/bus</listen><auth>EXTERNAL</auth>"
                 "<policy context=\"default\"><allow send_destination=\"*\" eavesdrop=\"true\"/>"
                 "<allow eavesdrop=\"true\"/><allow own=\"*\"/></policy></busconfig>",
                 self->peer.folder) < 0 ||
        asprintf(&option, "--config-file=%s/bus.conf", self->peer.folder) < 0)
        return false;
    const char *words[] = {"dbus-daemon", option, "--nofork", "--nopidfile", "--print-address=1", NULL};
    extern char **environ;
    bool done = peer_write(&self->peer, "bus.conf", text, strlen(text)) && process_start(&self->bus, words, environ) &&
                read(self->bus.out, address, sizeof address) > 0;
    snprintf(address, sizeof address, "unix:path=%s/bus", self->peer.folder);
    setenv("DBUS_SESSION_BUS_ADDRESS", address, 1);
    free(option);
    free(text);
    return done;
}

/* It has no sign of being ready but that it takes one in; until then its TCTI complains on stderr. */
static TSS2_RC wait_for_daemon(abrmd_side *self)
{
    TSS2_RC rc = TSS2_TCTI_RC_IO_ERROR;
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    int kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    dup2(nowhere, STDERR_FILENO);
    for (int i = 0; i < TRIES && rc != TSS2_RC_SUCCESS; i++) {
        nanosleep(&(struct timespec){0, TRY_NS}, NULL);
        rc = Tss2_TctiLdr_Initialize("tabrmd:bus_type=session", &self->tcti);
    }
    dup2(kept, STDERR_FILENO);
    close(kept);
    close(nowhere);
    return rc;
}

static bool start_daemon(abrmd_side *self)
{
    char tcti[PEER_NAME_MAX + 8];
    snprintf(tcti, sizeof tcti, "--tcti=%s", self->peer.outside);
    const char *words[] = {"tpm2-abrmd", "--session", "--allow-root", tcti, NULL};
    extern char **environ;
    return process_start(&self->daemon, words, environ) && wait_for_daemon(self) == TSS2_RC_SUCCESS;
}

static void *abrmd_open(const fixture *made)
{
    TSS2_ABI_VERSION abi = TSS2_ABI_VERSION_CURRENT;
    size_t n = Tss2_Sys_GetContextSize(0);
    abrmd_side *self = calloc(1, sizeof *self);
    if (self == NULL)
        return NULL;
    self->sys = calloc(1, n);
    self->digest.size = sizeof made->digests[0].bytes;
    memcpy(self->digest.buffer, made->digests[0].bytes, self->digest.size);
    if (self->sys != NULL && peer_open(&self->peer, true) && start_bus(self) && start_daemon(self) &&
        Tss2_Sys_Initialize(self->sys, n, self->tcti, &abi) == TSS2_RC_SUCCESS)
        return self;
    abrmd_close(self);
    return NULL;
}

static bool sign(void *context)
{
    static const TSS2L_SYS_AUTH_COMMAND authorisation = {.count = 1, .auths = {{.sessionHandle = TPM2_RS_PW}}};
    static const TPMT_SIG_SCHEME scheme = {.scheme = TPM2_ALG_ECDSA, .details.ecdsa.hashAlg = TPM2_ALG_SHA256};
    static const TPMT_TK_HASHCHECK ticket = {.tag = TPM2_ST_HASHCHECK, .hierarchy = TPM2_RH_NULL};
    abrmd_side *self = context;
    TSS2L_SYS_AUTH_RESPONSE answers;
    TPMT_SIGNATURE signature;
    return Tss2_Sys_Sign(self->sys, self->peer.rig->handle, &authorisation, &self->digest, &scheme, &ticket, &signature,
                         &answers) == TSS2_RC_SUCCESS;
}

static double cpu(void *context)
{
    const abrmd_side *self = context;
    return process_cpu(&self->bus) + process_cpu(&self->daemon);
}

static const side_line lines[] = {{"tpm-sign", sign}};

const side side_abrmd = {
    .name = "tpm2-abrmd",
    .version = version,
    .open = abrmd_open,
    .close = abrmd_close,
    .lines = lines,
    .lines_n = 1,
    .commands = &rig_own_commands,
    .cpu = cpu,
};
