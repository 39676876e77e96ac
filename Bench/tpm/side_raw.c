/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "rig.h"

/* The floor: a TPM2_Sign that was built once goes over the wire, and its answer comes back. */
typedef struct {
    tenon_tpm_transport wire;
    uint8_t command[73];
    uint8_t answer[TENON_TPM_BUFFER_SIZE];
} raw_side;

enum { HANDLE_AT = 10, DIGEST_AT = 29, CODE_AT = 6 };

/* Part 3, 20.2, with an empty password; handle and digest are filled in. */
static const uint8_t sign_command[73] = {
    0x80, 0x02, 0,    0, 0, 73,   0, 0,    0x01, 0x5D, /* TPM_ST_SESSIONS, size, TPM_CC_Sign */
    0,    0,    0,    0, 0, 0,    0, 9,                /* keyHandle, the size of what authorises it */
    0x40, 0,    0,    9, 0, 0,    0, 0,    0,          /* TPM_RS_PW */
    0,    32,   0,    0, 0, 0,    0, 0,    0,    0,    /* digest */
    0,    0,    0,    0, 0, 0,    0, 0,    0,    0,    /**/
    0,    0,    0,    0, 0, 0,    0, 0,    0,    0,    /**/
    0,    0,    0,    0, 0, 0x18, 0, 0x0B,             /* ECDSA, SHA-256 */
    0x80, 0x24, 0x40, 0, 0, 7,    0, 0,                /* TPM_ST_HASHCHECK, TPM_RH_NULL: no ticket */
};

static const char *version(void)
{
    return "a prebuilt TPM2_Sign, sent and received";
}

static void *raw_open(const fixture *made)
{
    const rig *shared = rig_open();
    raw_side *self = calloc(1, sizeof *self);
    if (shared == NULL || self == NULL)
        return NULL;
    self->wire = support_transport_table(shared->wire);
    memcpy(self->command, sign_command, sizeof sign_command);
    for (int i = 0; i < 4; i++)
        self->command[HANDLE_AT + i] = (uint8_t)(shared->handle >> (24 - 8 * i));
    memcpy(self->command + DIGEST_AT, made->digests[0].bytes, sizeof made->digests[0].bytes);
    return self;
}

static void raw_close(void *context)
{
    free(context);
    rig_close();
}

static bool sign(void *context)
{
    static const uint8_t success[4];
    raw_side *self = context;
    size_t n;
    return self->wire.exchange(self->wire.context, self->answer, sizeof self->answer, &n, self->command,
                               sizeof self->command) == TENON_OK &&
           memcmp(self->answer + CODE_AT, success, sizeof success) == 0;
}

static const side_line lines[] = {
    {"tpm-sign", sign},           {"tpm-sign-salted", sign},     {"tpm-sign-encrypted", sign},
    {"tpm-first-handle", sign},   {"tpm-first-srk", sign},       {"tpm-first-primary", sign},
    {"tpm-process", sign},        {"tpm-attest", sign},          {"tpm-sign-threads-1", sign},
    {"tpm-sign-threads-4", sign}, {"tpm-sign-threads-16", sign},
};

const side side_tpm_raw = {
    .name = "raw",
    .version = version,
    .open = raw_open,
    .close = raw_close,
    .lines = lines,
    .lines_n = sizeof lines / sizeof *lines,
    .commands = &rig_commands,
};
