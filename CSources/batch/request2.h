/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_REQUEST2_H
#define TENONI_REQUEST2_H

#include <stdbool.h>

#include "tenon/batch/request2.h"

/*
 * The parts of Signature-Input between its values, in their order. The writer and the reader share them, so that a
 * verifier reads exactly what a device writes.
 */
#define TENONI_LABEL "tenon="
#define TENONI_COVERED "(\"@method\" \"@authority\" \"@path\" \"@query\" \"content-digest\""
#define TENONI_CONTENT_TYPE " \"content-type\""
#define TENONI_CONTENT_ENCODING " \"content-encoding\""
#define TENONI_IDS " \"x-app-id\" \"x-device-id\")"
#define TENONI_CREATED ";created="
#define TENONI_EXPIRES ";expires="
#define TENONI_NONCE ";nonce=\""
#define TENONI_KEYID "\";keyid=\""
#define TENONI_TAG "\";tag=\""
#define TENONI_PLAIN "tenon\""
#define TENONI_BATCH "tenon-batch\""

/* The value of Signature before and behind its base64. */
#define TENONI_SIGNATURE_HEAD "tenon=:"
#define TENONI_SIGNATURE_TAIL ":"

/* created, or expires: 10 to 12 digits. */
#define TENONI_TIME_MIN UINT64_C(1000000000)
#define TENONI_TIME_MAX UINT64_C(999999999999)

/* A UUID of version 4 in lower case, so that it has one text only. */
tenon_status tenoni_nonce2_check(const char *nonce, size_t n);

/* 1 to 300 seconds, between two times that have their form. */
tenon_status tenoni_validity_check(uint64_t created, uint64_t expires);

/* Whether these bytes are equal. Not for secrets: it takes less time than tenoni_equal. */
bool tenoni_is_same(const void *a, const void *b, size_t n);

/* Checks the request but for nonce, keyid, times and form, which were checked, and hashes its base. */
tenon_status tenoni_request2_digest(tenon_digest *out, const tenon_request2 *request);

/* The value of Signature around n bytes. */
tenon_status tenoni_signature_value(char *out, size_t n, size_t *written, const uint8_t *bytes, size_t bytes_n);

#endif
