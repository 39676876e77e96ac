/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

/* The seam: a device that counts its calls, and can be told to fail. */
typedef struct {
    tenon_public_key public_key;
    tenon_status public_key_status, sign_status;
    tenon_digest seen;
    int signs, public_keys, frees;
} device;

static tenon_status device_sign(void *context, tenon_signature *out, const tenon_digest *digest)
{
    device *at = context;
    at->signs++;
    at->seen = *digest;
    memset(out, 0x11, sizeof *out);
    return at->sign_status;
}

static tenon_status device_public_key(void *context, tenon_public_key *out)
{
    device *at = context;
    at->public_keys++;
    *out = at->public_key;
    return at->public_key_status;
}

static void device_free(void *context) { ((device *)context)->frees++; }

static tenon_key_ops device_ops(uint32_t flags)
{
    return (tenon_key_ops){sizeof(tenon_key_ops), flags, device_sign, device_public_key, device_free};
}

static device make_device(void)
{
    device made;
    memset(&made, 0, sizeof made);
    test_hex(&made.public_key, sizeof made.public_key,
             "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
             "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5");
    return made;
}

static tenon_key *open_device(device *made, uint32_t flags)
{
    tenon_key *key = NULL;
    tenon_key_ops ops = device_ops(flags);
    CHECK_OK(tenon_key_new(&key, &ops, made));
    memset(&ops, 0, sizeof ops); /* the table is copied */
    return key;
}

TEST(key_of_a_device)
{
    for (int hardware = 0; hardware < 2; hardware++) {
        device made = make_device();
        tenon_key *key = open_device(&made, hardware ? TENON_KEY_HARDWARE : 0);
        tenon_public_key public_key;
        CHECK_NUMBER(tenon_key_is_hardware(key), hardware);
        CHECK_OK(tenon_key_public_key(key, &public_key));
        CHECK_BYTES(&public_key, &made.public_key, sizeof public_key);
        CHECK(made.public_keys == 1 && made.signs == 0);
        tenon_key_free(&key);
        CHECK(key == NULL && made.frees == 1);
        tenon_key_free(&key);
        CHECK_NUMBER(made.frees, 1);
    }
    tenon_key_free(NULL);
    CHECK_NUMBER(tenon_key_is_hardware(NULL), 0);
}

static void check_not_made(tenon_key_ops ops, device *made, tenon_status expected)
{
    tenon_key *key = (tenon_key *)made;
    CHECK_STATUS(tenon_key_new(&key, &ops, made), expected);
    CHECK(key == NULL && made->frees == 0 && made->signs == 0);
}

TEST(key_ops_are_checked)
{
    device made = make_device();
    tenon_key_ops ops = device_ops(0);
    tenon_key *key = (tenon_key *)&made;
    CHECK_STATUS(tenon_key_new(NULL, &ops, &made), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_key_new(&key, NULL, &made), TENON_ERROR_NULL);
    CHECK(key == NULL);
    static const size_t sizes[] = {0, 1, sizeof ops - 1, sizeof ops + 1, SIZE_MAX};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        ops.size = sizes[i];
        check_not_made(ops, &made, TENON_ERROR_KEY_OPS);
    }
    ops = device_ops(0);
    ops.sign = NULL;
    check_not_made(ops, &made, TENON_ERROR_KEY_OPS);
    ops = device_ops(0);
    ops.public_key = NULL;
    check_not_made(ops, &made, TENON_ERROR_KEY_OPS);
    for (int bit = 2; bit < 32; bit++)
        check_not_made(device_ops(UINT32_C(1) << bit), &made, TENON_ERROR_FLAGS);
    CHECK_NUMBER(made.public_keys, 0);
    ops = device_ops(0);
    ops.free = NULL;
    CHECK_OK(tenon_key_new(&key, &ops, &made));
    tenon_key_free(&key);
    CHECK(key == NULL && made.frees == 0);
}

