/* SPDX-License-Identifier: Apache-2.0 */
#include "keri/log.h"
#include "keri_rig.h"

/* ---- Known answers: auths-kel-p256.json, which two other implementations accept ---- */

static void check_key(const keri_rig *rig, size_t i, const char *qb64, const char *next_digest)
{
    char text[TENON_KERI_KEY_SIZE];
    tenon_public_key back;
    size_t n;
    test_about("%s", qb64);
    CHECK_OK(tenon_keri_key_encode(text, sizeof text, &n, &rig->public_keys[i]));
    CHECK_SAME(text, n, qb64, strlen(qb64));
    CHECK_OK(tenon_keri_key_decode(&back, qb64, strlen(qb64)));
    CHECK_BYTES(&back, &rig->public_keys[i], sizeof back);
    CHECK_OK(tenon_keri_key_digest(text, sizeof text, &n, &rig->public_keys[i]));
    CHECK_SAME(text, n, next_digest, strlen(next_digest));
}

/* The event, its signature and its attachment, and the log that takes it. */
static void check_event(keri_rig *rig, size_t signer, const uint8_t *event, size_t n, const char **at)
{
    OWNED char *body = test_json(at, "body", NULL);
    OWNED char *hex = test_json(at, "signature_hex", NULL);
    OWNED char *expected = test_json(at, "attachment", NULL);
    char attachment[TENON_KERI_ATTACHMENT_SIZE];
    tenon_signature signature, known;
    size_t attachment_n;
    test_about("%.40s", body);
    CHECK_SAME(event, n, body, strlen(body));
    test_hex(&known, sizeof known, hex);
    CHECK_OK(tenon_key_sign_event(rig->keys[signer], &signature, event, n));
    CHECK_OK(tenon_signature_normalize(&signature));
    CHECK_BYTES(&signature, &known, sizeof known);
    CHECK_OK(tenon_keri_attachment_encode(attachment, sizeof attachment, &attachment_n, &signature));
    CHECK_SAME(attachment, attachment_n, expected, strlen(expected));
    CHECK_OK(tenon_keri_attachment_decode(&signature, expected, strlen(expected)));
    CHECK_BYTES(&signature, &known, sizeof known);
    CHECK_OK(tenon_keri_append(&rig->state, event, n, attachment, attachment_n, 0));
}

TEST(keri_known_answers)
{
    OWNED char *text = test_vectors("auths-kel-p256.json");
    const char *at = text;
    uint8_t event[TENON_KERI_ROTATION_MAX];
    char did[TENON_KERI_DID_SIZE];
    size_t n;
    OWNED_KERI rig = keri_begin();
    for (size_t i = 0; i < 3; i++) {
        OWNED char *qb64 = test_json(&at, "qb64", NULL);
        OWNED char *next_digest = test_json(&at, "next_digest", NULL);
        check_key(&rig, i, qb64, next_digest);
    }
    OWNED char *expected_did = test_json(&at, "did", NULL);
    CHECK_OK(tenon_keri_inception(event, sizeof event, &n, &rig.public_keys[0], &rig.public_keys[1]));
    CHECK_NUMBER(n, TENON_KERI_INCEPTION_SIZE);
    check_event(&rig, 0, event, n, &at);
    CHECK_OK(tenon_keri_did(did, sizeof did, &n, &rig.state));
    CHECK_SAME(did, n, expected_did, strlen(expected_did));
    CHECK_NUMBER(rig.state.sequence, 0);
    CHECK_OK(tenon_keri_rotation(event, sizeof event, &n, &rig.state, &rig.public_keys[1], &rig.public_keys[2]));
    check_event(&rig, 1, event, n, &at);
    CHECK_NUMBER(rig.state.sequence, 1);
    CHECK_BYTES(&rig.state.key, &rig.public_keys[1], sizeof rig.state.key);
}

/* An inception without a next key, whose SAID another implementation's own tests state. */
TEST_KERI(keri_known_said_without_next_key)
{
    keri_event event;
    keri_make_with(rig, &event, KERI_INCEPTION, "\"nt\":\"1\",\"n\":[\"$b\"]", "\"nt\":\"0\",\"n\":[]", 0);
    CHECK_OK(keri_append(rig, &event));
    CHECK_BYTES(rig->state.said, "EBsDyB7uU0uNYtO_t8qYIocgYIld5JCC62TCZclHYt0K", sizeof rig->state.said);
    CHECK_ZERO(rig->state.next, sizeof rig->state.next);
}

/* ---- What a device makes ---- */

