/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "admin.h"
#include "transport_state.h"
#include "wire.h"

enum { HEADER = 10, HOLD_SECONDS = 30 };

/* The faults that are due for one command, and its result. */
typedef struct {
    support_fault due[SUPPORT_FAULTS];
    size_t n;
    uint32_t code, latency;
    bool connected;
    const uint8_t *command; /* as the caller passed it */
    size_t command_n;
    uint8_t *answer;
    size_t size, answer_n;
} passage;

static void *must(void *memory)
{
    if (memory == NULL) {
        fprintf(stderr, "support: no memory\n");
        abort();
    }
    return memory;
}

static support_transport *make(void)
{
    support_transport *wire = must(calloc(1, sizeof *wire));
    pthread_condattr_t monotonic;
    wire->bytes = must(calloc(SUPPORT_RECORDS, sizeof *wire->bytes));
    pthread_mutex_init(&wire->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&wire->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    return wire;
}

support_transport *support_transport_new(support_swtpm *tpm)
{
    support_transport *wire = make();
    wire->tpm = tpm;
    wire->starts = support_swtpm_starts(tpm);
    return wire;
}

void support_transport_free(support_transport *wire)
{
    if (wire == NULL)
        return;
    pthread_cond_destroy(&wire->changed);
    pthread_mutex_destroy(&wire->lock);
    free(wire->bytes);
    free(wire);
}

static bool holds(const support_transport *wire, const uint8_t *bytes, size_t n)
{
    return wire->watch_n > 0 && memmem(bytes, n, wire->watch, wire->watch_n) != NULL;
}

static void begin(support_transport *wire, passage *p)
{
    p->code = p->command_n < HEADER ? 0 : support_fetch32(p->command + 6);
    pthread_mutex_lock(&wire->lock);
    wire->total++;
    wire->counts[support_transport_place(p->code)]++;
    wire->watched += holds(wire, p->command, p->command_n);
    if (wire->follows)
        wire->starts = support_swtpm_starts(wire->tpm);
    p->connected = wire->starts == support_swtpm_starts(wire->tpm);
    p->latency = wire->latency;
    for (size_t i = 0; i < wire->faults_n; i++)
        if (support_fault_is_due(&wire->faults[i], p->code))
            p->due[p->n++] = wire->faults[i];
    pthread_mutex_unlock(&wire->lock);
}

static struct timespec later(time_t seconds)
{
    struct timespec when;
    clock_gettime(CLOCK_MONOTONIC, &when);
    when.tv_sec += seconds;
    return when;
}

static void hold(support_transport *wire)
{
    struct timespec until = later(HOLD_SECONDS);
    uint32_t releases;
    pthread_mutex_lock(&wire->lock);
    releases = wire->releases;
    wire->held++;
    pthread_cond_broadcast(&wire->changed);
    while (wire->releases == releases)
        if (pthread_cond_timedwait(&wire->changed, &wire->lock, &until) == ETIMEDOUT)
            break;
    wire->held--;
    pthread_mutex_unlock(&wire->lock);
}

void support_release(support_transport *wire)
{
    pthread_mutex_lock(&wire->lock);
    wire->releases++;
    pthread_cond_broadcast(&wire->changed);
    pthread_mutex_unlock(&wire->lock);
}

bool support_wait_held(support_transport *wire, uint32_t n)
{
    struct timespec until = later(HOLD_SECONDS);
    bool held;
    pthread_mutex_lock(&wire->lock);
    while (wire->held < n)
        if (pthread_cond_timedwait(&wire->changed, &wire->lock, &until) == ETIMEDOUT)
            break;
    held = wire->held >= n;
    pthread_mutex_unlock(&wire->lock);
    return held;
}

static void wait_latency(uint32_t microseconds)
{
    struct timespec left = {(time_t)(microseconds / 1000000), (long)(microseconds % 1000000) * 1000};
    while (microseconds > 0 && nanosleep(&left, &left) != 0)
        continue;
}

static tenon_status send_command(support_transport *wire, passage *p, const uint8_t *command, size_t n)
{
    if (!p->connected)
        return TENON_ERROR_TPM_TRANSPORT;
    return support_swtpm_exchange(wire->tpm, p->answer, p->size, &p->answer_n, command, n);
}

static tenon_status answer_code(passage *p, uint32_t rc)
{
    if (p->size < HEADER)
        return TENON_ERROR_TPM_TRANSPORT;
    support_store32(p->answer, 0x80010000);
    support_store32(p->answer + 2, HEADER);
    support_store32(p->answer + 6, rc);
    p->answer_n = HEADER;
    return TENON_OK;
}

static tenon_status cut_power(support_transport *wire, const uint8_t *command, size_t n, bool done)
{
    return support_swtpm_kill_in_command(wire->tpm, command, n, done);
}

static tenon_status pass(support_transport *wire, passage *p)
{
    uint8_t command[SUPPORT_BUFFER];
    size_t n = p->command_n < sizeof command ? p->command_n : sizeof command;
    memcpy(command, p->command, n);
    for (size_t i = 0; i < p->n; i++) {
        const support_fault *fault = &p->due[i];
        if (fault->kind == SUPPORT_FAULT_CODE)
            return answer_code(p, fault->value);
        if (fault->kind == SUPPORT_FAULT_BEFORE)
            return fault->status;
        if (fault->kind == SUPPORT_FAULT_KILL)
            return cut_power(wire, command, n, fault->value != 0);
        if (fault->kind == SUPPORT_FAULT_HOLD)
            hold(wire);
        support_fault_change_command(fault, command, n);
    }
    wait_latency(p->latency);
    tenon_status status = send_command(wire, p, command, n);
    for (size_t i = 0; i < p->n && status == TENON_OK; i++)
        if (p->due[i].kind == SUPPORT_FAULT_AFTER)
            status = p->due[i].status;
    return status;
}

static void change_answer(passage *p)
{
    for (size_t i = 0; i < p->n; i++) {
        if (p->due[i].kind == SUPPORT_FAULT_STRIP)
            p->due[i].value = p->code;
        p->answer_n = support_fault_change_answer(&p->due[i], p->answer, p->answer_n, p->size);
    }
}

static void keep(support_transport *wire, const passage *p, tenon_status status)
{
    size_t at = wire->recorded++ % SUPPORT_RECORDS;
    uint8_t *command = wire->bytes[at][0];
    uint8_t *answer = wire->bytes[at][1];
    support_record *record = &wire->records[at];
    record->code = p->code;
    record->status = status;
    record->command = command;
    record->answer = answer;
    record->command_n = p->command_n < SUPPORT_BUFFER ? p->command_n : SUPPORT_BUFFER;
    record->answer_n = status != TENON_OK ? 0 : p->answer_n < SUPPORT_BUFFER ? p->answer_n : SUPPORT_BUFFER;
    memcpy(command, p->command, record->command_n);
    memcpy(answer, p->answer, record->answer_n);
    record->rc = record->answer_n < HEADER ? SUPPORT_RC_NONE : support_fetch32(answer + 6);
}

static void end(support_transport *wire, const passage *p, tenon_status status)
{
    pthread_mutex_lock(&wire->lock);
    if (status == TENON_OK)
        wire->watched += holds(wire, p->answer, p->answer_n);
    keep(wire, p, status);
    pthread_mutex_unlock(&wire->lock);
}

static size_t told_length(const passage *p)
{
    size_t told = p->answer_n;
    for (size_t i = 0; i < p->n; i++)
        if (p->due[i].kind == SUPPORT_FAULT_LIE)
            told = p->due[i].n;
    return told;
}

static void count_overlap(support_transport *wire)
{
    pthread_mutex_lock(&wire->lock);
    wire->overlaps++;
    pthread_mutex_unlock(&wire->lock);
}

static tenon_status exchange(void *context, uint8_t *answer, size_t size, size_t *length, const uint8_t *command,
                             size_t n)
{
    support_transport *wire = context;
    passage p;
    memset(&p, 0, sizeof p);
    p.command = command;
    p.command_n = n;
    p.answer = answer;
    p.size = size;
    *length = 0;
    if (atomic_fetch_add(&wire->under_way, 1) != 0)
        count_overlap(wire);
    begin(wire, &p);
    tenon_status status = pass(wire, &p);
    if (p.answer_n > size)
        p.answer_n = size;
    if (status == TENON_OK)
        change_answer(&p);
    end(wire, &p, status);
    if (status == TENON_OK)
        *length = told_length(&p);
    atomic_fetch_sub(&wire->under_way, 1);
    return status;
}

/* The caller must hold the lock. */
static tenon_status reconnect(support_transport *wire)
{
    if (wire->revives && !support_swtpm_is_on(wire->tpm) && !support_swtpm_power_on(wire->tpm))
        return TENON_ERROR_TPM_TRANSPORT;
    if (!support_swtpm_is_on(wire->tpm))
        return TENON_ERROR_TPM_MISSING;
    if (wire->manages)
        support_flush_all(wire->tpm);
    wire->starts = support_swtpm_starts(wire->tpm);
    return TENON_OK;
}

static tenon_status reopen(void *context)
{
    support_transport *wire = context;
    tenon_status status;
    pthread_mutex_lock(&wire->lock);
    wire->reopens++;
    if (wire->reopen_failures > 0) {
        wire->reopen_failures--;
        status = wire->reopen_status;
    } else {
        status = reconnect(wire);
    }
    pthread_mutex_unlock(&wire->lock);
    return status;
}

static void count_close(void *context)
{
    support_transport *wire = context;
    pthread_mutex_lock(&wire->lock);
    wire->closes++;
    pthread_mutex_unlock(&wire->lock);
}

tenon_tpm_transport support_transport_table(support_transport *wire)
{
    bool bare;
    pthread_mutex_lock(&wire->lock);
    bare = wire->bare;
    pthread_mutex_unlock(&wire->lock);
    return (tenon_tpm_transport){
        .size = sizeof(tenon_tpm_transport),
        .context = wire,
        .exchange = exchange,
        .reopen = reopen,
        .close = count_close,
        .managed = !bare,
    };
}
