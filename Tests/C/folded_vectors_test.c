/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

/* Tests/Vectors/folded.txt from the view of a service: no TPM is used. */

enum { ORIGIN, APP, CHALLENGE, NOW, PUBLIC_KEY, VERDICT, RELAY_ORIGIN, RELAY_VERDICT, TEXTS };
enum { EK_ROOT, EK_ID, AK, AK_NAME, KEY, SECRET, CREDENTIAL, ENCRYPTED, ACTIVATION, PROOF, RELAY_ACTIVATION, VALUES };

typedef struct {
    uint8_t *bytes; /* to be freed */
    size_t n;
} content;

typedef struct {
    char *texts[TEXTS];
    content values[VALUES];
    content chain[2];
    size_t chain_n;
} vector;

static const char *const text_names[TEXTS] = {"origin",     "app",     "challenge",    "now",
                                              "public_key", "verdict", "relay_origin", "relay_verdict"};
static const char *const value_names[VALUES] = {
    "ek_root",          "ek_id",      "ak",    "ak_name",         "K_act", "secret", "credential",
    "encrypted_secret", "activation", "proof", "relay_activation"};

static void set(vector *v, const char *name, char *value)
{
    for (size_t i = 0; i < TEXTS; i++)
        if (strcmp(name, text_names[i]) == 0)
            v->texts[i] = value;
    for (size_t i = 0; i < VALUES; i++)
        if (strcmp(name, value_names[i]) == 0)
            v->values[i].bytes = test_hex_all(value, &v->values[i].n);
    if (strcmp(name, "ek_certificate") == 0 && CHECK(v->chain_n < 2)) {
        content *certificate = &v->chain[v->chain_n++];
        certificate->bytes = test_hex_all(value, &certificate->n);
    }
}

static void clear(vector *v)
{
    for (size_t i = 0; i < VALUES; i++)
        free(v->values[i].bytes);
    for (size_t i = 0; i < v->chain_n; i++)
        free(v->chain[i].bytes);
    memset(v, 0, sizeof *v);
}

static tenon_bytes bytes_of(const vector *v, int which)
{
    return (tenon_bytes){v->values[which].bytes, v->values[which].n};
}

static bool is_whole(const vector *v)
{
    bool whole = CHECK(v->chain_n != 0);
    for (size_t i = 0; i < TEXTS; i++)
        whole = CHECK(v->texts[i] != NULL) && whole;
    for (size_t i = 0; i < VALUES; i++)
        whole = CHECK(v->values[i].bytes != NULL) && whole;
    return whole;
}

static void check_value(const vector *v, int which, const void *found, size_t n)
{
    CHECK_SAME(found, n, v->values[which].bytes, v->values[which].n);
}

static tenon_ek check_ek(const vector *v)
{
    const tenon_bytes root = bytes_of(v, EK_ROOT);
    const tenon_bytes chain[] = {{v->chain[0].bytes, v->chain[0].n}, {v->chain[1].bytes, v->chain[1].n}};
    const tenon_ek_policy policy = {.size = sizeof policy,
                                    .flags = TENON_EK_REQUIRE_USAGE | TENON_EK_ALLOW_SIMULATOR,
                                    .roots = &root,
                                    .roots_count = 1,
                                    .now = strtoll(v->texts[NOW], NULL, 10)};
    tenon_ek ek, read;
    CHECK_OK(tenon_ek_verify(&ek, NULL, chain, v->chain_n, &policy));
    CHECK_OK(tenon_ek_read(&read, v->chain[0].bytes, v->chain[0].n));
    check_value(v, EK_ID, &ek.id, sizeof ek.id);
    check_value(v, EK_ID, &read.id, sizeof read.id);
    return ek;
}

static void check_ak(const vector *v)
{
    uint8_t name[TENON_NAME_SIZE];
    size_t n;
    const tenon_bytes area = bytes_of(v, AK);
    CHECK_OK(tenon_ak_check(NULL, area.bytes, area.n));
    CHECK_OK(tenon_object_name(name, sizeof name, &n, area.bytes, area.n));
    check_value(v, AK_NAME, name, n);
}

static tenon_activation activation_of(const vector *v, const tenon_ek *ek, const char *origin)
{
    tenon_activation made = test_activation(origin, v->texts[APP], v->texts[CHALLENGE], v->texts[PUBLIC_KEY]);
    made.ek_id = ek->id;
    made.ak_name = v->values[AK_NAME].bytes;
    made.ak_name_n = v->values[AK_NAME].n;
    return made;
}

