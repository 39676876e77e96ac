/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_POLICY_H
#define TENONI_POLICY_H

#include "crypto/hash.h"
#include "tpm/channel.h"

/* How an EK is authorised: TCG EK Credential Profile, PolicyA, or PolicyB, which is PolicyA or the maker's PolicyC. */

enum { TENONI_POLICY_DIGEST_MAX = 48 };

typedef enum { TENONI_POLICY_NONE, TENONI_POLICY_A, TENONI_POLICY_B } tenoni_policy;

/* The digest with this nameAlg, SHA-256 or SHA-384; and which policy a digest is. */
tenoni_part tenoni_policy_digest(uint16_t hash, tenoni_policy policy);
tenoni_policy tenoni_policy_of(uint16_t hash, const tenoni_reader *digest);

/*
 * Opens a policy session that satisfies the policy, with the auth value of the endorsement hierarchy. It is good for
 * one command, which ends it; otherwise flush it. Inside an operation.
 */
tenon_status tenoni_policy_open(tenon_tpm *tpm, uint16_t hash, tenoni_policy policy, uint32_t *session);

#endif
