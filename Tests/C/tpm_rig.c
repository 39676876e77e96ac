/* SPDX-License-Identifier: Apache-2.0 */
#include "tpm_rig.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "proof_rig.h"

static void must(bool made)
{
    if (!made)
        exit(2);
}

static void open_handle(tpm_rig *rig, const tenon_tpm_options *options)
{
    tenon_tpm_transport table = support_transport_table(rig->wire);
    must(CHECK_OK(tenon_tpm_open_transport(&rig->tpm, &table, options)));
}

tpm_rig tpm_rig_start(const tenon_tpm_options *options)
{
    tpm_rig rig = {.sw = support_swtpm_start(NULL)};
    must(rig.sw != NULL);
    rig.wire = support_transport_new(rig.sw);
    open_handle(&rig, options);
    return rig;
}

tpm_rig tpm_rig_bare(const tenon_tpm_options *options)
{
    tpm_rig rig = {.sw = support_swtpm_start(NULL)};
    must(rig.sw != NULL);
    rig.wire = support_transport_new(rig.sw);
    support_transport_bare(rig.wire, true);
    open_handle(&rig, options);
    return rig;
}

void tpm_rig_check_clean(tpm_rig *rig)
{
    tenon_tpm_free(&rig->tpm);
    CHECK_NUMBER(support_transient_count(rig->sw), 0);
    CHECK_NUMBER(support_session_count(rig->sw), 0);
    CHECK_NUMBER(support_transport_overlaps(rig->wire), 0);
}

void tpm_rig_again(tpm_rig *rig, const tenon_tpm_options *options)
{
    tenon_tpm_free(&rig->tpm);
    support_transport_free(rig->wire);
    rig->wire = support_transport_new(rig->sw);
    open_handle(rig, options);
}

void tpm_rig_stop(tpm_rig *rig)
{
    tpm_rig_check_clean(rig);
    support_transport_free(rig->wire);
    support_swtpm_stop(rig->sw);
}

const tenon_tpm_options tpm_salted = {.size = sizeof tpm_salted, .session = TENON_TPM_SESSION_SALTED};
const tenon_tpm_options tpm_encrypted = {.size = sizeof tpm_encrypted, .session = TENON_TPM_SESSION_ENCRYPTED};
const tenon_tpm_options tpm_owner = {
    .size = sizeof tpm_owner, .owner_auth = (const uint8_t *)"owner", .owner_auth_n = 5};
const tenon_tpm_options tpm_hurried = {.size = sizeof tpm_hurried, .deadline_ms = 1};

void tpm_rig_put(const tpm_rig *rig, uint32_t persistent, support_template which, const char *auth)
{
    uint32_t parent, object;
    support_blob blob;
    const bool stores = which == SUPPORT_SRK_H2 || which == SUPPORT_SRK_RSA || which == SUPPORT_SRK_PROVISIONING;
    CHECK_NUMBER(support_create_primary(rig->sw, SUPPORT_RH_OWNER, NULL, stores ? which : SUPPORT_SRK_H2, &parent), 0);
    object = parent;
    if (!stores) {
        CHECK_NUMBER(support_create(rig->sw, parent, which, auth, &blob), 0);
        CHECK_NUMBER(support_load(rig->sw, parent, &blob, &object), 0);
        CHECK_NUMBER(support_flush(rig->sw, parent), 0);
    }
    CHECK_NUMBER(support_evict(rig->sw, NULL, object, persistent), 0);
    CHECK_NUMBER(support_flush(rig->sw, object), 0);
}

uint32_t tpm_rig_failed_tries(const tpm_rig *rig)
{
    uint32_t counter = 99;
    CHECK_NUMBER(support_property(rig->sw, SUPPORT_PT_LOCKOUT_COUNTER, &counter), 0);
    return counter;
}

