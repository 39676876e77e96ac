/* SPDX-License-Identifier: Apache-2.0 */
#include "tenon/key.h"

#include <stdbool.h>
#include <string.h>

#include "base/secure.h"
#include "base/signature.h"
#include "crypto/hash.h"
#include "crypto/p256.h"
#include "crypto/signing_key.h"
#include "tenon/digest.h"
#include "tenon/encoding.h"
#include "tenon/p256.h"

/* Each kind of message is recognised by its first bytes, so that no signature passes for another kind's. */

static tenon_status sign_message(const tenon_key *key, tenon_signature *out, const uint8_t *message, size_t n)
{
    tenon_digest digest;
    tenon_status status = tenon_sha256(&digest, message, n);
    return status == TENON_OK ? tenoni_key_sign_own(key, out, &digest) : status;
}

tenon_status tenon_key_sign_request(const tenon_key *key, tenon_signature *out, tenon_request *request)
{
    tenon_digest digest;
    if (out != NULL)
        memset(out, 0, sizeof *out);
    if (key == NULL || out == NULL || request == NULL)
        return TENON_ERROR_NULL;
    tenon_status status = tenon_request_finish(request, &digest);
    return status == TENON_OK ? tenoni_key_sign_own(key, out, &digest) : status;
}

tenon_status tenon_key_sign_rotation(const tenon_key *key, tenon_signature *out, const tenon_public_key *new_key)
{
    uint8_t point[TENON_POINT_SIZE];
    size_t n;
    if (out != NULL)
        memset(out, 0, sizeof *out);
    if (key == NULL || out == NULL || new_key == NULL)
        return TENON_ERROR_NULL;
    tenon_status status = tenoni_point_check(new_key);
    if (status == TENON_OK)
        status = tenon_public_key_encode_point(point, sizeof point, &n, new_key);
    return status == TENON_OK ? sign_message(key, out, point, n) : status;
}

static bool begins_with(const uint8_t *message, size_t n, const char *head)
{
    size_t head_n = strlen(head);
    return n >= head_n && tenoni_equal(message, head, head_n);
}

static bool is_event(const uint8_t *message, size_t n)
{
    return begins_with(message, n, "{\"v\":\"KERI");
}

static bool is_object(const uint8_t *message, size_t n)
{
    return n >= 2 && message[0] == '{' && message[n - 1] == '}';
}

tenon_status tenon_key_sign_client_data(const tenon_key *key, tenon_signature *out, const uint8_t *data, size_t n)
{
    if (out != NULL)
        memset(out, 0, sizeof *out);
    if (key == NULL || out == NULL || (data == NULL && n != 0))
        return TENON_ERROR_NULL;
    if (!is_object(data, n) || is_event(data, n))
        return TENON_ERROR_CLIENT_DATA;
    return sign_message(key, out, data, n);
}

tenon_status tenon_key_sign_event(const tenon_key *key, tenon_signature *out, const uint8_t *event, size_t n)
{
    if (out != NULL)
        memset(out, 0, sizeof *out);
    if (key == NULL || out == NULL || (event == NULL && n != 0))
        return TENON_ERROR_NULL;
    return is_object(event, n) && is_event(event, n) ? sign_message(key, out, event, n) : TENON_ERROR_EVENT;
}

static bool begins_as_request(const uint8_t *data, size_t n)
{
    enum { METHOD_MAX = 32 };
    size_t method = 0;
    while (method < n && method <= METHOD_MAX && data[method] >= 'A' && data[method] <= 'Z')
        method++;
    return method >= 1 && method <= METHOD_MAX && method < n && data[method] == '\n';
}

static bool begins_as_object(const uint8_t *data, size_t n)
{
    size_t blanks = 0;
    while (blanks < n && (data[blanks] == ' ' || data[blanks] == '\t' || data[blanks] == '\n' || data[blanks] == '\r'))
        blanks++;
    return blanks < n && data[blanks] == '{';
}

enum { SAID_SIZE = 44, AUDIENCE_MAX = 1024, NONCE_MIN = 16, NONCE_MAX = 128 };

static bool is_said(const uint8_t *text, size_t n)
{
    uint8_t bytes[SAID_SIZE / 4 * 3];
    char characters[SAID_SIZE];
    size_t written;
    if (n != sizeof characters || text[0] != 'E')
        return false;
    memcpy(characters, text, sizeof characters);
    return tenon_base64url_decode(bytes, sizeof bytes, &written, characters, sizeof characters) == TENON_OK;
}

static bool begins_as_presentation(const uint8_t *data, size_t n)
{
    return n > SAID_SIZE && data[SAID_SIZE] == 0 && is_said(data, SAID_SIZE);
}

