/* SPDX-License-Identifier: Apache-2.0 */

/*
 * verify KEY SIGNATURE FILE
 *
 * Says whether SIGNATURE (base64 of DER) was made over the bytes of FILE by the P-256 key KEY (SubjectPublicKeyInfo in
 * base64 or hex). The exit code is 0, or the category of the status (tenon/status.h).
 */
#include <stdio.h>
#include <string.h>
#include <tenon/tenon.h>

static tenon_status read_key(tenon_public_key *key, const char *text)
{
    uint8_t spki[TENON_SPKI_SIZE];
    size_t n, text_n = strlen(text);
    tenon_status status = text_n == 2 * sizeof spki ? tenon_hex_decode(spki, sizeof spki, &n, text, text_n)
                                                    : tenon_base64_decode(spki, sizeof spki, &n, text, text_n);
    if (status == TENON_ERROR_BUFFER_TOO_SMALL)
        return TENON_ERROR_SPKI_FORM; /* any key fits */
    return status == TENON_OK ? tenon_public_key_decode_spki(key, spki, n) : status;
}

static tenon_status read_signature(tenon_signature *signature, const char *text)
{
    uint8_t der[TENON_SIGNATURE_DER_MAX];
    size_t n;
    tenon_status status = tenon_base64_decode(der, sizeof der, &n, text, strlen(text));
    if (status == TENON_ERROR_BUFFER_TOO_SMALL)
        return TENON_ERROR_DER_TRAILING; /* any signature fits */
    return status == TENON_OK ? tenon_signature_decode_der(signature, der, n) : status;
}

static tenon_status digest_file(tenon_digest *digest, FILE *file)
{
    uint8_t piece[4096];
    tenon_sha256_stream stream;
    tenon_status status = tenon_sha256_begin(&stream);
    for (size_t n; status == TENON_OK && (n = fread(piece, 1, sizeof piece, file)) != 0;)
        status = tenon_sha256_update(&stream, piece, n);
    return status == TENON_OK ? tenon_sha256_finish(&stream, digest) : status;
}

static int fail(const char *message)
{
    fprintf(stderr, "%s\n", message);
    return TENON_CATEGORY_ARGUMENT;
}

int main(int count, char **arguments)
{
    tenon_public_key key;
    tenon_signature signature;
    tenon_digest digest;
    if (count != 4)
        return fail("usage: verify KEY SIGNATURE FILE");
    FILE *file = fopen(arguments[3], "rb");
    if (file == NULL)
        return fail("verify: the file cannot be opened");
    tenon_status status = digest_file(&digest, file);
    int unread = ferror(file);
    fclose(file);
    if (unread)
        return fail("verify: the file cannot be read");
    if (status == TENON_OK)
        status = read_key(&key, arguments[1]);
    if (status == TENON_OK)
        status = read_signature(&signature, arguments[2]);
    if (status == TENON_OK)
        status = tenon_p256_verify(&key, &digest, &signature);
    if (status == TENON_OK)
        printf("valid\n");
    else
        printf("invalid: %s\n", tenon_status_name(status));
    return tenon_status_category(status);
}