tenon_tpm_key *tpm_rig_key(tpm_rig *rig, const char *auth)
{
    tenon_tpm_key *key = NULL;
    must(CHECK_OK(tenon_tpm_key_create(rig->tpm, &key, (const uint8_t *)auth, auth == NULL ? 0 : strlen(auth))));
    return key;
}

tenon_tpm_key *tpm_rig_ak(tenon_tpm_key *key)
{
    tenon_tpm_key *ak = NULL;
    must(CHECK_OK(tenon_tpm_ak_create(key, &ak)));
    return ak;
}

tenon_tpm_key *tpm_rig_loaded(tpm_rig *rig, const tpm_pem *pem)
{
    tenon_tpm_key *key = NULL;
    must(CHECK_OK(tpm_rig_load(rig, &key, pem)));
    return key;
}

tenon_key *tpm_rig_view(tenon_tpm_key *key, uint32_t flags)
{
    tenon_key *view = NULL;
    must(CHECK_OK(tenon_tpm_key_open(key, &view, flags)));
    return view;
}

tenon_status tpm_rig_sign_flags(tenon_tpm_key *key, uint32_t flags)
{
    static atomic_uint number;
    uint32_t text = atomic_fetch_add(&number, 1);
    OWNED_KEY view = NULL;
    tenon_digest digest;
    tenon_signature signature;
    tenon_public_key point;
    CHECK_OK(tenon_sha256(&digest, (const uint8_t *)&text, sizeof text));
    tenon_status status = tenon_tpm_key_open(key, &view, TENON_KEY_SIGNS_DIGESTS | flags);
    if (status != TENON_OK)
        return status;
    memset(&signature, 0xa5, sizeof signature);
    status = tenon_key_sign_digest(view, &signature, &digest);
    if (status == TENON_OK) {
        CHECK_OK(tenon_tpm_key_public_key(key, &point));
        return tenon_p256_verify(&point, &digest, &signature);
    }
    CHECK_ZERO(&signature, sizeof signature);
    return status;
}

tenon_status tpm_rig_sign(tenon_tpm_key *key) { return tpm_rig_sign_flags(key, 0); }

tpm_pem tpm_rig_export(const tenon_tpm_key *key)
{
    tpm_pem pem = {.n = 0};
    CHECK_OK(tenon_tpm_key_export(key, pem.text, sizeof pem.text, &pem.n));
    return pem;
}

tpm_pem tpm_rig_make(tpm_rig *rig)
{
    OWNED_TPM_KEY key = tpm_rig_key(rig, NULL);
    return tpm_rig_export(key);
}

tenon_status tpm_rig_load(tpm_rig *rig, tenon_tpm_key **key, const tpm_pem *pem)
{
    return tenon_tpm_key_load(rig->tpm, key, pem->text, pem->n, NULL, 0);
}

tenoni_keyfile tpm_rig_keyfile(const support_blob *blob, uint32_t parent)
{
    tenoni_keyfile file = {.empty_auth = true, .parent = parent};
    memcpy(file.public_area, blob->area.bytes, file.public_n = blob->area.n);
    memcpy(file.private_area, blob->secret, file.private_n = blob->secret_n);
    return file;
}

tpm_pem tpm_rig_write(const tenoni_keyfile *file)
{
    tpm_pem pem;
    memset(&pem, 0, sizeof pem);
    CHECK_OK(tenoni_keyfile_write(pem.text, sizeof pem.text, &pem.n, file));
    return pem;
}

/* In memory of its own size, so that a sanitizer sees a byte read behind it. */
tenon_status tpm_rig_read(tenoni_keyfile *file, const char *text, size_t n)
{
    OWNED char *copy = test_copy(text, n);
    return CLEARED(tenoni_keyfile_read(file, copy, n), file);
}

tenon_status tpm_rig_use(tpm_rig *rig, const tpm_pem *pem)
{
    OWNED_TPM_KEY key = NULL;
    tenon_status status = tpm_rig_load(rig, &key, pem);
    CHECK((status == TENON_OK) == (key != NULL));
    return status == TENON_OK ? tpm_rig_sign(key) : status;
}

