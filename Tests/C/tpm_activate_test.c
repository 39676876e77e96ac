/* SPDX-License-Identifier: Apache-2.0 */
#include "tpm/channel.h"
#include "tpm_rig.h"

/* TPM2_ActivateCredential: the credentials that it opens and refuses; a refusal says nothing about the signing key. */

static const uint32_t kinds[] = {TENON_EK_RSA_2048, TENON_EK_P256, TENON_EK_P384};
static const char *const kind_names[] = {"RSA-2048", "P-256", "P-384"};

enum { KINDS = 3 };

/* swtpm_setup makes no certificate of P-256. */
static void add_p256(tpm_rig *rig)
{
    tpm_certificate certificate = tpm_rig_ek_certify(rig, SUPPORT_EK_P256_L2, NULL);
    CHECK_NUMBER(support_nv_write(rig->sw, SUPPORT_NV_EK_P256, certificate.bytes, certificate.n), 0);
}

static tpm_device start(tpm_rig *rig, size_t kind)
{
    test_about("%s", kind_names[kind]);
    if (kinds[kind] == TENON_EK_P256)
        add_p256(rig);
    return tpm_rig_ek_device(rig, kinds[kind]);
}

/* A test with an EK of each kind. */
#define TEST_EACH_KIND(test_name)                                                                                      \
    static void test_name##_with(tpm_rig *rig, tpm_device *device, size_t kind);                                       \
    TEST(test_name)                                                                                                    \
    {                                                                                                                  \
        for (size_t kind = 0; kind < KINDS; kind++) {                                                                  \
            OWNED_RIG rig = tpm_rig_ek_start(NULL);                                                                    \
            OWNED_DEVICE device = start(&rig, kind);                                                                   \
            test_name##_with(&rig, &device, kind);                                                                     \
        }                                                                                                              \
    }                                                                                                                  \
    static void test_name##_with(tpm_rig *rig, tpm_device *device, size_t kind)

static tpm_credential make(const tpm_device *device, const tenon_digest *secret)
{
    return tpm_rig_ek_credential(&device->certificate, device->ak, secret);
}

static tenon_status open(const tpm_device *device, const tpm_credential *credential, tenon_digest *found)
{
    return tpm_rig_ek_open(device->ak, found, &device->certificate, credential);
}

static void check_opens(const tpm_device *device, const tpm_credential *credential, const tenon_digest *secret)
{
    tenon_digest found;
    CHECK_OK(open(device, credential, &found));
    CHECK_BYTES(found.bytes, secret->bytes, sizeof secret->bytes);
}

static tenon_status open_new(const tpm_device *device)
{
    static const tenon_digest secret = {{7, 7, 7}};
    tpm_credential credential = make(device, &secret);
    tenon_digest found;
    tenon_status status = open(device, &credential, &found);
    if (status == TENON_OK)
        CHECK_BYTES(found.bytes, secret.bytes, sizeof secret.bytes);
    return status;
}

/* The handle, where answers are read and decrypted, does not contain the bytes. */
static void check_wiped(const tenon_tpm *tpm, const tenon_digest *secret)
{
    const uint8_t *bytes = (const uint8_t *)tpm;
    size_t found = 0;
    for (size_t i = 0; i + sizeof *secret <= sizeof *tpm; i++)
        found += memcmp(bytes + i, secret, sizeof *secret) == 0;
    CHECK_NUMBER(found, 0);
}

