/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tenon/tenon.h"

/*
 * What one backend says must be what the other says: built twice, run twice, compared.
 *
 *   differential transcript       prints everything that depends on no randomness
 *   differential sign FILE        writes signatures of this backend
 *   differential verify FILE      verifies them, and that changed ones are refused
 */

enum { BOTH = TENON_KEY_SIGNS_DIGESTS | TENON_KEY_DETERMINISTIC, SIGNATURES = 100 };

static uint64_t state = UINT64_C(0x74656e6f6e);

static uint64_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static void fill(void *out, size_t n)
{
    uint8_t *bytes = out;
    for (size_t i = 0; i < n; i++)
        bytes[i] = (uint8_t)(next() >> 24);
}

static void print(const char *what, tenon_status status, const void *bytes, size_t n)
{
    printf("%s %s ", what, tenon_status_name(status));
    for (size_t i = 0; i < n; i++)
        printf("%02x", ((const uint8_t *)bytes)[i]);
    putchar('\n');
}

static void digests(void)
{
    static uint8_t message[5000];
    tenon_digest digest;
    for (size_t n = 0; n < sizeof message; n += n < 300 ? 1 : 97) {
        fill(message, n);
        tenon_status status = tenon_sha256(&digest, message, n);
        print("sha256", status, &digest, sizeof digest);
    }
    for (int i = 0; i < 100; i++) {
        tenon_sha256_stream stream;
        tenon_status status = tenon_sha256_begin(&stream);
        for (uint64_t pieces = next() % 9; status == TENON_OK && pieces > 0; pieces--)
            status = tenon_sha256_update(&stream, message, next() % 700);
        if (status == TENON_OK)
            status = tenon_sha256_finish(&stream, &digest);
        print("stream", status, &digest, sizeof digest);
    }
}

