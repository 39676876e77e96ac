/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_TICKET_H
#define TENONI_TICKET_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* A lock that is had in the order of asking. A TPM does one thing at a time; who waits for it shall not be overtaken.
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

#endif
