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
 * that its kind may have. No handle is believed, and none is remembered. Inside an operation; then it is to be
 * released. TENON_ERROR_EK_MISSING: none is it.
 */
tenon_status tenoni_ek_find(tenon_tpm *tpm, const tenon_ek *wanted, tenoni_ek *out);
void tenoni_ek_release(tenon_tpm *tpm, tenoni_ek *ek);

#endif
