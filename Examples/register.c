/* SPDX-License-Identifier: Apache-2.0 */

/*
 * register TCTI URL APP KEY-FILE [EK-ISSUER]
 *
 * Registers this device at a Synheart auth service in the dialect tenon, with the C core and its own HTTP client (here
 * libcurl): key -> challenge -> nonce -> proof -> register. It prints the device's id. EK-ISSUER is a DER file with the
 * certificate above the EK's, if the service does not have it.
 *
 * The Swift module does more: it writes each message to disk before it sends it, and settles interrupted operations.
 * This program has the part that no client may leave out: the keys are in KEY-FILE and KEY-FILE.ak before anybody else
 * knows them, and they are offered again.
 */
#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/tenon.h>
#include <tenon/tpm/tpm.h>
#include <unistd.h>

enum { BODY_MAX = 65536, TEXT_MAX = 22000, CHALLENGE_MAX = 200 };

/* The one thing that the device needs from HTTP; its own client does it. */
typedef struct {
    void *context;
    /* POSTs JSON to path below the service's URL. Returns the status, or 0 without an answer of at most n bytes. */
    int (*post)(void *context, const char *path, const char *json, char *answer, size_t n);
} http;

typedef struct {
    tenon_tpm *tpm;
    tenon_tpm_key *key, *ak;
    uint8_t ek[TENON_CERTIFICATE_MAX], issuer[TENON_CERTIFICATE_MAX], ak_area[TENON_AREA_MAX];
    size_t ek_n, issuer_n, ak_area_n;
    char public_key[256]; /* base64 of its SubjectPublicKeyInfo */
} device;

typedef struct {
    char challenge[CHALLENGE_MAX];
    uint8_t credential[TENON_CREDENTIAL_MAX], encrypted[TENON_CREDENTIAL_MAX];
    size_t credential_n, encrypted_n;
} challenge;

static int failed(const char *what, tenon_status status)
{
    fprintf(stderr, "register: %s: %s\n", what, tenon_status_text(status));
    return tenon_status_category(status);
}

static int refused(const char *what, int status, const char *answer)
{
    fprintf(stderr, "register: %s: %d %s\n", what, status, answer);
    return status == 0 ? TENON_CATEGORY_UNKNOWN : TENON_CATEGORY_STATE;
}

static tenon_status base64(char *out, size_t n, const uint8_t *bytes, size_t bytes_n)
{
    size_t written;
    tenon_status status = tenon_base64_encode(out, n - 1, &written, bytes, bytes_n);
    out[written] = 0;
    return status;
}

/*
 * Finds a text in the service's answer. It needs no unescaping, because this program reads only base64 and an id. A
 * program with a JSON reader uses that.
 */
static int member(char *out, size_t n, const char *json, const char *name)
{
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\":\"", name);
    const char *begin = strstr(json, quoted);
    if (begin == NULL)
        return 0;
    begin += strlen(quoted);
    size_t length = strcspn(begin, "\"\\");
    if (begin[length] != '"' || length == 0 || length >= n)
        return 0;
    memcpy(out, begin, length);
    out[length] = 0;
    return 1;
}

static int member_bytes(uint8_t *out, size_t n, size_t *written, const char *json, const char *name)
{
    char text[1024];
    return member(text, sizeof text, json, name) &&
           tenon_base64_decode(out, n, written, text, strlen(text)) == TENON_OK;
}

/* ---- The key ---- */

static int failed_file(const char *path)
{
    fprintf(stderr, "register: %s: %s\n", path, strerror(errno));
    return TENON_CATEGORY_PERMISSION;
}

static int save_key(const tenon_tpm_key *key, const char *path)
{
    char pem[TENON_TPM_KEY_MAX];
    size_t n;
    tenon_status status = tenon_tpm_key_export(key, pem, sizeof pem, &n);
    if (status != TENON_OK)
        return failed(path, status);
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0)
        return failed_file(path);
    int good = write(file, pem, n) == (ssize_t)n && fsync(file) == 0;
    return close(file) == 0 && good ? 0 : failed_file(path);
}

static int load_key(tenon_tpm *tpm, tenon_tpm_key **out, FILE *file, const char *path, int is_ak)
{
    char pem[TENON_TPM_KEY_MAX];
    size_t n = fread(pem, 1, sizeof pem, file);
    tenon_status status = is_ak ? tenon_tpm_ak_load(tpm, out, pem, n) : tenon_tpm_key_load(tpm, out, pem, n, NULL, 0);
    return status == TENON_OK ? 0 : failed(path, status);
}

/*
 * Loads the key from the file, or makes a new one. A service that has seen the key may hold it, so it is never
 * replaced. beside: NULL, or the key beside which an attestation key is made.
 */
