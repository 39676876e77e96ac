/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1 /* nanosleep, clock_gettime */
#include "tpm/open.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/secure.h"
#include "tpm/channel.h"

enum { FIRST_MS = 1, LONGEST_MS = 200 };

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void tenoni_tpm_wait(uint32_t ms)
{
    struct timespec left = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000};
    while (nanosleep(&left, &left) != 0)
        continue;
}

static uint32_t some_of(uint32_t ms)
{
    uint32_t random;
    return tenoni_random((uint8_t *)&random, sizeof random) == TENON_OK ? 1 + random % ms : ms;
}

/* The clock is read only once there is something to wait for. */
bool tenoni_wait_once(tenoni_patience *patience, uint32_t deadline_ms, bool among_many)
{
    uint64_t now = now_ms();
    if (patience->wait_ms == 0)
        *patience = (tenoni_patience){.deadline = now + deadline_ms, .wait_ms = FIRST_MS};
    if (now >= patience->deadline)
        return false;
    uint64_t left = patience->deadline - now;
    uint32_t wait = among_many ? some_of(patience->wait_ms) : patience->wait_ms;
    tenoni_tpm_wait(wait < left ? wait : (uint32_t)left);
    patience->wait_ms = patience->wait_ms * 2 < LONGEST_MS ? patience->wait_ms * 2 : LONGEST_MS;
    return true;
}

enum { DEADLINE_MS = 2000 };

tenon_status tenoni_auth_set(tenoni_auth *auth, const uint8_t *bytes, size_t n)
{
    memset(auth, 0, sizeof *auth);
    if (bytes == NULL && n != 0)
        return TENON_ERROR_NULL;
    if (n > sizeof auth->bytes)
        return TENON_ERROR_AUTH_VALUE;
    if (n != 0)
        memcpy(auth->bytes, bytes, n);
    auth->n = n;
    while (auth->n != 0 && auth->bytes[auth->n - 1] == 0)
        auth->n--;
    /* A TPM treats a value of zeros as the empty value, which the caller did not mean. */
    return n != 0 && auth->n == 0 ? TENON_ERROR_AUTH_VALUE : TENON_OK;
}

static tenon_status set_options(tenon_tpm *tpm, const tenon_tpm_options *options)
{
    static const tenon_tpm_options none = {.size = sizeof none};
    if (options == NULL)
        options = &none;
    if (options->size != sizeof *options || options->allow_simulator > 1 ||
        options->session > TENON_TPM_SESSION_ENCRYPTED)
        return TENON_ERROR_OPTIONS;
    tpm->session = options->session;
    tpm->deadline_ms = options->deadline_ms != 0 ? options->deadline_ms : DEADLINE_MS;
    tenon_status status = tenoni_auth_set(&tpm->owner_auth, options->owner_auth, options->owner_auth_n);
    if (status == TENON_OK)
        status = tenoni_auth_set(&tpm->endorsement_auth, options->endorsement_auth, options->endorsement_auth_n);
    return status;
}

/* In a fork's child the objects are the parent's, so nothing is flushed there. */
static bool is_ours(const tenon_tpm *tpm)
{
    return tenoni_process_is_this(&tpm->process);
}

static void release(tenon_tpm *tpm)
{
    /* It would wait for threads that queued at the fork and are not in this process. */
    if (is_ours(tpm))
        tenoni_ticket_destroy(&tpm->ticket);
    tenoni_process_end(&tpm->process);
    tenoni_wipe(tpm, sizeof *tpm);
    free(tpm);
}

static tenon_status new_tpm(tenon_tpm **out, const tenon_tpm_options *options)
{
    tenon_tpm *tpm = calloc(1, sizeof *tpm);
    if (tpm == NULL)
        return TENON_ERROR_MEMORY;
    if (!tenoni_process_begin(&tpm->process)) {
        free(tpm);
        return TENON_ERROR_MEMORY;
    }
    if (!tenoni_ticket_init(&tpm->ticket)) {
        tenoni_process_end(&tpm->process);
        free(tpm);
        return TENON_ERROR_MEMORY;
    }
    atomic_init(&tpm->references, 1);
    tenon_status status = set_options(tpm, options);
    if (status == TENON_OK)
        *out = tpm;
    else
        release(tpm);
    return status;
}

