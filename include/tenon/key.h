/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENON_KEY_H
#define TENON_KEY_H

#include "tenon/api.h"
#include "tenon/request.h"
#include "tenon/status.h"
#include "tenon/types.h"

TENON_BEGIN

/* A P-256 signing key, wherever it lives. */
typedef struct tenon_key tenon_key;

/* Flags of a tenon_key_ops. */
enum {
    TENON_KEY_HARDWARE = 0x1,      /* the private half cannot leave the device that holds it */
    TENON_KEY_SIGNS_DIGESTS = 0x2, /* tenon_key_sign_digest is allowed */
};

/*
 * The seam: a key is a context and these functions. They are called by any thread, and by several at once.
 *
 * size         sizeof(tenon_key_ops) as the caller was compiled
 * flags        TENON_KEY_HARDWARE, TENON_KEY_SIGNS_DIGESTS
 * sign         an ECDSA signature over the digest
 * public_key   the public half; it never changes
 * free         gives the context back; may be NULL
 */
typedef struct {
    size_t size;
    uint32_t flags;
    tenon_status (*sign)(void *context, tenon_signature *out, const tenon_digest *digest);
    tenon_status (*public_key)(void *context, tenon_public_key *out);
    void (*free)(void *context);
} tenon_key_ops;

/*
 * Makes a key from the functions and their context. The table is copied. public_key is called once, and its result must
 * be on the curve. On failure the context still belongs to the caller: free is not called.
 */
TENON_API TENON_MUST_USE tenon_status tenon_key_new(tenon_key **out, const tenon_key_ops *ops, void *context);

/* Calls ops.free, wipes and frees. */
TENON_API void tenon_key_free(tenon_key **key);

/* The public half, read when the key was made. */
TENON_API TENON_MUST_USE tenon_status tenon_key_public_key(const tenon_key *key, tenon_public_key *out);

/* 1 when the private half is in hardware, else 0; 0 for NULL. */
TENON_API int32_t tenon_key_is_hardware(const tenon_key *key);

/*
 * Each kind of message that a device signs has its own function. The first bytes tell the kinds apart (upper-case
 * letters and a line feed; 04; a JSON object; {"v":"KERI; 44 characters and a NUL; eyJ; "@ and "tenon request batch" in
 * tenon/batch/request2.h and tenon/batch/batch.h), so a signature for one kind is useless for another.
 */

/* Signs a request that was begun with tenon_request_begin and has its body. This finishes the request. */
TENON_API TENON_MUST_USE tenon_status tenon_key_sign_request(const tenon_key *key, tenon_signature *out,
                                                             tenon_request *request);

/* Signs a new public key with the current one: SHA-256 of the 65 bytes 04 || x || y. */
TENON_API TENON_MUST_USE tenon_status tenon_key_sign_rotation(const tenon_key *key, tenon_signature *out,
                                                              const tenon_public_key *new_key);

/* Signs client data: a JSON object that does not begin like an event. */
TENON_API TENON_MUST_USE tenon_status tenon_key_sign_client_data(const tenon_key *key, tenon_signature *out,
                                                                 const uint8_t *TENON_COUNTED(n) data, size_t n);

/* Signs a KERI event: a JSON object that begins with {"v":"KERI. */
TENON_API TENON_MUST_USE tenon_status tenon_key_sign_event(const tenon_key *key, tenon_signature *out,
                                                           const uint8_t *TENON_COUNTED(n) event, size_t n);

/*
 * Signs a presentation of a credential in KERI: credential, NUL, audience, NUL, nonce. The credential is a SAID of 44
 * characters, the audience has 1 to 1,024 bytes without NUL, and the verifier chose the nonce, of 16 to 128 bytes. Else
 * the result is TENON_ERROR_PRESENTATION.
 */
TENON_API TENON_MUST_USE tenon_status tenon_key_sign_presentation(
    const tenon_key *key, tenon_signature *out, const char *TENON_COUNTED(credential_n) credential, size_t credential_n,
    const char *TENON_COUNTED(audience_n) audience, size_t audience_n, const uint8_t *TENON_COUNTED(nonce_n) nonce,
    size_t nonce_n);

/*
 * Signs the signing input of a JWS (RFC 7515, 5.1): the base64url of a JSON object, a dot, and base64url. Else the
 * result is TENON_ERROR_JWS. As the signature of a JWS the 64 bytes r || s are used.
 */
TENON_API TENON_MUST_USE tenon_status tenon_key_sign_jws(const tenon_key *key, tenon_signature *out,
                                                         const char *TENON_COUNTED(n) input, size_t n);

/*
 * Signs the SHA-256 of other data. Refuses data that could be taken for one of the messages above, or for a TPM's
 * statement, with TENON_ERROR_DATA_IS_MESSAGE: a caller that may have data signed cannot have such messages signed.
 * Refused are: 1 to 32 letters A-Z and a line feed; a JSON object, also after white space; the 65 bytes of a point; "@
 * as in a signature base of RFC 9421; "tenon request batch"; ff 54 43 47; a SAID and a NUL; the header of a JWS and a
 * dot. With TENON_KEY_SIGNS_DIGESTS nothing is refused.
 */
TENON_API TENON_MUST_USE tenon_status tenon_key_sign_data(const tenon_key *key, tenon_signature *out,
                                                          const uint8_t *TENON_COUNTED(n) data, size_t n);

/* The same for data that another program may choose: it also refuses a NUL, and no capability changes that. */
TENON_API TENON_MUST_USE tenon_status tenon_key_sign_plain_data(const tenon_key *key, tenon_signature *out,
                                                                const uint8_t *TENON_COUNTED(n) data, size_t n);

/*
 * Signs any digest. A digest may be that of any message above, so the key must have been made with the flag
 * TENON_KEY_SIGNS_DIGESTS; otherwise the result is TENON_ERROR_DIGEST_NOT_ALLOWED.
 */
TENON_API TENON_MUST_USE tenon_status tenon_key_sign_digest(const tenon_key *key, tenon_signature *out,
                                                            const tenon_digest *digest);

TENON_END

#endif