/* A key whose scalar is from the sequence, small, or near n. */
static tenon_key *make_key(int i, tenon_public_key *public_key)
{
    static const uint8_t order[16] = {0xff, 0xff, 0xff, 0xff, 0,    0,    0,    0,
                                      0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    uint8_t scalar[32];
    tenon_key *key = NULL;
    fill(scalar, sizeof scalar);
    if (i % 5 == 1)
        memset(scalar, 0, 31);
    if (i % 5 == 2)
        memcpy(scalar, order, sizeof order);
    if (i % 5 == 3)
        memset(scalar, 0, 1 + (size_t)i % 20);
    tenon_status status = tenon_software_key_import(&key, scalar, sizeof scalar, BOTH);
    if (status == TENON_OK)
        status = tenon_key_public_key(key, public_key);
    print("import", status, public_key, status == TENON_OK ? sizeof *public_key : 0);
    return key;
}

static void forms(const tenon_public_key *key)
{
    uint8_t out[TENON_SPKI_SIZE];
    char text[TENON_THUMBPRINT_SIZE];
    size_t n;
    tenon_status status = tenon_public_key_encode_point(out, sizeof out, &n, key);
    print("point", status, out, n);
    status = tenon_public_key_encode_compressed(out, sizeof out, &n, key);
    print("compressed", status, out, n);
    status = tenon_public_key_encode_spki(out, sizeof out, &n, key);
    print("spki", status, out, n);
    status = tenon_public_key_thumbprint(text, sizeof text, &n, key);
    print("thumbprint", status, text, n);
}

static void verdicts(const tenon_public_key *key, const tenon_digest *digest, const tenon_signature *signature)
{
    for (int i = 0; i < 8; i++) {
        struct {
            tenon_public_key key;
            tenon_digest digest;
            tenon_signature signature;
        } all = {*key, *digest, *signature};
        uint8_t *bytes = (uint8_t *)&all;
        if (i != 0)
            bytes[next() % sizeof all] ^= (uint8_t)(1 << next() % 8);
        if (i == 7)
            memset(all.signature.bytes + 32 * (next() & 1), next() & 1 ? 0xff : 0, 32);
        tenon_verifier *verifier = NULL;
        print("verify", tenon_p256_verify(&all.key, &all.digest, &all.signature), NULL, 0);
        tenon_status status = tenon_verifier_new(&verifier, &all.key);
        if (status == TENON_OK)
            status = tenon_verifier_verify(verifier, &all.digest, &all.signature);
        print("verifier", status, NULL, 0);
        tenon_verifier_free(&verifier);
    }
}

static void keys(void)
{
    for (int i = 0; i < 40; i++) {
        tenon_public_key public_key = {{0}};
        tenon_signature signature;
        tenon_digest digest;
        tenon_key *key = make_key(i, &public_key);
        if (key == NULL)
            continue;
        fill(&digest, sizeof digest);
        if (i % 4 == 1)
            memset(&digest, i % 8 == 1 ? 0 : 0xff, sizeof digest);
        forms(&public_key);
        tenon_status status = tenon_key_sign_digest(key, &signature, &digest);
        print("sign", status, &signature, sizeof signature);
        verdicts(&public_key, &digest, &signature);
        status = tenon_signature_normalize(&signature);
        print("low s", status, &signature, sizeof signature);
        verdicts(&public_key, &digest, &signature);
        tenon_key_free(&key);
    }
}

static void points(void)
{
    for (int i = 0; i < 600; i++) {
        uint8_t bytes[33] = {(uint8_t)(2 + (next() & 1))};
        tenon_public_key key;
        fill(bytes + 1, 32);
        if (i % 4 == 1)
            memset(bytes + 1, 0xff, 4 + (size_t)i % 28);
        if (i % 4 == 2)
            memset(bytes + 1, 0, 1 + (size_t)i % 32);
        tenon_status status = tenon_public_key_decode_compressed(&key, bytes, sizeof bytes);
        print("decompress", status, &key, sizeof key);
        print("check", tenon_p256_check(&key), NULL, 0);
        key.bytes[next() % 64] ^= (uint8_t)(1 << next() % 8);
        print("check", tenon_p256_check(&key), NULL, 0);
    }
}

static void signatures_der(void)
{
    for (int i = 0; i < 3000; i++) {
        tenon_signature signature;
        uint8_t der[TENON_SIGNATURE_DER_MAX + 4] = {0};
        size_t n = 0;
        fill(&signature, sizeof signature);
        memset(signature.bytes, 0, (size_t)i % 31);
        tenon_status status = tenon_signature_encode_der(der, sizeof der, &n, &signature);
        print("der", status, der, n);
        if (n == 0)
            continue;
        der[next() % (i % 3 == 0 ? 4 : n)] ^= (uint8_t)(1 << next() % 8);
        status = tenon_signature_decode_der(&signature, der, n + (i % 5 == 0) - (i % 7 == 0));
        print("der read", status, &signature, sizeof signature);
    }
}

static void texts(void)
{
    static const char letters[] = "ABab01+/-_=gG \n";
    for (int i = 0; i < 3000; i++) {
        char text[24];
        uint8_t out[24];
        size_t n = next() % 17, written;
        for (size_t at = 0; at < n; at++)
            text[at] = letters[next() % (i % 2 == 0 ? 4 : sizeof letters - 1)];
        tenon_status status = tenon_base64_decode(out, sizeof out, &written, text, n);
        print("base64", status, out, written);
        status = tenon_base64url_decode(out, sizeof out, &written, text, n);
        print("base64url", status, out, written);
        status = tenon_hex_decode(out, sizeof out, &written, text, n);
        print("hex", status, out, written);
    }
}

static void requests(void)
{
    for (int i = 0; i < 200; i++) {
        char path[32];
        uint8_t body[100];
        tenon_request request;
        tenon_digest digest = {{0}};
        int path_n = snprintf(path, sizeof path, "/v%d%c%d", i % 3, i % 20 == 0 ? '?' : '/', i);
        size_t body_n = next() % sizeof body;
        fill(body, sizeof body);
        tenon_status status = tenon_request_begin(&request, "POST", 4, path, (size_t)path_n, "1700000000", 10);
        if (status == TENON_OK)
            status = tenon_request_update(&request, body, body_n);
        if (status == TENON_OK)
            status = tenon_request_finish(&request, &digest);
        print("request", status, &digest, sizeof digest);
        status = tenon_binding_nonce(&digest, path, (size_t)path_n, path, (size_t)(i % 4));
        print("binding", status, &digest, sizeof digest);
    }
}

static int transcript(void)
{
    digests();
    keys();
    points();
    signatures_der();
    texts();
    requests();
    return ferror(stdout) ? 1 : 0;
}

typedef struct {
    tenon_public_key key;
    tenon_digest digest;
    tenon_signature signature;
} signed_digest;

static tenon_status make_signature(int i, signed_digest *out)
{
    tenon_key *key = NULL;
    fill(&out->digest, sizeof out->digest);
    tenon_status status = tenon_software_key_generate(&key, i % 4 == 0 ? BOTH : TENON_KEY_SIGNS_DIGESTS);
    if (status == TENON_OK)
        status = tenon_key_public_key(key, &out->key);
    if (status == TENON_OK)
        status = tenon_key_sign_digest(key, &out->signature, &out->digest);
    tenon_key_free(&key);
    return status;
}

static int sign(FILE *file)
{
    for (int i = 0; i < SIGNATURES; i++) {
        signed_digest made;
        tenon_status status = make_signature(i, &made);
        if (status != TENON_OK || fwrite(&made, sizeof made, 1, file) != 1) {
            fprintf(stderr, "signature %d: %s\n", i, tenon_status_text(status));
            return 1;
        }
    }
    printf("%d signatures of %s\n", SIGNATURES, tenon_backend_name());
    return 0;
}

static int verify(FILE *file)
{
    signed_digest read;
    int count = 0;
    while (fread(&read, sizeof read, 1, file) == 1) {
        tenon_status good = tenon_p256_verify(&read.key, &read.digest, &read.signature);
        read.digest.bytes[count % 32] ^= 1;
        tenon_status bad = tenon_p256_verify(&read.key, &read.digest, &read.signature);
        if (good != TENON_OK || bad != TENON_ERROR_SIGNATURE_INVALID) {
            fprintf(stderr, "signature %d: %s, changed %s\n", count, tenon_status_name(good), tenon_status_name(bad));
            return 1;
        }
        count++;
    }
    printf("%d signatures verified by %s\n", count, tenon_backend_name());
    return count == SIGNATURES ? 0 : 1;
}

int main(int count, char **arguments)
{
    if (count == 2 && strcmp(arguments[1], "transcript") == 0)
        return transcript();
    bool signs = count == 3 && strcmp(arguments[1], "sign") == 0;
    if (!signs && (count != 3 || strcmp(arguments[1], "verify") != 0)) {
        fprintf(stderr, "usage: differential transcript | sign FILE | verify FILE\n");
        return 2;
    }
    FILE *file = fopen(arguments[2], signs ? "wb" : "rb");
    if (file == NULL) {
        perror(arguments[2]);
        return 2;
    }
    int result = signs ? sign(file) : verify(file);
    return fclose(file) == 0 ? result : 1;
}