static void check_secret(const vector *v, const tenon_ek *ek)
{
    const tenon_bytes key = bytes_of(v, KEY), name = bytes_of(v, AK_NAME);
    tenon_digest secret;
    CHECK_OK(tenon_activation_secret(&secret, key.bytes, key.n, v->texts[CHALLENGE], strlen(v->texts[CHALLENGE]),
                                     &ek->id, name.bytes, name.n));
    check_value(v, SECRET, &secret, sizeof secret);
}

/* A credential made anew is another one, of the same size. */
static void check_credential(const vector *v, const tenon_ek *ek)
{
    uint8_t credential[TENON_CREDENTIAL_MAX], encrypted[TENON_CREDENTIAL_MAX];
    size_t credential_n, encrypted_n;
    const tenon_bytes secret = bytes_of(v, SECRET), name = bytes_of(v, AK_NAME);
    CHECK_OK(tenon_credential_make(credential, sizeof credential, &credential_n, encrypted, sizeof encrypted,
                                   &encrypted_n, ek, name.bytes, name.n, secret.bytes, secret.n));
    CHECK_NUMBER(credential_n, v->values[CREDENTIAL].n);
    CHECK_NUMBER(encrypted_n, v->values[ENCRYPTED].n);
    CHECK(memcmp(encrypted, v->values[ENCRYPTED].bytes, encrypted_n) != 0);
}

/* The verdict of the service at this origin on these values of an activation. */
static tenon_status verify(const vector *v, const tenon_ek *ek, const char *origin, int value)
{
    const tenon_activation wanted = activation_of(v, ek, origin);
    const tenon_bytes secret = bytes_of(v, SECRET), found = bytes_of(v, value);
    tenon_digest computed;
    CHECK_OK(tenon_activation_value(&computed, secret.bytes, secret.n, &wanted));
    tenon_status status = tenon_activation_verify(secret.bytes, secret.n, &wanted, found.bytes, found.n);
    if (status == TENON_OK)
        check_value(v, value, &computed, sizeof computed);
    return status;
}

static tenon_status verify_proof(const vector *v, const char *challenge)
{
    const tenon_policy policy = {.size = sizeof policy, .trust = TENON_TRUST_AK, .ak = bytes_of(v, AK)};
    const tenon_bytes proof = bytes_of(v, PROOF);
    uint8_t spki[TENON_SPKI_SIZE];
    size_t n;
    tenon_public_key key;
    tenon_digest nonce;
    CHECK_OK(tenon_base64_decode(spki, sizeof spki, &n, v->texts[PUBLIC_KEY], strlen(v->texts[PUBLIC_KEY])));
    CHECK_OK(tenon_public_key_decode_spki(&key, spki, n));
    CHECK_OK(
        tenon_binding_nonce(&nonce, challenge, strlen(challenge), v->texts[PUBLIC_KEY], strlen(v->texts[PUBLIC_KEY])));
    return tenon_proof_verify(NULL, proof.bytes, proof.n, &nonce, &key, &policy);
}

static void check_verdicts(const vector *v, const tenon_ek *ek)
{
    const char *origin = v->texts[ORIGIN];
    tenon_status status = verify(v, ek, origin, ACTIVATION);
    if (status == TENON_OK)
        status = verify_proof(v, v->texts[CHALLENGE]);
    CHECK_OK(status);
    CHECK(strcmp(tenon_status_name(status), v->texts[VERDICT]) == 0);
    status = verify(v, ek, origin, RELAY_ACTIVATION);
    CHECK_STATUS(status, TENON_ERROR_ACTIVATION);
    CHECK(strcmp(tenon_status_name(status), v->texts[RELAY_VERDICT]) == 0);
    CHECK_OK(verify(v, ek, v->texts[RELAY_ORIGIN], RELAY_ACTIVATION));
    CHECK_STATUS(verify_proof(v, "another challenge"), TENON_RULE_7_NONCE);
}

static void check(const vector *v)
{
    if (!is_whole(v))
        return;
    const tenon_ek ek = check_ek(v);
    check_ak(v);
    check_secret(v, &ek);
    check_credential(v, &ek);
    check_verdicts(v, &ek);
}

TEST(folded_vectors)
{
    char *file = test_vectors("folded.txt"), *text = file, *name, *value;
    vector v = {.chain_n = 0};
    size_t sections = 0;
    while (test_line(&text, &name, &value)) {
        if (name[0] == '[') {
            if (sections++ != 0)
                check(&v);
            clear(&v);
            test_about("%s", name);
        } else {
            set(&v, name, value);
        }
    }
    check(&v);
    clear(&v);
    CHECK_NUMBER(sections, 5);
    free(file);
}