/* Our service's credential and the TPM's own, on each kind; a secret does not cross the bus in clear. */
TEST_EACH_KIND(tpm_activate_each_kind)
{
    static const tenon_digest secret = {{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3}};
    support_public area;
    uint32_t ek = kind == 0 ? EK_RSA_HANDLE : EK_P384_HANDLE;
    tpm_credential ours = make(device, &secret);
    if (kind == 1)
        CHECK_NUMBER(support_ek_create(rig->sw, SUPPORT_EK_P256_L2, &ek, &area), 0);
    tpm_credential theirs = tpm_rig_ek_credential_of_tpm(rig, ek, device->ak, &secret);
    if (kind == 1)
        CHECK_NUMBER(support_flush(rig->sw, ek), 0);
    CHECK_NUMBER(ours.credential_n, theirs.credential_n);
    CHECK_NUMBER(ours.encrypted_n, theirs.encrypted_n);
    support_transport_watch(rig->wire, secret.bytes, sizeof secret.bytes);
    check_opens(device, &ours, &secret);
    check_wiped(rig->tpm, &secret);
    check_opens(device, &theirs, &secret);
    CHECK_NUMBER(support_transport_watched(rig->wire), 0);
}

/*
 * What it costs, warm and in a fresh process, under an SRK. Warm with a persistent EK: the handles, one ReadPublic for
 * each EK up to ours, the SRK, two sessions, PolicySecret, PolicyOR for H-3, ActivateCredential, which ends both.
 */
TEST(tpm_activate_cost)
{
    static const uint32_t warm[] = {7, 11, 9};
    static const tenon_digest secret = {{1}};
    for (size_t kind = 0; kind < KINDS; kind++) {
        OWNED_RIG rig = tpm_rig_ek_start(NULL);
        tenon_digest found;
        CHECK_NUMBER(support_persist_srk(rig.sw, NULL, SUPPORT_SRK_PROVISIONING), 0);
        OWNED_DEVICE device = start(&rig, kind);
        CHECK_OK(open_new(&device));
        tpm_credential credential = make(&device, &secret);
        CHECK_NUMBER(COMMANDS(rig, open(&device, &credential, &found)), warm[kind]);
        tpm_pem ak = tpm_rig_export(device.ak);
        tpm_rig_ek_free(&device);
        tpm_rig_again(&rig, NULL);
        CHECK_OK(tenon_tpm_ak_load(rig.tpm, &device.ak, ak.text, ak.n));
        CHECK_OK(open(&device, &credential, &found));
        /* And Load, under the parent that is recorded. */
        CHECK_NUMBER(support_transport_count(rig.wire, SUPPORT_ANY), warm[kind] + 1);
    }
}

/* ---- The activation value ---- */

typedef struct {
    const char *origin, *app, *challenge, *public_key;
} binding;

static const binding ours = {"https://s.example", "app", "challenge", "key"};

static tenon_activation activation_of(const binding *texts)
{
    return test_activation(texts->origin, texts->app, texts->challenge, texts->public_key);
}

static tenon_status activate_with(const tpm_device *device, tenon_digest *value, const tpm_credential *credential,
                                  const tenon_activation *activation)
{
    return CLEARED(tenon_tpm_ak_activate(device->ak, value, device->certificate.bytes, device->certificate.n,
                                         credential->credential, credential->credential_n, credential->encrypted,
                                         credential->encrypted_n, activation),
                   value);
}

static tenon_status activate(const tpm_device *device, tenon_digest *value, const tpm_credential *credential,
                             const binding *texts)
{
    const tenon_activation activation = activation_of(texts);
    return activate_with(device, value, credential, &activation);
}

/* A service at this origin that issued this secret for this EK and AK. */
static tenon_status judge(const tenon_digest *secret, const tenon_digest *value, const binding *texts,
                          const tpm_device *state)
{
    tenon_ek ek = tpm_rig_ek_read(&state->certificate);
    tenon_activation activation = activation_of(texts);
    uint8_t name[TENON_NAME_SIZE];
    size_t n;
    CHECK_OK(tenon_tpm_key_name(state->ak, name, sizeof name, &n));
    activation.ek_id = ek.id;
    activation.ak_name = name;
    activation.ak_name_n = n;
    return tenon_activation_verify(secret->bytes, sizeof secret->bytes, &activation, value->bytes, sizeof value->bytes);
}

