/* SPDX-License-Identifier: Apache-2.0 */
#include "tpm/channel.h"

#include <stdlib.h>
#include <string.h>

#include "base/secure.h"

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
    /* Zeros alone are the empty value: whoever gave them meant something else. */
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

/* Without a resource manager the node is one process's at a time. */
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

/* Why there is no way to the TPM. Nothing that a transport says is about keys. */
static bool may_be_said_by_a_transport(tenon_status status)
{
    int32_t category = tenon_status_category(status);
    return category == TENON_CATEGORY_TRANSIENT || category == TENON_CATEGORY_UNAVAILABLE ||
           category == TENON_CATEGORY_PERMISSION || category == TENON_CATEGORY_INTERNAL;
}

/* Objects of a TPM that is only reached by another way now are still loaded there; others are gone, and that is fine.
 */
tenon_status tenoni_tpm_reopen(tenon_tpm *tpm)
{
    if (tpm->transport.reopen == NULL)
        return TENON_ERROR_TPM_TRANSPORT;
    tenoni_patience patience = {0};
    tenon_status status;
    tpm->epoch++;
    do
        status = tpm->transport.reopen(tpm->transport.context);
    while (status == TENON_ERROR_TPM_BUSY && tenoni_wait_once(&patience, tpm->deadline_ms, true));
    if (status != TENON_OK)
        return may_be_said_by_a_transport(status) ? status : TENON_ERROR_TPM_TRANSPORT;
    tenoni_orphans_retry(tpm);
    tenoni_slots_flush(tpm);
    return TENON_OK;
}

static tenon_status run(tenon_tpm *tpm, tenoni_operation *operation, void *context)
{
    tenon_status status = operation(tpm, context);
    if (status != TENON_ERROR_TPM_TRANSPORT)
        return status;
    status = tenoni_tpm_reopen(tpm);
    return status == TENON_OK ? operation(tpm, context) : status;
}

/*
 * The places are taken by what is not in our books. Behind a resource manager that is something of ours that was lost,
 * as with an answer that could not be read: it goes with the connection. On a bare TPM it is others': they are waited
 * for, and nothing of ours is there meanwhile, so that of many who wait one can go on.
 */
static tenon_status run_when_there_is_room(tenon_tpm *tpm, tenoni_operation *operation, void *context)
{
    bool reopens = tpm->transport.managed != 0 && tpm->transport.reopen != NULL;
    tenoni_patience patience = {0};
    tenon_status status = run(tpm, operation, context);
    while (status != TENON_OK && tenoni_status_lacks_room(status)) {
        tenoni_slots_flush(tpm);
        tenoni_orphans_flush(tpm);
        if (reopens) {
            reopens = false;
            status = tenoni_tpm_reopen(tpm);
            if (status != TENON_OK)
                return status;
        } else if (!tenoni_wait_once(&patience, tpm->deadline_ms, true))
            return status;
        status = run(tpm, operation, context);
    }
    return status;
}

tenon_status tenoni_tpm_do(tenon_tpm *tpm, tenoni_operation *operation, void *context)
{
    if (!is_ours(tpm))
        return TENON_ERROR_FORKED;
    tenoni_ticket_lock(&tpm->ticket);
    if (tpm->orphans_n != 0)
        tenoni_orphans_flush(tpm);
    /* A transient parent stays for one more operation: the signature after a load shall not wait for its flush. */
    bool flush_parent = tpm->parent.handle != 0;
    tenon_status status = run_when_there_is_room(tpm, operation, context);
    tpm->parent_template = NULL;
    if (tpm->transport.managed == 0)
        tenoni_slots_flush(tpm);
    else if (flush_parent)
        tenoni_slot_flush(tpm, &tpm->parent);
    if (tpm->orphans_n != 0)
        tenoni_orphans_flush(tpm);
    tenoni_ticket_unlock(&tpm->ticket);
    return status;
}

/* A status holds the layer and the code: what would leave none there, or has more bits, is none. */
static bool is_code(uint32_t rc)
{
    return (rc & 0xffff) != 0 && rc <= 0xfffff;
}

/* Part 1, 18.2 and Part 3, 5.5: tag, size and code; a refusal is nothing more than that, and has no sessions. */
static tenon_status read_header(tenoni_reader *answer, size_t length, uint16_t tag_sent, uint32_t *rc)
{
    enum { NO_SESSIONS = 0x8001, HEADER = 10 };
    uint16_t tag;
    uint32_t size;
    if (!tenoni_read_u16(answer, &tag) || !tenoni_read_u32(answer, &size) || !tenoni_read_u32(answer, rc) ||
        size != length)
        return TENON_ERROR_TPM_ANSWER;
    if (*rc != 0)
        return tag == NO_SESSIONS && length == HEADER && is_code(*rc) ? TENON_OK : TENON_ERROR_TPM_ANSWER;
    return tag == tag_sent ? TENON_OK : TENON_ERROR_TPM_ANSWER;
}

static tenon_status exchange(tenon_tpm *tpm, const uint8_t *command, size_t n, tenoni_reader *answer, uint32_t *rc)
{
    size_t length = 0;
    if (tpm->transport.exchange(tpm->transport.context, tpm->answer, sizeof tpm->answer, &length, command, n) !=
        TENON_OK)
        return TENON_ERROR_TPM_TRANSPORT;
    if (length > sizeof tpm->answer)
        return TENON_ERROR_TPM_ANSWER;
    *answer = tenoni_reader_over(tpm->answer, length);
    return read_header(answer, length, (uint16_t)(command[0] << 8 | command[1]), rc);
}

static uint32_t command_code(const uint8_t *command)
{
    return (uint32_t)command[6] << 24 | (uint32_t)command[7] << 16 | (uint32_t)command[8] << 8 | command[9];
}

tenon_status tenoni_tpm_send(tenon_tpm *tpm, tenoni_role role, const uint8_t *command, size_t n, tenoni_reader *answer)
{
    tenoni_patience patience = {0};
    for (;;) {
        uint32_t rc = 0;
        tenon_status status = exchange(tpm, command, n, answer, &rc);
        if (status != TENON_OK || rc == 0)
            return status;
        if (tenoni_slots_make_room(tpm, command, n, rc))
            continue;
        if (!tenoni_rc_is_retry(rc) || !tenoni_wait_once(&patience, tpm->deadline_ms, false))
            return tenoni_classify(command_code(command), role, rc);
    }
}
