/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "transport_state.h"

/* The queries and plans of a test: all short, all under the lock. */

size_t support_transport_place(uint32_t code)
{
    return code >= SUPPORT_FIRST_CODE && code < SUPPORT_FIRST_CODE + SUPPORT_CODES ? code - SUPPORT_FIRST_CODE : 0;
}

static uint32_t peek(support_transport *wire, const uint32_t *value)
{
    pthread_mutex_lock(&wire->lock);
    uint32_t seen = *value;
    pthread_mutex_unlock(&wire->lock);
    return seen;
}

uint32_t support_transport_count(support_transport *wire, uint32_t code)
{
    return peek(wire, code == SUPPORT_ANY ? &wire->total : &wire->counts[support_transport_place(code)]);
}

uint32_t support_transport_reopens(support_transport *wire) { return peek(wire, &wire->reopens); }

uint32_t support_transport_closes(support_transport *wire) { return peek(wire, &wire->closes); }

uint32_t support_transport_overlaps(support_transport *wire) { return peek(wire, &wire->overlaps); }

uint32_t support_transport_watched(support_transport *wire) { return peek(wire, &wire->watched); }

void support_transport_reset_counts(support_transport *wire)
{
    pthread_mutex_lock(&wire->lock);
    wire->total = wire->reopens = wire->closes = wire->overlaps = 0;
    memset(wire->counts, 0, sizeof wire->counts);
    pthread_mutex_unlock(&wire->lock);
}

bool support_transport_record(support_transport *wire, size_t age, support_record *out)
{
    pthread_mutex_lock(&wire->lock);
    bool found = age < SUPPORT_RECORDS && age < wire->recorded;
    if (found)
        *out = wire->records[(wire->recorded - 1 - age) % SUPPORT_RECORDS];
    pthread_mutex_unlock(&wire->lock);
    return found;
}

void support_transport_watch(support_transport *wire, const uint8_t *bytes, size_t n)
{
    if (n > SUPPORT_WATCH_MAX) {
        fprintf(stderr, "support: too many bytes to watch for\n");
        abort();
    }
    pthread_mutex_lock(&wire->lock);
    memcpy(wire->watch, bytes, n);
    wire->watch_n = n;
    wire->watched = 0;
    pthread_mutex_unlock(&wire->lock);
}

void support_transport_latency(support_transport *wire, uint32_t microseconds)
{
    pthread_mutex_lock(&wire->lock);
    wire->latency = microseconds;
    pthread_mutex_unlock(&wire->lock);
}

void support_transport_fail_reopen(support_transport *wire, uint32_t n, tenon_status status)
{
    pthread_mutex_lock(&wire->lock);
    wire->reopen_failures = n;
    wire->reopen_status = status;
    pthread_mutex_unlock(&wire->lock);
}

static void set(support_transport *wire, bool *flag, bool on)
{
    pthread_mutex_lock(&wire->lock);
    *flag = on;
    pthread_mutex_unlock(&wire->lock);
}

void support_transport_follow(support_transport *wire, bool on) { set(wire, &wire->follows, on); }

void support_transport_revive(support_transport *wire, bool on) { set(wire, &wire->revives, on); }

void support_transport_manage(support_transport *wire, bool on) { set(wire, &wire->manages, on); }

void support_transport_bare(support_transport *wire, bool on) { set(wire, &wire->bare, on); }

uint32_t support_transport_pending(support_transport *wire)
{
    uint32_t pending = 0;
    pthread_mutex_lock(&wire->lock);
    for (size_t i = 0; i < wire->faults_n; i++)
        pending += support_fault_is_pending(&wire->faults[i]);
    pthread_mutex_unlock(&wire->lock);
    return pending;
}

void support_transport_forget_faults(support_transport *wire)
{
    pthread_mutex_lock(&wire->lock);
    wire->faults_n = 0;
    pthread_mutex_unlock(&wire->lock);
}

