/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "peer.h"
#include "process.h"
#include "tpm_sides.h"

/* tpm2-pytss in a Python that stays: pytss.py signs once for each line that it reads, and answers with one. */
typedef struct {
    peer peer;
    process python;
} pytss_side;

static const char *version(void)
{
    return peer_package("python3-tpm2-pytss");
}

static bool sign(void *context)
{
    const pytss_side *self = context;
    char answer = 0;
    return write(self->python.in, "\n", 1) == 1 && read(self->python.out, &answer, 1) == 1 && answer == '\n';
}

static double cpu(void *context)
{
    const pytss_side *self = context;
    return process_cpu(&self->python);
}

static void pytss_close(void *context)
{
    pytss_side *self = context;
    process_stop(&self->python);
    peer_close(&self->peer);
    free(self);
}

static void *pytss_open(const fixture *made)
{
    char handle[32], digest[2 * TENON_DIGEST_SIZE + 1];
    const char *script = getenv("BENCH_PYTSS");
    pytss_side *self = calloc(1, sizeof *self);
    if (self == NULL)
        return NULL;
    for (size_t i = 0; i < TENON_DIGEST_SIZE; i++)
        snprintf(digest + 2 * i, 3, "%02x", made->digests[0].bytes[i]);
    if (script != NULL && peer_open(&self->peer, true)) {
        snprintf(handle, sizeof handle, "0x%x", self->peer.rig->handle);
        const char *words[] = {"/usr/bin/python3", script, self->peer.outside, handle, digest, NULL};
        extern char **environ;
        if (process_start(&self->python, words, environ) && sign(self))
            return self;
    }
    pytss_close(self);
    return NULL;
}

static const side_line lines[] = {{"tpm-sign", sign}};

const side side_pytss = {
    .name = "tpm2-pytss",
    .version = version,
    .open = pytss_open,
    .close = pytss_close,
    .lines = lines,
    .lines_n = 1,
    .commands = &rig_own_commands,
    .cpu = cpu,
};
