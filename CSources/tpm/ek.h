/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_EK_H
#define TENONI_EK_H

#include "tenon/activate.h"
#include "tpm/policy.h"

/* An EK in the TPM, which has the public key of a certificate. */
typedef struct {
    uint32_t handle;
    bool is_transient;
    uint16_t name_algorithm;
    tenoni_policy policy;
    uint8_t name[2 + TENONI_POLICY_DIGEST_MAX];
    size_t name_n;
} tenoni_ek;

/*
 * Finds the EK of a certificate: among the persistent handles of EKs, else by making the primaries of the templates
 * that its kind may have. It trusts no handle and remembers none. Call it inside an operation, and release the EK
 * afterwards. TENON_ERROR_EK_MISSING: no EK has this public key.
 */
tenon_status tenoni_ek_find(tenon_tpm *tpm, const tenon_ek *wanted, tenoni_ek *out);
void tenoni_ek_release(tenon_tpm *tpm, tenoni_ek *ek);

#endif