static int find_key(tenon_tpm *tpm, tenon_tpm_key **out, const char *path, tenon_tpm_key *beside)
{
    FILE *file = fopen(path, "rb");
    if (file != NULL) {
        int result = load_key(tpm, out, file, path, beside != NULL);
        fclose(file);
        return result;
    }
    if (errno != ENOENT)
        return failed_file(path);
    tenon_status status = beside != NULL ? tenon_tpm_ak_create(beside, out) : tenon_tpm_key_create(tpm, out, NULL, 0);
    return status == TENON_OK ? save_key(*out, path) : failed("making a key", status);
}

static int find_keys(device *device, const char *path)
{
    char ak[4096];
    int result = find_key(device->tpm, &device->key, path, NULL);
    if (result != 0 || snprintf(ak, sizeof ak, "%s.ak", path) >= (int)sizeof ak)
        return result != 0 ? result : TENON_CATEGORY_ARGUMENT;
    return find_key(device->tpm, &device->ak, ak, device->key);
}

/* Reads the EK certificate, RSA or P-384, and the parts of the two keys that are sent. */
static tenon_status read_public(device *device)
{
    tenon_public_key key;
    uint8_t spki[TENON_SPKI_SIZE];
    size_t n;
    tenon_status status =
        tenon_tpm_ek_certificate(device->tpm, TENON_EK_RSA_2048, device->ek, sizeof device->ek, &device->ek_n);
    if (status == TENON_ERROR_EK_MISSING)
        status = tenon_tpm_ek_certificate(device->tpm, TENON_EK_P384, device->ek, sizeof device->ek, &device->ek_n);
    if (status == TENON_OK)
        status = tenon_tpm_key_public_area(device->ak, device->ak_area, sizeof device->ak_area, &device->ak_area_n);
    if (status == TENON_OK)
        status = tenon_tpm_key_public_key(device->key, &key);
    if (status == TENON_OK)
        status = tenon_public_key_encode_spki(spki, sizeof spki, &n, &key);
    return status == TENON_OK ? base64(device->public_key, sizeof device->public_key, spki, n) : status;
}

/* ---- The two exchanges ---- */

static int ask_challenge(challenge *out, const http *http, const device *device, const char *app)
{
    static char ek[8192], issuer[8192], ak[512], json[BODY_MAX], answer[BODY_MAX];
    tenon_status status = base64(ek, sizeof ek, device->ek, device->ek_n);
    if (status == TENON_OK)
        status = base64(issuer, sizeof issuer, device->issuer, device->issuer_n);
    if (status == TENON_OK)
        status = base64(ak, sizeof ak, device->ak_area, device->ak_area_n);
    if (status != TENON_OK)
        return failed("the challenge", status);
    int has_issuer = device->issuer_n != 0;
    snprintf(json, sizeof json, "{\"app_id\":\"%s\",\"ek_certificates\":[\"%s\"%s%s%s],\"ak_public\":\"%s\"}", app, ek,
             has_issuer ? ",\"" : "", issuer, has_issuer ? "\"" : "", ak);
    int code = http->post(http->context, "/v1/device/challenge", json, answer, sizeof answer);
    if (code != 200 || !member(out->challenge, sizeof out->challenge, answer, "challenge") ||
        !member_bytes(out->credential, sizeof out->credential, &out->credential_n, answer, "credential") ||
        !member_bytes(out->encrypted, sizeof out->encrypted, &out->encrypted_n, answer, "secret"))
        return refused("the challenge", code, answer);
    return 0;
}

/* Shows that this TPM opened the credential, for this origin, app, challenge and key. */
static tenon_status activate(tenon_digest *out, const challenge *challenge, const device *device, const char *origin,
                             const char *app)
{
    tenon_activation activation = {.size = sizeof activation,
                                   .origin = origin,
                                   .origin_n = strlen(origin),
                                   .app_id = app,
                                   .app_id_n = strlen(app),
                                   .challenge = challenge->challenge,
                                   .challenge_n = strlen(challenge->challenge),
                                   .public_key = device->public_key,
                                   .public_key_n = strlen(device->public_key)};
    return tenon_tpm_ak_activate(device->ak, out, device->ek, device->ek_n, challenge->credential,
                                 challenge->credential_n, challenge->encrypted, challenge->encrypted_n, &activation);
}

/* Shows that the key is in this TPM: its AK certifies the key over a nonce of the challenge and the key. */
static tenon_status prove(char *out, size_t n, const challenge *challenge, const device *device)
{
    static uint8_t proof[TENON_PROOF_MAX];
    tenon_digest nonce;
    size_t proof_n, written = 0;
    tenon_status status = tenon_binding_nonce(&nonce, challenge->challenge, strlen(challenge->challenge),
                                              device->public_key, strlen(device->public_key));
    if (status == TENON_OK)
        status = tenon_tpm_key_attest(device->key, device->ak, proof, sizeof proof, &proof_n, nonce.bytes,
                                      sizeof nonce.bytes, NULL, 0);
    if (status == TENON_OK)
        status = tenon_base64url_encode(out, n - 1, &written, proof, proof_n);
    out[written] = 0;
    return status;
}

