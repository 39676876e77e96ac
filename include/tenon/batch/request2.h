/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENON_BATCH_REQUEST2_H
#define TENON_BATCH_REQUEST2_H

#include "tenon/api.h"
#include "tenon/key.h"
#include "tenon/status.h"
#include "tenon/types.h"

TENON_BEGIN

/*
 * Version 2 of request signing: a profile of RFC 9421 with two forms. In the plain form one signature signs one
 * request, and any library for RFC 9421 verifies it. In the batch form (tenon/batch/batch.h) one signature stands for
 * up to TENON_BATCH_MAX requests. docs/signing.md has the bytes.
 */
enum {
    TENON_FORM_PLAIN = 1, /* tag="tenon" */
    TENON_FORM_BATCH = 2  /* tag="tenon-batch" */
};

enum {
    TENON_BATCH_MAX = 1024,
    TENON_BATCH_STEPS = 10,          /* of a path in a batch of this size */
    TENON_CONTENT_DIGEST_SIZE = 54,  /* the value of Content-Digest */
    TENON_SIGNATURE_INPUT_MAX = 512, /* the value of Signature-Input */
    TENON_SIGNATURE_VALUE_MAX = 600, /* the value of Signature */
    TENON_CONTENT_TYPE_MAX = 1024,   /* the values of Content-Type and Content-Encoding */
    TENON_VALIDITY_MAX = 300         /* seconds from created to expires */
};

/* n bytes; NULL when there is no such text. */
typedef struct {
    const char *text;
    size_t n;
} tenon_text;

/*
 * A request to sign or to verify.
 *
 * method            [A-Z], 1 to 32
 * authority         the host in lower case, with the port unless it is 443 (or another scheme's own, which the caller
 *                   leaves out); TENON_ERROR_AUTHORITY
 * path, query       as they are sent, and normal: characters of RFC 3986, escapes in upper case and only where they are
 *                   needed, no segment . or .. ; at most TENON_PATH_MAX each. The query begins with its question mark,
 *                   which stands alone if there is no query. TENON_ERROR_PATH, TENON_ERROR_QUERY
 * content_type,     NULL exactly when the request does not have the header; else 1 to 1024 bytes 0x20-0x7E without
 * content_encoding  space at either end; TENON_ERROR_COMPONENT
 * app_id, device_id as in tenon/request.h
 * nonce             from tenon_request_nonce, in lower case
 * keyid             the thumbprint of the key (tenon_public_key_thumbprint); TENON_ERROR_KEYID
 * created, expires  Unix seconds on the service's clock, 10 to 12 digits, 1 to 300 apart; TENON_ERROR_VALIDITY
 * content           SHA-256 of the content as it is sent, also of an empty one
 * form              TENON_FORM_*; TENON_ERROR_FLAGS
 */
typedef struct {
    tenon_text method;
    tenon_text authority;
    tenon_text path;
    tenon_text query;
    tenon_text content_type;
    tenon_text content_encoding;
    tenon_text app_id;
    tenon_text device_id;
    tenon_text nonce;
    tenon_text keyid;
    uint64_t created;
    uint64_t expires;
    tenon_digest content;
    uint32_t form;
} tenon_request2;

/* The value of Content-Digest (RFC 9530): one member, sha-256. */
TENON_API TENON_MUST_USE tenon_status tenon_content_digest(char *TENON_COUNTED(n) out, size_t n, size_t *written,
                                                           const tenon_digest *content);

/* Reads exactly such a value; another text is TENON_ERROR_CONTENT_DIGEST. The caller compares it with the content. */
TENON_API TENON_MUST_USE tenon_status tenon_content_digest_read(tenon_digest *out, const char *TENON_COUNTED(n) text,
                                                                size_t n);

/*
 * Checks every text of the request, and writes the value of Signature-Input. digest is what tenon_request2_digest gives
 * for this request, so that a device needs one call; it may be NULL.
 */
TENON_API TENON_MUST_USE tenon_status tenon_request2_input(char *TENON_COUNTED(n) out, size_t n, size_t *written,
                                                           tenon_digest *digest, const tenon_request2 *request);

/* Checks every text of the request, and hashes its signature base (RFC 9421, 2.5). Nothing is allocated. */
TENON_API TENON_MUST_USE tenon_status tenon_request2_digest(tenon_digest *out, const tenon_request2 *request);

/*
 * Signs a request in the plain form. Another form is TENON_ERROR_FLAGS, and a keyid that is not this key's is
 * TENON_ERROR_KEYID.
 */
TENON_API TENON_MUST_USE tenon_status tenon_key_sign_request2(const tenon_key *key, tenon_signature *out,
                                                              const tenon_request2 *request);

/* The value of Signature in the plain form. */
TENON_API TENON_MUST_USE tenon_status tenon_signature2(char *TENON_COUNTED(n) out, size_t n, size_t *written,
                                                       const tenon_signature *signature);

TENON_END

#endif
