/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_WORKER_H
#define TENONI_WORKER_H

#include "native/result.h"
#include "tenon/types.h"

/*
 * All work is done by one thread, in the order in which it was asked for, while the caller waits for at most its time:
 * a driver that never answers, or another process that holds the folder, must not hold up the runtime. Work whose time
 * has passed before it began is never begun; what runs is ended in its own time, and then its answer is thrown away.
 *
 * In the child of a fork everything begins anew, with a thread and a TPM of its own.
 */
typedef struct tenoni_work {
    tenoni_result (*run)(struct tenoni_work *work);
    char *name;          /* of a device or a service */
    char *key;           /* of an item; may be NULL, as may the next */
    char *value;         /* of an item */
    tenon_digest digest; /* to be signed or certified */
    char *answer;        /* from malloc */
    tenoni_result result;
    struct tenoni_work *next;
    int stage;
} tenoni_work;

/* Copies what the work needs of the caller. NULL: no memory. */
tenoni_work *tenoni_work_new(tenoni_result (*run)(tenoni_work *work), const char *name, const char *key,
                             const char *value);

/* Does the work and frees it. *answer, which may be NULL, is what it gave; to be freed. */
tenoni_result tenoni_work_do(tenoni_work *work, uint32_t deadline_ms, char **answer);

/* For tests: ends the thread when it has nothing more to do. It begins again with the next piece of work. */
void tenoni_worker_end(void);

/* What threads of the runtime share, across a fork, too. */
void tenoni_worker_lock(void);
void tenoni_worker_unlock(void);

#endif
