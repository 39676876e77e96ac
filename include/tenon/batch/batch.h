/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENON_BATCH_BATCH_H
#define TENON_BATCH_BATCH_H

#include "tenon/api.h"
#include "tenon/batch/request2.h"
#include "tenon/key.h"
#include "tenon/p256.h"
#include "tenon/status.h"
#include "tenon/types.h"

TENON_BEGIN

/*
 * Requests that share one signature. Their digests are the leaves of a Merkle tree (RFC 9162, 2.1.1), the key signs a
 * statement about the root, and each request carries that signature, its index and its path:
 *
 * leaf       SHA-256(00 || digest), digest as of tenon_request2_digest in the form TENON_FORM_BATCH
 * node       SHA-256(01 || left || right)
 * statement  "tenon request batch 2" and NULs to 32 bytes || thumbprint (32) || size (2) || root (32)
 * value      r (32) || s (32), s at most n/2 || size (2) || index (2) || path: 32 bytes a step, upwards
 *
 * A batch is one allocation of about 64 bytes for each member. One thread at a time uses it.
 */
typedef struct tenon_batch tenon_batch;

/* A batch for this key, of at most max members: 1 to TENON_BATCH_MAX, else TENON_ERROR_BATCH_SIZE. */
TENON_API TENON_MUST_USE tenon_status tenon_batch_new(tenon_batch **out, const tenon_public_key *key, size_t max);

/* Begins the next batch in the same memory. */
TENON_API void tenon_batch_clear(tenon_batch *batch);

/* Wipes and frees. */
TENON_API void tenon_batch_free(tenon_batch **batch);

/*
 * Adds a member, and gives its index. A full batch is TENON_ERROR_BATCH_FULL, a signed one TENON_ERROR_BATCH_STATE. The
 * digest is hashed once more, behind 00, so that it serves as no other message.
 */
TENON_API TENON_MUST_USE tenon_status tenon_batch_add(tenon_batch *batch, size_t *index, const tenon_digest *digest);

/*
 * Hashes the tree and signs its statement, once, with one signature. An empty or signed batch is
 * TENON_ERROR_BATCH_STATE, and a key that is not the batch's is TENON_ERROR_KEYID. If the key fails, the batch stays as
 * it was, and may be signed again.
 */
TENON_API TENON_MUST_USE tenon_status tenon_key_sign_batch(const tenon_key *key, tenon_batch *batch);

/* The value of Signature of the member with this index, once the batch is signed. */
TENON_API TENON_MUST_USE tenon_status tenon_batch_signature(const tenon_batch *batch, char *TENON_COUNTED(n) out,
                                                            size_t n, size_t *written, size_t index);

/* ---- Verifying ---- */

/* What tenon_signed2_read found covered besides what always is. */
enum { TENON_COVERS_CONTENT_TYPE = 0x1, TENON_COVERS_CONTENT_ENCODING = 0x2 };

/* What Signature-Input and Signature say. In the plain form size, index and steps are 0. */
typedef struct {
    uint64_t created;
    uint64_t expires;
    uint32_t form;   /* TENON_FORM_* */
    uint32_t covers; /* TENON_COVERS_* */
    uint32_t size;
    uint32_t index;
    uint32_t steps;
    char nonce[TENON_UUID_SIZE];
    char keyid[TENON_THUMBPRINT_SIZE];
    tenon_digest thumbprint; /* keyid, decoded */
    tenon_signature signature;
    tenon_digest path[TENON_BATCH_STEPS];
} tenon_signed2;

/*
 * Reads the values of Signature-Input and Signature. Both must be exactly what tenon_request2_input and
 * tenon_batch_signature or tenon_signature2 write. The checks, in this order, each with its code:
 *
 * TENON_ERROR_SIGNATURE_INPUT  the first is the template, of at most TENON_SIGNATURE_INPUT_MAX bytes
 * TENON_ERROR_VALIDITY         expires is 1 to TENON_VALIDITY_MAX seconds after created
 * TENON_ERROR_SIGNATURE_VALUE  the second is base64 of 64 bytes, or in a batch of 68 and up to 10 steps of 32
 * TENON_ERROR_BATCH_SIZE       the size is 1 to TENON_BATCH_MAX
 * TENON_ERROR_BATCH_INDEX      the index is below the size
 * TENON_ERROR_BATCH_PATH       the path has the steps that this index has in a tree of this size
 * TENON_ERROR_SIGNATURE_RANGE  r and s are in 1 .. n-1
 * TENON_ERROR_SIGNATURE_HIGH   in a batch s is at most n/2
 */
TENON_API TENON_MUST_USE tenon_status tenon_signed2_read(tenon_signed2 *out, const char *TENON_COUNTED(input_n) input,
                                                         size_t input_n,
                                                         const char *TENON_COUNTED(signature_n) signature,
                                                         size_t signature_n);

/*
 * The digest of the request with which these values came, as tenon_request2_digest gives it; nonce, keyid, times and
 * form are theirs. If Content-Type and Content-Encoding are not covered exactly when the request has them, the result
 * is TENON_ERROR_SIGNATURE_INPUT.
 */
TENON_API TENON_MUST_USE tenon_status tenon_signed2_digest(const tenon_signed2 *signed2, tenon_digest *out,
                                                           const tenon_request2 *request);

/* What a key signed: of a batch its statement, of a plain request its digest. */
typedef struct {
    tenon_digest thumbprint;
    tenon_digest root; /* of a plain request its digest */
    tenon_signature signature;
    uint32_t size; /* 0: plain */
} tenon_root;

/* Climbs from the digest of the request (tenon_request2_digest) to the root. At most 11 short hashes, and no key. */
TENON_API TENON_MUST_USE tenon_status tenon_signed2_root(const tenon_signed2 *signed2, tenon_root *out,
                                                         const tenon_digest *digest);

/* Verifies the signature. The caller compares the thumbprint with that of the verifier's key. */
TENON_API TENON_MUST_USE tenon_status tenon_root_verify(const tenon_verifier *verifier, const tenon_root *root);

/*
 * The roots that were verified last: the caller's memory, for one key, beginning with zeros. Enter only what
 * tenon_root_verify accepted. An entry says that this key signed this statement, which stays true: it is no verdict
 * about a device or a request.
 */
enum { TENON_ROOTS = 64 };

typedef struct {
    tenon_root entries[TENON_ROOTS];
    uint64_t used[TENON_ROOTS]; /* 0: empty */
    uint64_t uses;
} tenon_roots;

/* 1 if this root was learnt, signature and all, and not pushed out since. A plain one is never known. */
TENON_API int32_t tenon_roots_knows(tenon_roots *roots, const tenon_root *root);

/* Enters a root of a batch, in the place of the one that was used least recently. */
TENON_API void tenon_roots_learn(tenon_roots *roots, const tenon_root *root);

TENON_END

#endif
