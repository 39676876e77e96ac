/* SPDX-License-Identifier: Apache-2.0 */
#include "bench.h"

/* Without a header of PKCS #11 to build it with, it has a name, and no more. */
__attribute__((weak)) const side side_pkcs11 = {.name = "tpm2-pkcs11"};

const side *const sides[] = {
    &side_tenon, &side_batch,    &side_threads, &side_tpm,       &side_mbedtls,      &side_openssl, &side_openssl_once,
    &side_raw,   &side_raw_load, &side_esys,    &side_esys_hmac, &side_tpm2_openssl, &side_pkcs11,
};
const size_t sides_n = sizeof sides / sizeof *sides;
