/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SUPPORT_TEST_TRANSPORT_H
#define SUPPORT_TEST_TRANSPORT_H

/*
 * A transport that a test plans faults with and asks what went over it. Nothing is random: each fault says which
 * command it is for, the n-th of a code counted from the call that planned it.
 *
 *     support_transport *wire = support_transport_new(tpm);                       tpm: swtpm.h
 *     tenon_tpm_transport table = support_transport_table(wire);
 *     CHECK_STATUS(tenon_tpm_open_transport(&handle, &table, NULL), TENON_OK);
 *     support_fail_code(wire, support_times(SUPPORT_CC_SIGN, 1, 3), 0x922);       three times TPM_RC_RETRY
 *     CHECK_STATUS(tenon_key_sign(...), TENON_OK);
 *     CHECK_NUMBER(support_transport_count(wire, SUPPORT_CC_SIGN), 4);
 *     CHECK_NUMBER(support_transport_pending(wire), 0);                           the faults did happen
 *
 * Several faults may meet in one command: the first that keeps it from the TPM wins, then every change of the answer is
 * made, in the order in which they were planned.
 *
 * Every function may be called from any thread. Free the tenon_tpm first, then the transport, then the TPM.
 */
#include "tenon/tpm/tpm.h"

#include "codes.h"
#include "swtpm.h"

typedef struct support_transport support_transport;

support_transport *support_transport_new(support_swtpm *tpm);
void support_transport_free(support_transport *wire);

/* The table for tenon_tpm_open_transport; may be called any number of times. */
tenon_tpm_transport support_transport_table(support_transport *wire);

/* ---- The exchanges ---- */

#define SUPPORT_ANY 0u /* a command of any code */

/* The number of commands since the last reset, including those that a fault kept from the TPM. */
uint32_t support_transport_count(support_transport *wire, uint32_t code);
uint32_t support_transport_reopens(support_transport *wire);
uint32_t support_transport_closes(support_transport *wire);

/* The number of exchanges that began during another one. It is 0 if the caller keeps the order. */
uint32_t support_transport_overlaps(support_transport *wire);
void support_transport_reset_counts(support_transport *wire);

/* One exchange as the caller saw it. Its bytes stay until SUPPORT_RECORDS others were made. */
typedef struct {
    uint32_t code;
    tenon_status status;
    uint32_t rc; /* the answer's response code; 0xFFFFFFFF without an answer */
    const uint8_t *command;
    size_t command_n;
    const uint8_t *answer;
    size_t answer_n;
} support_record;

enum { SUPPORT_RECORDS = 64, SUPPORT_WATCH_MAX = 64 };

/* The newest record has age 0. False if there is no record of that age. Do not call it while commands are under way. */
bool support_transport_record(support_transport *wire, size_t age, support_record *out);

/* The number of commands and answers with these bytes (at most SUPPORT_WATCH_MAX) since the watch began. */
void support_transport_watch(support_transport *wire, const uint8_t *bytes, size_t n);
uint32_t support_transport_watched(support_transport *wire);

/* ---- Behaviour ---- */

void support_transport_latency(support_transport *wire, uint32_t microseconds);

/* The next n calls of reopen fail with status. */
void support_transport_fail_reopen(support_transport *wire, uint32_t n, tenon_status status);

/*
 * All off at first. After a restart of the TPM the transport fails until reopen; one that *follows* goes on at once, as
 * a node does whose TPM was reset under it. One that *revives* powers a dead TPM on in reopen. One that *manages*
 * flushes what is loaded in reopen, as a resource manager does when a connection ends.
 */
void support_transport_follow(support_transport *wire, bool on);
void support_transport_revive(support_transport *wire, bool on);
void support_transport_manage(support_transport *wire, bool on);

/* Off at first: the table reports a resource manager, so that the core keeps objects loaded. */
void support_transport_bare(support_transport *wire, bool on);

/* ---- Faults ---- */

/* Selects commands of a code: from the nth (1 is the next) on, `times` in a row. */
typedef struct {
    uint32_t code;
    uint32_t nth;
    uint32_t times;
} support_when;

#define SUPPORT_ALWAYS 0xFFFFFFFFu

support_when support_next(uint32_t code);
support_when support_nth(uint32_t code, uint32_t nth);
support_when support_times(uint32_t code, uint32_t nth, uint32_t times);

/* The number of faults that have not happened as often as planned; a fault without end counts until it has happened
 * once. */
uint32_t support_transport_pending(support_transport *wire);
void support_transport_forget_faults(support_transport *wire);

/* The TPM does not see the command. The caller gets an error answer of ten bytes, or a status. */
void support_fail_code(support_transport *wire, support_when when, uint32_t rc);
void support_fail_before(support_transport *wire, support_when when, tenon_status status);

/* The TPM carries out the command, and its answer is lost. */
void support_fail_after(support_transport *wire, support_when when, tenon_status status);

/* Cuts the power with the command on the wire; done says whether the TPM still carries it out. */
void support_kill(support_transport *wire, support_when when, bool done);

/* The TPM sees a changed command: bits are flipped at offset. */
void support_tamper(support_transport *wire, support_when when, int32_t offset, uint8_t bits);

/* Changes the answer. An offset below 0 counts from its end. An offset outside the answer changes nothing. */
void support_flip(support_transport *wire, support_when when, int32_t offset, uint8_t bits);
void support_truncate(support_transport *wire, support_when when, size_t n);
void support_extend(support_transport *wire, support_when when, size_t n);
void support_resize(support_transport *wire, support_when when, uint32_t size); /* only the size field */
void support_fix_size(support_transport *wire, support_when when);              /* corrects the size field */

/* The next answer to this command, cut to n bytes with a matching size. */
void support_cut(support_transport *wire, uint32_t code, size_t n);
void support_strip_sessions(support_transport *wire, support_when when); /* tag 8001, no session area */
void support_replace(support_transport *wire, support_when when, const uint8_t *answer, size_t n); /* bytes must stay */
void support_lie(support_transport *wire, support_when when, size_t length); /* only *answer_length */

/* Any other change: returns the new length. It is called without a lock, on the thread of the command. */
typedef size_t (*support_edit_function)(void *context, uint8_t *answer, size_t n, size_t size);
void support_edit(support_transport *wire, support_when when, support_edit_function edit, void *context);

/* The command waits at the transport until support_release releases all waiting commands, or for 30 seconds. */
void support_hold(support_transport *wire, support_when when);
void support_release(support_transport *wire);

/* Waits until n commands are held; false after 30 seconds. */
bool support_wait_held(support_transport *wire, uint32_t n);

#endif
