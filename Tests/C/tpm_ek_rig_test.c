/* SPDX-License-Identifier: Apache-2.0 */
#include "tpm_ek_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tenon/encoding.h"
#include "wire.h"

const tpm_ek_place tpm_ek_places[EK_TEMPLATES] = {
    [EK_L1] = {"L-1", TENON_EK_RSA_2048, 0x01C00002, 0x01C00004},
    [EK_L2] = {"L-2", TENON_EK_P256, 0x01C0000A, 0x01C0000C},
    [EK_H1] = {"H-1", TENON_EK_RSA_2048, 0x01C00012, 0x01C00013},
    [EK_H2] = {"H-2", TENON_EK_P256, 0x01C00014, 0x01C00015},
    [EK_H3] = {"H-3", TENON_EK_P384, 0x01C00016, 0x01C00017},
};

tpm_rig tpm_ek_rig_start(const tenon_tpm_options *options)
{
    tpm_rig rig = {.sw = support_swtpm_start(".build/make/swtpm/state")};
    if (rig.sw == NULL) {
        fputs("first run: Tests/Scripts/swtpm_state.sh .build/make/swtpm\n", stderr);
        exit(2);
    }
    tpm_rig_again(&rig, options);
    return rig;
}

static void put_policy(support_command *out, tpm_ek_template which)
{
    static const char *const digests[] = {
        "837197674484b3f81a90cc8d46a5d724fd52d76e06520b64f2a1da1b331469aa",
        "ca3d0a99a2b93906f7a3342414efcfb3a385d44cd1fd459089d19b5071c0b7a0",
        "b26e7d28d11a50bc53d882bcf5fd3a1a074148bb35d3b4e4cb1c0ad9bde419cacb47ba09699646150f9fc000f3f80e12"};
    size_t n;
    uint8_t *policy = test_hex_all(digests[which == EK_H3 ? 2 : which >= EK_H1 ? 1 : 0], &n);
    support_put_sized(out, policy, n);
    free(policy);
}

void tpm_ek_rig_template(tpm_ek_template which, support_public *out)
{
    static const uint8_t zeros[256];
    bool rsa = tpm_ek_places[which].kind == TENON_EK_RSA_2048, low = which < EK_H1, large = which == EK_H3;
    support_command text = {.n = 0};
    support_put16(&text, rsa ? 0x0001 : 0x0023);
    support_put16(&text, large ? 0x000C : 0x000B);
    support_put32(&text, low ? 0x000300B2 : 0x000300F2);
    put_policy(&text, which);
    support_put16(&text, 0x0006); /* AES in CFB mode, no scheme */
    support_put16(&text, large ? 256 : 128);
    support_put16(&text, 0x0043);
    support_put16(&text, 0x0010);
    if (rsa) {
        support_put16(&text, 2048);
        support_put32(&text, 0);
        support_put_sized(&text, zeros, low ? 256 : 0);
    } else {
        support_put16(&text, large ? 4 : 3);
        support_put16(&text, 0x0010);
        support_put_sized(&text, zeros, low ? 32 : 0);
        support_put_sized(&text, zeros, low ? 32 : 0);
    }
    memset(out, 0, sizeof *out);
    memcpy(out->bytes, text.bytes, text.n);
    out->n = text.n;
}

uint32_t tpm_ek_rig_create(tpm_rig *rig, const support_public *template, const char *auth, support_public *out)
{
    support_command command;
    support_answer answer;
    support_command_begin(&command, SUPPORT_CC_CREATE_PRIMARY);
    support_put32(&command, SUPPORT_RH_ENDORSEMENT);
    support_password(&command, auth);
    support_put16(&command, 4);
    support_put32(&command, 0);
    support_put_sized(&command, template->bytes, template->n);
    support_put16(&command, 0);
    support_put32(&command, 0);
    CHECK_NUMBER(support_command_run(rig->sw, &command, &answer), 0);
    uint32_t handle = support_get32(&answer);
    CHECK_NUMBER(support_read_public(rig->sw, handle, out), 0);
    return handle;
}

