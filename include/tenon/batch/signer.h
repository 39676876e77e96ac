/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENON_BATCH_SIGNER_H
#define TENON_BATCH_SIGNER_H

#include "tenon/api.h"
#include "tenon/batch/request2.h"
#include "tenon/key.h"
#include "tenon/status.h"

TENON_BEGIN

/*
 * Signs the requests of many threads with one key. A request that finds the key idle is signed alone, at once and in
 * the plain form. Requests that come while the key is busy wait; when it is free, the oldest of them signs for all that
 * wait, on its own thread. There is no thread, timer or allocation beside the callers' own.
 */
typedef struct tenon_signer tenon_signer;

enum {
    TENON_SIGNER_CHECKS = 0x1, /* verify each signature before it is handed out: a verification for each batch */
};

/*
 * size         sizeof(tenon_signer_options) as the caller was compiled
 * flags        TENON_SIGNER_*
 * max          members of a batch, 1 to TENON_BATCH_MAX; four times as many may wait
 * deadline_ms  how long a request waits for its batch to begin
 */
typedef struct {
    size_t size;
    uint32_t flags;
    uint32_t max;
    uint32_t deadline_ms;
} tenon_signer_options;

/*
 * Makes a signer for a key, which the caller keeps until the signer is freed. options may be NULL: no flags, 1,024
 * members, 2 s.
 */
TENON_API TENON_MUST_USE tenon_status tenon_signer_new(tenon_signer **out, const tenon_key *key,
                                                       const tenon_signer_options *options);

/*
 * Signs one request, and waits for that. The signer draws the nonce and knows the keyid, and with form 0 chooses the
 * form. A request with TENON_FORM_PLAIN waits for its turn alone. input takes TENON_SIGNATURE_INPUT_MAX bytes and
 * signature TENON_SIGNATURE_VALUE_MAX; smaller ones are TENON_ERROR_BUFFER_TOO_SMALL, before anything is signed.
 *
 * TENON_ERROR_BATCH_FULL  too many wait already
 * TENON_ERROR_DEADLINE    the request waited for its deadline, and was not signed
 * TENON_ERROR_FORKED      another process made the signer
 *
 * What the key says of a batch is said to each of its members. If it says that the key is gone, or must not sign now
 * (TENON_CATEGORY_STATE), that is also said to those that still wait.
 */
TENON_API TENON_MUST_USE tenon_status tenon_signer_sign(tenon_signer *signer, char *TENON_COUNTED(input_n) input,
                                                        size_t input_n, size_t *input_written,
                                                        char *TENON_COUNTED(signature_n) signature, size_t signature_n,
                                                        size_t *signature_written, const tenon_request2 *request);

/* Frees the signer when no thread uses it any more. */
TENON_API void tenon_signer_free(tenon_signer **signer);

TENON_END

#endif