TEST(key_of_a_bad_device)
{
    device made = make_device();
    made.public_key_status = 0x04880922;
    check_not_made(device_ops(0), &made, 0x04880922);
    made.public_key_status = TENON_OK;
    made.public_key.bytes[63] ^= 1;
    check_not_made(device_ops(0), &made, TENON_ERROR_POINT_OFF_CURVE);
    memset(&made.public_key, 0xff, sizeof made.public_key);
    check_not_made(device_ops(0), &made, TENON_ERROR_POINT_RANGE);
    memset(&made.public_key, 0, sizeof made.public_key);
    check_not_made(device_ops(0), &made, TENON_ERROR_POINT_OFF_CURVE);
}

static tenon_request begin_request(void)
{
    tenon_request request;
    CHECK_OK(tenon_request_begin(&request, "POST", 4, "/v1/hsi", 7, "1700000000", 10));
    CHECK_OK(tenon_request_update(&request, (const uint8_t *)"{\"a\":1}", 7));
    return request;
}

static const uint8_t client_data[] = "{\"nonce\":\"x\"}";
static const uint8_t event[] = "{\"v\":\"KERI10JSON00012f_\",\"t\":\"icp\"}";

/* Each way to sign, as one function of a number. */
enum { REQUEST, ROTATION, CLIENT_DATA, EVENT, DATA, DIGEST, WAYS };

static tenon_status sign_in_a_way(int way, const tenon_key *key, tenon_signature *out)
{
    static const tenon_digest digest = {{7}};
    device made = make_device();
    tenon_request request = begin_request();
    switch (way) {
    case REQUEST:
        return tenon_key_sign_request(key, out, &request);
    case ROTATION:
        return tenon_key_sign_rotation(key, out, &made.public_key);
    case CLIENT_DATA:
        return tenon_key_sign_client_data(key, out, client_data, sizeof client_data - 1);
    case EVENT:
        return tenon_key_sign_event(key, out, event, sizeof event - 1);
    case DATA:
        return tenon_key_sign_data(key, out, (const uint8_t *)"hello", 5);
    default:
        return tenon_key_sign_digest(key, out, &digest);
    }
}

/* The device sees exactly the digest of the message. */
TEST(key_signs_what_it_says)
{
    device made = make_device();
    OWNED_KEY key = open_device(&made, TENON_KEY_SIGNS_DIGESTS);
    uint8_t point[65] = {4};
    memcpy(point + 1, &made.public_key, 64);
    static const char request[] = "POST\n/v1/hsi\n1700000000\n{\"a\":1}";
    const void *messages[] = {request, point, client_data, event, "hello"};
    const size_t sizes[] = {sizeof request - 1, sizeof point, sizeof client_data - 1, sizeof event - 1, 5};
    for (int way = 0; way < WAYS; way++) {
        tenon_digest expected = {{7}};
        tenon_signature signature;
        test_about("way %d", way);
        if (way != DIGEST)
            CHECK_OK(tenon_sha256(&expected, messages[way], sizes[way]));
        CHECK_OK(sign_in_a_way(way, key, &signature));
        CHECK_BYTES(&made.seen, &expected, sizeof expected);
        CHECK(made.signs == way + 1 && signature.bytes[0] == 0x11 && signature.bytes[63] == 0x11);
    }
}

TEST(key_failing_device_leaves_no_signature)
{
    device made = make_device();
    OWNED_KEY key = open_device(&made, TENON_KEY_SIGNS_DIGESTS);
    made.sign_status = 0x04880922;
    for (int way = 0; way < WAYS; way++) {
        tenon_signature signature;
        test_about("way %d", way);
        CHECK_CLEARS(sign_in_a_way(way, key, &signature), 0x04880922, &signature);
        CHECK_CLEARS(sign_in_a_way(way, NULL, &signature), TENON_ERROR_NULL, &signature);
        CHECK_STATUS(sign_in_a_way(way, key, NULL), TENON_ERROR_NULL);
    }
    CHECK_NUMBER(made.signs, WAYS);
}