/* ---- A certificate, written from the inside out ---- */

typedef struct {
    uint8_t bytes[2048];
    size_t n;
} der;

static void put(der *to, const void *bytes, size_t n)
{
    memcpy(to->bytes + to->n, bytes, n);
    to->n += n;
}

static void put_hex(der *to, const char *hex)
{
    test_hex(to->bytes + to->n, strlen(hex) / 2, hex);
    to->n += strlen(hex) / 2;
}

static void put_element(der *to, uint8_t tag, const der *content)
{
    const uint8_t head[] = {tag, 0x82, (uint8_t)(content->n >> 8), (uint8_t)content->n};
    const uint8_t middle[] = {tag, 0x81, (uint8_t)content->n}, small[] = {tag, (uint8_t)content->n};
    if (content->n < 0x80)
        put(to, small, sizeof small);
    else if (content->n < 0x100)
        put(to, middle, sizeof middle);
    else
        put(to, head, sizeof head);
    put(to, content->bytes, content->n);
}

static void put_bits(der *to, const void *bytes, size_t n)
{
    der content = {{0}, 1};
    put(&content, bytes, n);
    put_element(to, 0x03, &content);
}

/* RFC 3279, 2.3.1, of the modulus that an area ends with. */
static void put_rsa(der *spki, const support_public *area)
{
    der number = {{0}, 1}, key = {{0}, 0}, sequence = {{0}, 0};
    put(&number, area->bytes + area->n - 256, 256);
    put_element(&key, 0x02, &number);
    put_hex(&key, "0203010001");
    put_element(&sequence, 0x30, &key);
    put_hex(spki, "300d06092a864886f70d0101010500");
    put_bits(spki, sequence.bytes, sequence.n);
}

/* RFC 5480, 2.1, of the two coordinates that an area ends with. */
static void put_ecc(der *spki, const support_public *area, size_t n)
{
    der point = {{0x04}, 1};
    put(&point, area->bytes + area->n - 2 * n - 2, n);
    put(&point, area->bytes + area->n - n, n);
    put_hex(spki, n == 32 ? "301306072a8648ce3d020106082a8648ce3d030107" : "301006072a8648ce3d020106052b81040022");
    put_bits(spki, point.bytes, point.n);
}

static void put_key(der *to, const support_public *area)
{
    der spki = {{0}, 0};
    if (area->bytes[1] == 0x01)
        put_rsa(&spki, area);
    else
        put_ecc(&spki, area, area->bytes[3] == 0x0c ? 48 : 32);
    put_element(to, 0x30, &spki);
}

static void put_attribute(der *to, const char *oid, const char *text)
{
    der value = {{0}, 0}, pair = {{0}, 0}, set = {{0}, 0};
    put(&value, text, strlen(text));
    put_hex(&pair, oid);
    put_element(&pair, 0x0c, &value);
    put_element(&set, 0x30, &pair);
    put_element(to, 0x31, &set);
}

static void wrap(der *content, uint8_t tag)
{
    der whole = {{0}, 0};
    put_element(&whole, tag, content);
    *content = whole;
}

/* TCG EK Credential Profile, 3.2: the TPM's maker, model and version. */
static void put_names(der *to)
{
    der names = {{0}, 0}, extension = {{0}, 0};
    put_attribute(&names, "06056781050201", "id:54454E4F");
    put_attribute(&names, "06056781050202", "Test");
    put_attribute(&names, "06056781050203", "id:00000001");
    wrap(&names, 0x30);
    wrap(&names, 0xa4);
    wrap(&names, 0x30);
    put_hex(&extension, "0603551d110101ff");
    put_element(&extension, 0x04, &names);
    put_element(to, 0x30, &extension);
}

static void put_extensions(der *to, bool rsa)
{
    der list = {{0}, 0};
    put_hex(&list, "300c0603551d130101ff04023000");
    put_hex(&list, rsa ? "300e0603551d0f0101ff040403020520" : "300e0603551d0f0101ff040403020308");
    put_hex(&list, "30100603551d250409300706056781050801");
    put_names(&list);
    wrap(&list, 0x30);
    put_element(to, 0xa3, &list);
}