bool tpm_rig_category(const char *file, int line, const char *call, tenon_status found, int32_t category)
{
    if (tenon_status_category(found) == category)
        return true;
    test_fail(file, line, "%s is %s (0x%08" PRIx32 "), expected category %" PRId32, call, tenon_status_name(found),
              (uint32_t)found, category);
    return false;
}

void tpm_rig_without_parent(tenon_tpm_key *key)
{
    CHECK_OK(tenon_tpm_key_check(key));
    CHECK_OK(tenon_tpm_key_check(key));
}

tpm_stage tpm_stage_start(const tenon_tpm_options *options, const char *auth)
{
    tpm_stage at = {.rig = tpm_rig_start(options)};
    at.key = tpm_rig_key(&at.rig, auth);
    at.ak = tpm_rig_ak(at.key);
    tpm_rig_without_parent(at.key);
    support_transport_reset_counts(at.rig.wire);
    return at;
}

void tpm_stage_stop(tpm_stage *at)
{
    tenon_tpm_key_free(&at->ak);
    tenon_tpm_key_free(&at->key);
    tpm_rig_stop(&at->rig);
}

tenon_status tpm_stage_create(tpm_stage *at)
{
    OWNED_TPM_KEY key = NULL;
    tenon_status status = tenon_tpm_key_create(at->rig.tpm, &key, NULL, 0);
    CHECK((status == TENON_OK) == (key != NULL));
    return status;
}

tenon_status tpm_stage_sign(tpm_stage *at) { return tpm_rig_sign(at->key); }

tenon_status tpm_stage_persist(tpm_stage *at) { return tenon_tpm_key_persist(at->key, NULL); }

tenon_status tpm_stage_info(tpm_stage *at)
{
    tenon_tpm_info out;
    return tenon_tpm_read_info(at->rig.tpm, &out);
}

tenon_status tpm_stage_list(tpm_stage *at)
{
    uint32_t handles[8];
    size_t n;
    return tenon_tpm_handles(at->rig.tpm, handles, 8, &n);
}

void tpm_stage_check_answers(tpm_stage *at, uint32_t code, size_t end, const tpm_flip *flips, size_t count,
                             tenon_status (*ask)(tpm_stage *at))
{
    support_record record;
    CHECK_OK(ask(at));
    CHECK(support_transport_record(at->rig.wire, 0, &record));
    CHECK_NUMBER(record.code, code);
    CHECK_NUMBER(record.answer_n, end);
    for (size_t i = 0; i < count; i++) {
        test_about("%s", flips[i].what);
        support_flip(at->rig.wire, support_times(code, 1, 2), flips[i].at, 1);
        CHECK_STATUS(ask(at), flips[i].status);
        support_transport_forget_faults(at->rig.wire);
    }
    for (size_t n = 0; n < end; n++) {
        test_about("%u bytes", (unsigned)n);
        support_cut(at->rig.wire, code, n);
        CHECK_STATUS(ask(at), TENON_ERROR_TPM_ANSWER);
    }
    test_about(NULL);
    CHECK_OK(ask(at));
}

void tpm_rig_end_child(int code)
{
    char text[16];
    snprintf(text, sizeof text, "exit %d", code);
    execl("/bin/sh", "sh", "-c", text, (char *)NULL);
    _exit(127);
}

/* ---- With EKs ---- */

const tpm_ek_place tpm_ek_places[SUPPORT_EKS] = {
    [SUPPORT_EK_RSA_L1] = {"L-1", TENON_EK_RSA_2048, 0x01C00002, 0x01C00004},
    [SUPPORT_EK_P256_L2] = {"L-2", TENON_EK_P256, 0x01C0000A, 0x01C0000C},
    [SUPPORT_EK_RSA_H1] = {"H-1", TENON_EK_RSA_2048, 0x01C00012, 0x01C00013},
    [SUPPORT_EK_P256_H2] = {"H-2", TENON_EK_P256, 0x01C00014, 0x01C00015},
    [SUPPORT_EK_P384_H3] = {"H-3", TENON_EK_P384, 0x01C00016, 0x01C00017},
};