TEST(key_digests_need_the_capability)
{
    device made = make_device();
    OWNED_KEY key = open_device(&made, TENON_KEY_HARDWARE);
    tenon_digest digest = {{1}};
    tenon_signature signature;
    CHECK_CLEARS(tenon_key_sign_digest(key, &signature, &digest), TENON_ERROR_DIGEST_NOT_ALLOWED, &signature);
    CHECK_NUMBER(made.signs, 0);
}

static void check_data(const tenon_key *key, const void *data, size_t n, tenon_status expected)
{
    tenon_signature signature;
    CHECK_STATUS(CLEARED(tenon_key_sign_data(key, &signature, data, n), &signature), expected);
}

static tenon_status sign_text(int flags, const char *text)
{
    device made = make_device();
    OWNED_KEY key = open_device(&made, (uint32_t)flags);
    tenon_signature signature;
    return CLEARED(tenon_key_sign_data(key, &signature, (const uint8_t *)text, strlen(text)), &signature);
}

/* 33 letters are no method; a JWS has a dot, and begins with { and anything, or with white space before it. */
static const test_texts data_of_all_kinds[] = {
    {TENON_OK, 0, {"", "hello", "Hello", "GET", "GET /v1/hsi HTTP/1.1\r\n", "A", "a\n", "\n", "[]", "\"x\"", "\""}},
    {TENON_OK, 0, {"}", "4", "\x04", "\xffTC", "ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFG\n", "eyJhbGciOiJFUzI1NiJ9"}},
    {TENON_OK, 0, {"eyJ.e30", "hello.txt", ".eyJhbGciOiJFUzI1NiJ9", "eyJh+GciOiJFUzI1NiJ9.e30"}},
    {TENON_OK, 0, {"EKiCzlm2xHzI6WIBcGlo0zlyQ3cSxtmwpNGES_A0VxAD"}},
    {TENON_ERROR_DATA_IS_MESSAGE, 0, {"POST\n/v1/hsi\n1700000000\n{}", "A\n", "OK\n"}},
    {TENON_ERROR_DATA_IS_MESSAGE, 0, {"ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEF\n", "{", "{}", "{\"v\":\"KERI10\"}", " {}"}},
    {TENON_ERROR_DATA_IS_MESSAGE, 0, {"\n\t\r {\"a\":1}", "\"@method\": POST", "\xffTCG\x80\x17"}},
    {TENON_ERROR_DATA_IS_MESSAGE, 0, {"eyJhbGciOiJFUzI1NiJ9.e30", "eyAi.", "CQogeyJhbGciOiJFUzI1NiJ9."}},
    {TENON_ERROR_DATA_IS_MESSAGE,
     0,
     {"eyJhbGciOiJFUzI1NiIsImtpZCI6IjAxMjM0NTY3ODkwMTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkifQ."}},
};

/* A caller that may have data signed cannot have a message signed, in any form that a service might accept. */
TEST(key_data_is_no_message)
{
    device made = make_device();
    OWNED_KEY key = open_device(&made, 0);
    tenon_signature signature;
    uint8_t point[66] = {4};
    test_each_text(data_of_all_kinds, COUNT(data_of_all_kinds), sign_text);
    for (size_t i = 0; i < COUNT(data_of_all_kinds); i++)
        for (const char *const *text = data_of_all_kinds[i].texts; *text != NULL; text++) {
            test_about("\"%s\" with the capability", *text);
            CHECK_OK(sign_text(TENON_KEY_SIGNS_DIGESTS, *text));
        }
    memcpy(point + 1, &made.public_key, 64);
    check_data(key, point, 65, TENON_ERROR_DATA_IS_MESSAGE);
    check_data(key, point, 64, TENON_OK);
    check_data(key, point, 66, TENON_OK);
    CHECK_OK(tenon_key_sign_data(key, &signature, NULL, 0));
    CHECK_STATUS(tenon_key_sign_data(key, &signature, NULL, 1), TENON_ERROR_NULL);
}

#define CREDENTIAL "EKiCzlm2xHzI6WIBcGlo0zlyQ3cSxtmwpNGES_A0VxAD"

