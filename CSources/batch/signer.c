/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1 /* clock_gettime, pthread_condattr_setclock */
#include "batch/signer.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/bytes.h"
#include "base/process.h"
#include "batch/batch.h"
#include "batch/request2.h"
#include "crypto/signing_key.h"
#include "tenon/encoding.h"
#include "tenon/p256.h"
#include "tenon/request.h"

enum { DEFAULT_DEADLINE_MS = 2000, BATCHES_WAITING = 4 };

/*
 * A request in the line, on the stack of its caller. The key is busy from the moment in which somebody finds it idle
 * until nobody waits; meanwhile it belongs to one member at a time, which is told so by LEADS.
 */
typedef struct member {
    struct member *next;
    enum { WAITS, LEADS, TAKEN, DONE } state;
    bool alone; /* plain: not to be taken into a batch */
    pthread_cond_t changed;
    tenon_digest digest;
    tenon_status status;
    size_t bytes_n;
    uint8_t bytes[TENONI_MEMBER_MAX];
} member;

struct tenon_signer {
    const tenon_key *key;
    tenon_verifier *verifier; /* NULL: signatures are not checked */
    tenon_batch *batch;
    size_t max;
    uint32_t deadline_ms;
    char keyid[TENON_THUMBPRINT_SIZE];
    tenoni_process process;
    pthread_mutex_t mutex;
    pthread_condattr_t clock;
    bool busy;
    size_t waiting;
    member *first, **end;
};

/* ---- Making and freeing ---- */

static tenon_status check_options(const tenon_signer_options *options)
{
    if (options->size != sizeof *options || options->max < 1 || options->max > TENON_BATCH_MAX ||
        options->deadline_ms == 0)
        return TENON_ERROR_OPTIONS;
    return (options->flags & ~(uint32_t)TENON_SIGNER_CHECKS) != 0 ? TENON_ERROR_FLAGS : TENON_OK;
}

static tenon_status open_locks(tenon_signer *signer)
{
    if (pthread_condattr_init(&signer->clock) != 0)
        return TENON_ERROR_MEMORY;
    if (pthread_condattr_setclock(&signer->clock, CLOCK_MONOTONIC) == 0 &&
        pthread_mutex_init(&signer->mutex, NULL) == 0) {
        if (tenoni_process_begin(&signer->process))
            return TENON_OK;
        pthread_mutex_destroy(&signer->mutex);
    }
    pthread_condattr_destroy(&signer->clock);
    return TENON_ERROR_MEMORY;
}

static void release(tenon_signer *signer)
{
    tenon_batch_free(&signer->batch);
    tenon_verifier_free(&signer->verifier);
    free(signer);
}

static tenon_status fill(tenon_signer *signer, const tenon_signer_options *options)
{
    tenon_public_key key;
    size_t n;
    tenon_status status = tenon_key_public_key(signer->key, &key);
    if (status == TENON_OK)
        status = tenon_public_key_thumbprint(signer->keyid, sizeof signer->keyid, &n, &key);
    if (status == TENON_OK)
        status = tenon_batch_new(&signer->batch, &key, options->max);
    if (status == TENON_OK && (options->flags & TENON_SIGNER_CHECKS) != 0)
        status = tenon_verifier_new(&signer->verifier, &key);
    return status == TENON_OK ? open_locks(signer) : status;
}

tenon_status tenon_signer_new(tenon_signer **out, const tenon_key *key, const tenon_signer_options *options)
{
    const tenon_signer_options defaults = {
        .size = sizeof defaults, .max = TENON_BATCH_MAX, .deadline_ms = DEFAULT_DEADLINE_MS};
    if (out == NULL)
        return TENON_ERROR_NULL;
    *out = NULL;
    if (key == NULL)
        return TENON_ERROR_NULL;
    if (options == NULL)
        options = &defaults;
    tenon_status status = check_options(options);
    if (status != TENON_OK)
        return status;
    tenon_signer *signer = calloc(1, sizeof *signer);
    if (signer == NULL)
        return TENON_ERROR_MEMORY;
    signer->key = key;
    signer->max = options->max;
    signer->deadline_ms = options->deadline_ms;
    signer->end = &signer->first;
    status = fill(signer, options);
    if (status == TENON_OK)
        *out = signer;
    else
        release(signer);
    return status;
}

