/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "swtpm.h"
#include "test.h"
#include "tpm/session.h"
#include "wire.h"

/* A session with a TPM that nobody here wrote: a key whose auth value never crosses the bus is made, loaded and used.
 */
enum { NAME = 34, RC_SYMMETRIC_OR_ATTRIBUTES = 0x982, RC_BAD_AUTH = 0x9a2 };

static const char storage_template[] = "0023000b00030472000000060080004300100003001000000000";
static const char signing_template[] = "0023000b0004047200000010001000030010"
                                       "00000000";

typedef struct {
    uint32_t handle;
    uint8_t area[128], name[NAME];
    size_t area_n;
    tenon_public_key point;
} object;

typedef struct {
    support_swtpm *tpm;
    tenoni_session session;
    support_command sent;
    support_answer got;
    uint8_t *parameters; /* of the answer */
    size_t n;
} line;

static void put_hex(support_command *to, const char *hex)
{
    size_t n;
    uint8_t *bytes = test_hex_all(hex, &n);
    support_put_sized(to, bytes, n);
    free(bytes);
}

/* A TPM2B_PUBLIC of P-256: Name and point. */
static void take_public(object *out, support_answer *from)
{
    tenon_digest digest;
    support_get_sized(from, out->area, sizeof out->area, &out->area_n);
    CHECK(!from->bad && out->area_n > 68);
    CHECK_STATUS(tenon_sha256(&digest, out->area, out->area_n), TENON_OK);
    out->name[0] = 0;
    out->name[1] = 0x0b;
    memcpy(out->name + 2, digest.bytes, sizeof digest.bytes);
    const uint8_t *point = out->area + out->area_n - 68;
    CHECK(point[0] == 0 && point[1] == 32 && point[34] == 0 && point[35] == 32);
    memcpy(out->point.bytes, point + 2, 32);
    memcpy(out->point.bytes + 32, point + 36, 32);
    CHECK_STATUS(tenon_p256_check(&out->point), TENON_OK);
}

static void make_primary(line *on, object *out)
{
    support_command_begin(&on->sent, SUPPORT_CC_CREATE_PRIMARY);
    support_put32(&on->sent, SUPPORT_RH_OWNER);
    support_password(&on->sent, NULL);
    put_hex(&on->sent, "00000000");
    put_hex(&on->sent, storage_template);
    support_put16(&on->sent, 0);
    support_put32(&on->sent, 0);
    CHECK_NUMBER(support_command_run(on->tpm, &on->sent, &on->got), 0);
    out->handle = support_get32(&on->got);
    support_get32(&on->got);
    take_public(out, &on->got);
}

static void open_session(line *on, const object *salt_to)
{
    uint8_t parameters[TENONI_SESSION_START_SIZE];
    tenoni_writer writer = tenoni_writer_over(parameters, sizeof parameters);
    CHECK_STATUS(tenoni_session_start(&on->session, &writer, &salt_to->point, true), TENON_OK);
    CHECK(!writer.overflowed);
    support_command_begin(&on->sent, SUPPORT_CC_START_AUTH_SESSION);
    support_put32(&on->sent, salt_to->handle);
    support_put32(&on->sent, SUPPORT_RH_NULL);
    support_put(&on->sent, parameters, writer.used);
    CHECK_NUMBER(support_command_run(on->tpm, &on->sent, &on->got), 0);
    uint32_t handle = support_get32(&on->got);
    tenoni_reader reader = tenoni_reader_over(on->got.bytes + on->got.at, on->got.n - on->got.at);
    CHECK_STATUS(tenoni_session_started(&on->session, handle, &reader), TENON_OK);
}

