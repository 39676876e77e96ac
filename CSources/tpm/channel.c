/* SPDX-License-Identifier: Apache-2.0 */
#include "tpm/channel.h"

bool tenoni_ticket_init(tenoni_ticket *ticket)
{
    ticket->next = 0;
    ticket->serving = 0;
    if (pthread_mutex_init(&ticket->mutex, NULL) != 0)
        return false;
    if (pthread_cond_init(&ticket->turn, NULL) == 0)
        return true;
    pthread_mutex_destroy(&ticket->mutex);
    return false;
}

void tenoni_ticket_destroy(tenoni_ticket *ticket)
{
    pthread_cond_destroy(&ticket->turn);
    pthread_mutex_destroy(&ticket->mutex);
}

void tenoni_ticket_lock(tenoni_ticket *ticket)
{
    pthread_mutex_lock(&ticket->mutex);
    uint64_t mine = ticket->next++;
    while (ticket->serving != mine)
        pthread_cond_wait(&ticket->turn, &ticket->mutex);
    pthread_mutex_unlock(&ticket->mutex);
}

void tenoni_ticket_unlock(tenoni_ticket *ticket)
{
    pthread_mutex_lock(&ticket->mutex);
    ticket->serving++;
    if (ticket->serving != ticket->next)
        pthread_cond_broadcast(&ticket->turn);
    pthread_mutex_unlock(&ticket->mutex);
}

/* A transport can only say why the TPM cannot be reached; it says nothing about keys. */
static bool may_be_said_by_a_transport(tenon_status status)
{
    int32_t category = tenon_status_category(status);
    return category == TENON_CATEGORY_TRANSIENT || category == TENON_CATEGORY_UNAVAILABLE ||
           category == TENON_CATEGORY_PERMISSION || category == TENON_CATEGORY_INTERNAL;
}

/*
 * If the TPM is the same, reached over another connection, our objects are still loaded there; otherwise they are gone,
 * which is fine.
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

/* A parent that an earlier operation left may be lost, or something else may have its handle: it is made again. */
static tenon_status run_with_parent(tenon_tpm *tpm, tenoni_operation *operation, void *context)
{
    uint32_t left = tpm->parent.handle;
    tenon_status status = operation(tpm, context);
    bool doubtful = tenoni_status_lost_object(status) || tenoni_status_is(status, TENONI_RC_TYPE);
    if (!doubtful || left == 0 || tpm->parent.handle != left || !tpm->parent_used)
        return status;
    tpm->epoch++;
    tenoni_slot_flush(tpm, &tpm->parent);
    return operation(tpm, context);
}

static tenon_status run(tenon_tpm *tpm, tenoni_operation *operation, void *context)
{
    tenon_status status = run_with_parent(tpm, operation, context);
    if (status != TENON_ERROR_TPM_TRANSPORT)
        return status;
    status = tenoni_tpm_reopen(tpm);
    return status == TENON_OK ? operation(tpm, context) : status;
}

/*
 * The TPM's places hold objects that are not in our list. Behind a resource manager these are our own, lost for example
 * with an answer that could not be read; they vanish with the connection. On a bare TPM they belong to other programs.
 * We wait for those with nothing of ours loaded, so that one of many waiting programs can go on.
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
    if (!tenoni_process_is_this(&tpm->process))
        return TENON_ERROR_FORKED;
    tenoni_ticket_lock(&tpm->ticket);
    if (tpm->orphans_n != 0)
        tenoni_orphans_flush(tpm);
    /* A transient parent stays for one more operation: the next one may need it, and the signature after a load shall
     * not wait for its flush. */
    tpm->parent_used = false;
    tenon_status status = run_when_there_is_room(tpm, operation, context);
    if (tpm->transport.managed == 0)
        tenoni_slots_flush(tpm);
    else if (!tpm->parent_used)
        tenoni_slot_flush(tpm, &tpm->parent);
    if (tpm->orphans_n != 0)
        tenoni_orphans_flush(tpm);
    tenoni_ticket_unlock(&tpm->ticket);
    return status;
}

uint32_t tenon_tpm_connection(const tenon_tpm *tpm)
{
    return tpm == NULL ? 0 : atomic_load(&tpm->epoch);
}

int32_t tenon_tpm_is_managed(const tenon_tpm *tpm)
{
    return tpm != NULL && tpm->transport.managed != 0;
}

tenon_status tenoni_tpm_read(tenon_tpm *tpm, tenoni_operation *operation, void *context)
{
    if (!tenoni_process_is_this(&tpm->process))
        return TENON_ERROR_FORKED;
    tenoni_ticket_lock(&tpm->ticket);
    tenon_status status = operation(tpm, context);
    tenoni_ticket_unlock(&tpm->ticket);
    return status;
}

/* A status has room for the layer and the code, and a code is never 0. */
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
