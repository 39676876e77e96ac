/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_BATCH_H
#define TENONI_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tenon/batch/batch.h"

/* The bytes of Signature in a batch: signature, size, index, path. */
enum {
    TENONI_MEMBER_MIN = TENON_SIGNATURE_SIZE + 4,
    TENONI_MEMBER_MAX = TENONI_MEMBER_MIN + TENON_BATCH_STEPS * TENON_DIGEST_SIZE
};

/* RFC 9162, 2.1.1. */
tenon_status tenoni_leaf(tenon_digest *out, const tenon_digest *digest);
tenon_status tenoni_node(tenon_digest *out, const tenon_digest *left, const tenon_digest *right);

/* How many steps the path of this leaf has: an odd last node of a level goes up as it is, without a step. */
size_t tenoni_steps(size_t size, size_t index);

/* SHA-256 of the statement about a root. */
tenon_status tenoni_batch_statement(tenon_digest *out, const tenon_digest *thumbprint, size_t size,
                                    const tenon_digest *root);

/* The member's bytes, TENONI_MEMBER_MAX at most, of a signed batch with this index; returns how many. */
size_t tenoni_batch_member(const tenon_batch *batch, uint8_t *out, size_t index);

/* Verifies the signature of a signed batch. */
tenon_status tenoni_batch_check(const tenon_batch *batch, const tenon_verifier *verifier);

#endif