static bool begins_with(const char *name, size_t n, const char *head)
{
    return n >= strlen(head) && strncmp(name, head, strlen(head)) == 0;
}

static tenon_status open_by_name(tenon_tpm_transport *out, const char *name, size_t n, bool allow_simulator)
{
    static const char device[] = "device:";
    if (begins_with(name, n, device))
        return tenoni_device_open(out, name + strlen(device), n - strlen(device));
    if (begins_with(name, n, "tabrmd:"))
        return tenoni_tcti_open(out, name, n);
    if (!begins_with(name, n, "swtpm:") && !begins_with(name, n, "mssim:"))
        return TENON_ERROR_TCTI;
    return allow_simulator ? tenoni_tcti_open(out, name, n) : TENON_ERROR_SIMULATOR;
}

/* Without a resource manager, only one process at a time can have the node. */
static tenon_status open_when_free(tenon_tpm_transport *out, const char *name, size_t n, uint32_t allow_simulator,
                                   uint32_t deadline_ms)
{
    tenoni_patience patience = {0};
    tenon_status status;
    do
        status = open_by_name(out, name, n, allow_simulator != 0);
    while (status == TENON_ERROR_TPM_BUSY && tenoni_wait_once(&patience, deadline_ms, true));
    return status;
}

tenon_status tenon_tpm_transport_open(tenon_tpm_transport *out, const char *name, size_t name_n,
                                      uint32_t allow_simulator)
{
    if (out == NULL)
        return TENON_ERROR_NULL;
    memset(out, 0, sizeof *out);
    if (name == NULL)
        return TENON_ERROR_NULL;
    if (allow_simulator > 1)
        return TENON_ERROR_OPTIONS;
    return open_when_free(out, name, name_n, allow_simulator, DEADLINE_MS);
}

tenon_status tenon_tpm_open(tenon_tpm **out, const char *name, size_t name_n, const tenon_tpm_options *options)
{
    tenon_tpm *tpm = NULL;
    if (out == NULL)
        return TENON_ERROR_NULL;
    *out = NULL;
    if (name == NULL)
        return TENON_ERROR_NULL;
    tenon_status status = new_tpm(&tpm, options);
    if (status != TENON_OK)
        return status;
    status =
        open_when_free(&tpm->transport, name, name_n, options != NULL ? options->allow_simulator : 0, tpm->deadline_ms);
    if (status == TENON_OK)
        *out = tpm;
    else
        release(tpm);
    return status;
}

tenon_status tenon_tpm_open_transport(tenon_tpm **out, const tenon_tpm_transport *transport,
                                      const tenon_tpm_options *options)
{
    if (out == NULL)
        return TENON_ERROR_NULL;
    *out = NULL;
    if (transport == NULL)
        return TENON_ERROR_NULL;
    if (transport->size != sizeof *transport || transport->exchange == NULL || transport->managed > 1)
        return TENON_ERROR_OPTIONS;
    tenon_status status = new_tpm(out, options);
    if (status == TENON_OK)
        (*out)->transport = *transport;
    return status;
}

void tenoni_tpm_keep(tenon_tpm *tpm)
{
    atomic_fetch_add(&tpm->references, 1);
}

void tenon_tpm_free(tenon_tpm **tpm)
{
    if (tpm == NULL || *tpm == NULL)
        return;
    tenon_tpm *last = *tpm;
    *tpm = NULL;
    if (atomic_fetch_sub(&last->references, 1) != 1)
        return;
    if (is_ours(last)) {
        tenoni_slots_flush(last);
        tenoni_orphans_flush(last);
    }
    if (last->transport.close != NULL)
        last->transport.close(last->transport.context);
    release(last);
}