/* Sends a command of one handle in the session. */
static uint32_t send(line *on, const object *about, const tenoni_session_use *use, support_command *parameters)
{
    uint8_t entry[TENONI_SESSION_ENTRY_SIZE];
    tenoni_writer writer = tenoni_writer_over(entry, sizeof entry);
    CHECK_STATUS(tenoni_session_authorise(&on->session, &writer, use, parameters->bytes, parameters->n), TENON_OK);
    support_command_begin(&on->sent, use->code);
    on->sent.bytes[1] = 2; /* TPM_ST_SESSIONS */
    support_put32(&on->sent, about->handle);
    support_put32(&on->sent, (uint32_t)writer.used);
    support_put(&on->sent, entry, writer.used);
    support_put(&on->sent, parameters->bytes, parameters->n);
    return support_command_run(on->tpm, &on->sent, &on->got);
}

/* The answer to it; a handle in it is to be read before. */
static tenon_status check(line *on, const tenoni_session_use *use)
{
    CHECK_NUMBER(on->got.bytes[1], 2);
    on->n = support_get32(&on->got);
    on->parameters = on->got.bytes + on->got.at;
    if (!CHECK(on->n <= on->got.n - on->got.at))
        return TENON_ERROR_TPM_ANSWER;
    tenoni_reader entries = tenoni_reader_over(on->parameters + on->n, on->got.n - on->got.at - on->n);
    tenon_status status = tenoni_session_check(&on->session, &entries, use, on->parameters, on->n);
    CHECK(status != TENON_OK || entries.left == 0);
    return status;
}

static tenoni_session_use use_of(uint32_t code, uint8_t attributes, const tenoni_part *name, tenoni_part auth)
{
    return (tenoni_session_use){.code = code, .attributes = attributes, .auth = auth, .names = name, .names_count = 1};
}

static bool holds(const uint8_t *bytes, size_t n, const uint8_t *what, size_t what_n)
{
    for (size_t i = 0; i + what_n <= n; i++)
        if (memcmp(bytes + i, what, what_n) == 0)
            return true;
    return false;
}

static void make_key(line *on, const object *parent, object *out, tenoni_part auth)
{
    static support_command parameters, load;
    const tenoni_part name = {parent->name, NAME}, none = {NULL, 0};
    tenoni_session_use use = use_of(SUPPORT_CC_CREATE, 0x61, &name, none);
    parameters.n = load.n = 0;
    support_put16(&parameters, (uint32_t)(2 + auth.n + 2));
    support_put_sized(&parameters, auth.bytes, auth.n);
    support_put16(&parameters, 0);
    put_hex(&parameters, signing_template);
    support_put16(&parameters, 0);
    support_put32(&parameters, 0);
    CHECK_NUMBER(send(on, parent, &use, &parameters), 0);
    CHECK(!holds(on->sent.bytes, on->sent.n, auth.bytes, auth.n));
    CHECK_STATUS(check(on, &use), TENON_OK);
    uint8_t private[256];
    size_t n;
    support_get_sized(&on->got, private, sizeof private, &n);
    take_public(out, &on->got);
    support_put_sized(&load, private, n);
    support_put_sized(&load, out->area, out->area_n);
    use = use_of(SUPPORT_CC_LOAD, 0x61, &name, none);
    CHECK_NUMBER(send(on, parent, &use, &load), 0);
    out->handle = support_get32(&on->got);
    CHECK_STATUS(check(on, &use), TENON_OK);
    CHECK_NUMBER(on->n, 2 + NAME);
    CHECK_BYTES(on->parameters + 2, out->name, NAME);
}

static uint32_t send_sign(line *on, const object *key, const tenoni_session_use *use, const tenon_digest *digest)
{
    static support_command parameters;
    parameters.n = 0;
    support_put_sized(&parameters, digest->bytes, sizeof digest->bytes);
    support_put32(&parameters, 0x0018000b); /* ECDSA, SHA-256 */
    support_put16(&parameters, 0x8024);     /* TPM_ST_HASHCHECK: an empty ticket */
    support_put32(&parameters, SUPPORT_RH_NULL);
    support_put16(&parameters, 0);
    return send(on, key, use, &parameters);
}