/* The device of one service; a service that expects any other value refuses it. */
TEST_EACH_KIND(tpm_activate_value)
{
    static const binding others[] = {
        {"https://m.example", "app", "challenge", "key"}, {"https://s.example", "ape", "challenge", "key"},
        {"https://s.example", "app", "challengf", "key"}, {"https://s.example", "app", "challenge", "kez"},
        {"https://s.example", "appc", "hallenge", "key"},
    };
    static const tenon_digest secret = {{5, 5}}, other_secret = {{5, 6}};
    tpm_device other = *device;
    tpm_certificate *to = &other.certificate;
    tpm_credential credential = make(device, &secret);
    tenon_digest value, another;
    CHECK_OK(activate(device, &value, &credential, &ours));
    CHECK_OK(judge(&secret, &value, &ours, device));
    CHECK_STATUS(judge(&other_secret, &value, &ours, device), TENON_ERROR_ACTIVATION);
    /* A relay has the device make a value for the relay's own origin; the service that made the credential refuses it.
     * */
    for (size_t i = 0; i < COUNT(others); i++) {
        CHECK_STATUS(judge(&secret, &value, &others[i], device), TENON_ERROR_ACTIVATION);
        CHECK_OK(activate(device, &another, &credential, &others[i]));
        CHECK_STATUS(judge(&secret, &another, &ours, device), TENON_ERROR_ACTIVATION);
    }
    other.ak = tpm_rig_ak(device->key);
    CHECK_STATUS(judge(&secret, &value, &ours, &other), TENON_ERROR_ACTIVATION);
    tenon_tpm_key_free(&other.ak);
    other.ak = device->ak;
    CHECK_OK(tenon_tpm_ek_certificate(rig->tpm, kinds[kind == 0 ? 2 : 0], to->bytes, sizeof to->bytes, &to->n));
    CHECK_STATUS(judge(&secret, &value, &ours, &other), TENON_ERROR_ACTIVATION);
}

/* ---- Refusals ---- */

TEST_EACH_KIND(tpm_activate_credential_of_another)
{
    static const support_ek templates[] = {SUPPORT_EK_RSA_H1, SUPPORT_EK_P256_H2, SUPPORT_EK_P384_H3};
    static const tenon_digest secret = {{2}};
    tenon_digest found;
    /* Made for another AK of the same TPM. */
    tenon_tpm_key *ak = tpm_rig_ak(device->key);
    tpm_credential credential = tpm_rig_ek_credential(&device->certificate, ak, &secret);
    CHECK_RC(open(device, &credential, &found), TENON_CATEGORY_REJECTED, 0x1DF);
    CHECK_OK(tpm_rig_ek_open(ak, &found, &device->certificate, &credential));
    tenon_tpm_key_free(&ak);
    /* Made for the EK of another TPM, which is not here. */
    OWNED_RIG fresh = tpm_rig_start(NULL);
    tpm_certificate foreign = tpm_rig_ek_certify(&fresh, templates[kind], NULL);
    credential = tpm_rig_ek_credential(&foreign, device->ak, &secret);
    CHECK_CATEGORY(open(device, &credential, &found), TENON_CATEGORY_REJECTED);
    CHECK_STATUS(tpm_rig_ek_open(device->ak, &found, &foreign, &credential), TENON_ERROR_EK_MISSING);
    CHECK_OK(tpm_rig_sign(device->key));
    CHECK_OK(open_new(device));
}

/* Every byte of both parts matters: a changed one is reported as a fault of the credential only. */
static void break_part(const tpm_device *device, tpm_credential *credential, uint8_t *part, size_t n, size_t step)
{
    tenon_digest found;
    for (size_t i = 2; i < n; i += i < 8 ? 1 : step) {
        part[i] ^= 0x41;
        CHECK_CATEGORY(open(device, credential, &found), TENON_CATEGORY_REJECTED);
        part[i] ^= 0x41;
    }
}

