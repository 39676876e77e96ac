/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_RIG_H
#define BENCH_RIG_H

#include "side.h"
#include "test_transport.h"

/* An exported key. */
typedef struct {
    char text[TENON_TPM_KEY_MAX];
    size_t n;
} rig_file;

/* One software TPM, what is in it, and the wire to it: all sides work on these, in turn. */
typedef struct {
    support_swtpm *tpm;
    support_transport *wire;
    rig_file primary; /* a key under the transient H-2 primary */
    rig_file srk;     /* a key under the storage key at 0x81000001 */
    rig_file kept;    /* the same with a persistent copy */
    uint32_t handle;  /* where that is */
} rig;

/* The program's one; NULL when it cannot be made. Each side that opened it closes it. */
const rig *rig_open(void);
void rig_close(void);

/* Another one, with a TPM of its own; without keys that is as it comes from the factory. */
rig *rig_new(bool with_keys);
void rig_free(rig *of);

extern const bench_commands rig_commands;
extern const bench_commands rig_own_commands; /* of the rig that the side's memory begins with a pointer to */
extern const side side_tpm_tenon, side_tpm_raw;

#endif
