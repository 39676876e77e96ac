/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENON_REQUEST_H
#define TENON_REQUEST_H

#include "tenon/api.h"
#include "tenon/status.h"
#include "tenon/types.h"

TENON_BEGIN

/*
 * The nonce that binds a key to a challenge: SHA-256 of the challenge text as it was received, followed by the base64
 * text of the public key exactly as it is sent. Nothing is decoded. If one of them is empty, the result is
 * TENON_ERROR_EMPTY.
 */
TENON_API TENON_MUST_USE tenon_status tenon_binding_nonce(tenon_digest *out,
                                                          const char *TENON_COUNTED(challenge_n) challenge,
                                                          size_t challenge_n, const char *TENON_COUNTED(key_n) key_text,
                                                          size_t key_n);

/*
 * A request on its way to be signed: METHOD \n path \n timestamp \n body, hashed as it comes. It is a value like
 * tenon_sha256_stream. Begin, then update with the body's bytes as they go on the wire, then tenon_key_sign_request or,
 * to verify, tenon_request_finish.
 *
 * method      [A-Z], 1 to 32
 * path        begins with '/', at most 8192 bytes 0x21-0x7E, without '?' and '#': the path as the service mounts it
 * timestamp   Unix seconds as text, [1-9][0-9]{9,11}: this very text goes into the header
 */
typedef struct {
    uint64_t opaque[TENON_REQUEST_SIZE / 8];
} tenon_request;

/* Begins a message, after checking its texts. */
TENON_API TENON_MUST_USE tenon_status tenon_request_begin(tenon_request *request,
                                                          const char *TENON_COUNTED(method_n) method, size_t method_n,
                                                          const char *TENON_COUNTED(path_n) path, size_t path_n,
                                                          const char *TENON_COUNTED(timestamp_n) timestamp,
                                                          size_t timestamp_n);

/* Adds n bytes of the body. */
TENON_API TENON_MUST_USE tenon_status tenon_request_update(tenon_request *request, const uint8_t *TENON_COUNTED(n) body,
                                                           size_t n);

/* Gives the digest to sign and wipes the stream. */
TENON_API TENON_MUST_USE tenon_status tenon_request_finish(tenon_request *request, tenon_digest *out);

/* A fresh nonce for one request: a UUID of version 4 in lower case, 36 characters (RFC 9562, 5.4). */
TENON_API TENON_MUST_USE tenon_status tenon_request_nonce(char *TENON_COUNTED(n) out, size_t n, size_t *written);

/*
 * Where the value of each header begins in the buffer of tenon_request_headers. The service decides what the headers
 * are called.
 */
typedef struct {
    size_t app_id;
    size_t device_id;
    size_t signature; /* base64 of DER */
    size_t timestamp; /* Unix seconds */
    size_t nonce;
    size_t version; /* of the signature: 1 */
} tenon_header_offsets;

/*
 * Writes the values of the six headers into out, one after the other, each followed by a NUL. *written counts the NULs;
 * TENON_HEADERS_MAX is always enough. Each text must have its form (tenon/status.h: app id, device id, timestamp,
 * nonce), and the signature's r and s must be in 1 .. n-1, so every value is safe in a header.
 */
TENON_API TENON_MUST_USE tenon_status
tenon_request_headers(char *TENON_COUNTED(n) out, size_t n, size_t *written, tenon_header_offsets *offsets,
                      const tenon_signature *signature, const char *TENON_COUNTED(app_id_n) app_id, size_t app_id_n,
                      const char *TENON_COUNTED(device_id_n) device_id, size_t device_id_n,
                      const char *TENON_COUNTED(timestamp_n) timestamp, size_t timestamp_n,
                      const char *TENON_COUNTED(nonce_n) nonce, size_t nonce_n);

TENON_END

#endif
