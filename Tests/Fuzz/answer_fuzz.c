/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE 1 /* syscall */
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "fuzz.h"
#include "tenon/p256.h"
#include "tenon/tpm/tpm.h"

/*
 * Input: how the TPM is opened, what is done, and then what the TPM answers, each as a form, two bytes of length and
 * that many bytes. When there are no more answers, the transport fails.
 *
 * What is random is the same in each run: a session that was recorded once is good again. Nobody waits.
 */

/* The first byte: TENON_TPM_SESSION_*, a transport that can be opened again, and one without a resource manager. */
enum { SESSION = 0x03, REOPENS = 0x04, BARE = 0x08 };

/* The second. */
enum {
    INFO = 0x01,
    HANDLES = 0x02,
    CREATE = 0x04,
    LOAD = 0x08,
    IMPORT = 0x10, /* the same key without its facts */
    AUTH = 0x20,   /* of a key that is created or imported */
    PERSIST = 0x40,
    CHECK = 0x80
};

/* The form of an answer. */
enum {
    BODY,    /* behind a header that is right */
    REFUSED, /* a header with these four bytes as the response code */
    RAW,     /* all of it */
    LYING,   /* the same, and the transport says another length: the first two bytes */
    LOST,    /* the transport fails */
    FORMS
};

enum { HEADER = 10, ANSWERS_MAX = 64, DRY_MAX = 256, LONG_WAIT_S = 2 };

enum { CC_EVICT_CONTROL = 0x120, CC_FLUSH_CONTEXT = 0x165 };

/* A key of a software TPM that is no more. */
static const char key_pem[] = "tenon-parent: 000bdf93045a3ff350b54f64ad2d6a7f0299c1abb905d4d5cbd1cc739ba561b7b4b2\n"
                              "tenon-witness: 000bdf93045a3ff350b54f64ad2d6a7f0299c1abb905d4d5cbd1cc739ba561b7b4b2\n"
                              "tenon-handle: 81080000\n"
                              "-----BEGIN TSS2 PRIVATE KEY-----\n"
                              "MIHwBgZngQUKAQOgAwEB/wIEQAAAAQRYAFYAIwALAAQEcgAAABAAEAADABAAIKLi\n"
                              "tZbLE3c7moLdOSZWieCXMGsaZZgc8cSgU140YfsdACDdSLWZ9HVpsia/xt8Vm8ZM\n"
                              "TumM/wJB/yJ+NavvRk7DdASBgAB+ACDIBQp90wqDiWO6qyoFIa3ISyNvVV9FidKZ\n"
                              "ArkJWVgWNwAQtR99yZyWtrIVP7e4uupNLOpW7VIRfwE07cPiWAWJPHEqM/JuCw0d\n"
                              "fuiWvXtUbT2985TFxpa/4EYLH3fODukMY1RscBAvv1wv1BL85uake/GjV2QtqEJ9\n"
                              "8a+g\n"
                              "-----END TSS2 PRIVATE KEY-----\n";

static _Thread_local bool fuzzing;
static uint64_t random_state;
static uint32_t long_waits;

/* xorshift: Marsaglia 2003. */
ssize_t getrandom(void *out, size_t n, unsigned flags)
{
    if (!fuzzing)
        return syscall(SYS_getrandom, out, n, flags);
    for (size_t i = 0; i < n; i++) {
        random_state ^= random_state << 13;
        random_state ^= random_state >> 7;
        random_state ^= random_state << 17;
        ((uint8_t *)out)[i] = (uint8_t)(random_state >> 32);
    }
    return (ssize_t)n;
}

int nanosleep(const struct timespec *wanted, struct timespec *left)
{
    if (!fuzzing)
        return (int)syscall(SYS_nanosleep, wanted, left);
    long_waits += wanted->tv_sec >= LONG_WAIT_S;
    return 0;
}

typedef struct {
    const uint8_t *data;
    size_t n;
    uint32_t answers, dry, reopens;
} tpm_wire;

static uint32_t fetch32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static void store_header(uint8_t *answer, uint16_t tag, size_t n, const uint8_t *rc)
{
    const uint8_t header[] = {(uint8_t)(tag >> 8), (uint8_t)tag, 0,     0,     (uint8_t)(n >> 8),
                              (uint8_t)n,          rc[0],        rc[1], rc[2], rc[3]};
    memcpy(answer, header, sizeof header);
}

