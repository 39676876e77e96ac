/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE /* explicit_bzero */
#include <stdio.h>
#include <string.h>

#include "crypto/p256.h"
#include "crypto/protection.h"
#include "proof/certificate.h"
#include "scan.h"
#include "swtpm.h"
#include "tenon/tenon.h"
#include "tenon/tpm/tpm.h"
#include "tpm/session.h"

/* tpm_heap_scan STATE: no secret that was sent to a TPM or came from one is left in the process. */

static uint8_t given[SCAN_SIZE];

/* A TPM without objects, which fails when a command uses the owner's auth value. */
static tenon_status vanish(void *context, uint8_t *answer, size_t size, size_t *length, const uint8_t *command,
                           size_t n)
{
    enum { CREATE_PRIMARY = 0x31, HEADER = 10, CODE_AT = 9 };
    static const uint8_t no_such_handle[HEADER] = {0x80, 0x01, 0, 0, 0, HEADER, 0, 0, 0x01, 0x8b};
    bool *asked = context;
    *asked = n > CODE_AT && command[CODE_AT] == CREATE_PRIMARY;
    if (*asked || size < HEADER)
        return TENON_ERROR_TPM_TRANSPORT;
    memcpy(answer, no_such_handle, HEADER);
    *length = HEADER;
    return TENON_OK;
}

/* It stays in the open handle, and nowhere else. */
static bool check_owner_auth(void)
{
    bool asked = false;
    tenon_tpm *tpm = NULL;
    tenon_tpm_key *key = NULL;
    tenon_tpm_transport transport = {.size = sizeof transport, .context = &asked, .exchange = vanish};
    tenon_tpm_options options = {.size = sizeof options, .owner_auth = given, .owner_auth_n = sizeof given};
    scan_reveal(given);
    bool good = tenon_tpm_open_transport(&tpm, &transport, &options) == TENON_OK;
    explicit_bzero(given, sizeof given);
    good = good && tenon_tpm_key_create(tpm, &key, NULL, 0) == TENON_ERROR_TPM_TRANSPORT && asked;
    scan_list_regions();
    good = good && tenon_tpm_key_create(tpm, &key, NULL, 0) == TENON_ERROR_TPM_TRANSPORT;
    size_t open = scan_found(false);
    tenon_tpm_free(&tpm);
    size_t left = scan_found(true);
    return scan_report("the owner's auth value", open, left) && good && open == 1;
}

static tenon_status pass_on(void *context, uint8_t *answer, size_t size, size_t *length, const uint8_t *command,
                            size_t n)
{
    return support_swtpm_exchange(context, answer, size, length, command, n);
}

typedef struct {
    tenon_tpm *tpm;
    tenon_tpm_key *key, *ak;
    uint8_t certificate[TENON_CERTIFICATE_MAX], credential[TENON_CREDENTIAL_MAX], encrypted[TENON_CREDENTIAL_MAX];
    size_t certificate_n, credential_n, encrypted_n;
} device;

static bool enrol(device *of, support_swtpm *software)
{
    tenon_tpm_transport transport = {.size = sizeof transport, .context = software, .exchange = pass_on};
    tenon_ek ek = {.kind = TENON_EK_P384, .key_n = 96};
    tenoni_certificate read;
    uint8_t name[TENON_NAME_SIZE];
    size_t n;
    if (tenon_tpm_open_transport(&of->tpm, &transport, NULL) != TENON_OK ||
        tenon_tpm_ek_certificate(of->tpm, ek.kind, of->certificate, sizeof of->certificate, &of->certificate_n) !=
            TENON_OK ||
        tenon_tpm_key_create(of->tpm, &of->key, NULL, 0) != TENON_OK ||
        tenon_tpm_ak_create(of->key, &of->ak) != TENON_OK ||
        tenoni_certificate_read(&read, of->certificate, of->certificate_n) != TENON_OK ||
        tenon_tpm_key_name(of->ak, name, sizeof name, &n) != TENON_OK)
        return false;
    memcpy(ek.key, read.key.modulus_or_point.at + 1, ek.key_n);
    scan_reveal(given);
    tenon_status status =
        tenon_credential_make(of->credential, sizeof of->credential, &of->credential_n, of->encrypted,
                              sizeof of->encrypted, &of->encrypted_n, &ek, name, n, given, sizeof given);
    explicit_bzero(given, sizeof given);
    return status == TENON_OK;
}