static const char ecdsa_with_sha256[] = "300a06082a8648ce3d040302";

static der to_be_signed(const support_public *area)
{
    der content = {{0}, 0}, whole = {{0}, 0};
    put_hex(&content, "a003020102020101");
    put_hex(&content, ecdsa_with_sha256);
    put_hex(&content, "300f310d300b06035504030c0454657374");
    put_hex(&content, "3020170d3236303130313030303030305a180f39393939313233313233353935395a");
    put_hex(&content, "3000");
    put_key(&content, area);
    put_extensions(&content, area->bytes[1] == 0x01);
    put_element(&whole, 0x30, &content);
    return whole;
}

static tenon_key *authority_key(void)
{
    static const uint8_t scalar[TENON_SCALAR_SIZE] = {1, 2, 3};
    tenon_key *key = NULL;
    CHECK_STATUS(tenon_software_key_import(&key, scalar, sizeof scalar, TENON_KEY_SIGNS_DIGESTS), TENON_OK);
    return key;
}

tpm_certificate tpm_ek_rig_issue(const support_public *area)
{
    der content = to_be_signed(area), whole = {{0}, 0};
    uint8_t signature[TENON_SIGNATURE_DER_MAX];
    tpm_certificate certificate = {{0}, 0};
    tenon_signature raw;
    tenon_digest digest;
    tenon_key *key = authority_key();
    size_t n = 0;
    CHECK_STATUS(tenon_sha256(&digest, content.bytes, content.n), TENON_OK);
    CHECK_STATUS(tenon_key_sign_digest(key, &raw, &digest), TENON_OK);
    CHECK_STATUS(tenon_signature_encode_der(signature, sizeof signature, &n, &raw), TENON_OK);
    tenon_key_free(&key);
    put_hex(&content, ecdsa_with_sha256);
    put_bits(&content, signature, n);
    put_element(&whole, 0x30, &content);
    memcpy(certificate.bytes, whole.bytes, whole.n);
    certificate.n = whole.n;
    return certificate;
}

/* ---- A service ---- */

tpm_certificate tpm_ek_rig_own_root(void)
{
    tpm_certificate root = {{0}, 0};
    tenon_authority_request request = {
        .size = sizeof request, .name = "Test", .name_n = 4, .serial = {1}, .not_after = INT64_C(4000000000)};
    tenon_key *key = authority_key();
    CHECK_STATUS(tenon_authority_certificate_issue(root.bytes, sizeof root.bytes, &root.n, key, &request), TENON_OK);
    tenon_key_free(&key);
    return root;
}

/* What stands between the lines of a PEM file. */
static tpm_certificate read_pem(const char *path)
{
    static const char begin[] = "-----BEGIN CERTIFICATE-----\n";
    tpm_certificate out = {{0}, 0};
    char *file = test_file(path), *from = strstr(file, begin), *to = from == NULL ? NULL : strstr(from, "\n-----END");
    size_t n = 0;
    if (!CHECK(from != NULL && to != NULL))
        exit(2);
    for (char *at = from + sizeof begin - 1; at < to; at++)
        if (*at != '\n')
            file[n++] = *at;
    CHECK_STATUS(tenon_base64_decode(out.bytes, sizeof out.bytes, &out.n, file, n), TENON_OK);
    free(file);
    return out;
}

tpm_certificate tpm_ek_rig_root(void)
{
    return read_pem(".build/make/swtpm/root.pem");
}

tpm_certificate tpm_ek_rig_issuer(void)
{
    return read_pem(".build/make/swtpm/issuer.pem");
}

