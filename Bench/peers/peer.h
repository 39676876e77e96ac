/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include "rig.h"

enum { PEER_NAME_MAX = 512 };

/*
 * What a peer works on: a software TPM of its own, so that what it leaves in there (three sessions, three objects) is
 * in nobody's way, and names of the TCTI to it. Its commands are counted on the wire, whoever sends them.
 */
typedef struct {
    rig *rig; /* first: rig_own_commands */
    tenon_tpm_transport table;
    struct door *door;
    char *folder; /* its own, gone at the end with all that is in it */
    /* For tss2's loader: the first in this process, without a way between; the other through a socket of this process.
     */
    char inside[PEER_NAME_MAX], outside[PEER_NAME_MAX];
    const char *socket; /* of the latter */
} peer;

/* Closed by peer_close, after a failure too. */
bool peer_open(peer *out, bool with_keys);
void peer_close(peer *of);

/* FOLDER/name, in memory of the caller's to free. */
char *peer_path(const peer *of, const char *name);
bool peer_write(const peer *of, const char *name, const void *bytes, size_t n);

/* The version of a Debian package in the list that BENCH_PACKAGES names (packages.sh); NULL: it is not here. */
const char *peer_package(const char *name);

#endif