static tenon_status open_value(const device *of)
{
    static const uint8_t name[TENON_NAME_SIZE] = {0, 0x0b};
    static const tenon_activation activation = {
        sizeof activation, "https://auth.example", 20, "app", 3, "challenge", 9, "key", 3, {{0}}, name, sizeof name};
    tenon_digest value;
    return tenon_tpm_ak_activate(of->ak, &value, of->certificate, of->certificate_n, of->credential, of->credential_n,
                                 of->encrypted, of->encrypted_n, &activation);
}

static tenon_status open_secret(const device *of)
{
    size_t n;
    tenon_status status = tenon_tpm_ak_secret(of->ak, given, sizeof given, &n, of->certificate, of->certificate_n,
                                              of->credential, of->credential_n, of->encrypted, of->encrypted_n);
    return status == TENON_OK && n != sizeof given ? TENON_ERROR_CRYPTO : status;
}

static bool check_open(const char *what, const device *of, tenon_status (*open)(const device *of))
{
    bool good = open(of) == TENON_OK;
    scan_reveal(given);
    scan_list_regions();
    size_t before = scan_found(false);
    good = open(of) == TENON_OK && good;
    explicit_bzero(given, sizeof given);
    size_t left = scan_found(true);
    return scan_report(what, before, left) && good;
}

static bool check_value(const char *what, bool (*use)(void))
{
    scan_reveal(given);
    return scan_around(what, use, given);
}

static tenon_tpm_key *guarded;

static bool replace_value(void)
{
    return tenon_tpm_key_authorize(guarded, given, sizeof given) == TENON_OK &&
           tenon_tpm_key_authorize(guarded, given, 1) == TENON_OK;
}

static bool check_replaced(tenon_tpm *tpm)
{
    bool good = tenon_tpm_key_create_guarded(tpm, &guarded, (const uint8_t *)"1234", 4) == TENON_OK &&
                check_value("an auth value that a shorter one replaces", replace_value);
    tenon_tpm_key_free(&guarded);
    return good;
}

static bool check_activation(const char *state)
{
    device of = {0};
    support_swtpm *software = support_swtpm_start(state);
    bool good = software != NULL && enrol(&of, software);
    good = good && check_replaced(of.tpm);
    good = good && check_open("the secret that an activation opens", &of, open_value);
    good = good && check_open("the secret that is given out", &of, open_secret);
    tenon_tpm_key_free(&of.ak);
    tenon_tpm_key_free(&of.key);
    tenon_tpm_free(&of.tpm);
    support_swtpm_stop(software);
    return good;
}

/* The value that authorises a command, in an open session. */
static bool authorise(void)
{
    tenoni_session session = {.state = TENONI_SESSION_LIVE};
    const tenoni_session_use use = {.auth = {given, sizeof given}};
    uint8_t bytes[TENONI_SESSION_ENTRY_SIZE];
    tenoni_writer entry = tenoni_writer_over(bytes, sizeof bytes);
    return tenoni_session_authorise(&session, &entry, &use, NULL, 0) == TENON_OK;
}

/* An answer's entry: another nonce, no attributes, an HMAC that is none. */
static bool refuse_answer(void)
{
    static const uint8_t bytes[TENONI_SESSION_ENTRY_SIZE] = {0, TENONI_SESSION_NONCE_SIZE, 1, [36] = TENON_DIGEST_SIZE};
    tenoni_session session = {.state = TENONI_SESSION_LIVE};
    const tenoni_session_use use = {.auth = {given, sizeof given}};
    tenoni_reader entry = tenoni_reader_over(bytes, sizeof bytes);
    return tenoni_session_check(&session, &entry, &use, NULL, 0) == TENON_ERROR_SESSION && entry.left == 4;
}

static tenon_public_key salt_to;

