/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SUPPORT_SWTPM_H
#define SUPPORT_SWTPM_H

/*
 * A software TPM for one test: a swtpm process on a socketpair, with a state folder of its own. It has no port and no
 * name, ends by itself when the test's process ends, and any number of them run at once. A TPM that hangs fails the
 * test after 30 seconds instead of hanging it. Only a test that is killed leaves something: the folder, tenon-swtpm.*
 * below $TMPDIR.
 *
 *     support_swtpm *tpm = support_swtpm_start(NULL);      or a folder that swtpm_state.sh made: it is copied
 *     support_transport *wire = support_transport_new(tpm);              test_transport.h
 *     tenon_tpm_transport table = support_transport_table(wire);
 *     tenon_tpm_open_transport(&handle, &table, NULL);
 *     ...
 *     support_clear(tpm, SUPPORT_RH_LOCKOUT, NULL);                      admin.h: not counted
 *     ...
 *     tenon_tpm_free(&handle);
 *     CHECK_NUMBER(support_transient_count(tpm) + support_session_count(tpm), 0);
 *     support_transport_free(wire);
 *     support_swtpm_stop(tpm);
 *
 * Every function may be called from any thread; commands to one TPM take turns.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tenon/status.h"

typedef struct support_swtpm support_swtpm;

/*
 * A TPM that answers and has had its Startup. state: NULL for a factory-fresh one, or a folder with the state to begin
 * with, which is copied and never written. NULL on failure, with a line on stderr.
 */
support_swtpm *support_swtpm_start(const char *state);

/* Ends the process, removes its folder, frees. NULL is allowed. */
void support_swtpm_stop(support_swtpm *tpm);

/* Ends the process at once, as a power cut without Shutdown. Then every exchange fails. */
void support_swtpm_power_cut(support_swtpm *tpm);

/* Starts again from what the TPM had written (a TPM Reset), after a power cut if there was none. */
bool support_swtpm_power_on(support_swtpm *tpm);

bool support_swtpm_is_on(support_swtpm *tpm);

/* How often it was started: 1 after support_swtpm_start. */
uint32_t support_swtpm_starts(support_swtpm *tpm);

/* One command, one answer. Any failure is TENON_ERROR_TPM_TRANSPORT; after it the TPM is off. */
tenon_status support_swtpm_exchange(support_swtpm *tpm, uint8_t *answer, size_t answer_size, size_t *answer_length,
                                    const uint8_t *command, size_t command_length);

/*
 * A power cut with a command on the wire: done says whether the TPM still did it and only its answer is lost, or did
 * not even begin. Always TENON_ERROR_TPM_TRANSPORT.
 */
tenon_status support_swtpm_kill_in_command(support_swtpm *tpm, const uint8_t *command, size_t command_length,
                                           bool done);

#endif
