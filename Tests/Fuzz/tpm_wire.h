/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENON_TPM_WIRE_H
#define TENON_TPM_WIRE_H

#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "fuzz.h"
#include "tenon/tpm/tpm.h"

/*
 * A TPM whose answers are the input: each a form, two bytes of length and that many bytes. When there are no more
 * answers, the transport fails. What is random is the same in each run: a session that was recorded once is good again.
 * Nobody waits. A program includes this once, with _DEFAULT_SOURCE for syscall.
 */

/* How a TPM is opened: TENON_TPM_SESSION_*, a transport that can be opened again, and one without a resource manager.
 */
enum { SESSION = 0x03, REOPENS = 0x04, BARE = 0x08 };

/* The form of an answer. */
enum {
    BODY,    /* behind a header that is right */
    REFUSED, /* a header with these four bytes as the response code */
    RAW,     /* all of it */
    LYING,   /* the same, and the transport says another length: the first two bytes */
    LOST,    /* the transport fails */
    FORMS
};

enum { HEADER = 10, ANSWERS_MAX = 64, DRY_MAX = 256, LONG_WAIT_S = 2 };

enum { CC_EVICT_CONTROL = 0x120, CC_FLUSH_CONTEXT = 0x165 };

static _Thread_local bool fuzzing;
#define RANDOM_SEED UINT64_C(0x9e3779b97f4a7c15)

static uint64_t random_state;
static uint32_t long_waits;

/* xorshift: Marsaglia 2003. */
ssize_t getrandom(void *out, size_t n, unsigned flags)
{
    if (!fuzzing)
        return syscall(SYS_getrandom, out, n, flags);
    for (size_t i = 0; i < n; i++) {
        random_state ^= random_state << 13;
        random_state ^= random_state >> 7;
        random_state ^= random_state << 17;
        ((uint8_t *)out)[i] = (uint8_t)(random_state >> 32);
    }
    return (ssize_t)n;
}

int nanosleep(const struct timespec *wanted, struct timespec *left)
{
    if (!fuzzing)
        return (int)syscall(SYS_nanosleep, wanted, left);
    long_waits += wanted->tv_sec >= LONG_WAIT_S;
    return 0;
}

typedef struct {
    const uint8_t *data;
    size_t n;
    uint32_t answers, dry, reopens;
} tpm_wire;

static uint32_t fetch32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static void store_header(uint8_t *answer, uint16_t tag, size_t n, const uint8_t *rc)
{
    const uint8_t header[] = {(uint8_t)(tag >> 8), (uint8_t)tag, 0,     0,     (uint8_t)(n >> 8),
                              (uint8_t)n,          rc[0],        rc[1], rc[2], rc[3]};
    memcpy(answer, header, sizeof header);
}

/* Whatever the TPM says, only sessions and transient objects are flushed, and only our handles are evicted. */
static void must_be_harmless(const uint8_t *command, size_t n)
{
    MUST(n >= HEADER && n <= TENON_TPM_BUFFER_SIZE && fetch32(command + 2) == n);
    uint32_t code = fetch32(command + 6);
    uint32_t last = fetch32(command + n - 4);
    if (code == CC_FLUSH_CONTEXT)
        MUST(n == HEADER + 4 && (last >> 24 == 0x80 || last >> 24 == 0x02 || last >> 24 == 0x03));
    if (code == CC_EVICT_CONTROL)
        MUST(last >> 16 == 0x8108);
}

static tenon_status give(uint8_t *out, size_t size, size_t *length, const uint8_t *command, uint8_t form,
                         const uint8_t *bytes, size_t n)
{
    static const uint8_t ok[4];
    bool headed = form == BODY;
    size_t room = size - (headed ? HEADER : 0);
    n = n < room ? n : room;
    switch (form) {
    case BODY:
        memcpy(out + HEADER, bytes, n);
        store_header(out, (uint16_t)(command[0] << 8 | command[1]), HEADER + n, ok);
        *length = HEADER + n;
        return TENON_OK;
    case REFUSED:
        if (n < 4)
            return TENON_ERROR_TPM_BUSY;
        store_header(out, 0x8001, HEADER, bytes);
        *length = HEADER;
        return TENON_OK;
    case RAW:
    case LYING:
        memcpy(out, bytes, n);
        *length = form == RAW || n < 2 ? n : (size_t)bytes[0] << 8 | bytes[1];
        return TENON_OK;
    default:
        return TENON_ERROR_KEY_GONE;
    }
}

static tenon_status exchange(void *context, uint8_t *answer, size_t size, size_t *length, const uint8_t *command,
                             size_t n)
{
    tpm_wire *wire = context;
    must_be_harmless(command, n);
    if (wire->n < 3 || wire->answers == ANSWERS_MAX) {
        MUST(++wire->dry <= DRY_MAX);
        return TENON_ERROR_TPM_TRANSPORT;
    }
    wire->answers++;
    uint8_t form = wire->data[0] % FORMS;
    size_t said = (size_t)wire->data[1] << 8 | wire->data[2];
    wire->data += 3;
    wire->n -= 3;
    size_t given = said < wire->n ? said : wire->n;
    tenon_status status = give(answer, size, length, command, form, wire->data, given);
    wire->data += given;
    wire->n -= given;
    return status;
}

static tenon_status reopen(void *context)
{
    tpm_wire *wire = context;
    wire->reopens++;
    return TENON_OK;
}

/* Gone needs a second check over a fresh transport; and the caller is not at fault. */
static void must_be_possible(tenon_status status, const tpm_wire *wire)
{
    int32_t category = tenon_status_category(status);
    if (category == TENON_CATEGORY_GONE)
        MUST(wire->reopens >= 1 && long_waits >= 1);
    MUST(category != TENON_CATEGORY_STATE && category != TENON_CATEGORY_UNKNOWN);
    MUST(strcmp(tenon_status_name(status), "TENON_ERROR_UNNAMED") != 0);
}

/* Opens a TPM over the wire: opened_as holds TENON_TPM_SESSION_* and whether the transport can be opened again. */
static tenon_tpm *wire_open(tpm_wire *wire, uint8_t opened_as)
{
    tenon_tpm_transport transport = {
        .size = sizeof transport,
        .context = wire,
        .exchange = exchange,
        .reopen = (opened_as & REOPENS) != 0 ? reopen : NULL,
        .managed = (opened_as & BARE) == 0,
    };
    tenon_tpm_options options = {.size = sizeof options, .session = (opened_as & SESSION) % 3, .deadline_ms = 1};
    tenon_tpm *tpm;
    random_state = RANDOM_SEED;
    long_waits = 0;
    fuzzing = true;
    MUST(tenon_tpm_open_transport(&tpm, &transport, &options) == TENON_OK);
    return tpm;
}

static void wire_close(tenon_tpm **tpm)
{
    tenon_tpm_free(tpm);
    fuzzing = false;
}

#endif