/* Makes room by dropping the faults that are over. The caller must hold the lock. */
static void tidy(support_transport *wire)
{
    size_t kept = 0;
    for (size_t i = 0; i < wire->faults_n; i++)
        if (support_fault_is_pending(&wire->faults[i]) || wire->faults[i].when.times == SUPPORT_ALWAYS)
            wire->faults[kept++] = wire->faults[i];
    wire->faults_n = kept;
}

static void plan(support_transport *wire, support_fault fault)
{
    pthread_mutex_lock(&wire->lock);
    tidy(wire);
    if (wire->faults_n == SUPPORT_FAULTS) {
        fprintf(stderr, "support: too many faults are planned\n");
        abort();
    }
    wire->faults[wire->faults_n++] = fault;
    pthread_mutex_unlock(&wire->lock);
}

void support_fail_code(support_transport *wire, support_when when, uint32_t rc)
{
    plan(wire, (support_fault){.kind = SUPPORT_FAULT_CODE, .when = when, .value = rc});
}

void support_fail_before(support_transport *wire, support_when when, tenon_status status)
{
    plan(wire, (support_fault){.kind = SUPPORT_FAULT_BEFORE, .when = when, .status = status});
}

void support_fail_after(support_transport *wire, support_when when, tenon_status status)
{
    plan(wire, (support_fault){.kind = SUPPORT_FAULT_AFTER, .when = when, .status = status});
}

void support_kill(support_transport *wire, support_when when, bool done)
{
    plan(wire, (support_fault){.kind = SUPPORT_FAULT_KILL, .when = when, .value = done});
}

void support_tamper(support_transport *wire, support_when when, int32_t offset, uint8_t bits)
{
    plan(wire, (support_fault){.kind = SUPPORT_FAULT_TAMPER, .when = when, .offset = offset, .value = bits});
}

void support_flip(support_transport *wire, support_when when, int32_t offset, uint8_t bits)
{
    plan(wire, (support_fault){.kind = SUPPORT_FAULT_FLIP, .when = when, .offset = offset, .value = bits});
}

void support_truncate(support_transport *wire, support_when when, size_t n)
{
    plan(wire, (support_fault){.kind = SUPPORT_FAULT_TRUNCATE, .when = when, .n = n});
}

void support_extend(support_transport *wire, support_when when, size_t n)
{
    plan(wire, (support_fault){.kind = SUPPORT_FAULT_EXTEND, .when = when, .n = n});
}

void support_resize(support_transport *wire, support_when when, uint32_t size)
{
    plan(wire, (support_fault){.kind = SUPPORT_FAULT_RESIZE, .when = when, .value = size});
}

void support_fix_size(support_transport *wire, support_when when)
{
    plan(wire, (support_fault){.kind = SUPPORT_FAULT_FIX_SIZE, .when = when});
}

void support_cut(support_transport *wire, uint32_t code, size_t n)
{
    support_truncate(wire, support_next(code), n);
    support_fix_size(wire, support_next(code));
}

void support_strip_sessions(support_transport *wire, support_when when)
{
    plan(wire, (support_fault){.kind = SUPPORT_FAULT_STRIP, .when = when});
}

void support_replace(support_transport *wire, support_when when, const uint8_t *answer, size_t n)
{
    plan(wire, (support_fault){.kind = SUPPORT_FAULT_REPLACE, .when = when, .bytes = answer, .n = n});
}

void support_lie(support_transport *wire, support_when when, size_t length)
{
    plan(wire, (support_fault){.kind = SUPPORT_FAULT_LIE, .when = when, .n = length});
}

void support_edit(support_transport *wire, support_when when, support_edit_function edit, void *context)
{
    plan(wire, (support_fault){.kind = SUPPORT_FAULT_EDIT, .when = when, .edit = edit, .context = context});
}

void support_hold(support_transport *wire, support_when when)
{
    plan(wire, (support_fault){.kind = SUPPORT_FAULT_HOLD, .when = when});
}
