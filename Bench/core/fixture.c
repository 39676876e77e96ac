/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "bench.h"
#include "owned.h"

static const char method[] = "POST";
static const char path[] = "/ingest/v1/events";
static const char timestamp[] = "1767225600";
static const char app_id[] = "demo";
static const char device_id[] = "3b2e6a52-0d3c-4d1e-9f6a-7c1f5d0e8a41";
static const char nonce[] = "9f1c2d3e-4b5a-4c6d-8e7f-0a1b2c3d4e5f";

size_t fixture_next(size_t *turn)
{
    *turn = (*turn + 1) % FIXTURE_MESSAGES;
    return *turn;
}

static void add_bytes(fixture *made, const void *bytes, size_t n)
{
    memcpy(made->canonical + made->canonical_n, bytes, n);
    made->canonical_n += n;
}

static void make_canonical(fixture *made)
{
    const char *const lines[] = {method, path, timestamp};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        add_bytes(made, lines[i], strlen(lines[i]));
        add_bytes(made, "\n", 1);
    }
    add_bytes(made, made->data, FIXTURE_BODY);
}

/* Deterministic signatures are mbedTLS's with either backend, so each build verifies the same numbers. */
static tenon_status make_signatures(fixture *made)
{
    OWNED_KEY key = NULL;
    TRY(tenon_software_key_import(&key, made->scalar, sizeof made->scalar,
                                  TENON_KEY_SIGNS_DIGESTS | TENON_KEY_DETERMINISTIC));
    for (size_t i = 0; i < FIXTURE_MESSAGES; i++) {
        TRY(tenon_sha256(&made->digests[i], made->data, i));
        TRY(tenon_key_sign_digest(key, &made->signatures[i], &made->digests[i]));
    }
    return tenon_key_public_key(key, &made->key);
}

bool fixture_make(fixture *made)
{
    memset(made, 0, sizeof *made);
    for (size_t i = 0; i < sizeof made->data; i++)
        made->data[i] = (uint8_t)(i * 167 + 13);
    memcpy(made->scalar, made->data, sizeof made->scalar);
    make_canonical(made);
    return make_signatures(made) == TENON_OK;
}

bool fixture_digest(const fixture *made, tenon_digest *digest, size_t body_n)
{
    tenon_request request;
    return tenon_request_begin(&request, method, strlen(method), path, strlen(path), timestamp, strlen(timestamp)) ==
               TENON_OK &&
           tenon_request_update(&request, made->data, body_n) == TENON_OK &&
           tenon_request_finish(&request, digest) == TENON_OK;
}

bool fixture_headers(const tenon_signature *signature)
{
    char headers[TENON_HEADERS_MAX];
    tenon_header_offsets offsets;
    size_t n;
    return tenon_request_headers(headers, sizeof headers, &n, &offsets, signature, app_id, strlen(app_id), device_id,
                                 strlen(device_id), timestamp, strlen(timestamp), nonce, strlen(nonce)) == TENON_OK;
}