tpm_rig tpm_rig_ek_start(const tenon_tpm_options *options)
{
    tpm_rig rig = {.sw = support_swtpm_start(".build/make/swtpm/state")};
    if (rig.sw == NULL) {
        fputs("first run: Tests/Scripts/swtpm_state.sh .build/make/swtpm\n", stderr);
        exit(2);
    }
    tpm_rig_again(&rig, options);
    return rig;
}

static const uint8_t authority_scalar[TENON_SCALAR_SIZE] = {1, 2, 3};

/* RFC 3279, 2.3.1, and RFC 5480, 2.1: SubjectPublicKeyInfo around the key's bytes. */
static support_bytes spki_of(support_ek which, const support_public *area)
{
    static const char *const heads[] = {
        "30820122300d06092a864886f70d01010105000382010f003082010a0282010100",
        "3059301306072a8648ce3d020106082a8648ce3d03010703420004",
        "3076301006072a8648ce3d020106052b8104002203620004",
    };
    const bool rsa = tpm_ek_places[which].kind == TENON_EK_RSA_2048;
    uint8_t key[256];
    support_bytes out;
    rig_hex(&out, heads[rsa ? 0 : which == SUPPORT_EK_P384_H3 ? 2 : 1]);
    support_bytes_add(&out, key, support_ek_key(which, area, key));
    if (rsa)
        support_bytes_add(&out, "\x02\x03\x01\x00\x01", 5);
    return out;
}

/* TCG EK Credential Profile, 3.2: id:54454E4F, Test and id:00000001 are the TPM's maker, model and version. */
tpm_certificate tpm_rig_ek_issue(support_ek which, const support_public *area)
{
    const support_bytes spki = spki_of(which, area);
    const certificate_form form = {.issuer = "Test",
                                   .spki = {spki.bytes, spki.n},
                                   .signer = authority_scalar,
                                   .from = "2020",
                                   .to = "9999",
                                   .leaf = true,
                                   .usage = tpm_ek_places[which].kind == TENON_EK_RSA_2048 ? "0520" : "0308",
                                   .extended = USAGE_EK,
                                   .name = "31163014060567810502010c0b69643a3534343534453446"
                                           "310f300d060567810502020c0454657374"
                                           "31163014060567810502030c0b69643a3030303030303031"};
    tpm_certificate out = {{0}, 0};
    out.n = certificate_write(out.bytes, &form);
    return out;
}

tpm_certificate tpm_rig_ek_certify(const tpm_rig *rig, support_ek which, const support_public *template)
{
    support_public from, area;
    uint32_t handle;
    support_ek_template(which, &from);
    CHECK_NUMBER(support_ek_create_by(rig->sw, template != NULL ? template : &from, &handle, &area), 0);
    CHECK_NUMBER(support_flush(rig->sw, handle), 0);
    return tpm_rig_ek_issue(which, &area);
}

static tenon_key *authority_key(void)
{
    tenon_key *key = NULL;
    CHECK_OK(tenon_software_key_import(&key, authority_scalar, sizeof authority_scalar, TENON_KEY_SIGNS_DIGESTS));
    return key;
}

tpm_certificate tpm_rig_ek_own_root(void)
{
    tpm_certificate root = {{0}, 0};
    tenon_authority_request request = {
        .size = sizeof request, .name = "Test", .name_n = 4, .serial = {1}, .not_after = INT64_C(4000000000)};
    tenon_key *key = authority_key();
    CHECK_OK(tenon_authority_certificate_issue(root.bytes, sizeof root.bytes, &root.n, key, &request));
    tenon_key_free(&key);
    return root;
}

