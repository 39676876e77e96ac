/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_SOFTWARE_SIDES_H
#define BENCH_SOFTWARE_SIDES_H

#include "sides.h"

extern const side side_openssl_decoded, side_mbedtls_naive, side_mbedtls_psa;

/* These are linked where their library is: without it they have a name, and no more. */
extern const side side_nettle, side_wolfssl, side_botan, side_gcrypt;

#endif