static tenon_status present(const tenon_key *key, tenon_signature *out, const char *credential, const char *audience,
                            size_t audience_n, size_t nonce_n)
{
    static const uint8_t nonce[129] = {1, 0, 2};
    return tenon_key_sign_presentation(key, out, credential, strlen(credential), audience, audience_n, nonce, nonce_n);
}

/* The bytes are the credential, the audience and the nonce with NULs between them, and sign_data refuses them. */
TEST(key_presentation)
{
    static const uint8_t message[44 + 1 + 3 + 1 + 32] = CREDENTIAL "\0api\0\1\0\2";
    static const char long_audience[1025] = {0};
    static const struct {
        const char *credential, *audience;
        size_t audience_n, nonce_n;
    } bad[] = {
        {CREDENTIAL, "a", 1, 15},
        {CREDENTIAL, "a", 1, 129},
        {CREDENTIAL, "", 0, 32},
        {CREDENTIAL, "a\0b", 3, 32},
        {CREDENTIAL, NULL, 0, 32},
        {CREDENTIAL, long_audience, 1025, 32},
        {"", "a", 1, 32},
        {"F" CREDENTIAL, "a", 1, 32},
        {"FKiCzlm2xHzI6WIBcGlo0zlyQ3cSxtmwpNGES_A0VxAD", "a", 1, 32},
        {"EKiCzlm2xHzI6WIBcGlo0zlyQ3cSxtmwpNGES/A0VxAD", "a", 1, 32},
    };
    device made = make_device();
    OWNED_KEY key = open_device(&made, 0);
    tenon_signature signature;
    tenon_digest digest;
    CHECK_OK(present(key, &signature, CREDENTIAL, "api", 3, 32));
    CHECK_OK(tenon_sha256(&digest, message, sizeof message));
    CHECK_BYTES(&made.seen, &digest, sizeof digest);
    check_data(key, message, sizeof message, TENON_ERROR_DATA_IS_MESSAGE);
    check_data(key, message, 45, TENON_ERROR_DATA_IS_MESSAGE);
    check_data(key, message + 1, sizeof message - 1, TENON_OK);
    CHECK_OK(present(key, &signature, CREDENTIAL, "a", 1, 16));
    CHECK_OK(present(key, &signature, CREDENTIAL, "a", 1, 128));
    const int signs = made.signs;
    for (size_t i = 0; i < COUNT(bad); i++) {
        test_about("row %zu", i);
        CHECK_CLEARS(present(key, &signature, bad[i].credential, bad[i].audience, bad[i].audience_n, bad[i].nonce_n),
                     TENON_ERROR_PRESENTATION, &signature);
    }
    CHECK_CLEARS(present(NULL, &signature, CREDENTIAL, "a", 1, 32), TENON_ERROR_NULL, &signature);
    CHECK_CLEARS(present(key, &signature, CREDENTIAL, NULL, 1, 32), TENON_ERROR_NULL, &signature);
    CHECK_CLEARS(tenon_key_sign_presentation(key, &signature, NULL, 44, "a", 1, message, 32), TENON_ERROR_NULL,
                 &signature);
    CHECK_CLEARS(tenon_key_sign_presentation(key, &signature, CREDENTIAL, 44, "a", 1, NULL, 32), TENON_ERROR_NULL,
                 &signature);
    CHECK_CLEARS(tenon_key_sign_presentation(key, &signature, CREDENTIAL, 44, "a", 1, NULL, 0),
                 TENON_ERROR_PRESENTATION, &signature);
    CHECK_STATUS(present(key, NULL, CREDENTIAL, "a", 1, 32), TENON_ERROR_NULL);
    CHECK_NUMBER(made.signs, signs);
}

static tenon_status sign_jws(int unused, const char *text)
{
    device made = make_device();
    OWNED_KEY key = open_device(&made, 0);
    tenon_signature signature;
    tenon_status status = CLEARED(tenon_key_sign_jws(key, &signature, text, strlen(text)), &signature);
    CHECK(status == TENON_OK || made.signs == 0);
    return status;
}