TEST_EACH_KIND(tpm_activate_broken_credential)
{
    static const tenon_digest secret = {{2}};
    tpm_credential credential = make(device, &secret), saved = credential;
    break_part(device, &credential, credential.credential, credential.credential_n, test_rounds(9, 40));
    break_part(device, &credential, credential.encrypted, credential.encrypted_n, test_rounds(13, 80));
    CHECK_BYTES(&credential, &saved, sizeof saved);
    check_opens(device, &credential, &secret);
    CHECK_OK(tpm_rig_sign(device->key));
}

/* Bytes that are not the two parts do not reach the TPM. */
TEST_EK(tpm_activate_form)
{
    static const tenon_digest secret = {{2}};
    OWNED_DEVICE device = start(rig, 2);
    tenon_digest found;
    size_t n;
    const tpm_credential good = make(&device, &secret);
    const tpm_certificate *of = &device.certificate;
    support_transport_reset_counts(rig->wire);
    for (int i = 0; i < 8; i++) {
        tpm_credential bad = good;
        size_t *const size = i < 4 ? &bad.credential_n : &bad.encrypted_n;
        uint8_t *const part = i < 4 ? bad.credential : bad.encrypted;
        const size_t sizes[] = {*size - 1, *size + 1, 1, 2};
        test_about("case %d", i);
        *size = sizes[i % 4];
        if (i % 4 == 3)
            part[0] = part[1] = 0;
        CHECK_STATUS(open(&device, &bad, &found), TENON_ERROR_CREDENTIAL_FORM);
    }
    test_about(NULL);
    tpm_certificate cut = *of;
    cut.n--;
    CHECK_CATEGORY(tpm_rig_ek_open(device.ak, &found, &cut, &good), TENON_CATEGORY_REJECTED);
    CHECK_STATUS(tpm_rig_ek_open(device.key, &found, of, &good), TENON_ERROR_KEY_ATTRIBUTES);
    CHECK_STATUS(tpm_rig_ek_open(NULL, &found, of, &good), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_tpm_ak_secret(device.ak, found.bytes, 32, NULL, NULL, 0, NULL, 0, NULL, 0), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_tpm_ak_secret(device.ak, found.bytes, 32, &n, NULL, 0, NULL, 0, NULL, 0), TENON_ERROR_NULL);
    tenon_activation activation = activation_of(&ours);
    activation.size--;
    CHECK_STATUS(activate_with(&device, &found, &good, &activation), TENON_ERROR_OPTIONS);
    CHECK_STATUS(activate_with(&device, &found, &good, NULL), TENON_ERROR_NULL);
    CHECK_NUMBER(support_transport_count(rig->wire, SUPPORT_ANY), 0);
    /* Too little room for the secret: no part of it is returned. */
    CHECK_STATUS(tenon_tpm_ak_secret(device.ak, found.bytes, 31, &n, of->bytes, of->n, good.credential,
                                     good.credential_n, good.encrypted, good.encrypted_n),
                 TENON_ERROR_BUFFER_TOO_SMALL);
    CHECK_NUMBER(n, 32);
    CHECK_ZERO(found.bytes, sizeof found.bytes);
}

/* ---- The TPM's state ---- */

TEST_EACH_KIND(tpm_activate_endorsement_auth)
{
    const tenon_tpm_options knows = {
        .size = sizeof knows, .endorsement_auth = (const uint8_t *)"endorse", .endorsement_auth_n = 7};
    CHECK_NUMBER(support_change_auth(rig->sw, SUPPORT_RH_ENDORSEMENT, NULL, "endorse"), 0);
    CHECK_RC(open_new(device), TENON_CATEGORY_AUTH, 0x9A2);
    CHECK_OK(tpm_rig_sign(device->key));
    tpm_rig_ek_free(device);
    tpm_rig_again(rig, &knows);
    *device = tpm_rig_ek_device(rig, kinds[kind]);
    CHECK_OK(open_new(device));
}