/* What is drawn is always the same, and so is the salt, which is copied if there is a place for it. */
static bool start_session(uint8_t *salt)
{
    static const uint8_t answer[2 + TENONI_SESSION_NONCE_SIZE] = {0, TENONI_SESSION_NONCE_SIZE, 1};
    uint8_t parameters[TENONI_SESSION_START_SIZE];
    tenoni_writer writer = tenoni_writer_over(parameters, sizeof parameters);
    tenoni_reader reader = tenoni_reader_over(answer, sizeof answer);
    tenoni_session session;
    scan_draws = true;
    tenon_status status = tenoni_session_start(&session, &writer, &salt_to, false);
    scan_draws = false;
    if (salt != NULL)
        memcpy(salt, session.key, SCAN_SIZE);
    if (status == TENON_OK)
        status = tenoni_session_started(&session, 0x02000000, &reader);
    tenoni_session_end(&session);
    explicit_bzero(parameters, sizeof parameters); /* the nonce, which was drawn, too */
    return status == TENON_OK;
}

static bool start_and_end(void) { return start_session(NULL); }

/* A session whose answer never comes: what reads an answer would overwrite the stack. */
static bool start_alone(void)
{
    uint8_t parameters[TENONI_SESSION_START_SIZE];
    tenoni_writer writer = tenoni_writer_over(parameters, sizeof parameters);
    tenoni_session session;
    scan_draws = true;
    tenon_status status = tenoni_session_start(&session, &writer, &salt_to, false);
    scan_draws = false;
    explicit_bzero(&session, sizeof session);
    explicit_bzero(parameters, sizeof parameters);
    return status == TENON_OK;
}

/* The random scalar for a salt, the shared secret from it, and the salt, each searched for alone. */
static bool check_salt(void)
{
    static const uint8_t two[SCAN_SIZE] = {[SCAN_SIZE - 1] = 2};
    tenon_key *key = NULL;
    uint8_t copy[SCAN_SIZE];
    bool good = tenon_software_key_import(&key, two, sizeof two, 0) == TENON_OK &&
                tenon_key_public_key(key, &salt_to) == TENON_OK;
    tenon_key_free(&key);
    good = check_value("the scalar of a salt", start_alone) && good;
    scan_reveal(given);
    memcpy(copy, given, sizeof copy);
    good = good && tenoni_p256_agree(given, copy, &salt_to) == TENON_OK;
    explicit_bzero(copy, sizeof copy);
    good = scan_given("what a salt is derived of", start_and_end, given) && good;
    good = start_session(given) && good;
    return scan_given("a salt", start_and_end, given) && good;
}

/* Sends a parameter in a session without secrets of its own. */
static bool encrypt(void)
{
    tenoni_session session = {.state = TENONI_SESSION_LIVE, .encrypts = true};
    const tenoni_session_use use = {.attributes = TENONI_SESSION_DECRYPT};
    uint8_t bytes[TENONI_SESSION_ENTRY_SIZE], parameters[2 + TENON_DIGEST_SIZE] = {0, TENON_DIGEST_SIZE};
    tenoni_writer entry = tenoni_writer_over(bytes, sizeof bytes);
    scan_draws = true;
    tenon_status status = tenoni_session_authorise(&session, &entry, &use, parameters, sizeof parameters);
    scan_draws = false;
    return status == TENON_OK;
}

/* The key and the IV (Part 1, 21.3). */
static bool check_cipher(void)
{
    static const uint8_t zeros[TENON_DIGEST_SIZE];
    uint8_t newer[TENONI_SESSION_NONCE_SIZE];
    scan_reveal(newer);
    tenon_status status = tenoni_kdfa(given, sizeof given, (tenoni_part){zeros, sizeof zeros}, "CFB",
                                      (tenoni_part){newer, sizeof newer}, (tenoni_part){zeros, sizeof zeros});
    return status == TENON_OK && scan_given("the key that encrypts a parameter", encrypt, given);
}

int main(int count, char **arguments)
{
    if (count != 2) {
        fprintf(stderr, "usage: tpm_heap_scan STATE\n");
        return 2;
    }
    bool good = check_owner_auth();
    good = check_activation(arguments[1]) && good;
    good = check_value("what authorises a session's command", authorise) && good;
    good = check_value("what authorises a session's answer", refuse_answer) && good;
    good = check_salt() && good;
    good = check_cipher() && good;
    return good ? 0 : 1;
}
