/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include <time.h>

#include "tenon/encoding.h"
#include "tenon/p256.h"
#include "test_transport.h"
#include "tool.h"

/*
 * A device for scripts. It ends with 0, or with the category of the status whose name it prints.
 *
 *   attest_tool TPM [NONCE PROOF [CERTIFICATE...]]
 *
 * TPM is the name of a TPM, which may be a simulator's, or the folder of a software TPM's state, which is copied; "new"
 * is a factory-fresh one. The program makes a key and an AK, and reads lines "NONCE PROOF [CERTIFICATE...]" as above
 * from its input when none is given: so that a certificate for its AK can be made in between. First it writes, one a
 * line in hexadecimal, the key's SubjectPublicKeyInfo, the AK's, and the AK's TPMT_PUBLIC; for each line it writes the
 * proof to the file PROOF, and to PROOF.der the proof's signature as DER. A line "issue ROOT ISSUER LEAF" makes a root,
 * an authority below it, and by that a certificate for the AK.
 */

enum { CERTIFICATES = 8 };

typedef struct {
    support_swtpm *sw;
    support_transport *wire;
    tenon_tpm *tpm;
    tenon_tpm_key *key;
    tenon_tpm_key *ak;
} device;

static tenon_bytes read_certificate(const char *name)
{
    static content files[CERTIFICATES];
    static size_t next;
    content *to = &files[next++ % CERTIFICATES];
    *to = read_file(name);
    return (tenon_bytes){to->bytes, to->n};
}

static void say(const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        printf("%02x", bytes[i]);
    putchar('\n');
}

static tenon_status say_spki(const tenon_tpm_key *key)
{
    tenon_public_key point;
    uint8_t spki[TENON_SPKI_SIZE];
    size_t n = 0;
    TRY(tenon_tpm_key_public_key(key, &point));
    TRY(tenon_public_key_encode_spki(spki, sizeof spki, &n, &point));
    say(spki, n);
    return TENON_OK;
}

static tenon_status open_tpm(device *at, const char *name)
{
    static const tenon_tpm_options options = {.size = sizeof options, .allow_simulator = 1};
    if (strchr(name, ':') != NULL)
        return tenon_tpm_open(&at->tpm, name, strlen(name), &options);
    at->sw = support_swtpm_start(strcmp(name, "new") == 0 ? NULL : name);
    if (at->sw == NULL)
        return TENON_ERROR_TPM_MISSING;
    at->wire = support_transport_new(at->sw);
    tenon_tpm_transport table = support_transport_table(at->wire);
    return tenon_tpm_open_transport(&at->tpm, &table, NULL);
}

static tenon_status start(device *at, const char *name)
{
    uint8_t area[TENON_AREA_MAX];
    size_t n = 0;
    TRY(open_tpm(at, name));
    TRY(tenon_tpm_key_create(at->tpm, &at->key, NULL, 0));
    TRY(tenon_tpm_ak_create(at->key, &at->ak));
    TRY(say_spki(at->key));
    TRY(say_spki(at->ak));
    TRY(tenon_tpm_key_public_area(at->ak, area, sizeof area, &n));
    say(area, n);
    fflush(stdout);
    return TENON_OK;
}

static void stop(device *at)
{
    tenon_tpm_key_free(&at->ak);
    tenon_tpm_key_free(&at->key);
    tenon_tpm_free(&at->tpm);
    if (at->wire != NULL)
        support_transport_free(at->wire);
    support_swtpm_stop(at->sw);
}

static tenon_status write_proof(const char *name, const uint8_t *proof, size_t n)
{
    char with_der[1024];
    uint8_t der[TENON_SIGNATURE_DER_MAX];
    size_t der_n = 0;
    tenon_evidence evidence;
    TRY(tenon_proof_decode(&evidence, proof, n));
    TRY(tenon_evidence_signature_der(der, sizeof der, &der_n, &evidence));
    snprintf(with_der, sizeof with_der, "%s.der", name);
    write_file(name, proof, n);
    return write_file(with_der, der, der_n);
}

/* nonce, proof, certificates */
static tenon_status attest(device *at, char **words, size_t count)
{
    uint8_t nonce[64], proof[TENON_PROOF_MAX];
    size_t nonce_n = 0, n = 0;
    tenon_bytes x5c[CERTIFICATES];
    for (size_t i = 2; i < count; i++)
        x5c[i - 2] = read_certificate(words[i]);
    TRY(tenon_hex_decode(nonce, sizeof nonce, &nonce_n, words[0], strlen(words[0])));
    TRY(tenon_tpm_key_attest(at->key, at->ak, proof, sizeof proof, &n, nonce, nonce_n, x5c, count - 2));
    return write_proof(words[1], proof, n);
}

