/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_CHANNEL_H
#define TENONI_CHANNEL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/process.h"
#include "crypto/structures.h"
#include "tenon/tpm/tpm.h"
#include "tpm/classify.h"
#include "tpm/open.h"

/*
 * A lock that threads get in the order in which they ask for it. A TPM does one thing at a time, and a thread that
 * waits must not be overtaken.
 */
typedef struct {
    pthread_mutex_t mutex;
    pthread_cond_t turn;
    uint64_t next;
    uint64_t serving;
} tenoni_ticket;

bool tenoni_ticket_init(tenoni_ticket *ticket);
void tenoni_ticket_destroy(tenoni_ticket *ticket);
void tenoni_ticket_lock(tenoni_ticket *ticket);
void tenoni_ticket_unlock(tenoni_ticket *ticket);

/* An auth value without zero bytes at its end. */
typedef struct {
    uint8_t bytes[TENON_TPM_AUTH_MAX];
    size_t n;
} tenoni_auth;

tenon_status tenoni_auth_set(tenoni_auth *auth, const uint8_t *bytes, size_t n);

/*
 * A place for one object or session that we loaded into the TPM. The list of slots says what to flush when the TPM has
 * no room, and what is lost or left behind when the transport is opened again.
 */
typedef struct tenoni_slot {
    struct tenoni_slot *next;
    uint32_t handle; /* 0: nothing is loaded */
} tenoni_slot;

/* An object in the TPM. We compute its Name from its public area: a Name in an answer proves nothing. */
typedef struct {
    uint32_t handle;
    uint8_t name[TENON_NAME_SIZE];
    bool is_p256; /* else area is all zeros */
    tenoni_public area;
} tenoni_object;

enum { TENONI_ORPHANS = 16 };

struct tenon_tpm {
    tenon_tpm_transport transport;
    uint32_t session;
    uint32_t deadline_ms;
    tenoni_auth owner_auth;
    tenoni_auth endorsement_auth;
    tenoni_ticket ticket;
    atomic_uint references;
    tenoni_process process;
    tenoni_slot *slots;
    uint32_t orphans[TENONI_ORPHANS]; /* their flush failed, so they may still be loaded: flushed again */
    size_t orphans_n;
    tenoni_slot parent; /* a transient parent, kept for the operation after the last one that used it */
    const tenoni_public *parent_template;
    tenoni_object parent_object;
    bool parent_used;  /* by this operation */
    atomic_uint epoch; /* counts how often the transport was opened: persistent Names are checked anew in each */
    uint8_t answer[TENON_TPM_BUFFER_SIZE];
};

void tenoni_tpm_keep(tenon_tpm *tpm);

/*
 * Runs an operation while no other thread uses the TPM. If the transport fails, opens it again and repeats the
 * operation once; while other programs hold the TPM's places, repeats it until the deadline. An operation must
 * therefore bear a repetition after any of its commands. On a bare TPM nothing stays loaded afterwards.
 */
typedef tenon_status tenoni_operation(tenon_tpm *tpm, void *context);
tenon_status tenoni_tpm_do(tenon_tpm *tpm, tenoni_operation *operation, void *context);

/* The same for what sends no command: it takes its turn, and leaves everything loaded. */
tenon_status tenoni_tpm_read(tenon_tpm *tpm, tenoni_operation *operation, void *context);

/*
 * Inside an operation: sends a command, waits while the TPM is busy, and gives the answer behind its header. A refusal
 * is a status of tenoni_classify. When the TPM has no room, our slots are flushed one by one, but for those that the
 * command names: after a command, what is in a slot has to be looked up again.
 */
tenon_status tenoni_tpm_send(tenon_tpm *tpm, tenoni_role role, const uint8_t *command, size_t n, tenoni_reader *answer);

/*
 * Opens the transport again, and waits for a node that another process holds. Then flushes what was loaded before, if
 * it is still there.
 */
tenon_status tenoni_tpm_reopen(tenon_tpm *tpm);

/* TPM2_FlushContext. Flushing something that is already gone is not a failure. */
void tenoni_tpm_flush(tenon_tpm *tpm, uint32_t handle);

/* Puts a loaded object into the list; flushes one and takes it out. */
void tenoni_slot_fill(tenon_tpm *tpm, tenoni_slot *slot, uint32_t handle);
void tenoni_slot_flush(tenon_tpm *tpm, tenoni_slot *slot);

/* Flushes all; or the oldest of the kind that the TPM has no room for, but for what the command names: whether there
 * was one. */
void tenoni_slots_flush(tenon_tpm *tpm);
bool tenoni_slots_make_room(tenon_tpm *tpm, const uint8_t *command, size_t n, uint32_t rc);

/*
 * Flush what could not be flushed before: over a fresh transport if it can be opened again; and over the present one.
 */
void tenoni_orphans_flush(tenon_tpm *tpm);
void tenoni_orphans_retry(tenon_tpm *tpm);

#endif
