/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_TPM_SIDES_H
#define BENCH_TPM_SIDES_H

#include "side.h"

extern const side side_process_tenon, side_raw_load, side_raw_door, side_sapi, side_esys, side_esys_hmac,
    side_tpm2_openssl, side_pkcs11, side_pytss, side_abrmd, side_fapi, side_pkeyutl, side_tpm2_sign;

#endif