/* Whatever the TPM said: nothing but sessions and transient objects is flushed, and our handles alone are evicted. */
static void must_be_harmless(const uint8_t *command, size_t n)
{
    MUST(n >= HEADER && n <= TENON_TPM_BUFFER_SIZE && fetch32(command + 2) == n);
    uint32_t code = fetch32(command + 6);
    uint32_t last = fetch32(command + n - 4);
    if (code == CC_FLUSH_CONTEXT)
        MUST(n == HEADER + 4 && (last >> 24 == 0x80 || last >> 24 == 0x02));
    if (code == CC_EVICT_CONTROL)
        MUST(last >> 16 == 0x8108);
}

static tenon_status give(uint8_t *out, size_t size, size_t *length, const uint8_t *command, uint8_t form,
                         const uint8_t *bytes, size_t n)
{
    static const uint8_t ok[4];
    bool headed = form == BODY;
    size_t room = size - (headed ? HEADER : 0);
    n = n < room ? n : room;
    switch (form) {
    case BODY:
        memcpy(out + HEADER, bytes, n);
        store_header(out, (uint16_t)(command[0] << 8 | command[1]), HEADER + n, ok);
        *length = HEADER + n;
        return TENON_OK;
    case REFUSED:
        if (n < 4)
            return TENON_ERROR_TPM_BUSY;
        store_header(out, 0x8001, HEADER, bytes);
        *length = HEADER;
        return TENON_OK;
    case RAW:
    case LYING:
        memcpy(out, bytes, n);
        *length = form == RAW || n < 2 ? n : (size_t)bytes[0] << 8 | bytes[1];
        return TENON_OK;
    default:
        return TENON_ERROR_KEY_GONE;
    }
}

static tenon_status exchange(void *context, uint8_t *answer, size_t size, size_t *length, const uint8_t *command,
                             size_t n)
{
    tpm_wire *wire = context;
    must_be_harmless(command, n);
    if (wire->n < 3 || wire->answers == ANSWERS_MAX) {
        MUST(++wire->dry <= DRY_MAX);
        return TENON_ERROR_TPM_TRANSPORT;
    }
    wire->answers++;
    uint8_t form = wire->data[0] % FORMS;
    size_t said = (size_t)wire->data[1] << 8 | wire->data[2];
    wire->data += 3;
    wire->n -= 3;
    size_t given = said < wire->n ? said : wire->n;
    tenon_status status = give(answer, size, length, command, form, wire->data, given);
    wire->data += given;
    wire->n -= given;
    return status;
}

static tenon_status reopen(void *context)
{
    tpm_wire *wire = context;
    wire->reopens++;
    return TENON_OK;
}

/* Gone takes a second look over a fresh transport; and what the caller did is not wrong. */
static void must_be_possible(tenon_status status, const tpm_wire *wire)
{
    int32_t category = tenon_status_category(status);
    if (category == TENON_CATEGORY_GONE)
        MUST(wire->reopens >= 1 && long_waits >= 1);
    MUST(category != TENON_CATEGORY_STATE && category != TENON_CATEGORY_UNKNOWN);
    MUST(strcmp(tenon_status_name(status), "TENON_ERROR_UNNAMED") != 0);
}

static void ask(tenon_tpm *tpm, const tpm_wire *wire, uint8_t what)
{
    enum { ROOM = 100 };
    tenon_tpm_info info;
    size_t n = ROOM;
    if ((what & INFO) != 0) {
        tenon_status status = tenon_tpm_read_info(tpm, &info);
        must_be_possible(status, wire);
        MUST(status == TENON_OK || fuzz_all(&info, sizeof info, 0));
    }
    if ((what & HANDLES) != 0) {
        uint32_t *handles = fuzz_room(ROOM * sizeof *handles);
        tenon_status status = tenon_tpm_handles(tpm, handles, ROOM, &n);
        must_be_possible(status, wire);
        for (size_t i = 0; status == TENON_OK && i < n; i++)
            MUST(handles[i] >> 24 == 0x81 && (i == 0 || handles[i] > handles[i - 1]));
        MUST(status == TENON_OK ? n <= ROOM : status == TENON_ERROR_BUFFER_TOO_SMALL ? n > ROOM : n == 0);
        free(handles);
    }
}