/* The bytes are signed as they are; sign_data refuses them, and no other kind has their form. */
TEST(key_jws)
{
    static const char good[] = "eyJhbGciOiJFUzI1NiJ9.eyJub25jZSI6IngifQ";
    /* The first one has a blank before the object. */
    static const test_texts bad[] = {
        {TENON_ERROR_JWS, 0, {"IHsiYWxnIjoiRVMyNTYifQ.eyJ9", "", "eyJhbGciOiJFUzI1NiJ9", "eyJhbGciOiJFUzI1NiJ9."}},
        {TENON_ERROR_JWS, 0, {"eyJhbGciOiJFUzI1NiJ9.eyJ9.eyJ9", "eyJhbGciOiJFUzI1NiJ9.eyJ9="}},
        {TENON_ERROR_JWS, 0, {"eyJhbGciOiJFUzI1NiJ9.ey+9", "eyJhbGciOiJFUzI1NiJ9.ey\n9", ".eyJhbGciOiJFUzI1NiJ9"}},
        {TENON_ERROR_JWS, 0, {"W10.eyJ9", "{\"alg\":\"ES256\"}", "eyJ"}},
    };
    device made = make_device();
    OWNED_KEY key = open_device(&made, 0);
    tenon_signature signature;
    tenon_digest digest;
    CHECK_OK(tenon_key_sign_jws(key, &signature, good, sizeof good - 1));
    CHECK_OK(tenon_sha256(&digest, (const uint8_t *)good, sizeof good - 1));
    CHECK_BYTES(&made.seen, &digest, sizeof digest);
    check_data(key, (const uint8_t *)good, sizeof good - 1, TENON_ERROR_DATA_IS_MESSAGE);
    const int signs = made.signs;
    test_each_text(bad, COUNT(bad), sign_jws);
    CHECK_CLEARS(tenon_key_sign_jws(key, &signature, good, sizeof good), TENON_ERROR_JWS, &signature);
    CHECK_CLEARS(tenon_key_sign_jws(key, &signature, NULL, 0), TENON_ERROR_JWS, &signature);
    CHECK_CLEARS(tenon_key_sign_jws(key, &signature, NULL, 1), TENON_ERROR_NULL, &signature);
    CHECK_CLEARS(tenon_key_sign_jws(NULL, &signature, good, sizeof good - 1), TENON_ERROR_NULL, &signature);
    CHECK_STATUS(tenon_key_sign_jws(key, NULL, good, sizeof good - 1), TENON_ERROR_NULL);
    CHECK_NUMBER(made.signs, signs);
}

/* Stricter than data, and with a capability as without. */
TEST(key_plain_data)
{
    device made = make_device();
    OWNED_KEY key = open_device(&made, TENON_KEY_SIGNS_DIGESTS);
    tenon_signature signature;
    for (size_t i = 0; i < COUNT(data_of_all_kinds); i++)
        for (const char *const *text = data_of_all_kinds[i].texts; *text != NULL; text++) {
            if (data_of_all_kinds[i].status == TENON_OK)
                continue;
            test_about("\"%s\"", *text);
            CHECK_CLEARS(tenon_key_sign_plain_data(key, &signature, (const uint8_t *)*text, strlen(*text)),
                         TENON_ERROR_DATA_IS_MESSAGE, &signature);
        }
    CHECK_CLEARS(tenon_key_sign_plain_data(key, &signature, (const uint8_t *)"a\0b", 3), TENON_ERROR_DATA_IS_MESSAGE,
                 &signature);
    CHECK_NUMBER(made.signs, 0);
    CHECK_OK(tenon_key_sign_plain_data(key, &signature, (const uint8_t *)"hello", 5));
    CHECK_OK(tenon_key_sign_plain_data(key, &signature, NULL, 0));
    CHECK_STATUS(tenon_key_sign_plain_data(key, &signature, NULL, 1), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_key_sign_plain_data(NULL, &signature, NULL, 0), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_key_sign_plain_data(key, NULL, NULL, 0), TENON_ERROR_NULL);
}

enum { AS_CLIENT_DATA, AS_EVENT };