/* A fault in the first event, in the last or between leaves the log as it was, so that the good event still fits. */
static void check_fault(const tenon_keri_state *log, const uint8_t *event, size_t n, const char *attachment)
{
    uint8_t broken[TENON_KERI_ROTATION_MAX];
    tenon_keri_state state = *log;
    memcpy(broken, event, n);
    broken[n - 20] ^= 1;
    CHECK(tenon_keri_append(&state, broken, n, attachment, TENON_KERI_ATTACHMENT_SIZE, 0) != TENON_OK);
    CHECK_BYTES(&state, log, sizeof state);
}

/* Rotation after rotation, each from the state that the one before it left, past the second digit of the number. */
TEST_KERI(keri_log_grows)
{
    const size_t length = test_rounds(40, 18);
    char attachment[TENON_KERI_ATTACHMENT_SIZE];
    uint8_t event[TENON_KERI_ROTATION_MAX];
    tenon_signature signature;
    size_t n, attachment_n;
    for (size_t i = 0; i < length; i++) {
        const tenon_public_key *key = &rig->public_keys[i % 3], *next = &rig->public_keys[(i + 1) % 3];
        test_about("event %zu", i);
        if (i == 0)
            CHECK_OK(tenon_keri_inception(event, sizeof event, &n, key, next));
        else
            CHECK_OK(tenon_keri_rotation(event, sizeof event, &n, &rig->state, key, next));
        CHECK_NUMBER(n, i == 0 ? 303 : i < 16 ? 356 : 357);
        CHECK_OK(tenon_key_sign_event(rig->keys[i % 3], &signature, event, n));
        CHECK_OK(tenon_signature_normalize(&signature));
        CHECK_OK(tenon_keri_attachment_encode(attachment, sizeof attachment, &attachment_n, &signature));
        check_fault(&rig->state, event, n, attachment);
        CHECK_OK(tenon_keri_append(&rig->state, event, n, attachment, attachment_n, 0));
        CHECK_NUMBER(rig->state.sequence, i);
    }
}

/* The state of a log whose last event has this number, and committed to key 1. */
static keri_rig begin_at(uint64_t sequence)
{
    keri_rig rig = keri_begin();
    keri_event event;
    keri_make(&rig, &event, KERI_INCEPTION, 0);
    CHECK_OK(keri_append(&rig, &event));
    rig.state.sequence = sequence;
    return rig;
}

TEST(keri_rotation_has_a_number_of_any_size)
{
    uint8_t event[TENON_KERI_ROTATION_MAX];
    size_t n;
    OWNED_KERI rig = begin_at(UINT64_MAX - 1);
    CHECK_OK(tenon_keri_rotation(event, sizeof event, &n, &rig.state, &rig.public_keys[1], &rig.public_keys[2]));
    CHECK_NUMBER(n, TENON_KERI_ROTATION_MAX);
    CHECK_BYTES(event + 137, "\"s\":\"ffffffffffffffff\"", 22);
    rig.state.sequence = UINT64_MAX;
    CHECK_STATUS(tenon_keri_rotation(event, sizeof event, &n, &rig.state, &rig.public_keys[1], &rig.public_keys[2]),
                 TENON_KERI_12_SEQUENCE);
    CHECK_NUMBER(n, 0);
}

/* After the greatest number no other follows: the numbers do not begin again at 0. */
TEST(keri_log_has_a_last_number)
{
    keri_event event;
    OWNED_KERI rig = begin_at(UINT64_MAX);
    keri_make_with(&rig, &event, KERI_ROTATION, "\"s\":\"1\"", "\"s\":\"0\"", 1);
    CHECK_STATUS(keri_append(&rig, &event), TENON_KERI_12_SEQUENCE);
}

/* A rotation that no verifier would take is not made: a device would sign it, and have used up the number. */
TEST(keri_no_rotation_that_a_log_refuses)
{
    uint8_t event[TENON_KERI_ROTATION_MAX];
    tenon_keri_state empty = {0}, ended;
    size_t n;
    OWNED_KERI rig = begin_at(0);
    const tenon_public_key *keys = rig.public_keys;
    ended = rig.state;
    memset(ended.next, 0, sizeof ended.next);
    CHECK_STATUS(tenon_keri_rotation(event, sizeof event, &n, &empty, &keys[1], &keys[2]), TENON_KERI_6_NO_INCEPTION);
    CHECK_STATUS(tenon_keri_rotation(event, sizeof event, &n, &ended, &keys[1], &keys[2]), TENON_KERI_9_ENDED);
    CHECK_STATUS(tenon_keri_rotation(event, sizeof event, &n, &rig.state, &keys[0], &keys[2]),
                 TENON_KERI_24_COMMITMENT);
    CHECK_STATUS(tenon_keri_rotation(event, sizeof event, &n, &rig.state, &keys[2], &keys[1]),
                 TENON_KERI_24_COMMITMENT);
    CHECK_STATUS(tenon_keri_rotation(event, sizeof event, &n, &rig.state, &keys[1], &keys[1]), TENON_ERROR_NEXT_KEY);
    CHECK_NUMBER(n, 0);
    CHECK_STATUS(tenon_keri_inception(event, sizeof event, &n, &keys[1], &keys[1]), TENON_ERROR_NEXT_KEY);
}