static int send_registration(const http *http, const device *device, const challenge *challenge, const char *origin,
                             const char *app)
{
    static char proof[TEXT_MAX], json[BODY_MAX], answer[BODY_MAX];
    char activated[64], id[TENON_DEVICE_ID_MAX + 1];
    tenon_digest value;
    tenon_status status = activate(&value, challenge, device, origin, app);
    if (status == TENON_OK)
        status = base64(activated, sizeof activated, value.bytes, sizeof value.bytes);
    if (status == TENON_OK)
        status = prove(proof, sizeof proof, challenge, device);
    if (status != TENON_OK)
        return failed("the proof", status);
    snprintf(json, sizeof json,
             "{\"app_id\":\"%s\",\"challenge\":\"%s\",\"public_key\":\"%s\",\"platform\":\"linux\",\"proof\":\"%s\","
             "\"activation_proof\":\"%s\"}",
             app, challenge->challenge, device->public_key, proof, activated);
    int code = http->post(http->context, "/v1/device/register", json, answer, sizeof answer);
    if (code != 200 || !member(id, sizeof id, answer, "device_id"))
        return refused("the registration; offer the same key again", code, answer);
    printf("%s\n", id);
    return 0;
}

static int register_device(const http *http, device *device, const char *origin, const char *app)
{
    challenge challenge;
    tenon_status status = read_public(device);
    if (status != TENON_OK)
        return failed("the TPM", status);
    int result = ask_challenge(&challenge, http, device, app);
    return result != 0 ? result : send_registration(http, device, &challenge, origin, app);
}

/* ---- HTTP by libcurl ---- */

typedef struct {
    const char *url;
    char *answer;
    size_t n, room;
} exchange;

static size_t receive(char *bytes, size_t one, size_t n, void *context)
{
    exchange *exchange = context;
    (void)one;
    if (n >= exchange->room - exchange->n)
        return 0; /* too long: the exchange fails */
    memcpy(exchange->answer + exchange->n, bytes, n);
    exchange->n += n;
    exchange->answer[exchange->n] = 0;
    return n;
}

static int post(void *context, const char *path, const char *json, char *answer, size_t n)
{
    exchange exchange = {.url = context, .answer = answer, .n = 0, .room = n};
    char url[2048];
    long status = 0;
    answer[0] = 0;
    CURL *curl = curl_easy_init();
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
    if (curl != NULL && headers != NULL && snprintf(url, sizeof url, "%s%s", exchange.url, path) < (int)sizeof url) {
        curl_easy_setopt(curl, CURLOPT_URL, url);
        curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "https,http");
        curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, json);
        curl_easy_setopt(curl, CURLOPT_TIMEOUT, 30L);
        curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, receive);
        curl_easy_setopt(curl, CURLOPT_WRITEDATA, &exchange);
        if (curl_easy_perform(curl) == CURLE_OK)
            curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    }
    curl_slist_free_all(headers);
    curl_easy_cleanup(curl);
    return (int)status;
}

/* ---- */

/* The scheme://host[:port] of a URL in lower case that names no default port. */
static void origin_of(char *out, size_t n, const char *url)
{
    const char *host = strstr(url, "://");
    host = host == NULL ? url : host + 3;
    snprintf(out, n, "%.*s", (int)(host - url + (ptrdiff_t)strcspn(host, "/")), url);
}

static int read_issuer(device *device, const char *path)
{
    FILE *file = path == NULL ? NULL : fopen(path, "rb");
    if (file != NULL) {
        device->issuer_n = fread(device->issuer, 1, sizeof device->issuer, file);
        fclose(file);
    }
    return path == NULL || device->issuer_n != 0;
}

int main(int count, char **arguments)
{
    static device device;
    char origin[256];
    /* This program writes JSON without escapes. */
    if (count < 5 || count > 6 || strpbrk(arguments[3], "\"\\") != NULL ||
        !read_issuer(&device, count == 6 ? arguments[5] : NULL)) {
        fprintf(stderr, "usage: register TCTI URL APP KEY-FILE [EK-ISSUER]\n");
        return TENON_CATEGORY_ARGUMENT;
    }
    const char *tcti = arguments[1], *url = arguments[2];
    /* An agent for real devices does not allow a simulator. */
    tenon_tpm_options options = {.size = sizeof options, .allow_simulator = strncmp(tcti, "swtpm:", 6) == 0};
    http http = {.context = arguments[2], .post = post};
    origin_of(origin, sizeof origin, url);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    tenon_status status = tenon_tpm_open(&device.tpm, tcti, strlen(tcti), &options);
    int result = status == TENON_OK ? find_keys(&device, arguments[4]) : failed(tcti, status);
    if (result == 0)
        result = register_device(&http, &device, origin, arguments[3]);
    tenon_tpm_key_free(&device.ak);
    tenon_tpm_key_free(&device.key);
    tenon_tpm_free(&device.tpm);
    curl_global_cleanup();
    return result;
}