static void check_signature(line *on, const object *key, const tenon_digest *digest)
{
    tenon_signature signature = {{0}};
    CHECK_NUMBER(support_get32(&on->got), 0x0018000b);
    for (size_t i = 0; i < 2; i++) {
        uint8_t part[32];
        size_t n;
        support_get_sized(&on->got, part, sizeof part, &n);
        memcpy(signature.bytes + 32 * i + 32 - n, part, n);
    }
    CHECK_STATUS(tenon_p256_verify(&key->point, digest, &signature), TENON_OK);
}

static uint32_t sessions(line *on)
{
    support_command_begin(&on->sent, SUPPORT_CC_GET_CAPABILITY);
    support_put32(&on->sent, 1); /* TPM_CAP_HANDLES */
    support_put32(&on->sent, SUPPORT_FIRST_SESSION);
    support_put32(&on->sent, 10);
    CHECK_NUMBER(support_command_run(on->tpm, &on->sent, &on->got), 0);
    support_get8(&on->got);
    support_get32(&on->got);
    return support_get32(&on->got);
}

/* The TPM's answer is as good as it gets, and spoiled on its way. */
static void check_spoiled(line *on, const object *key, const tenoni_session_use *use, const tenon_digest *digest)
{
    CHECK_NUMBER(send_sign(on, key, use, digest), 0);
    on->got.bytes[20] ^= 1;
    CHECK_STATUS(check(on, use), TENON_ERROR_SESSION);
    CHECK(on->session.state == TENONI_SESSION_OVER);
}

TEST(session_swtpm_creates_loads_signs)
{
    static const uint8_t auth_bytes[] = "32 bytes that nobody may see....";
    static line on;
    object parent, key;
    tenon_digest digest = {{0}};
    tenoni_part auth = {auth_bytes, 32}, name = {key.name, NAME}, parent_name = {parent.name, NAME};
    on.tpm = support_swtpm_start(NULL);
    if (!CHECK(on.tpm != NULL))
        return;
    make_primary(&on, &parent);
    open_session(&on, &parent);
    make_key(&on, &parent, &key, auth);
    tenoni_session_use use = use_of(SUPPORT_CC_SIGN, 0x21, &name, auth);
    for (size_t i = 0; i < 20; i++) {
        test_about("signature %zu", i);
        digest.bytes[0] = (uint8_t)i;
        use.attributes = i % 2 == 0 ? 0x21 : 0x01;
        CHECK_NUMBER(send_sign(&on, &key, &use, &digest), 0);
        CHECK(!holds(on.sent.bytes, on.sent.n, auth.bytes, auth.n));
        CHECK(holds(on.sent.bytes, on.sent.n, digest.bytes, 32) == (i % 2 != 0));
        CHECK_STATUS(check(&on, &use), TENON_OK);
        check_signature(&on, &key, &digest);
    }
    test_about("refusals");
    tenoni_session_use other = use;
    other.auth.n = 31;
    CHECK_NUMBER(send_sign(&on, &key, &other, &digest), RC_BAD_AUTH);
    other = use;
    other.names = &parent_name;
    CHECK_NUMBER(send_sign(&on, &key, &other, &digest), RC_BAD_AUTH);
    other = use;
    other.attributes = 0x41;
    CHECK_NUMBER(send_sign(&on, &key, &other, &digest), RC_SYMMETRIC_OR_ATTRIBUTES);
    test_about("after them");
    CHECK_NUMBER(send_sign(&on, &key, &use, &digest), 0);
    CHECK_STATUS(check(&on, &use), TENON_OK);
    check_signature(&on, &key, &digest);
    CHECK_NUMBER(sessions(&on), 1);
    use.attributes = 0x20;
    CHECK_NUMBER(send_sign(&on, &key, &use, &digest), 0);
    CHECK_STATUS(check(&on, &use), TENON_OK);
    check_signature(&on, &key, &digest);
    CHECK_NUMBER(on.session.handle, 0);
    CHECK_NUMBER(sessions(&on), 0);
    use.attributes = 0x01;
    open_session(&on, &parent);
    check_spoiled(&on, &key, &use, &digest);
    support_swtpm_stop(on.tpm);
}