static void sign(tenon_tpm_key *key, const tpm_wire *wire, uint32_t flags)
{
    static const tenon_digest digest = {{1, 2, 3}};
    tenon_public_key point;
    tenon_signature signature;
    tenon_key *view;
    MUST(tenon_tpm_key_open(key, &view, TENON_KEY_SIGNS_DIGESTS | flags) == TENON_OK);
    memset(&signature, FUZZ_FILL, sizeof signature);
    tenon_status status = tenon_key_sign_digest(view, &signature, &digest);
    must_be_possible(status, wire);
    MUST(status == TENON_OK || fuzz_all(&signature, sizeof signature, 0));
    if (status == TENON_OK && (flags & TENON_TPM_KEY_VERIFIED) != 0) {
        MUST(tenon_tpm_key_public_key(key, &point) == TENON_OK);
        MUST(tenon_p256_verify(&point, &digest, &signature) == TENON_OK);
    }
    tenon_key_free(&view);
}

static void use(tenon_tpm_key *key, const tpm_wire *wire, uint8_t what)
{
    char pem[TENON_TPM_KEY_MAX];
    size_t n;
    MUST(tenon_tpm_key_export(key, pem, sizeof pem, &n) == TENON_OK);
    sign(key, wire, TENON_TPM_KEY_LOW_S);
    if ((what & PERSIST) != 0) {
        must_be_possible(tenon_tpm_key_persist(key, NULL), wire);
        sign(key, wire, 0);
    }
    if ((what & CHECK) != 0)
        must_be_possible(tenon_tpm_key_check(key), wire);
    sign(key, wire, TENON_TPM_KEY_VERIFIED);
    if ((what & PERSIST) != 0)
        must_be_possible(tenon_tpm_key_evict(key), wire);
    MUST(tenon_tpm_key_export(key, pem, sizeof pem, &n) == TENON_OK);
}

static tenon_status get_key(tenon_tpm *tpm, tenon_tpm_key **key, uint8_t what, uint8_t how)
{
    const uint8_t *auth = (what & AUTH) != 0 ? (const uint8_t *)"auth" : NULL;
    size_t auth_n = auth == NULL ? 0 : 4;
    const char *block = strstr(key_pem, "-----BEGIN");
    switch (how) {
    case CREATE:
        return tenon_tpm_key_create(tpm, key, auth, auth_n);
    case LOAD:
        return tenon_tpm_key_load(tpm, key, key_pem, strlen(key_pem), NULL, 0);
    default:
        return tenon_tpm_key_import(tpm, key, block, strlen(block), auth, auth_n);
    }
}

/* One key after the other, and all are freed together: each is in the way of the next. */
static void work(tenon_tpm *tpm, const tpm_wire *wire, uint8_t what)
{
    tenon_tpm_key *keys[3] = {NULL};
    ask(tpm, wire, what);
    for (uint8_t i = 0; i < 3; i++) {
        uint8_t how = (uint8_t)(CREATE << i);
        if ((what & how) == 0)
            continue;
        tenon_status status = get_key(tpm, &keys[i], what, how);
        must_be_possible(status, wire);
        MUST((status == TENON_OK) == (keys[i] != NULL));
        if (keys[i] != NULL)
            use(keys[i], wire, what);
    }
    for (size_t i = 0; i < 3; i++)
        tenon_tpm_key_free(&keys[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n < 2)
        return 0;
    uint8_t opened = data[0], what = data[1];
    /* A copy of its own size: a byte read behind its end is seen. */
    uint8_t *answers = fuzz_copy(data + 2, n - 2);
    tpm_wire wire = {.data = answers, .n = n - 2};
    tenon_tpm_transport transport = {
        .size = sizeof transport,
        .context = &wire,
        .exchange = exchange,
        .reopen = (opened & REOPENS) != 0 ? reopen : NULL,
        .managed = (opened & BARE) == 0,
    };
    tenon_tpm_options options = {.size = sizeof options, .session = (opened & SESSION) % 3, .deadline_ms = 1};
    tenon_tpm *tpm;
    random_state = 0x9e3779b97f4a7c15;
    long_waits = 0;
    fuzzing = true;
    MUST(tenon_tpm_open_transport(&tpm, &transport, &options) == TENON_OK);
    work(tpm, &wire, what);
    tenon_tpm_free(&tpm);
    fuzzing = false;
    free(answers);
    return 0;
}
