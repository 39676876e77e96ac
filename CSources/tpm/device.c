/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE /* O_CLOEXEC, readlink */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "tpm/channel.h"

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

/* The kernel's resource manager has nodes of a class of its own. Without sysfs their usual name has to say it. */
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
