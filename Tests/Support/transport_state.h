/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SUPPORT_TRANSPORT_STATE_H
#define SUPPORT_TRANSPORT_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "fault.h"

enum { SUPPORT_BUFFER = TENON_TPM_BUFFER_SIZE, SUPPORT_FIRST_CODE = 0x11F, SUPPORT_CODES = 0x100 };

struct support_transport {
    support_swtpm *tpm;
    atomic_uint under_way;

    /* The members below need the lock, which no exchange holds while it is under way. */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint32_t starts; /* of the TPM, when the connection was made */
    uint32_t latency, reopen_failures;
    tenon_status reopen_status;
    bool follows, revives, manages, bare;

    uint32_t total, counts[SUPPORT_CODES];
    uint32_t reopens, closes, overlaps, watched;
    uint8_t watch[SUPPORT_WATCH_MAX];
    size_t watch_n;

    support_record records[SUPPORT_RECORDS];
    uint8_t (*bytes)[2][SUPPORT_BUFFER]; /* of the records: command, answer */
    size_t recorded;

    support_fault faults[SUPPORT_FAULTS];
    size_t faults_n;
    uint32_t held, releases;
};

/* The index at which a code is counted; codes that TPM 2.0 does not have share the first one. */
size_t support_transport_place(uint32_t code);

#endif
