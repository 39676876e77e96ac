/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "proof_rig.h"

/*
 * Tests/Vectors/evidence.txt: proofs that a software TPM made, the policy for each, and the verdict. One test judges
 * those; another makes all of them anew, and judges these. With TENON_TEST_EVIDENCE in the environment it also writes
 * them, to the file that this names.
 */

typedef struct {
    char name[80];
    certify_proof proof;
    tenon_digest nonce;
    tenon_public_key key;
    support_bytes ak, root; /* one of them is empty */
    int64_t now;
    support_bytes parent; /* its qualified Name, or empty */
    char result[40];
} vector;

static tenon_status expected_of(const vector *of)
{
    for (size_t i = 0; i < tenoni_rules_count; i++)
        if (strcmp(tenon_status_name(tenoni_rules[i].code), of->result) == 0)
            return tenoni_rules[i].code;
    CHECK(strcmp(of->result, "TENON_OK") == 0);
    return TENON_OK;
}

static void judge(const vector *of)
{
    const tenon_bytes root = {of->root.bytes, of->root.n};
    tenon_policy policy = {.size = sizeof policy, .trust = of->ak.n != 0 ? TENON_TRUST_AK : TENON_TRUST_ROOTS};
    policy.ak = (tenon_bytes){of->ak.bytes, of->ak.n};
    policy.roots = &root;
    policy.roots_count = of->ak.n != 0 ? 0 : 1;
    policy.now = of->now;
    policy.parent_qualified_name = (tenon_bytes){of->parent.bytes, of->parent.n};
    test_about("%s", of->name);
    CHECK_STATUS(tenon_proof_verify(NULL, of->proof.proof, of->proof.n, &of->nonce, &of->key, &policy),
                 expected_of(of));
    test_about(NULL);
}

/* ---- As they were recorded ---- */

/* The lines of a vector have a fixed order, with the result last. */
static void take_line(vector *of, const char *name, const char *value)
{
    if (strcmp(name, "Name") == 0)
        snprintf(of->name, sizeof of->name, "%s", value);
    else if (strcmp(name, "Proof") == 0)
        test_hex(of->proof.proof, of->proof.n = strlen(value) / 2, value);
    else if (strcmp(name, "Nonce") == 0)
        test_hex(of->nonce.bytes, sizeof of->nonce.bytes, value);
    else if (strcmp(name, "Key") == 0)
        test_hex(of->key.bytes, sizeof of->key.bytes, value);
    else if (strcmp(name, "AK") == 0)
        rig_hex(&of->ak, value);
    else if (strcmp(name, "Root") == 0)
        rig_hex(&of->root, value);
    else if (strcmp(name, "Now") == 0)
        of->now = strtoll(value, NULL, 10);
    else if (strcmp(name, "Parent") == 0)
        rig_hex(&of->parent, value);
    else
        snprintf(of->result, sizeof of->result, "%s", value);
}

TEST(evidence_of_the_vectors)
{
    static vector of;
    char *text = test_vectors("evidence.txt"), *at = text, *name, *value;
    size_t count = 0;
    while (test_line(&at, &name, &value)) {
        take_line(&of, name, value);
        if (strcmp(name, "Result") != 0)
            continue;
        judge(&of);
        count++;
    }
    CHECK_NUMBER(count, 19);
    free(text);
}

/* ---- Made anew ---- */

static FILE *out;

static void write_bytes(const char *name, const void *bytes, size_t n)
{
    fprintf(out, "%s = ", name);
    for (size_t i = 0; i < n; i++)
        fprintf(out, "%02x", ((const uint8_t *)bytes)[i]);
    fputc('\n', out);
}

static void write_vector(const vector *of)
{
    fprintf(out, "\nName = %s\n", of->name);
    write_bytes("Proof", of->proof.proof, of->proof.n);
    write_bytes("Nonce", of->nonce.bytes, sizeof of->nonce.bytes);
    write_bytes("Key", of->key.bytes, sizeof of->key.bytes);
    write_bytes("AK", of->ak.bytes, of->ak.n);
    write_bytes("Root", of->root.bytes, of->root.n);
    fprintf(out, "Now = %" PRId64 "\n", of->now);
    write_bytes("Parent", of->parent.bytes, of->parent.n);
    fprintf(out, "Result = %s\n", of->result);
}