OUTPUT(make_inception)
{
    const keri_rig *rig = input;
    return tenon_keri_inception(out, n, written, &rig->public_keys[0], &rig->public_keys[1]);
}

OUTPUT(make_rotation)
{
    const keri_rig *rig = input;
    return tenon_keri_rotation(out, n, written, &rig->state, &rig->public_keys[1], &rig->public_keys[2]);
}

#define TEXT_OUTPUT(name, call)                                                                                        \
    OUTPUT(name)                                                                                                       \
    {                                                                                                                  \
        const keri_rig *rig = input;                                                                                   \
        char *text = (char *)out;                                                                                      \
        return call;                                                                                                   \
    }

static const tenon_signature some_signature = {{[31] = 1, [63] = 1}};

TEXT_OUTPUT(encode_key, tenon_keri_key_encode(text, n, written, &rig->public_keys[0]))
TEXT_OUTPUT(digest_key, tenon_keri_key_digest(text, n, written, &rig->public_keys[0]))
TEXT_OUTPUT(did_of, tenon_keri_did(text, n, written, &rig->state))
OUTPUT(encode_attachment) { return tenon_keri_attachment_encode((char *)out, n, written, input); }

TEST(keri_outputs)
{
    OWNED_KERI rig = begin_at(0);
    test_output_rule("inception", make_inception, &rig, NULL, TENON_KERI_INCEPTION_SIZE);
    test_output_rule("rotation", make_rotation, &rig, NULL, 356);
    test_output_rule("key", encode_key, &rig, NULL, TENON_KERI_KEY_SIZE);
    test_output_rule("digest", digest_key, &rig, NULL, TENON_KERI_SAID_SIZE);
    test_output_rule("did", did_of, &rig, NULL, TENON_KERI_DID_SIZE);
    test_output_rule("attachment", encode_attachment, &some_signature, NULL, TENON_KERI_ATTACHMENT_SIZE);
}

TEST(keri_bad_arguments)
{
    static const tenon_keri_state empty;
    uint8_t event[TENON_KERI_ROTATION_MAX];
    char text[TENON_KERI_ATTACHMENT_SIZE];
    tenon_public_key key;
    tenon_signature signature;
    size_t n;
    OWNED_KERI rig = begin_at(0);
    const tenon_public_key *keys = rig.public_keys;
    CHECK_STATUS(tenon_keri_inception(event, sizeof event, &n, NULL, &keys[1]), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_keri_inception(event, sizeof event, &n, &keys[0], NULL), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_keri_rotation(event, sizeof event, &n, NULL, &keys[1], &keys[2]), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_keri_rotation(event, sizeof event, &n, &rig.state, NULL, &keys[2]), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_keri_rotation(event, sizeof event, &n, &rig.state, &keys[1], NULL), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_keri_key_encode(text, sizeof text, &n, NULL), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_keri_key_digest(text, sizeof text, &n, NULL), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_keri_did(text, sizeof text, &n, NULL), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_keri_did(text, sizeof text, &n, &empty), TENON_ERROR_EMPTY);
    CHECK_STATUS(tenon_keri_attachment_encode(text, sizeof text, &n, NULL), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_keri_key_decode(NULL, "", 0), TENON_ERROR_NULL);
    CHECK_CLEARS(tenon_keri_key_decode(&key, NULL, 1), TENON_ERROR_NULL, &key);
    CHECK_STATUS(tenon_keri_attachment_decode(NULL, "", 0), TENON_ERROR_NULL);
    CHECK_CLEARS(tenon_keri_attachment_decode(&signature, NULL, 1), TENON_ERROR_NULL, &signature);
    CHECK_STATUS(tenon_keri_append(NULL, event, 1, text, 1, 0), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_keri_append(&rig.state, NULL, 1, text, 1, 0), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_keri_append(&rig.state, event, 1, NULL, 1, 0), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_keri_append(&rig.state, event, 1, text, 1, 4), TENON_ERROR_FLAGS);
    CHECK_NUMBER(tenon_keri_state_size(), sizeof rig.state);
    CHECK_NUMBER(tenon_keri_key_size() + tenon_keri_said_size() + tenon_keri_did_size(), 48 + 44 + 53);
    CHECK_NUMBER(tenon_keri_inception_size() + tenon_keri_rotation_max(), 303 + 371);
    CHECK_NUMBER(tenon_keri_attachment_size() + tenon_keri_event_max(), 92 + 65536);
}

