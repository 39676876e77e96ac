/* SPDX-License-Identifier: Apache-2.0 */
#include "sides.h"

/* Stands in for side_openssl.c where OpenSSL's headers are not installed. */
const side side_openssl = {.name = "openssl"};
