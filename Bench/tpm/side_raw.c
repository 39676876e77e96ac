/* SPDX-License-Identifier: Apache-2.0 */
#include "admin.h"
#include "rig.h"
#include "wire.h"

/*
 * The floor: commands that were built once go over the wire, and the codes of their answers are looked at. A TPM2_Sign
 * by a key that stays; and Load, Sign and FlushContext for each signature.
 */
typedef struct {
    rig *rig;
    support_command load, sign, flush;
    uint8_t answer[TENON_TPM_BUFFER_SIZE];
} raw_side;

enum { SIZE_AT = 2, CODE_AT = 6, HANDLE_AT = 10, ECDSA = 0x18, SHA256 = 0x0B, HASHCHECK = 0x8024 };

static const uint32_t no_hierarchy = 0x40000007;

static const char *version(void) { return "prebuilt commands, sent and received"; }

static void end_command(support_command *command) { support_store32(command->bytes + SIZE_AT, (uint32_t)command->n); }

/* Part 3, 20.2, with an empty password and no ticket. */
static void make_sign(raw_side *self, const fixture *made)
{
    support_command_begin(&self->sign, SUPPORT_CC_SIGN);
    support_put32(&self->sign, self->rig->handle);
    support_password(&self->sign, NULL);
    support_put_sized(&self->sign, made->digests[0].bytes, sizeof made->digests[0].bytes);
    support_put16(&self->sign, ECDSA);
    support_put16(&self->sign, SHA256);
    support_put16(&self->sign, HASHCHECK);
    support_put32(&self->sign, no_hierarchy);
    support_put16(&self->sign, 0);
    end_command(&self->sign);
}

static bool make_load(void *context, size_t unused)
{
    raw_side *self = context;
    support_blob blob;
    if (support_create(self->rig->tpm, SUPPORT_HANDLE_SRK, SUPPORT_SIGNING, NULL, &blob) != 0)
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
    rig_leave(self->rig);
}

static bool raw_open(void *context, const fixture *made)
{
    raw_side *self = context;
    self->rig = rig_share();
    if (self->rig == NULL)
        return false;
    make_sign(self, made);
    return true;
}

static bool run(raw_side *self, const support_command *command)
{
    const tenon_tpm_transport *wire = &self->rig->table;
    size_t n;
    return wire->exchange(wire->context, self->answer, sizeof self->answer, &n, command->bytes, command->n) ==
               TENON_OK &&
           support_fetch32(self->answer + CODE_AT) == 0;
}

static bool sign(void *context, size_t unused)
{
    raw_side *self = context;
    return run(self, &self->sign);
}

static bool load_sign_flush(void *context, size_t unused)
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

static const side_line lines[] = {
    {"tpm-sign", sign},           {"tpm-sign-salted", sign},
    {"tpm-sign-encrypted", sign}, {"tpm-first-handle", sign},
    {"tpm-first-srk", sign},      {"tpm-first-primary", sign},
    {"tpm-attest", sign},         {"tpm-sign-threads-1", sign},
    {"tpm-sign-threads-4", sign}, {"tpm-sign-threads-16", sign},
};
static const side_line load_lines[] = {{"tpm-first-srk", load_sign_flush, .prepare = make_load}};

const side side_raw = {"raw", version, sizeof(raw_side), raw_open, raw_close, SIDE_LINES(lines), &rig_commands};

const side side_raw_load = {"raw-load",   version, sizeof(raw_side), raw_open, raw_close, SIDE_LINES(load_lines),
                            &rig_commands};