/* RFC 7515, 5.1: the base64url of a JSON object, and a dot. The first characters tell whether it is one. */
static bool begins_as_token(const uint8_t *data, size_t n)
{
    enum { LOOKED_AT = 64, GROUP = 4 };
    uint8_t header[LOOKED_AT / GROUP * 3];
    char characters[LOOKED_AT];
    size_t dot = 0, written;
    while (dot < n && data[dot] != '.')
        dot++;
    size_t looked_at = dot < sizeof characters ? dot / GROUP * GROUP : sizeof characters;
    if (dot == n || looked_at == 0)
        return false;
    memcpy(characters, data, looked_at);
    return tenon_base64url_decode(header, sizeof header, &written, characters, looked_at) == TENON_OK &&
           begins_as_object(header, written);
}

/* The first characters of the base64url of a JSON object without white space. */
static bool is_signing_input(const uint8_t *input, size_t n)
{
    size_t dots = 0;
    for (size_t i = 0; i < n; i++) {
        bool is_dot = input[i] == '.';
        bool is_base64url = (input[i] >= 'A' && input[i] <= 'Z') || (input[i] >= 'a' && input[i] <= 'z') ||
                            (input[i] >= '0' && input[i] <= '9') || input[i] == '-' || input[i] == '_';
        if (!is_dot && !is_base64url)
            return false;
        dots += is_dot;
    }
    return dots == 1 && input[n - 1] != '.' && begins_with(input, n, "eyJ") && begins_as_token(input, n);
}

tenon_status tenon_key_sign_jws(const tenon_key *key, tenon_signature *out, const char *input, size_t n)
{
    const uint8_t *bytes = (const void *)input;
    if (out != NULL)
        memset(out, 0, sizeof *out);
    if (key == NULL || out == NULL || (input == NULL && n != 0))
        return TENON_ERROR_NULL;
    return is_signing_input(bytes, n) ? sign_message(key, out, bytes, n) : TENON_ERROR_JWS;
}

/* Wider than what the functions above sign: what a reader more patient than ours would take for such a message. */
static bool could_be_message(const uint8_t *data, size_t n)
{
    static const char statement[] = "\xffTCG", signature_base[] = "\"@", batch[] = "tenon request batch";
    bool is_point = n == TENON_POINT_SIZE && data[0] == 0x04;
    return begins_as_request(data, n) || is_point || begins_as_object(data, n) || begins_with(data, n, statement) ||
           begins_with(data, n, signature_base) || begins_with(data, n, batch) || begins_as_presentation(data, n) ||
           begins_as_token(data, n);
}

tenon_status tenon_key_sign_data(const tenon_key *key, tenon_signature *out, const uint8_t *data, size_t n)
{
    if (out != NULL)
        memset(out, 0, sizeof *out);
    if (key == NULL || out == NULL || (data == NULL && n != 0))
        return TENON_ERROR_NULL;
    bool any = tenoni_key_signs_digests(key);
    return any || !could_be_message(data, n) ? sign_message(key, out, data, n) : TENON_ERROR_DATA_IS_MESSAGE;
}

tenon_status tenon_key_sign_plain_data(const tenon_key *key, tenon_signature *out, const uint8_t *data, size_t n)
{
    if (out != NULL)
        memset(out, 0, sizeof *out);
    if (key == NULL || out == NULL || (data == NULL && n != 0))
        return TENON_ERROR_NULL;
    bool is_plain = n == 0 || (memchr(data, 0, n) == NULL && !could_be_message(data, n));
    return is_plain ? sign_message(key, out, data, n) : TENON_ERROR_DATA_IS_MESSAGE;
}

tenon_status tenon_key_sign_presentation(const tenon_key *key, tenon_signature *out, const char *credential,
                                         size_t credential_n, const char *audience, size_t audience_n,
                                         const uint8_t *nonce, size_t nonce_n)
{
    static const uint8_t separator[1];
    uint8_t said[SAID_SIZE];
    tenon_digest digest;
    if (out != NULL)
        memset(out, 0, sizeof *out);
    if (key == NULL || out == NULL || (credential == NULL && credential_n != 0) ||
        (audience == NULL && audience_n != 0) || (nonce == NULL && nonce_n != 0))
        return TENON_ERROR_NULL;
    if (credential_n != sizeof said || audience_n == 0 || audience_n > AUDIENCE_MAX ||
        memchr(audience, 0, audience_n) != NULL || nonce_n < NONCE_MIN || nonce_n > NONCE_MAX)
        return TENON_ERROR_PRESENTATION;
    memcpy(said, credential, sizeof said);
    if (!is_said(said, sizeof said))
        return TENON_ERROR_PRESENTATION;
    const tenoni_part parts[] = {
        {said, sizeof said}, {separator, 1}, {audience, audience_n}, {separator, 1}, {nonce, nonce_n}};
    tenon_status status = tenoni_sha256_parts(&digest, parts, sizeof parts / sizeof *parts);
    return status == TENON_OK ? tenoni_key_sign_own(key, out, &digest) : status;
}
