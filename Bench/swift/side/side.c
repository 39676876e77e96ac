/* SPDX-License-Identifier: Apache-2.0 */
#include "side.h"

#include <string.h>

#include "tenon/tenon.h"

enum { BODY = 256 };

static const char method[] = "POST";
static const char path[] = "/v1/hsi";
static const char timestamp[] = "1800000000";
static const char app[] = "app";
static const char device[] = "dev_1";

/* r = s = 1. */
static tenon_signature one(void)
{
    tenon_signature signature;
    memset(&signature, 0, sizeof signature);
    signature.bytes[TENON_SIGNATURE_SIZE / 2 - 1] = 1;
    signature.bytes[TENON_SIGNATURE_SIZE - 1] = 1;
    return signature;
}

static tenon_status sign_nothing(void *context, tenon_signature *out, const tenon_digest *digest)
{
    (void)context;
    (void)digest;
    *out = one();
    return TENON_OK;
}

static tenon_status tell_key(void *context, tenon_public_key *out)
{
    *out = *(const tenon_public_key *)context;
    return TENON_OK;
}

/* Kept for as long as the program runs. */
static const tenon_key *null_key(void)
{
    static tenon_public_key public_key;
    static tenon_key *key;
    if (key != NULL)
        return key;
    tenon_key *software = NULL;
    if (tenon_software_key_generate(&software, 0) == TENON_OK &&
        tenon_key_public_key(software, &public_key) == TENON_OK) {
        const tenon_key_ops ops = {.size = sizeof ops, .sign = sign_nothing, .public_key = tell_key};
        if (tenon_key_new(&key, &ops, &public_key) != TENON_OK)
            key = NULL;
    }
    tenon_key_free(&software);
    return key;
}

bool side_digest(size_t n)
{
    const uint8_t bytes[TENON_DIGEST_SIZE] = {1};
    tenon_digest digest;
    bool ok = true;
    for (size_t i = 0; i < n; i++)
        ok &= tenon_sha256(&digest, bytes, sizeof bytes) == TENON_OK;
    return ok;
}

bool side_der(size_t n)
{
    const tenon_signature signature = one();
    uint8_t der[TENON_SIGNATURE_DER_MAX];
    size_t written;
    bool ok = true;
    for (size_t i = 0; i < n; i++)
        ok &= tenon_signature_encode_der(der, sizeof der, &written, &signature) == TENON_OK;
    return ok;
}

static bool sign_once(const tenon_key *key, tenon_signature *signature, const uint8_t *body, size_t body_n)
{
    tenon_request request;
    return tenon_request_begin(&request, method, strlen(method), path, strlen(path), timestamp, strlen(timestamp)) ==
               TENON_OK &&
           tenon_request_update(&request, body, body_n) == TENON_OK &&
           tenon_key_sign_request(key, signature, &request) == TENON_OK;
}

bool side_sign(size_t n)
{
    const uint8_t body[BODY] = {1};
    const tenon_key *key = null_key();
    tenon_signature signature;
    bool ok = key != NULL;
    for (size_t i = 0; ok && i < n; i++)
        ok = sign_once(key, &signature, body, sizeof body);
    return ok;
}

bool side_headers(size_t n)
{
    const uint8_t body[BODY] = {1};
    const tenon_key *key = null_key();
    bool ok = key != NULL;
    for (size_t i = 0; ok && i < n; i++) {
        tenon_signature signature;
        char nonce[TENON_UUID_SIZE + 1], headers[TENON_HEADERS_MAX];
        size_t nonce_n, written;
        tenon_header_offsets offsets;
        ok = sign_once(key, &signature, body, sizeof body) &&
             tenon_request_nonce(nonce, sizeof nonce, &nonce_n) == TENON_OK &&
             tenon_request_headers(headers, sizeof headers, &written, &offsets, &signature, app, strlen(app), device,
                                   strlen(device), timestamp, strlen(timestamp), nonce, nonce_n) == TENON_OK;
    }
    return ok;
}
