/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_TCTI_H
#define BENCH_TCTI_H

#include <tss2/tss2_tcti.h>

#include "peer.h"

/* tss2's door to a peer's TPM, made without its loader. NULL: it cannot be made; it is given back with free(). */
TSS2_TCTI_CONTEXT *tcti_new(const peer *to);

#endif
