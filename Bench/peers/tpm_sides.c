/* SPDX-License-Identifier: Apache-2.0 */
#include "tpm_sides.h"

#include "rig.h"

/* Without a header of PKCS #11 to build it with, it has a name, and no more. */
__attribute__((weak)) const side side_pkcs11 = {.name = "tpm2-pkcs11"};

const side *const sides[] = {
    &side_tpm_tenon, &side_process_tenon, &side_tpm_raw,   &side_raw_load,     &side_raw_door,
    &side_sapi,      &side_esys,          &side_esys_hmac, &side_tpm2_openssl, &side_pytss,
    &side_abrmd,     &side_pkcs11,        &side_fapi,      &side_pkeyutl,      &side_tpm2_sign,
};
const size_t sides_n = sizeof sides / sizeof *sides;