TEST_EACH_KIND(tpm_activate_endorsement_off)
{
    CHECK_NUMBER(support_hierarchy_control(rig->sw, SUPPORT_RH_ENDORSEMENT, false), 0);
    CHECK_CATEGORY(open_new(device), TENON_CATEGORY_UNAVAILABLE);
    CHECK_OK(tpm_rig_sign(device->key));
    CHECK_NUMBER(support_hierarchy_control(rig->sw, SUPPORT_RH_ENDORSEMENT, true), 0);
    CHECK_OK(open_new(device));
}

/* The EK is under dictionary attack protection: by its empty password it would be refused, by its policy it is not. */
TEST_EACH_KIND(tpm_activate_in_lockout)
{
    tenon_tpm_info info;
    CHECK_NUMBER(support_lock_out(rig->sw, NULL, NULL), 0);
    CHECK_OK(tenon_tpm_read_info(rig->tpm, &info));
    CHECK_NUMBER(info.in_lockout, 1);
    CHECK_OK(open_new(device));
}

/* The AK under an SRK, and beside a key with an auth value; in all other tests it is under the primary. */
TEST_EACH_KIND(tpm_activate_wherever_the_ak_is)
{
    for (int srk = 0; srk < 2; srk++) {
        test_about("%s, %s", kind_names[kind], srk != 0 ? "an SRK" : "a key with an auth value");
        if (srk != 0)
            CHECK_NUMBER(support_persist_srk(rig->sw, NULL, SUPPORT_SRK_H2), 0);
        tpm_device other = {.key = tpm_rig_key(rig, srk != 0 ? NULL : "auth"), .certificate = device->certificate};
        other.ak = tpm_rig_ak(other.key);
        for (int i = 0; i < 2; i++) {
            CHECK_OK(tpm_rig_sign(other.key));
            CHECK_OK(open_new(&other));
        }
        tpm_rig_ek_free(&other);
    }
}

/* A session cannot be salted to an RSA key as to an SRK: it is salted to the primary, which hides the secret, too. */
TEST_EACH_KIND(tpm_activate_under_an_rsa_parent)
{
    static const tenon_digest secret = {{8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8}};
    support_blob blob;
    tpm_rig_ek_free(device);
    CHECK_NUMBER(support_persist_srk(rig->sw, NULL, SUPPORT_SRK_RSA), 0);
    CHECK_NUMBER(support_create(rig->sw, SUPPORT_HANDLE_SRK, SUPPORT_SIGNING, NULL, &blob), 0);
    const tenoni_keyfile file = tpm_rig_keyfile(&blob, SUPPORT_HANDLE_SRK);
    const tpm_pem pem = tpm_rig_write(&file);
    CHECK_OK(tenon_tpm_key_import(rig->tpm, &device->key, pem.text, pem.n, NULL, 0));
    device->ak = tpm_rig_ak(device->key);
    const tpm_credential credential = make(device, &secret);
    support_transport_watch(rig->wire, secret.bytes, sizeof secret.bytes);
    check_opens(device, &credential, &secret);
    CHECK_NUMBER(support_transport_watched(rig->wire), 0);
}

/* Each loaded object is lost in turn; and another program holds a place. */
TEST_EACH_KIND(tpm_activate_lost_objects)
{
    static const uint32_t lost[] = {0x919, 0x9A2};
    CHECK_NUMBER(support_flush_all(rig->sw), 0);
    CHECK_OK(open_new(device));
    support_transport_follow(rig->wire, true);
    CHECK(support_swtpm_power_on(rig->sw));
    CHECK_OK(open_new(device));
    for (size_t i = 0; i < COUNT(lost); i++) {
        support_fail_code(rig->wire, support_next(SUPPORT_CC_ACTIVATE_CREDENTIAL), lost[i]);
        CHECK_OK(open_new(device));
    }
    tenon_tpm_key_free(&device->key);
    tpm_rig_without_parent(device->ak);
    CHECK_NUMBER(support_fill_transient(rig->sw), 0);
    CHECK_CATEGORY(open_new(device), TENON_CATEGORY_TRANSIENT);
    CHECK_NUMBER(support_flush_all(rig->sw), 0);
    CHECK_NUMBER(support_fill_sessions(rig->sw), 0);
    CHECK_CATEGORY(open_new(device), TENON_CATEGORY_TRANSIENT);
    CHECK_NUMBER(support_flush_all(rig->sw), 0);
    CHECK_OK(open_new(device));
}