static tenon_status sign_as(int kind, const char *text)
{
    device made = make_device();
    OWNED_KEY key = open_device(&made, 0);
    tenon_signature signature;
    const uint8_t *message = (const uint8_t *)text;
    return kind == AS_EVENT ? CLEARED(tenon_key_sign_event(key, &signature, message, strlen(text)), &signature)
                            : CLEARED(tenon_key_sign_client_data(key, &signature, message, strlen(text)), &signature);
}

/* No message has two kinds, so no signature can pass for one over another kind. */
TEST(key_messages_are_of_one_kind)
{
    static const test_texts rows[] = {
        {TENON_OK, AS_CLIENT_DATA, {"{}", "{\"v\":\"KER\"}", "{ \"v\":\"KERI10\"}"}},
        {TENON_ERROR_EVENT, AS_EVENT, {"{}", "{\"v\":\"KER\"}", "{ \"v\":\"KERI10\"}"}},
        {TENON_OK, AS_EVENT, {"{\"v\":\"KERI}", "{\"v\":\"KERI10\"}"}},
        {TENON_ERROR_CLIENT_DATA, AS_CLIENT_DATA, {"{\"v\":\"KERI}", "{\"v\":\"KERI10\"}"}},
        {TENON_ERROR_CLIENT_DATA, AS_CLIENT_DATA, {"", "{", "}", "{\"v\":\"KERI10\"", " {\"v\":\"KERI10\"}", "[]"}},
        {TENON_ERROR_CLIENT_DATA, AS_CLIENT_DATA, {"\"{}\"", "{}\n", "POST\n/v1/hsi\n1700000000\n{}", "\x04}"}},
        {TENON_ERROR_EVENT, AS_EVENT, {"", "{", "}", "{\"v\":\"KERI10\"", " {\"v\":\"KERI10\"}", "[]", "\"{}\""}},
        {TENON_ERROR_EVENT, AS_EVENT, {"{}\n", "POST\n/v1/hsi\n1700000000\n{}", "\x04}"}},
    };
    test_each_text(rows, COUNT(rows), sign_as);
}

TEST(key_requests_are_signed_once)
{
    device made = make_device();
    OWNED_KEY key = open_device(&made, 0);
    tenon_request request = begin_request();
    tenon_signature signature;
    CHECK_STATUS(tenon_key_sign_request(NULL, &signature, &request), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_key_sign_request(key, NULL, &request), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_key_sign_request(key, &signature, NULL), TENON_ERROR_NULL);
    CHECK_OK(tenon_key_sign_request(key, &signature, &request));
    CHECK_CLEARS(tenon_key_sign_request(key, &signature, &request), TENON_ERROR_STREAM, &signature);
    CHECK_NUMBER(made.signs, 1);
}

TEST(key_bad_input)
{
    device made = make_device();
    OWNED_KEY key = open_device(&made, TENON_KEY_SIGNS_DIGESTS);
    tenon_public_key bad = made.public_key, out;
    tenon_signature signature;
    CHECK_CLEARS(tenon_key_public_key(NULL, &out), TENON_ERROR_NULL, &out);
    CHECK_STATUS(tenon_key_public_key(key, NULL), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_key_sign_rotation(key, &signature, NULL), TENON_ERROR_NULL);
    bad.bytes[0] ^= 1;
    CHECK_CLEARS(tenon_key_sign_rotation(key, &signature, &bad), TENON_ERROR_POINT_OFF_CURVE, &signature);
    memset(&bad, 0xff, sizeof bad);
    CHECK_STATUS(tenon_key_sign_rotation(key, &signature, &bad), TENON_ERROR_POINT_RANGE);
    CHECK_STATUS(tenon_key_sign_digest(key, &signature, NULL), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_key_sign_client_data(key, &signature, NULL, 1), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_key_sign_client_data(key, &signature, NULL, SIZE_MAX), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_key_sign_client_data(key, &signature, NULL, 0), TENON_ERROR_CLIENT_DATA);
    CHECK_STATUS(tenon_key_sign_event(key, &signature, NULL, 1), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_key_sign_event(key, &signature, NULL, 0), TENON_ERROR_EVENT);
    CHECK_NUMBER(made.signs, 0);
}
