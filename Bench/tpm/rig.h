/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_RIG_H
#define BENCH_RIG_H

#include "bench.h"
#include "test_transport.h"

enum { RIG_NAME_MAX = 512 };

/* An exported key. */
typedef struct {
    char text[TENON_TPM_KEY_MAX];
    size_t n;
} rig_file;

/* One software TPM, what is in it, and the wire to it. */
typedef struct {
    support_swtpm *tpm;
    support_transport *wire;
    tenon_tpm_transport table; /* of the wire */
    rig_file primary;          /* a key under the transient H-2 primary */
    rig_file srk;              /* a key under the storage key at 0x81000001 */
    rig_file kept;             /* the same with a persistent copy */
    uint32_t handle;           /* where that is */
} rig;

/*
 * The one that all sides share: nobody's TPM is faster than another's. It ends with the program. NULL when it cannot be
 * made.
 */
rig *rig_share(void);

/* Ends what rig_share began; NULL is allowed. The last one to leave flushes what peers left in the TPM. */
void rig_leave(rig *of);

/* The name of the TCTI to it, as tss2's loader takes it, in RIG_NAME_MAX bytes. */
bool rig_tcti(const rig *of, char *out);

/* Of the rig that the side's memory begins with a pointer to. */
extern const side_commands rig_commands;

/* The version of a peer, which Bench/peers.sh leaves in the environment; NULL: it is not here. */
const char *rig_version(const char *name);

#endif
