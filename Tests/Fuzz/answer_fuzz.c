/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE 1 /* syscall */
#include "tenon/p256.h"
#include "tpm_wire.h"

/* Input: how the TPM is opened, the operations on keys, and then the TPM's answers. */

/* The operations. */
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

/* A key of a software TPM that no longer exists. */
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
        OWNED uint32_t *handles = fuzz_room(ROOM * sizeof *handles);
        tenon_status status = tenon_tpm_handles(tpm, handles, ROOM, &n);
        must_be_possible(status, wire);
        for (size_t i = 0; status == TENON_OK && i < n; i++)
            MUST(handles[i] >> 24 == 0x81 && (i == 0 || handles[i] > handles[i - 1]));
        MUST(status == TENON_OK ? n <= ROOM : status == TENON_ERROR_BUFFER_TOO_SMALL ? n > ROOM : n == 0);
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

/* Makes the keys one after the other and frees them together, so that each competes with the next for room. */
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

FUZZ_TARGET(data, n)
{
    if (n < 2)
        return;
    uint8_t opened = data[0], what = data[1];
    tpm_wire wire = {.data = data + 2, .n = n - 2};
    tenon_tpm *tpm = wire_open(&wire, opened);
    work(tpm, &wire, what);
    wire_close(&tpm);
}