/* ---- CESR that another program could send ---- */

enum { KEY, ATTACHMENT };

static tenon_status decode(int kind, const char *text)
{
    tenon_public_key key;
    tenon_signature signature;
    return kind == KEY ? CLEARED(tenon_keri_key_decode(&key, text, strlen(text)), &key)
                       : CLEARED(tenon_keri_attachment_decode(&signature, text, strlen(text)), &signature);
}

#define LOW "BTMOphOswKmhbaiyFQMNl-IvRsLvymP_unzoA24jq00zcp3cpwlmGrspliM6xvE49biUpuQfC55NVwNpoy5Zmz"
#define ZERO "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

TEST(keri_texts_of_others)
{
    static const test_texts rows[] = {
        {TENON_OK, KEY, {"1AAIAlFcPW6545a5BNP-yn9U_c0MwemXvzddylFa0KbDtANf"}},
        {TENON_ERROR_CESR,
         KEY,
         {"", "1AAJAlFcPW6545a5BNP-yn9U_c0MwemXvzddylFa0KbDtAN", "1AAJAlFcPW6545a5BNP-yn9U_c0MwemXvzddylFa0KbDtANfA",
          "1AAHAlFcPW6545a5BNP-yn9U_c0MwemXvzddylFa0KbDtANf", "1AAJAlFcPW6545a5BNP+yn9U/c0MwemXvzddylFa0KbDtANf"}},
        {TENON_ERROR_POINT_FORM, KEY, {"1AAJBFFcPW6545a5BNP-yn9U_c0MwemXvzddylFa0KbDtANf"}},
        {TENON_ERROR_POINT_RANGE, KEY, {"1AAJAv__________________________________________"}},
        {TENON_ERROR_POINT_OFF_CURVE, KEY, {"1AAJAlFcPW6545a5BNP-yn9U_c0MwemXvzddylFa0KbDtANg"}},
        {TENON_OK, ATTACHMENT, {"-AABAA" LOW, "-AABEA" LOW, "-AAB2AAAAA" LOW, "-AAB2EAAAA" LOW}},
        /* Of the current keys only; another index; two signatures; another group. */
        {TENON_ERROR_CESR, ATTACHMENT, {"-AABBA" LOW, "-AABAB" LOW, "-AACAA" LOW, "-BABAA" LOW}},
        {TENON_ERROR_CESR, ATTACHMENT, {"", "-AABAA", "AA" LOW}},
        {TENON_ERROR_CESR, ATTACHMENT, {"-AABAA" LOW "A", "-AABAA" LOW "AAAA", "-AABAA" LOW "AAAAA"}},
        {TENON_ERROR_CESR,
         ATTACHMENT,
         {"-AABAAQTMOphOswKmhbaiyFQMNl-IvRsLvymP_unzoA24jq00zcp3cpwlmGrspliM6xvE49biUpuQfC55NVwNpoy5Zmz",
          "-AABAA=TMOphOswKmhbaiyFQMNl-IvRsLvymP_unzoA24jq00zcp3cpwlmGrspliM6xvE49biUpuQfC55NVwNpoy5Zmz"}},
        {TENON_ERROR_SIGNATURE_RANGE, ATTACHMENT, {"-AABAA" ZERO}},
    };
    test_each_text(rows, COUNT(rows), decode);
}

/* A signature with a high s is never sent. */
TEST(keri_attachment_is_low)
{
    tenon_signature signature = some_signature;
    char text[TENON_KERI_ATTACHMENT_SIZE];
    size_t n;
    memset(signature.bytes + 32, 0xff, 4);
    memset(signature.bytes + 36, 0, 28);
    CHECK_STATUS(tenon_keri_attachment_encode(text, sizeof text, &n, &signature), TENON_ERROR_SIGNATURE_RANGE);
    memset(signature.bytes, 0, sizeof signature);
    CHECK_STATUS(tenon_keri_attachment_encode(text, sizeof text, &n, &signature), TENON_ERROR_SIGNATURE_RANGE);
    CHECK_NUMBER(n, 0);
}