/* The maker is one that verifiers with a list of makers know. */
static tenon_status issue_leaf(const device *at, const tenon_key *key, const tenon_bytes *issuer, const char *name)
{
    uint8_t area[TENON_AREA_MAX], leaf[TENON_CERTIFICATE_MAX];
    const int64_t now = time(NULL);
    const tenon_ek ek = {.maker = "id:53544D20",
                         .maker_n = 11,
                         .model = "model",
                         .model_n = 5,
                         .version = "id:00000001",
                         .version_n = 11};
    tenon_ak_request request = {
        .size = sizeof request, .ek = &ek, .serial = {2}, .not_before = now - 300, .not_after = now + 86400};
    size_t area_n = 0, n = 0;
    TRY(tenon_tpm_key_public_area(at->ak, area, sizeof area, &area_n));
    request.ak = (tenon_bytes){area, area_n};
    TRY(tenon_ak_certificate_issue(leaf, sizeof leaf, &n, key, issuer->bytes, issuer->n, &request));
    return write_file(name, leaf, n);
}

/* An authority, self-signed or below another. */
static tenon_status issue_authority(tenon_bytes *out, uint8_t *bytes, const char *name, const tenon_key *signing_key,
                                    const tenon_key *key, tenon_bytes issuer, const char *file)
{
    const int64_t now = time(NULL);
    tenon_authority_request request = {.size = sizeof request,
                                       .name = name,
                                       .name_n = strlen(name),
                                       .serial = {1},
                                       .not_before = now - 300,
                                       .not_after = now + 86400,
                                       .issuer = issuer};
    tenon_public_key point;
    TRY(tenon_key_public_key(key, &point));
    request.key = issuer.n != 0 ? &point : NULL;
    TRY(tenon_authority_certificate_issue(bytes, TENON_CERTIFICATE_MAX, &out->n, signing_key, &request));
    out->bytes = bytes;
    return write_file(file, bytes, out->n);
}

static tenon_status issue(const device *at, char **names)
{
    uint8_t root_bytes[TENON_CERTIFICATE_MAX], issuer_bytes[TENON_CERTIFICATE_MAX];
    tenon_bytes root = {NULL, 0}, issuer = {NULL, 0};
    OWNED_KEY root_key = NULL;
    OWNED_KEY key = NULL;
    TRY(tenon_software_key_generate(&root_key, TENON_KEY_SIGNS_DIGESTS));
    TRY(tenon_software_key_generate(&key, TENON_KEY_SIGNS_DIGESTS));
    TRY(issue_authority(&root, root_bytes, "root", root_key, root_key, root, names[0]));
    TRY(issue_authority(&issuer, issuer_bytes, "issuer", root_key, key, root, names[1]));
    return issue_leaf(at, key, &issuer, names[2]);
}

static tenon_status attest_lines(device *at)
{
    char line[8192];
    tenon_status status = TENON_OK;
    while (status == TENON_OK && fgets(line, sizeof line, stdin) != NULL) {
        char *words[2 + CERTIFICATES];
        size_t count = 0;
        for (char *word = strtok(line, " \n"); word != NULL && count < 2 + CERTIFICATES; word = strtok(NULL, " \n"))
            words[count++] = word;
        if (count < 2)
            exit(TOOL_USAGE);
        if (count == 4 && strcmp(words[0], "issue") == 0)
            status = issue(at, words + 1);
        else
            status = attest(at, words, count);
        puts(tenon_status_name(status));
        fflush(stdout);
    }
    return status;
}

int main(int argc, char **argv)
{
    device at = {.sw = NULL};
    /* The TCTIs of tpm2-tss write to stderr. */
    setenv("TSS2_LOG", "all+NONE", 0);
    if (argc < 2 || argc == 3 || argc > 4 + CERTIFICATES) {
        fprintf(stderr, "usage: %s TPM [NONCE PROOF [CERTIFICATE...]]\n", argv[0]);
        return TOOL_USAGE;
    }
    tenon_status status = start(&at, argv[1]);
    if (status == TENON_OK)
        status = argc > 2 ? attest(&at, argv + 2, (size_t)argc - 2) : attest_lines(&at);
    if (status != TENON_OK)
        puts(tenon_status_name(status));
    stop(&at);
    return tenon_status_category(status);
}
