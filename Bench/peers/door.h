/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_DOOR_H
#define BENCH_DOOR_H

#include "tenon/tpm/tpm.h"

/* A way to a TPM of this process for other ones: a unix socket in a folder, over which commands and answers go bare. */
typedef struct door door;

door *door_new(const tenon_tpm_transport *to, const char *folder); /* NULL: it cannot be made */
void door_free(door *of);
const char *door_path(const door *of);

/* The other end of it: a descriptor, or -1; and one command and its answer. */
int door_connect(const char *path);
tenon_status door_exchange(int fd, uint8_t *answer, size_t answer_size, size_t *answer_n, const uint8_t *command,
                           size_t command_n);

#endif