static void record(vector *of, const char *name, const char *result)
{
    snprintf(of->name, sizeof of->name, "%s", name);
    snprintf(of->result, sizeof of->result, "%s", result);
    judge(of);
    if (out != NULL)
        write_vector(of);
}

/* The policy for a key of the device, with a trusted AK. */
static void ask(vector *of, certify_device *at, const certify_order *order)
{
    memset(of, 0, sizeof *of);
    certify(at, order, &of->proof);
    of->nonce = at->nonce;
    support_bytes_set(&of->ak, at->ak_area.bytes, at->ak_area.n);
    CHECK_OK(tenon_object_public_key(&of->key, order->area->bytes, order->area->n));
}

static void ask_plainly(vector *of, certify_device *at, uint32_t key, const support_public *area)
{
    const certify_order order = {.key = key, .area = area, .signer = at->ak};
    ask(of, at, &order);
}

static void record_keys(vector *of, certify_device *at)
{
    certify_order order = {.key = at->key, .area = &at->key_area, .signer = at->ak};
    ask(of, at, &order);
    record(of, "a key", "TENON_OK");
    of->nonce.bytes[31] ^= 1;
    record(of, "for another nonce", "TENON_RULE_7_NONCE");
    of->nonce.bytes[31] ^= 1;
    of->key.bytes[63] ^= 1;
    record(of, "with another submitted key", "TENON_RULE_19_PUBLIC_KEY");
    order.der = true;
    ask(of, at, &order);
    record(of, "sig in its DER form", "TENON_OK");
    of->proof.proof[of->proof.n - 1] ^= 1;
    record(of, "its last byte changed", "TENON_RULE_32_SIGNATURE");
}

static void record_child(vector *of, certify_device *at, support_template which, const char *auth, const char *name)
{
    support_public area;
    const uint32_t key = certify_child(at, which, auth, &area);
    const certify_order order = {.key = key, .area = &area, .auth = auth, .signer = at->ak};
    ask(of, at, &order);
    record(of, name, "TENON_OK");
    MUST_BE_0(support_flush(at->tpm, key));
}

static void set_parent(vector *of, const certify_device *at)
{
    of->parent.n = TENON_NAME_SIZE;
    certify_qualified_name(of->parent.bytes, SUPPORT_RH_OWNER, &at->srk_area);
}

static void record_parents(vector *of, certify_device *at)
{
    support_public area;
    uint32_t key;
    ask_plainly(of, at, at->key, &at->key_area);
    set_parent(of, at);
    record(of, "under this parent", "TENON_OK");
    of->parent.bytes[33] ^= 1;
    record(of, "under another parent", "TENON_RULE_11_PARENT");
    MUST_BE_0(support_flush(at->tpm, at->key));
    MUST_BE_0(support_create_primary(at->tpm, SUPPORT_RH_NULL, NULL, SUPPORT_SIGNING, &key));
    MUST_BE_0(support_read_public(at->tpm, key, &area));
    ask_plainly(of, at, key, &area);
    record(of, "a primary of the NULL hierarchy, whose parent nobody asked for", "TENON_OK");
    set_parent(of, at);
    record(of, "a primary of the NULL hierarchy", "TENON_RULE_11_PARENT");
    MUST_BE_0(support_flush(at->tpm, key));
}

static void record_others(vector *of, certify_device *at)
{
    support_public area;
    uint32_t key;
    ask_plainly(of, at, at->ak, &at->ak_area);
    record(of, "the AK by itself", "TENON_RULE_13_SIGNS_ONLY");
    MUST_BE_0(certify_load_software_key(at, 0x00040040, &area, &key));
    ask_plainly(of, at, key, &area);
    record(of, "a software key that TPM2_LoadExternal loaded", "TENON_RULE_10_QUALIFIED_NAME");
    MUST_BE_0(support_flush(at->tpm, key));
}

/* An unrestricted key of a TPM signs any digest, including this statement about a software key. */
static certify_device *forger;
static uint32_t forger_key;

static void sign_in_tpm(proof_rig *at)
{
    uint8_t signature[TENON_SIGNATURE_SIZE];
    tenon_digest digest;
    CHECK_OK(tenon_sha256(&digest, at->certified.bytes, at->certified.n));
    MUST_BE_0(support_sign(forger->tpm, forger_key, NULL, digest.bytes, signature));
    at->ecdsa = support_ecdsa_of(signature);
}

