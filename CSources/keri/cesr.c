/* SPDX-License-Identifier: Apache-2.0 */
#include "keri/cesr.h"

#include <string.h>

#include "base/secure.h"
#include "base/signature.h"
#include "crypto/blake3.h"
#include "tenon/encoding.h"

enum {
    DIGEST_LEAD = 1, /* zero bytes that the code of a digest covers */
    SIGNATURE_LEAD = 2,
    KEY_CODE = 4,
    SIGNATURE_TEXT = 88,
    LEAD_CHARACTERS = 2 /* of a signature's text: what its zeros alone make */
};

tenon_status tenoni_cesr_write_digest(char *out, const tenon_digest *digest)
{
    uint8_t raw[DIGEST_LEAD + TENON_DIGEST_SIZE] = {0};
    size_t n;
    memcpy(raw + DIGEST_LEAD, digest->bytes, sizeof digest->bytes);
    tenon_status status = tenon_base64url_encode(out, TENON_KERI_SAID_SIZE, &n, raw, sizeof raw);
    out[0] = 'E';
    return status;
}

tenon_status tenoni_cesr_write_key(char *out, const tenon_public_key *key)
{
    uint8_t point[TENON_COMPRESSED_SIZE];
    size_t n;
    tenon_status status = tenon_public_key_encode_compressed(point, sizeof point, &n, key);
    memcpy(out, "1AAJ", KEY_CODE);
    if (status == TENON_OK)
        status = tenon_base64url_encode(out + KEY_CODE, TENON_KERI_KEY_SIZE - KEY_CODE, &n, point, sizeof point);
    return status;
}

static bool begins_with(tenoni_reader text, const char *code)
{
    size_t n = strlen(code);
    return text.left >= n && tenoni_equal(text.at, code, n);
}

/* The code is replaced by the zeros that it stands for; bits that it does not cover must be zeros as well. */
bool tenoni_cesr_is_digest(tenoni_reader text)
{
    char characters[TENON_KERI_SAID_SIZE];
    uint8_t raw[DIGEST_LEAD + TENON_DIGEST_SIZE];
    size_t n;
    if (text.left != sizeof characters || !begins_with(text, "E"))
        return false;
    memcpy(characters, text.at, sizeof characters);
    characters[0] = 'A';
    return tenon_base64url_decode(raw, sizeof raw, &n, characters, sizeof characters) == TENON_OK && raw[0] == 0;
}

tenon_status tenoni_cesr_read_key(tenon_public_key *out, tenoni_reader text)
{
    char characters[TENON_KERI_KEY_SIZE - KEY_CODE];
    uint8_t point[TENON_COMPRESSED_SIZE];
    size_t n;
    memset(out, 0, sizeof *out);
    if (text.left != TENON_KERI_KEY_SIZE || (!begins_with(text, "1AAJ") && !begins_with(text, "1AAI")))
        return TENON_ERROR_CESR;
    memcpy(characters, text.at + KEY_CODE, sizeof characters);
    if (tenon_base64url_decode(point, sizeof point, &n, characters, sizeof characters) != TENON_OK)
        return TENON_ERROR_CESR;
    return tenon_public_key_decode_compressed(out, point, sizeof point);
}

/* The group of one signature; its code with index 0, twice in the long codes. */
static bool read_attachment_code(tenoni_reader *text)
{
    static const char codes[][11] = {"-AABAA", "-AABEA", "-AAB2AAAAA", "-AAB2EAAAA"};
    tenoni_reader code;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (begins_with(*text, codes[i]))
            return tenoni_read_part(text, &code, strlen(codes[i]));
    return false;
}

