/* SPDX-License-Identifier: Apache-2.0 */
#include "tpm/ticket.h"

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