static void record_forged(vector *of, certify_device *at)
{
    static proof_rig made;
    support_public area;
    forger = at;
    forger_key = certify_child(at, SUPPORT_SIGNING_ECDSA, NULL, &area);
    rig_build(&made, RIG_SIGNATURE, sign_in_tpm);
    memset(of, 0, sizeof *of);
    of->proof.n = made.proof_n;
    memcpy(of->proof.proof, made.proof, made.proof_n);
    of->nonce = made.nonce;
    of->key = made.submitted;
    support_bytes_set(&of->ak, area.bytes, area.n);
    record(of, "forged: signed by an unrestricted key of the TPM, given as the AK", "TENON_RULE_29_AK");
    support_bytes_set(&of->ak, at->ak_area.bytes, at->ak_area.n);
    record(of, "forged: signed by an unrestricted key of the TPM", "TENON_RULE_32_SIGNATURE");
    MUST_BE_0(support_flush(at->tpm, forger_key));
}

/* ---- With a certificate of the AK ---- */

enum { BEGIN = 1800000000, END = BEGIN + 90 * 86400 };

static tenon_key *make_root(const uint8_t *scalar, support_bytes *root)
{
    const uint32_t flags = TENON_KEY_SIGNS_DIGESTS | TENON_KEY_DETERMINISTIC;
    const tenon_authority_request request = {
        .size = sizeof request, .name = "Root", .name_n = 4, .serial = {1}, .not_before = BEGIN, .not_after = END};
    tenon_key *key = NULL;
    CHECK_OK(tenon_software_key_import(&key, scalar, TENON_SCALAR_SIZE, flags));
    CHECK_OK(tenon_authority_certificate_issue(root->bytes, sizeof root->bytes, &root->n, key, &request));
    return key;
}

static void issue(uint8_t *leaf, size_t n, size_t *written, const certify_device *at, support_bytes *root)
{
    static const tenon_ek ek = {.maker = "id:00001014",
                                .maker_n = 11,
                                .model = "swtpm",
                                .model_n = 5,
                                .version = "id:20191023",
                                .version_n = 11};
    const tenon_ak_request request = {.size = sizeof request,
                                      .ak = {at->ak_area.bytes, at->ak_area.n},
                                      .ek = &ek,
                                      .serial = {2},
                                      .not_before = BEGIN,
                                      .not_after = END};
    OWNED_KEY key = make_root(rig_other_scalar, root);
    CHECK_OK(tenon_ak_certificate_issue(leaf, n, written, key, root->bytes, root->n, &request));
}

static void record_certificates(vector *of, certify_device *at)
{
    uint8_t leaf[TENON_CERTIFICATE_MAX];
    tenon_bytes x5c = {leaf, 0};
    support_bytes root;
    issue(leaf, sizeof leaf, &x5c.n, at, &root);
    const certify_order order = {.key = at->key, .area = &at->key_area, .signer = at->ak, .x5c = &x5c, .x5c_count = 1};
    ask(of, at, &order);
    record(of, "a certificate of the AK, which is known", "TENON_RULE_22_CERTIFICATE");
    of->ak.n = 0;
    of->root = root;
    of->now = BEGIN;
    record(of, "a certificate of the AK", "TENON_OK");
    of->now = END + 1;
    record(of, "a certificate of the AK that has ended", "TENON_RULE_24_CHAIN");
    of->now = BEGIN;
    OWNED_KEY key = make_root(rig_key_scalar, &of->root);
    record(of, "a certificate of the AK by another root of the same name", "TENON_RULE_24_CHAIN");
}

TEST(evidence_of_a_fresh_tpm)
{
    static vector of;
    const char *name = getenv("TENON_TEST_EVIDENCE");
    certify_device at = certify_start();
    out = name == NULL ? NULL : fopen(name, "w");
    CHECK(out != NULL || name == NULL);
    if (out != NULL)
        fputs("# Made by `make vectors-evidence`, each time with other random numbers.\n", out);
    record_keys(&of, &at);
    record_certificates(&of, &at);
    record_parents(&of, &at); /* which gives the key's place in the TPM to others */
    record_child(&of, &at, SUPPORT_SIGNING, "an auth value", "a key with an auth value");
    record_child(&of, &at, SUPPORT_SIGNING_ECDSA, NULL, "a key with scheme ECDSA");
    record_others(&of, &at);
    record_forged(&of, &at);
    if (out != NULL)
        CHECK_NUMBER(fclose(out), 0);
    out = NULL;
    certify_stop(&at);
}