/* Before the TPM saw the command, after it did it, busy for once, broken. */
enum { LOST_BEFORE, LOST_AFTER, BUSY, FAILURE, FAULTS };

static void plan(support_transport *wire, support_when when, int fault)
{
    if (fault == LOST_BEFORE)
        support_fail_before(wire, when, TENON_ERROR_TPM_TRANSPORT);
    else if (fault == LOST_AFTER)
        support_fail_after(wire, when, TENON_ERROR_TPM_TRANSPORT);
    else
        support_fail_code(wire, when, fault == BUSY ? 0x922 : 0x101);
}

/* It is repeated or refused, nothing stays behind, and it works again. */
TEST_EACH_KIND(tpm_activate_faults_at_each_command)
{
    support_transport_manage(rig->wire, true);
    CHECK_OK(open_new(device));
    uint32_t commands = COMMANDS(*rig, open_new(device));
    for (uint32_t nth = 1; nth <= commands; nth += (uint32_t)test_rounds(1, 3))
        for (int fault = 0; fault < FAULTS; fault++) {
            test_about("%s, command %u, fault %d", kind_names[kind], (unsigned)nth, fault);
            plan(rig->wire, support_nth(SUPPORT_ANY, nth), fault);
            tenon_status status = open_new(device);
            int32_t category = tenon_status_category(status);
            /* Objects that could not be flushed may leave no room for the rest. */
            if (fault != FAILURE)
                CHECK(status == TENON_OK || category == TENON_CATEGORY_TRANSIENT);
            else
                CHECK(category != TENON_CATEGORY_GONE && category != TENON_CATEGORY_INTERNAL);
            support_transport_forget_faults(rig->wire);
            /* The object that the TPM refused to flush is still there. */
            CHECK(support_session_count(rig->sw) <= (fault == FAILURE ? 1 : 0));
            CHECK(support_transient_count(rig->sw) <= 3);
            if (fault == FAILURE)
                CHECK_NUMBER(support_flush_all(rig->sw), 0);
            CHECK_OK(open_new(device));
        }
}

static size_t answer_size(tpm_rig *rig, const tpm_device *device, uint32_t code)
{
    support_record record;
    size_t n = 0;
    CHECK_OK(open_new(device));
    for (size_t age = 0; n == 0 && support_transport_record(rig->wire, age, &record); age++)
        n = record.code == code ? record.answer_n : 0;
    CHECK(n != 0);
    return n;
}

/* The answer to ActivateCredential must be authentic. */
TEST_EK(tpm_activate_answer_is_authentic)
{
    OWNED_DEVICE device = start(rig, 2);
    size_t whole = answer_size(rig, &device, SUPPORT_CC_ACTIVATE_CREDENTIAL);
    const size_t step = test_rounds(1, 17);
    for (size_t at = 10; at < whole; at += step) {
        test_about("byte %u of %u", (unsigned)at, (unsigned)whole);
        support_flip(rig->wire, support_next(SUPPORT_CC_ACTIVATE_CREDENTIAL), (int32_t)at, 1);
        tenon_status status = open_new(&device);
        /* The policy session's nonce and attributes do not matter. */
        if (at < whole - 3 - 16 || at >= whole - 2)
            CHECK(status == TENON_ERROR_SESSION || status == TENON_ERROR_TPM_ANSWER);
        CHECK_NUMBER(support_session_count(rig->sw), 0);
    }
    for (size_t n = 10; n < whole; n += step) {
        test_about("%u bytes of %u", (unsigned)n, (unsigned)whole);
        support_cut(rig->wire, SUPPORT_CC_ACTIVATE_CREDENTIAL, n);
        tenon_status status = open_new(&device);
        CHECK(status == TENON_ERROR_SESSION || status == TENON_ERROR_TPM_ANSWER);
    }
    support_strip_sessions(rig->wire, support_next(SUPPORT_CC_ACTIVATE_CREDENTIAL));
    CHECK_STATUS(open_new(&device), TENON_ERROR_TPM_ANSWER);
    CHECK_OK(open_new(&device));
}

