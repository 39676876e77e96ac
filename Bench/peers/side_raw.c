/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "admin.h"
#include "door.h"
#include "peer.h"
#include "tpm_sides.h"
#include "wire.h"

/*
 * The floor of two ways: Load, Sign and FlushContext for each signature; and one Sign through the socket that the peers
 * in processes of their own reach their TPM by.
 */
typedef struct {
    peer peer;
    int fd;
    support_command load, sign, flush;
    uint8_t answer[TENON_TPM_BUFFER_SIZE];
} raw_side;

enum { HANDLE_AT = 10, CODE_AT = 6, ECDSA = 0x18, SHA256 = 0x0B };

static const char *version(void)
{
    return "prebuilt commands";
}

static void end_command(support_command *command)
{
    support_store32(command->bytes + 2, (uint32_t)command->n);
}

static void make_sign(raw_side *self, const fixture *made, uint32_t handle)
{
    support_command_begin(&self->sign, SUPPORT_CC_SIGN);
    support_put32(&self->sign, handle);
    support_password(&self->sign, NULL);
    support_put_sized(&self->sign, made->digests[0].bytes, sizeof made->digests[0].bytes);
    support_put16(&self->sign, ECDSA);
    support_put16(&self->sign, SHA256);
    support_put16(&self->sign, 0x8024); /* TPM_ST_HASHCHECK, TPM_RH_NULL: no ticket */
    support_put32(&self->sign, 0x40000007);
    support_put16(&self->sign, 0);
    end_command(&self->sign);
}

static bool make_load(raw_side *self)
{
    support_blob blob;
    if (support_create(self->peer.rig->tpm, SUPPORT_HANDLE_SRK, SUPPORT_SIGNING, NULL, &blob) != 0)
        return false;
    support_command_begin(&self->load, SUPPORT_CC_LOAD);
    support_put32(&self->load, SUPPORT_HANDLE_SRK);
    support_password(&self->load, NULL);
    support_put_sized(&self->load, blob.secret, blob.secret_n);
    support_put_sized(&self->load, blob.area.bytes, blob.area.n);
    end_command(&self->load);
    support_command_begin(&self->flush, SUPPORT_CC_FLUSH_CONTEXT);
    support_put32(&self->flush, 0);
    end_command(&self->flush);
    return true;
}

static void raw_close(void *context)
{
    raw_side *self = context;
    if (self->fd >= 0)
        close(self->fd);
    peer_close(&self->peer);
    free(self);
}

static raw_side *raw_new(void)
{
    raw_side *self = calloc(1, sizeof *self);
    if (self == NULL)
        return NULL;
    self->fd = -1;
    if (peer_open(&self->peer, true))
        return self;
    raw_close(self);
    return NULL;
}

static void *load_open(const fixture *made)
{
    raw_side *self = raw_new();
    if (self == NULL)
        return NULL;
    make_sign(self, made, 0);
    if (make_load(self))
        return self;
    raw_close(self);
    return NULL;
}

static void *door_open(const fixture *made)
{
    raw_side *self = raw_new();
    if (self == NULL)
        return NULL;
    make_sign(self, made, self->peer.rig->handle);
    self->fd = door_connect(self->peer.socket);
    if (self->fd >= 0)
        return self;
    raw_close(self);
    return NULL;
}

static bool is_success(const raw_side *self)
{
    return support_fetch32(self->answer + CODE_AT) == 0;
}

static bool run(raw_side *self, const support_command *command)
{
    size_t n;
    return self->peer.table.exchange(self->peer.table.context, self->answer, sizeof self->answer, &n, command->bytes,
                                     command->n) == TENON_OK &&
           is_success(self);
}

static bool load_sign_flush(void *context)
{
    raw_side *self = context;
    if (!run(self, &self->load))
        return false;
    const uint32_t handle = support_fetch32(self->answer + HANDLE_AT);
    support_store32(self->sign.bytes + HANDLE_AT, handle);
    support_store32(self->flush.bytes + HANDLE_AT, handle);
    bool signs = run(self, &self->sign);
    return run(self, &self->flush) && signs;
}

static bool sign_through(void *context)
{
    raw_side *self = context;
    size_t n;
    return door_exchange(self->fd, self->answer, sizeof self->answer, &n, self->sign.bytes, self->sign.n) == TENON_OK &&
           is_success(self);
}

static const side_line load_lines[] = {{"tpm-first-srk", load_sign_flush}};
static const side_line door_lines[] = {{"tpm-sign", sign_through}, {"tpm-process", sign_through}};

const side side_raw_load = {
    .name = "raw-load",
    .version = version,
    .open = load_open,
    .close = raw_close,
    .lines = load_lines,
    .lines_n = 1,
    .commands = &rig_own_commands,
};

const side side_raw_door = {
    .name = "raw-socket",
    .version = version,
    .open = door_open,
    .close = raw_close,
    .lines = door_lines,
    .lines_n = 2,
    .commands = &rig_own_commands,
};
