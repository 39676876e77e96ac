/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include <unistd.h>

#include "native/attestation.h"
#include "native_rig.h"

/* The proof that a runtime asks for, with an attestation key of an identity in the same state folder. */

static const char stem[] = "0123456789abcdef0123456789abcdef", other_stem[] = "ffffffffffffffffffffffffffffffff";
static const int64_t now = 1800000000;

static tenon_digest challenge = {{1, 2, 3}};

typedef struct {
    uint8_t bytes[TENON_CERTIFICATE_MAX];
    size_t n;
} certificate;

static certificate root;

/* The files of an identity's attestation key: what tenon keeps when a service issued a certificate. */
static char *path_of(const native_rig *rig, const char *of, const char *end)
{
    char *path = NULL;
    CHECK(asprintf(&path, "%s/%s%s", rig->folder, of, end) > 0);
    return path;
}

static void write_pem(const native_rig *rig, const char *of, const certificate *leaf)
{
    char text[2 * TENON_CERTIFICATE_MAX], pem[4 * TENON_CERTIFICATE_MAX];
    size_t n, used = 0;
    OWNED char *path = path_of(rig, of, ".ak.crt");
    CHECK_OK(tenon_base64_encode(text, sizeof text, &n, leaf->bytes, leaf->n));
    used += (size_t)snprintf(pem, sizeof pem, "-----BEGIN CERTIFICATE-----\n");
    for (size_t at = 0; at < n; at += 64)
        used += (size_t)snprintf(pem + used, sizeof pem - used, "%.*s\n", (int)(n - at < 64 ? n - at : 64), text + at);
    used += (size_t)snprintf(pem + used, sizeof pem - used, "-----END CERTIFICATE-----\n");
    native_rig_write(path, pem, used);
}

static certificate issue(const tenon_tpm_key *ak)
{
    static const tenon_ek ek = {.maker = "id:53544D20",
                                .maker_n = 11,
                                .model = "model",
                                .model_n = 5,
                                .version = "id:00000001",
                                .version_n = 11};
    tenon_authority_request authority = {.size = sizeof authority,
                                         .name = "Root",
                                         .name_n = 4,
                                         .serial = {1},
                                         .not_before = now - 9,
                                         .not_after = now + 9};
    tenon_ak_request request = {
        .size = sizeof request, .ek = &ek, .serial = {2}, .not_before = now - 9, .not_after = now + 9};
    OWNED_KEY key = NULL;
    uint8_t area[TENON_AREA_MAX];
    certificate leaf;
    CHECK_OK(tenon_software_key_generate(&key, TENON_KEY_SIGNS_DIGESTS));
    CHECK_OK(tenon_authority_certificate_issue(root.bytes, sizeof root.bytes, &root.n, key, &authority));
    request.ak.bytes = area;
    CHECK_OK(tenon_tpm_key_public_area(ak, area, sizeof area, &request.ak.n));
    CHECK_OK(tenon_ak_certificate_issue(leaf.bytes, sizeof leaf.bytes, &leaf.n, key, root.bytes, root.n, &request));
    return leaf;
}

/* What tenon does, in another process. */
static void enrol(native_rig *rig, const char *of)
{
    tenon_tpm_transport table = support_transport_table(rig->wire);
    OWNED_TPM tpm = NULL;
    OWNED_TPM_KEY key = NULL;
    OWNED char *path = path_of(rig, of, ".ak.pem");
    native_rig_again(rig);
    CHECK_OK(tenon_tpm_open_transport(&tpm, &table, NULL));
    CHECK_OK(tenon_tpm_key_create(tpm, &key, NULL, 0));
    OWNED_TPM_KEY ak = tpm_rig_ak(key);
    const tpm_pem pem = tpm_rig_export(ak);
    const certificate leaf = issue(ak);
    native_rig_write(path, pem.text, pem.n);
    write_pem(rig, of, &leaf);
}