tenon_ek tpm_ek_rig_read(const tpm_certificate *certificate)
{
    tpm_certificate own = tpm_ek_rig_own_root(), theirs = tpm_ek_rig_issuer();
    const tenon_bytes roots[] = {{own.bytes, own.n}, {theirs.bytes, theirs.n}};
    const tenon_bytes leaf = {certificate->bytes, certificate->n};
    const tenon_ek_policy policy = {.size = sizeof policy,
                                    .flags = TENON_EK_REQUIRE_USAGE | TENON_EK_ALLOW_SIMULATOR,
                                    .roots = roots,
                                    .roots_count = 2,
                                    .now = time(NULL)};
    tenon_ek ek;
    CHECK_STATUS(tenon_ek_verify(&ek, NULL, &leaf, 1, &policy), TENON_OK);
    return ek;
}

static void read_name(const tenon_tpm_key *ak, uint8_t *name)
{
    size_t n;
    CHECK_STATUS(tenon_tpm_key_name(ak, name, TENON_NAME_SIZE, &n), TENON_OK);
}

tpm_credential tpm_ek_rig_credential(const tpm_certificate *certificate, const tenon_tpm_key *ak,
                                     const tenon_digest *secret)
{
    tenon_ek ek = tpm_ek_rig_read(certificate);
    uint8_t name[TENON_NAME_SIZE];
    tpm_credential out = {.credential_n = 0};
    read_name(ak, name);
    CHECK_STATUS(tenon_credential_make(out.credential, sizeof out.credential, &out.credential_n, out.encrypted,
                                       sizeof out.encrypted, &out.encrypted_n, &ek, name, sizeof name, secret->bytes,
                                       sizeof secret->bytes),
                 TENON_OK);
    return out;
}

static size_t get_whole(support_answer *answer, uint8_t *out)
{
    size_t n;
    support_get_sized(answer, out + 2, TENON_CREDENTIAL_MAX - 2, &n);
    out[0] = (uint8_t)(n >> 8);
    out[1] = (uint8_t)n;
    return n + 2;
}

tpm_credential tpm_ek_rig_credential_of_tpm(tpm_rig *rig, uint32_t ek, const tenon_tpm_key *ak,
                                            const tenon_digest *secret)
{
    enum { CC_MAKE_CREDENTIAL = 0x168 };
    support_command command;
    support_answer answer;
    uint8_t name[TENON_NAME_SIZE];
    tpm_credential out = {.credential_n = 0};
    read_name(ak, name);
    support_command_begin(&command, CC_MAKE_CREDENTIAL);
    support_put32(&command, ek);
    support_put_sized(&command, secret->bytes, sizeof secret->bytes);
    support_put_sized(&command, name, sizeof name);
    CHECK_NUMBER(support_command_run(rig->sw, &command, &answer), 0);
    out.credential_n = get_whole(&answer, out.credential);
    out.encrypted_n = get_whole(&answer, out.encrypted);
    return out;
}

tenon_status tpm_ek_rig_open(tenon_tpm_key *ak, tenon_digest *secret, const tpm_certificate *certificate,
                             const tpm_credential *credential)
{
    size_t n;
    memset(secret, 0, sizeof *secret);
    tenon_status status = tenon_tpm_ak_secret(ak, secret->bytes, sizeof secret->bytes, &n, certificate->bytes,
                                              certificate->n, credential->credential, credential->credential_n,
                                              credential->encrypted, credential->encrypted_n);
    CHECK_NUMBER(n, status == TENON_OK ? sizeof secret->bytes : 0);
    if (status != TENON_OK)
        CHECK_ZERO(secret, sizeof *secret);
    return status;
}

tpm_device tpm_ek_rig_device(tpm_rig *rig, uint32_t kind)
{
    tpm_device device = {.key = NULL};
    tpm_certificate *to = &device.certificate;
    CHECK_STATUS(tenon_tpm_key_create(rig->tpm, &device.key, NULL, 0), TENON_OK);
    CHECK_STATUS(tenon_tpm_ak_create(device.key, &device.ak), TENON_OK);
    CHECK_STATUS(tenon_tpm_ek_certificate(rig->tpm, kind, to->bytes, sizeof to->bytes, &to->n), TENON_OK);
    if (device.ak == NULL)
        exit(2);
    return device;
}

void tpm_ek_rig_free(tpm_device *device)
{
    tenon_tpm_key_free(&device->ak);
    tenon_tpm_key_free(&device->key);
}