/* The answers on the way there, cut at each byte. */
TEST_EK(tpm_activate_answers_that_are_none)
{
    static const uint32_t codes[] = {SUPPORT_CC_READ_PUBLIC, SUPPORT_CC_START_AUTH_SESSION, SUPPORT_CC_POLICY_SECRET,
                                     0x171 /* PolicyOR */, SUPPORT_CC_CREATE_PRIMARY};
    OWNED_DEVICE device = start(rig, 2);
    for (size_t i = 0; i < COUNT(codes); i++) {
        size_t whole = answer_size(rig, &device, codes[i]);
        for (size_t n = 0; n < whole && n < 60; n += test_rounds(1, 13)) {
            test_about("%x, %u bytes of %u", (unsigned)codes[i], (unsigned)n, (unsigned)whole);
            tpm_rig_without_parent(device.key);
            support_cut(rig->wire, codes[i], n);
            tenon_status status = open_new(&device);
            CHECK(status == TENON_ERROR_TPM_ANSWER || status == TENON_ERROR_SESSION);
            CHECK_NUMBER(support_transport_pending(rig->wire), 0);
            support_flush_all(rig->sw);
        }
    }
    CHECK_OK(open_new(&device));
}

/* A refused credential is not sent again, whatever its code could mean elsewhere; a handle is of a policy session. */
TEST_EK(tpm_activate_codes)
{
    enum { HANDLE_AT = 10, VALUE = 0x2C4, NO_RESULT = 0x154 };
    static const uint8_t flush_of_no_session[] = {0, 0, 0x01, 0x65, 0x83}, bits[] = {0x01, 0x80};
    OWNED_DEVICE device = start(rig, 2);
    support_transport_reset_counts(rig->wire);
    support_fail_code(rig->wire, support_next(SUPPORT_CC_ACTIVATE_CREDENTIAL), VALUE);
    CHECK_RC(open_new(&device), TENON_CATEGORY_REJECTED, VALUE);
    support_fail_code(rig->wire, support_next(SUPPORT_CC_ACTIVATE_CREDENTIAL), NO_RESULT);
    CHECK_RC(open_new(&device), TENON_CATEGORY_REJECTED, NO_RESULT);
    CHECK_NUMBER(support_transport_count(rig->wire, SUPPORT_CC_ACTIVATE_CREDENTIAL), 2);
    support_transport_watch(rig->wire, flush_of_no_session, sizeof flush_of_no_session);
    for (size_t i = 0; i < COUNT(bits); i++) {
        support_flip(rig->wire, support_nth(SUPPORT_CC_START_AUTH_SESSION, 2), HANDLE_AT, bits[i]);
        CHECK_STATUS(open_new(&device), TENON_ERROR_TPM_ANSWER);
        CHECK_NUMBER(support_flush_all(rig->sw), 0);
    }
    CHECK_NUMBER(support_transport_watched(rig->wire), 0);
    CHECK_OK(open_new(&device));
}

/* Only with a cleared TPM does an activation report a lost key. */
TEST_EK(tpm_activate_gone)
{
    OWNED_DEVICE device = start(rig, 2);
    CHECK_NUMBER(support_clear(rig->sw, SUPPORT_RH_LOCKOUT, NULL), 0);
    CHECK_STATUS(open_new(&device), TENON_ERROR_KEY_GONE);
}