static tenon_public_key key_of(const char *json)
{
    tenon_public_key key = {{0}};
    size_t n;
    CHECK(json != NULL);
    CHECK_OK(tenon_base64url_decode(key.bytes, 32, &n, json + 6, 43));
    CHECK_OK(tenon_base64url_decode(key.bytes + 32, 32, &n, json + 6 + 43 + 7, 43));
    return key;
}

/* The verdict of a service that trusts the root. */
static tenon_status verdict(const char *attestation, const char *key_json)
{
    static const char head[] = "{\"format\":\"tpm2\",\"blob\":\"";
    uint8_t proof[TENON_PROOF_MAX];
    size_t n;
    const tenon_bytes roots = {root.bytes, root.n};
    const tenon_policy policy = {
        .size = sizeof policy, .trust = TENON_TRUST_ROOTS, .roots = &roots, .roots_count = 1, .now = now};
    const tenon_public_key key = key_of(key_json);
    if (!CHECK(attestation != NULL && strncmp(attestation, head, sizeof head - 1) == 0))
        return TENON_ERROR_NULL;
    const char *blob = attestation + sizeof head - 1;
    CHECK_OK(tenon_base64_decode(proof, sizeof proof, &n, blob, strlen(blob) - 2));
    return tenon_proof_verify(NULL, proof, n, &challenge, &key, &policy);
}

static char *attest(void) { return synheart_native_get_attestation("dev_1", challenge.bytes, sizeof challenge.bytes); }

#define NONE(reason) "{\"format\":\"none\",\"blob\":\"\",\"reason\":\"" reason "\"}"

TEST_NATIVE(native_attestation_is_accepted)
{
    OWNED char *key = synheart_native_generate_key("dev_1");
    CHECK_TEXT(attest(), NONE("misconfigured"));
    CHECK_CODE("NATIVE_NO_CERTIFICATE");
    enrol(rig, stem);
    OWNED char *proof = attest();
    CHECK_STATUS(verdict(proof, key), TENON_OK);
    challenge.bytes[0] ^= 1;
    CHECK_STATUS(verdict(proof, key), TENON_RULE_7_NONCE);
    challenge.bytes[0] ^= 1;
    OWNED char *other = synheart_native_generate_key("dev_2");
    CHECK_STATUS(verdict(proof, other), TENON_RULE_19_PUBLIC_KEY);
    support_transport_reset_counts(rig->wire);
    OWNED char *again = attest();
    CHECK_NUMBER(support_transport_count(rig->wire, SUPPORT_CC_CERTIFY), 1);
    CHECK_STATUS(verdict(again, key), TENON_OK);
}

/* Every attestation of one device id is made by one attestation key, also when there are others by then. */
TEST_NATIVE(native_attestation_keeps_its_key)
{
    OWNED char *key = synheart_native_generate_key("dev_1");
    enrol(rig, stem);
    OWNED char *first = attest();
    CHECK_NUMBER(native_rig_count(rig, "a-"), 1);
    const certificate before = root;
    enrol(rig, other_stem);
    root = before;
    OWNED char *second = attest();
    CHECK_STATUS(verdict(second, key), TENON_OK);
    OWNED char *other = synheart_native_generate_key("dev_2");
    CHECK_TEXT(synheart_native_get_attestation("dev_2", challenge.bytes, 32), NONE("misconfigured"));
    CHECK_NUMBER(synheart_native_delete_key("dev_1"), 0);
    CHECK_NUMBER(native_rig_count(rig, "a-"), 0);
    CHECK(first != NULL && other != NULL);
}

/* Never NULL for valid arguments, and the reason is that of the fault (the shipped shims give NULL). */
TEST_NATIVE(native_defect_2_attestation_says_why)
{
    CHECK_TEXT(attest(), NONE("unknown"));
    CHECK_CODE("NATIVE_ABSENT");
    OWNED char *key = synheart_native_generate_key("dev_1");
    enrol(rig, stem);
    static const struct {
        uint32_t code;
        const char *expected;
    } cases[] = {{0x921, NONE("transient")}, {0x908, NONE("transient")}, {0x101, NONE("unknown")}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        native_rig_again(rig);
        support_fail_code(rig->wire, support_times(SUPPORT_ANY, 1, SUPPORT_ALWAYS), cases[i].code);
        CHECK_TEXT(attest(), cases[i].expected);
        support_transport_forget_faults(rig->wire);
    }
    native_rig_again(rig);
    support_fail_before(rig->wire, support_times(SUPPORT_ANY, 1, SUPPORT_ALWAYS), TENON_ERROR_TPM_TRANSPORT);
    CHECK_TEXT(attest(), NONE("transient"));
    support_transport_forget_faults(rig->wire);
    OWNED char *proof = attest();
    CHECK_STATUS(verdict(proof, key), TENON_OK);
}

