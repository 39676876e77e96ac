/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_STREAM_H
#define TENONI_STREAM_H

#include "tenon/digest.h"

/*
 * What the opaque words of tenon_sha256_stream and tenon_request hold: first a kind, which tells one from the other and
 * from memory that was never begun, then the backend's state.
 */
enum { TENONI_SHA256_STATE_SIZE = TENON_SHA256_STREAM_SIZE - 8 };

#define TENONI_STREAM_SHA256 UINT64_C(0x74656e6f6e736861)  /* "tenonsha" */
#define TENONI_STREAM_REQUEST UINT64_C(0x74656e6f6e726571) /* "tenonreq" */

tenon_status tenoni_stream_begin(uint64_t *stream, uint64_t kind);
tenon_status tenoni_stream_update(uint64_t *stream, uint64_t kind, const void *data, size_t n);
tenon_status tenoni_stream_finish(uint64_t *stream, uint64_t kind, tenon_digest *out);

#endif
