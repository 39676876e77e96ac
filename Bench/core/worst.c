/* SPDX-License-Identifier: Apache-2.0 */
#include "worst.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attestation.h"
#include "tenon/activate.h"
#include "tenon/encoding.h"

enum { BODY = 16384, ENTRIES = 8, ROOTS = 2, LABEL_MAX = 16, NOW = 1800000000 };

typedef struct {
    char label[LABEL_MAX];
    uint8_t bytes[TENON_CERTIFICATE_MAX];
    size_t n;
} entry;

struct worst {
    entry entries[ENTRIES];
    size_t count;
    tenon_bytes ak_chain[TENON_CERTIFICATES_MAX], ek_chain[TENON_CERTIFICATES_MAX];
    tenon_bytes roots[ROOTS]; /* of one name, the one that has signed behind the other */
    attestation proof;
    tenon_ek ek;
    char body[BODY];
};

static bool read_entry(entry *out, char *line)
{
    char *middle = strstr(line, " = ");
    if (middle == NULL || middle - line >= LABEL_MAX)
        return false;
    memcpy(out->label, line, (size_t)(middle - line));
    const char *hex = middle + 3;
    return tenon_hex_decode(out->bytes, sizeof out->bytes, &out->n, hex, strcspn(hex, "\n")) == TENON_OK;
}

static bool read_entries(worst *of)
{
    char line[LABEL_MAX + 2 * TENON_CERTIFICATE_MAX + 8];
    FILE *file = fopen("Tests/Vectors/certificates/worst.txt", "r");
    if (file == NULL)
        return false;
    bool good = true;
    while (good && fgets(line, sizeof line, file) != NULL)
        if (line[0] != '#')
            good = of->count < ENTRIES && read_entry(&of->entries[of->count++], line);
    fclose(file);
    return good;
}

/* Empty when there is none. */
static tenon_bytes find(const worst *of, const char *label)
{
    for (size_t i = 0; i < of->count; i++)
        if (strcmp(of->entries[i].label, label) == 0)
            return (tenon_bytes){of->entries[i].bytes, of->entries[i].n};
    return (tenon_bytes){NULL, 0};
}

static void set_chain(const worst *of, tenon_bytes *chain, const char *leaf)
{
    const char *const labels[TENON_CERTIFICATES_MAX] = {leaf, "ca3", "ca2", "ca1"};
    for (size_t i = 0; i < TENON_CERTIFICATES_MAX; i++)
        chain[i] = find(of, labels[i]);
}

worst *worst_new(void)
{
    worst *made = calloc(1, sizeof *made);
    if (made == NULL)
        return NULL;
    bool good = read_entries(made);
    set_chain(made, made->ak_chain, "ak");
    set_chain(made, made->ek_chain, "ek");
    made->roots[0] = find(made, "other-root");
    made->roots[1] = find(made, "root");
    const tenon_bytes scalar = find(made, "ak-scalar");
    memset(made->body, 'a', sizeof made->body);
    if (good && scalar.n == TENON_SCALAR_SIZE &&
        attestation_make(&made->proof, scalar.bytes, made->ak_chain, TENON_CERTIFICATES_MAX) &&
        tenon_ek_read(&made->ek, made->ek_chain[0].bytes, made->ek_chain[0].n) == TENON_OK)
        return made;
    free(made);
    return NULL;
}

void worst_free(worst *of) { free(of); }

static tenon_policy policy_of(const worst *of)
{
    return (tenon_policy){
        .size = sizeof(tenon_policy), .trust = TENON_TRUST_ROOTS, .roots = of->roots, .roots_count = ROOTS, .now = NOW};
}

static bool proof(const worst *of)
{
    const attestation *given = &of->proof;
    const tenon_policy policy = policy_of(of);
    tenon_report report;
    return tenon_proof_verify(&report, given->proof, given->n, &given->nonce, &given->key, &policy) == TENON_OK;
}

static bool ak_certificate(const worst *of)
{
    const tenon_policy policy = policy_of(of);
    return tenon_ak_certificate_verify(NULL, of->ak_chain, TENON_CERTIFICATES_MAX, &of->proof.ak_point, &policy) ==
           TENON_OK;
}

static bool ek(const worst *of)
{
    const tenon_ek_policy policy = {.size = sizeof policy, .roots = of->roots, .roots_count = ROOTS, .now = NOW};
    tenon_ek read;
    return tenon_ek_verify(&read, NULL, of->ek_chain, TENON_CERTIFICATES_MAX, &policy) == TENON_OK;
}

static const uint8_t name[TENON_NAME_SIZE] = {0x00, 0x0b};
static const tenon_digest secret = {{1}};

/* P-384 costs most. */
static bool credential(const worst *of)
{
    uint8_t wrapped[TENON_CREDENTIAL_MAX], encrypted[TENON_CREDENTIAL_MAX];
    size_t wrapped_n, encrypted_n;
    return tenon_credential_make(wrapped, sizeof wrapped, &wrapped_n, encrypted, sizeof encrypted, &encrypted_n,
                                 &of->ek, name, sizeof name, secret.bytes, sizeof secret.bytes) == TENON_OK;
}

/* A body that is one field. */
static bool activation(const worst *of)
{
    const tenon_activation given = {.size = sizeof given,
                                    .origin = of->body,
                                    .origin_n = 1,
                                    .app_id = of->body,
                                    .app_id_n = 1,
                                    .challenge = of->body,
                                    .challenge_n = sizeof of->body,
                                    .public_key = of->body,
                                    .public_key_n = 1,
                                    .ak_name = name,
                                    .ak_name_n = sizeof name};
    return tenon_activation_verify(secret.bytes, sizeof secret.bytes, &given, secret.bytes, sizeof secret.bytes) ==
           TENON_ERROR_ACTIVATION;
}

bool worst_run(const worst *of, worst_input which)
{
    static bool (*const all[])(const worst *) = {
        [WORST_PROOF] = proof,           [WORST_AK_CERTIFICATE] = ak_certificate, [WORST_EK] = ek,
        [WORST_CREDENTIAL] = credential, [WORST_ACTIVATION] = activation,
    };
    return all[which](of);
}