/* The shipped Apple shim uses one key id twice, which its platform refuses; a TPM's key certifies as often as asked. */
TEST_NATIVE(native_defect_7_attestation_can_be_repeated)
{
    OWNED char *key = synheart_native_generate_key("dev_1");
    enrol(rig, stem);
    for (int i = 0; i < 5; i++) {
        OWNED char *proof = attest();
        CHECK_STATUS(verdict(proof, key), TENON_OK);
    }
}

/* A certificate of another key, one that is cut, and an attestation key that was replaced. */
TEST_NATIVE(native_attestation_with_other_files)
{
    OWNED char *key = synheart_native_generate_key("dev_1");
    enrol(rig, stem);
    OWNED char *file = path_of(rig, stem, ".ak.crt");
    size_t n;
    OWNED uint8_t *bytes = native_rig_bytes(file, &n);
    enrol(rig, stem);
    native_rig_write(file, bytes, n);
    CHECK_TEXT(attest(), NONE("misconfigured"));
    native_rig_write(file, bytes, n - 1);
    CHECK_TEXT(attest(), NONE("unknown"));
    CHECK_NUMBER(unlink(file), 0);
    CHECK_TEXT(attest(), NONE("misconfigured"));
    enrol(rig, stem);
    OWNED char *proof = attest();
    CHECK_STATUS(verdict(proof, key), TENON_OK);
}

/* A certificate of the largest size, and one that fills a file. */
TEST(native_chain_sizes)
{
    static const char begin[] = "-----BEGIN CERTIFICATE-----\n", end[] = "==\n-----END CERTIFICATE-----\n";
    static const struct {
        size_t letters;
        bool good;
    } cases[] = {{5462, true}, {5466, false}, {20000, false}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        static char text[20480];
        static tenoni_chain chain;
        const size_t end_at = sizeof begin - 1 + cases[i].letters, n = end_at + sizeof end - 1;
        memcpy(text, begin, sizeof begin - 1);
        memset(text + sizeof begin - 1, 'A', cases[i].letters);
        memcpy(text + end_at, end, sizeof end - 1);
        test_about("case %zu", i);
        CHECK(tenoni_chain_read(&chain, (const uint8_t *)text, n) == cases[i].good);
    }
}

/* A chain is read as tenon writes it, and in no other form. */
TEST(native_chain_forms)
{
    static const char begin[] = "-----BEGIN CERTIFICATE-----\n", end[] = "-----END CERTIFICATE-----\n";
    char text[1024];
    tenoni_chain chain;
    static const struct {
        const char *body;
        bool good;
    } cases[] = {{"AAAA\n", true}, {"", false}, {"AAA\n", false}, {"AAAA\nBBBB\n", true}, {"A-AA\n", false}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        test_about("case %zu", i);
        int n = snprintf(text, sizeof text, "%s%s%s", begin, cases[i].body, end);
        CHECK(tenoni_chain_read(&chain, (const uint8_t *)text, (size_t)n) == cases[i].good);
        CHECK(!tenoni_chain_read(&chain, (const uint8_t *)text, (size_t)n - 1));
        CHECK(!tenoni_chain_read(&chain, (const uint8_t *)text, 0));
    }
    int n = 0;
    for (int i = 0; i < 5; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%sAAAA\n%s", begin, end);
    CHECK(!tenoni_chain_read(&chain, (const uint8_t *)text, (size_t)n));
    CHECK(tenoni_chain_read(&chain, (const uint8_t *)text, (size_t)n / 5 * 4) && chain.count == 4);
}
