/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_ISSUE_H
#define TENONI_ISSUE_H

#include "proof/certificate.h"
#include "tenon/activate.h"

/* The contents of the certificates of an AK and of an authority. */
typedef struct {
    const tenon_key *signing_key;
    tenon_public_key signing_public;
    const uint8_t *serial;
    tenoni_certificate issuer; /* all zeros: self-signed */
    tenon_bytes subject;       /* a whole Name */
    int64_t not_before;
    int64_t not_after;
    const tenon_public_key *key;
    const tenon_ek *ek; /* of an AK; NULL: an authority */
} tenoni_plan;

/*
 * Writes and signs. The size of a signature is known only once it is made, so a caller whose buffer is too small for
 * the largest one is told so first, and nothing is signed.
 */
tenon_status tenoni_plan_issue(uint8_t *out, size_t n, size_t *written, const tenoni_plan *of);

#endif
