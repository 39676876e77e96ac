/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BATCH_RIG_H
#define BATCH_RIG_H

#include <stdatomic.h>

#include "batch/batch.h"
#include "crypto/signing_key.h"
#include "test.h"

/* A key that answers when the test lets it, and counts. */
typedef struct {
    tenon_key *inner;
    _Atomic tenon_status status; /* said instead of a signature, if it is not TENON_OK */
    atomic_uint commands;
    atomic_uint inside;  /* threads that wait for their answer */
    atomic_bool is_held; /* an answer waits until this is false */
    atomic_bool breaks;  /* the signature is not the key's */
} slow_key;

/* The key of RFC 6979, A.2.5, and a batch of 1,024 for it. */
typedef struct {
    tenon_key *key;
    tenon_public_key public_key;
    tenon_digest thumbprint;
    char keyid[TENON_THUMBPRINT_SIZE];
    tenon_verifier *verifier;
    tenon_batch *batch;
    slow_key slow;
} batch_rig;

/* Ends with its block, as OWNED_BATCH. */
batch_rig batch_rig_begin(void);

/* The same for another key, which is freed with the rig. */
batch_rig batch_rig_begin_with(tenon_key *key);
void batch_rig_end(batch_rig *rig);
#define OWNED_BATCH __attribute__((cleanup(batch_rig_end))) batch_rig
#define TEST_BATCH(test_name) TEST_WITH(test_name, batch_rig, rig, batch_rig_begin(), batch_rig_end)

/* What stands for the digest of a request with this number: SHA-256 of its decimal digits. */
void batch_rig_digest(tenon_digest *out, size_t number);

/* Clears the batch and adds the digests 0 to count - 1. */
void batch_rig_fill(batch_rig *rig, size_t count);

/* What a verifier reads of this member of a signed batch. */
void batch_rig_member(const tenon_batch *batch, tenon_signed2 *out, size_t index);

/* The key of the rig behind rig.slow. */
tenon_status batch_rig_slow_key(batch_rig *rig, tenon_key **out);

/* A request that is good in each of its texts. */
tenon_request2 batch_rig_request(const batch_rig *rig, uint32_t form);

/* The literal as a text. */
#define TEXT(literal) ((tenon_text){(literal), sizeof(literal) - 1})

#endif
