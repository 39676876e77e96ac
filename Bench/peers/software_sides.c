/* SPDX-License-Identifier: Apache-2.0 */
#include "software_sides.h"

__attribute__((weak)) const side side_nettle = {.name = "nettle"};
__attribute__((weak)) const side side_wolfssl = {.name = "wolfssl"};
__attribute__((weak)) const side side_botan = {.name = "botan"};
__attribute__((weak)) const side side_gcrypt = {.name = "libgcrypt"};
/* A package of Swift's: nothing of Debian has it. Its row is there, and empty. */
static const side side_swift_crypto = {.name = "swift-crypto"};

const side *const sides[] = {
    &side_tenon,           &side_tenon_whole, &side_mbedtls, &side_mbedtls_naive, &side_mbedtls_psa, &side_openssl,
    &side_openssl_decoded, &side_nettle,      &side_wolfssl, &side_botan,         &side_gcrypt,      &side_swift_crypto,
};
const size_t sides_n = sizeof sides / sizeof *sides;