/* In a child of a fork the lock may be held by a thread that does not exist there: it is left alone. */
void tenon_signer_free(tenon_signer **signer)
{
    if (signer == NULL || *signer == NULL)
        return;
    if (tenoni_process_is_this(&(*signer)->process)) {
        pthread_mutex_destroy(&(*signer)->mutex);
        pthread_condattr_destroy(&(*signer)->clock);
    }
    tenoni_process_end(&(*signer)->process);
    release(*signer);
    *signer = NULL;
}

/* ---- The line; all of this is called with the lock held ---- */

static void append(tenon_signer *signer, member *self)
{
    self->next = NULL;
    *signer->end = self;
    signer->end = &self->next;
    signer->waiting++;
}

static void take_out(tenon_signer *signer, member *self)
{
    member **at = &signer->first;
    while (*at != self)
        at = &(*at)->next;
    *at = self->next;
    if (signer->end == &self->next)
        signer->end = at;
    signer->waiting--;
}

/* Takes the leader and, unless it goes alone, up to max of those behind it out of the line, oldest first. */
static member *take(tenon_signer *signer, const member *leader)
{
    member *taken = NULL, **end = &taken;
    size_t count = 0;
    for (member *at = signer->first, *next; at != NULL && count < signer->max; at = next) {
        next = at->next;
        if (leader->alone ? at != leader : at->alone)
            continue;
        take_out(signer, at);
        at->state = TAKEN;
        at->next = NULL;
        *end = at;
        end = &at->next;
        count++;
    }
    return taken;
}

/* Its thread may return at once, and then its memory is no longer there. */
static void tell(member *self, tenon_status status)
{
    self->status = status;
    self->state = DONE;
    pthread_cond_signal(&self->changed);
}

static bool ends_the_line(tenon_status status)
{
    int32_t category = tenon_status_category(status);
    return category == TENON_CATEGORY_GONE || category == TENON_CATEGORY_STATE;
}

/* The key gave this status to its owner, and now belongs to the oldest that waits, or to nobody. */
static void hand_on(tenon_signer *signer, tenon_status status)
{
    while (ends_the_line(status) && signer->first != NULL) {
        member *lost = signer->first;
        take_out(signer, lost);
        tell(lost, status);
    }
    signer->busy = signer->first != NULL;
    if (signer->busy) {
        signer->first->state = LEADS;
        pthread_cond_signal(&signer->first->changed);
    }
}

/* ---- Signing; without the lock, by the one to which the key belongs ---- */

static tenon_status sign_alone(const tenon_signer *signer, member *self)
{
    tenon_signature made;
    tenon_status status = tenoni_key_sign_own(signer->key, &made, &self->digest);
    if (status == TENON_OK && signer->verifier != NULL)
        status = tenon_verifier_verify(signer->verifier, &self->digest, &made);
    if (status == TENON_OK) {
        memcpy(self->bytes, made.bytes, sizeof made.bytes);
        self->bytes_n = sizeof made.bytes;
    }
    return status;
}

static tenon_status sign_together(tenon_signer *signer, member *taken)
{
    size_t index;
    tenon_batch_clear(signer->batch);
    tenon_status status = TENON_OK;
    for (const member *at = taken; status == TENON_OK && at != NULL; at = at->next)
        status = tenon_batch_add(signer->batch, &index, &at->digest);
    if (status == TENON_OK)
        status = tenon_key_sign_batch(signer->key, signer->batch);
    if (status == TENON_OK && signer->verifier != NULL)
        status = tenoni_batch_check(signer->batch, signer->verifier);
    index = 0;
    for (member *at = taken; status == TENON_OK && at != NULL; at = at->next)
        at->bytes_n = tenoni_batch_member(signer->batch, at->bytes, index++);
    return status;
}

/* The lock is held before and after. */
static void lead(tenon_signer *signer, member *self)
{
    member *taken = take(signer, self);
    pthread_mutex_unlock(&signer->mutex);
    tenon_status status = self->alone ? sign_alone(signer, self) : sign_together(signer, taken);
    pthread_mutex_lock(&signer->mutex);
    for (member *at = taken, *next; at != NULL; at = next) {
        next = at->next;
        tell(at, status);
    }
    hand_on(signer, status);
}

size_t tenoni_signer_waiting(tenon_signer *signer)
{
    pthread_mutex_lock(&signer->mutex);
    size_t waiting = signer->waiting;
    pthread_mutex_unlock(&signer->mutex);
    return waiting;
}

/* ---- One request ---- */

