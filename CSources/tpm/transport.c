/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE /* O_CLOEXEC, readlink, poll handles */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <tss2/tss2_tctildr.h>
#include <unistd.h>

#include "tpm/open.h"

/*
 * The kernel's TPM: one write is a command, one read its answer. tpm2-tss's device TCTI does the same, but writes to
 * stderr when the node is missing and opens without O_CLOEXEC, so that each child of an exec would hold our keys'
 * space.
 */
typedef struct {
    int node;
    char path[];
} device;

static tenon_status open_failure(int error)
{
    switch (error) {
    case EACCES:
    case EPERM:
        return TENON_ERROR_TPM_PERMISSION;
    case EBUSY:
        return TENON_ERROR_TPM_BUSY;
    case ENOMEM:
    case EMFILE:
    case ENFILE:
        return TENON_ERROR_MEMORY;
    default:
        return TENON_ERROR_TPM_MISSING;
    }
}

static tenon_status open_node(device *tpm)
{
    struct stat kind;
    do
        tpm->node = open(tpm->path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    while (tpm->node < 0 && errno == EINTR);
    if (tpm->node < 0)
        return open_failure(errno);
    if (fstat(tpm->node, &kind) == 0 && S_ISCHR(kind.st_mode))
        return TENON_OK;
    close(tpm->node);
    tpm->node = -1;
    return TENON_ERROR_TPM_MISSING;
}

/* The kernel's resource manager has its own class of nodes. Without sysfs their usual name decides. */
static bool is_managed(const device *tpm)
{
    struct stat found;
    char link[64], class[256] = {0};
    if (fstat(tpm->node, &found) != 0)
        return false;
    snprintf(link, sizeof link, "/sys/dev/char/%u:%u/subsystem", major(found.st_rdev), minor(found.st_rdev));
    const char *name = readlink(link, class, sizeof class - 1) > 0 ? strrchr(class, '/') : NULL;
    if (name != NULL)
        return strcmp(name, "/tpmrm") == 0;
    return strncmp(strrchr(tpm->path, '/'), "/tpmrm", strlen("/tpmrm")) == 0;
}

static tenon_status await(int node, short events)
{
    struct pollfd wait = {.fd = node, .events = events};
    int ready;
    do
        ready = poll(&wait, 1, -1);
    while (ready < 0 && errno == EINTR);
    return ready == 1 && (wait.revents & events) != 0 ? TENON_OK : TENON_ERROR_TPM_TRANSPORT;
}

/* The driver takes a command whole or not at all. */
static tenon_status device_exchange(void *context, uint8_t *answer, size_t answer_size, size_t *answer_length,
                                    const uint8_t *command, size_t command_length)
{
    const device *tpm = context;
    ssize_t n;
    do
        n = write(tpm->node, command, command_length);
    while (n < 0 && errno == EINTR);
    if (n < 0 || (size_t)n != command_length)
        return TENON_ERROR_TPM_TRANSPORT;
    do {
        if (await(tpm->node, POLLIN) != TENON_OK)
            return TENON_ERROR_TPM_TRANSPORT;
        n = read(tpm->node, answer, answer_size);
    } while (n < 0 && (errno == EINTR || errno == EAGAIN));
    if (n <= 0)
        return TENON_ERROR_TPM_TRANSPORT;
    *answer_length = (size_t)n;
    return TENON_OK;
}

static tenon_status device_reopen(void *context)
{
    device *tpm = context;
    if (tpm->node >= 0)
        close(tpm->node);
    return open_node(tpm);
}

static void device_close(void *context)
{
    device *tpm = context;
    if (tpm->node >= 0)
        close(tpm->node);
    free(tpm);
}

tenon_status tenoni_device_open(tenon_tpm_transport *out, const char *path, size_t n)
{
    if (n == 0 || path[0] != '/' || memchr(path, 0, n) != NULL)
        return TENON_ERROR_TCTI;
    device *tpm = calloc(1, sizeof *tpm + n + 1);
    if (tpm == NULL)
        return TENON_ERROR_MEMORY;
    memcpy(tpm->path, path, n);
    tenon_status status = open_node(tpm);
    if (status != TENON_OK) {
        free(tpm);
        return status;
    }
    *out = (tenon_tpm_transport){
        .size = sizeof *out,
        .context = tpm,
        .exchange = device_exchange,
        .reopen = device_reopen,
        .close = device_close,
        .managed = is_managed(tpm),
    };
    return TENON_OK;
}

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