/* The text between the lines of a PEM file. */
static tpm_certificate read_pem(const char *path)
{
    static const char begin[] = "-----BEGIN CERTIFICATE-----\n";
    tpm_certificate out = {{0}, 0};
    char *file = test_file(path), *from = strstr(file, begin), *to = from == NULL ? NULL : strstr(from, "\n-----END");
    size_t n = 0;
    must(CHECK(from != NULL && to != NULL));
    for (char *at = from + sizeof begin - 1; at < to; at++)
        if (*at != '\n')
            file[n++] = *at;
    CHECK_OK(tenon_base64_decode(out.bytes, sizeof out.bytes, &out.n, file, n));
    free(file);
    return out;
}

tpm_certificate tpm_rig_ek_root(void) { return read_pem(".build/make/swtpm/root.pem"); }

tpm_certificate tpm_rig_ek_issuer(void) { return read_pem(".build/make/swtpm/issuer.pem"); }

tenon_ek tpm_rig_ek_read(const tpm_certificate *certificate)
{
    tpm_certificate own = tpm_rig_ek_own_root(), theirs = tpm_rig_ek_issuer();
    const tenon_bytes roots[] = {{own.bytes, own.n}, {theirs.bytes, theirs.n}};
    const tenon_bytes leaf = {certificate->bytes, certificate->n};
    const tenon_ek_policy policy = {.size = sizeof policy,
                                    .flags = TENON_EK_REQUIRE_USAGE | TENON_EK_ALLOW_SIMULATOR,
                                    .roots = roots,
                                    .roots_count = 2,
                                    .now = time(NULL)};
    tenon_ek ek;
    CHECK_OK(tenon_ek_verify(&ek, NULL, &leaf, 1, &policy));
    return ek;
}

static void read_name(const tenon_tpm_key *ak, uint8_t *name)
{
    size_t n;
    CHECK_OK(tenon_tpm_key_name(ak, name, TENON_NAME_SIZE, &n));
}

tpm_credential tpm_rig_ek_credential(const tpm_certificate *certificate, const tenon_tpm_key *ak,
                                     const tenon_digest *secret)
{
    tenon_ek ek = tpm_rig_ek_read(certificate);
    uint8_t name[TENON_NAME_SIZE];
    tpm_credential out = {.credential_n = 0};
    read_name(ak, name);
    CHECK_OK(tenon_credential_make(out.credential, sizeof out.credential, &out.credential_n, out.encrypted,
                                   sizeof out.encrypted, &out.encrypted_n, &ek, name, sizeof name, secret->bytes,
                                   sizeof secret->bytes));
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

tpm_credential tpm_rig_ek_credential_of_tpm(tpm_rig *rig, uint32_t ek, const tenon_tpm_key *ak,
                                            const tenon_digest *secret)
{
    enum { CC_MAKE_CREDENTIAL = 0x168 };
    support_answer answer;
    uint8_t name[TENON_NAME_SIZE];
    tpm_credential out = {.credential_n = 0};
    read_name(ak, name);
    CHECK_NUMBER(support_run(rig->sw, &answer, CC_MAKE_CREDENTIAL, "4bb", ek, secret->bytes, sizeof secret->bytes, name,
                             sizeof name),
                 0);
    out.credential_n = get_whole(&answer, out.credential);
    out.encrypted_n = get_whole(&answer, out.encrypted);
    return out;
}

tenon_status tpm_rig_ek_open(tenon_tpm_key *ak, tenon_digest *secret, const tpm_certificate *certificate,
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

tpm_device tpm_rig_ek_device(tpm_rig *rig, uint32_t kind)
{
    tpm_device device = {.key = tpm_rig_key(rig, NULL)};
    tpm_certificate *to = &device.certificate;
    device.ak = tpm_rig_ak(device.key);
    CHECK_OK(tenon_tpm_ek_certificate(rig->tpm, kind, to->bytes, sizeof to->bytes, &to->n));
    return device;
}

void tpm_rig_ek_free(tpm_device *device)
{
    tenon_tpm_key_free(&device->ak);
    tenon_tpm_key_free(&device->key);
}