tenon_status tenoni_cesr_read_attachment(tenon_signature *out, tenoni_reader text)
{
    char characters[SIGNATURE_TEXT];
    uint8_t raw[SIGNATURE_LEAD + TENON_SIGNATURE_SIZE];
    size_t n;
    memset(out, 0, sizeof *out);
    if (!read_attachment_code(&text) || text.left != sizeof characters - LEAD_CHARACTERS)
        return TENON_ERROR_CESR;
    memset(characters, 'A', LEAD_CHARACTERS);
    memcpy(characters + LEAD_CHARACTERS, text.at, text.left);
    if (tenon_base64url_decode(raw, sizeof raw, &n, characters, sizeof characters) != TENON_OK || raw[1] != 0)
        return TENON_ERROR_CESR;
    memcpy(out->bytes, raw + SIGNATURE_LEAD, sizeof out->bytes);
    if (tenoni_signature_in_range(out))
        return TENON_OK;
    memset(out, 0, sizeof *out);
    return TENON_ERROR_SIGNATURE_RANGE;
}

tenon_status tenoni_cesr_commit(char *out, const void *text, size_t n)
{
    tenon_digest digest;
    tenoni_blake3(&digest, text, n);
    return tenoni_cesr_write_digest(out, &digest);
}

tenon_status tenon_keri_key_encode(char *out, size_t n, size_t *written, const tenon_public_key *key)
{
    char text[TENON_KERI_KEY_SIZE];
    if (written != NULL)
        *written = 0;
    if (key == NULL)
        return TENON_ERROR_NULL;
    tenon_status status = tenoni_cesr_write_key(text, key);
    return status == TENON_OK ? tenoni_output_copy(out, n, written, text, sizeof text) : status;
}

tenon_status tenon_keri_key_decode(tenon_public_key *out, const char *text, size_t n)
{
    uint8_t bytes[TENON_KERI_KEY_SIZE];
    if (out == NULL)
        return TENON_ERROR_NULL;
    memset(out, 0, sizeof *out);
    if (text == NULL && n != 0)
        return TENON_ERROR_NULL;
    if (n != sizeof bytes)
        return TENON_ERROR_CESR;
    memcpy(bytes, text, sizeof bytes);
    return tenoni_cesr_read_key(out, tenoni_reader_over(bytes, sizeof bytes));
}

tenon_status tenon_keri_key_digest(char *out, size_t n, size_t *written, const tenon_public_key *key)
{
    char text[TENON_KERI_KEY_SIZE], digest[TENON_KERI_SAID_SIZE];
    if (written != NULL)
        *written = 0;
    if (key == NULL)
        return TENON_ERROR_NULL;
    tenon_status status = tenoni_cesr_write_key(text, key);
    if (status == TENON_OK)
        status = tenoni_cesr_commit(digest, text, sizeof text);
    return status == TENON_OK ? tenoni_output_copy(out, n, written, digest, sizeof digest) : status;
}

tenon_status tenon_keri_attachment_encode(char *out, size_t n, size_t *written, const tenon_signature *signature)
{
    char text[TENON_KERI_ATTACHMENT_SIZE] = {'-', 'A', 'A', 'B'};
    uint8_t raw[SIGNATURE_LEAD + TENON_SIGNATURE_SIZE] = {0};
    size_t characters;
    if (written != NULL)
        *written = 0;
    if (signature == NULL)
        return TENON_ERROR_NULL;
    if (!tenoni_signature_in_range(signature) || !tenon_signature_is_low_s(signature))
        return TENON_ERROR_SIGNATURE_RANGE;
    memcpy(raw + SIGNATURE_LEAD, signature->bytes, sizeof signature->bytes);
    /* The zeros make AA: the code A and the index A. */
    tenon_status status =
        tenon_base64url_encode(text + sizeof text - SIGNATURE_TEXT, SIGNATURE_TEXT, &characters, raw, sizeof raw);
    return status == TENON_OK ? tenoni_output_copy(out, n, written, text, sizeof text) : status;
}

tenon_status tenon_keri_attachment_decode(tenon_signature *out, const char *text, size_t n)
{
    enum { LONGEST = TENON_KERI_ATTACHMENT_SIZE + 4 };
    uint8_t bytes[LONGEST];
    if (out == NULL)
        return TENON_ERROR_NULL;
    memset(out, 0, sizeof *out);
    if (text == NULL && n != 0)
        return TENON_ERROR_NULL;
    if (n == 0 || n > sizeof bytes)
        return TENON_ERROR_CESR;
    memcpy(bytes, text, n);
    return tenoni_cesr_read_attachment(out, tenoni_reader_over(bytes, n));
}