static struct timespec deadline_of(const tenon_signer *signer)
{
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += (time_t)(signer->deadline_ms / 1000);
    end.tv_nsec += (long)(signer->deadline_ms % 1000) * 1000000;
    if (end.tv_nsec >= 1000000000) {
        end.tv_sec++;
        end.tv_nsec -= 1000000000;
    }
    return end;
}

/* A member that was taken waits for as long as the key takes: it may be signed, and its memory is written to. */
static void wait_for_turn(tenon_signer *signer, member *self)
{
    const struct timespec end = deadline_of(signer);
    while (self->state == WAITS || self->state == TAKEN) {
        if (self->state == TAKEN)
            pthread_cond_wait(&self->changed, &signer->mutex);
        else if (pthread_cond_timedwait(&self->changed, &signer->mutex, &end) != 0 && self->state == WAITS) {
            take_out(signer, self);
            self->status = TENON_ERROR_DEADLINE;
            self->state = DONE;
        }
    }
}

/* The lock is held before and after. The first of a line finds the key idle, and takes it. */
static tenon_status stand_in_line(tenon_signer *signer, member *self)
{
    if (signer->waiting >= BATCHES_WAITING * signer->max)
        return TENON_ERROR_BATCH_FULL;
    if (pthread_cond_init(&self->changed, &signer->clock) != 0)
        return TENON_ERROR_MEMORY;
    self->state = signer->busy ? WAITS : LEADS;
    signer->busy = true;
    append(signer, self);
    wait_for_turn(signer, self);
    if (self->state == LEADS)
        lead(signer, self);
    pthread_cond_destroy(&self->changed);
    return self->status;
}

/* A plain request takes the key if it is idle, in the same step in which its form is fixed. */
static bool take_idle_key(tenon_signer *signer, uint32_t form)
{
    pthread_mutex_lock(&signer->mutex);
    bool taken = !signer->busy && form != TENON_FORM_BATCH;
    signer->busy = signer->busy || taken;
    pthread_mutex_unlock(&signer->mutex);
    return taken;
}

/* Whoever owns the key hands it on, whatever became of the request. */
static tenon_status sign(tenon_signer *signer, member *self, tenon_status status, bool has_key)
{
    if (status == TENON_OK && has_key)
        status = sign_alone(signer, self);
    pthread_mutex_lock(&signer->mutex);
    if (has_key)
        hand_on(signer, status);
    else if (status == TENON_OK)
        status = stand_in_line(signer, self);
    pthread_mutex_unlock(&signer->mutex);
    return status;
}

static tenon_status prepare(const tenon_signer *signer, member *self, char *input, size_t input_n,
                            size_t *input_written, tenon_request2 *request)
{
    char nonce[TENON_UUID_SIZE];
    size_t nonce_n;
    request->keyid = (tenon_text){signer->keyid, sizeof signer->keyid};
    tenon_status status = tenon_request_nonce(nonce, sizeof nonce, &nonce_n);
    request->nonce = (tenon_text){nonce, sizeof nonce};
    if (status == TENON_OK)
        status = tenon_request2_input(input, input_n, input_written, &self->digest, request);
    return status;
}

tenon_status tenon_signer_sign(tenon_signer *signer, char *input, size_t input_n, size_t *input_written,
                               char *signature, size_t signature_n, size_t *signature_written,
                               const tenon_request2 *request)
{
    if (signer == NULL || request == NULL)
        return TENON_ERROR_NULL;
    tenon_status status = tenoni_output_fits(input, input_n, input_written, TENON_SIGNATURE_INPUT_MAX);
    tenon_status other = tenoni_output_fits(signature, signature_n, signature_written, TENON_SIGNATURE_VALUE_MAX);
    if (status != TENON_OK || other != TENON_OK)
        return status != TENON_OK ? status : other;
    *input_written = *signature_written = 0;
    if (!tenoni_process_is_this(&signer->process))
        return TENON_ERROR_FORKED;
    member self = {.alone = request->form == TENON_FORM_PLAIN};
    tenon_request2 prepared = *request;
    const bool has_key = take_idle_key(signer, request->form);
    if (has_key || prepared.form == 0)
        prepared.form = has_key ? TENON_FORM_PLAIN : TENON_FORM_BATCH;
    status = prepare(signer, &self, input, input_n, input_written, &prepared);
    status = sign(signer, &self, status, has_key);
    if (status == TENON_OK)
        status = tenoni_signature_value(signature, signature_n, signature_written, self.bytes, self.bytes_n);
    if (status != TENON_OK)
        *input_written = 0;
    return status;
}
