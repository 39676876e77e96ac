/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_ATTESTATION_H
#define BENCH_ATTESTATION_H

#include <stdbool.h>

#include "tenon/tenon.h"
#include "tenon/verify.h"

/* A good proof. A key in software stands in for the AK, whose public area says otherwise. */
typedef struct {
    tenon_digest nonce;
    tenon_public_key key;
    uint8_t ak[TENON_AREA_MAX];
    size_t ak_n;
    uint8_t proof[TENON_PROOF_MAX];
    size_t n;
    /* What its public-key operations work on. */
    tenon_public_key ak_point;
    tenon_digest digest;
    tenon_signature signature;
} attestation;

/* By the AK with this private key, with these certificates or none. */
bool attestation_make(attestation *out, const uint8_t *ak_scalar, const tenon_bytes *x5c, size_t count);

#endif
