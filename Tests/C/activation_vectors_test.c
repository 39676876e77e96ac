/* SPDX-License-Identifier: Apache-2.0 */
#include "crypto/hash.h"
#include "test.h"

/* Tests/Vectors/activation.txt: values that an independent program computed from the same fields, and values that must
 * not pass. */

enum { NAMES_MAX = 12 };

typedef struct {
    const char *names[NAMES_MAX];
    const char *values[NAMES_MAX];
    size_t count;
} record;

/* Whether the record is complete: the derived value is last. */
static bool take(record *r, const char *name, const char *value)
{
    if (!CHECK(r->count < NAMES_MAX))
        exit(2);
    r->names[r->count] = name;
    r->values[r->count++] = value;
    return strcmp(name, "Value") == 0 || strcmp(name, "Nonce") == 0;
}

static const char *text_of(const record *r, const char *name)
{
    for (size_t i = 0; i < r->count; i++)
        if (strcmp(r->names[i], name) == 0)
            return r->values[i];
    CHECK(strcmp(name, "is in the record") == 0);
    exit(2);
}

static void digest_of(const record *r, const char *name, tenon_digest *out)
{
    test_hex(out->bytes, sizeof out->bytes, text_of(r, name));
}

static void check_digest(const record *r, const char *name, const tenon_digest *found)
{
    tenon_digest expected;
    digest_of(r, name, &expected);
    CHECK_BYTES(found->bytes, expected.bytes, sizeof expected.bytes);
}

/* The value is computed over exactly the bytes of F. */
static void check_message(const record *r, const char *fields, const char *result, const uint8_t *key, size_t key_n)
{
    size_t n;
    OWNED uint8_t *message = test_hex_all(text_of(r, fields), &n);
    const tenoni_part part = {message, n};
    tenon_digest found;
    CHECK_OK(key == NULL ? tenon_sha256(&found, message, n) : tenoni_hmac(&found, key, key_n, &part, 1));
    check_digest(r, result, &found);
}

static void activation_of(const record *r, tenon_activation *out, uint8_t *name)
{
    *out = test_activation(text_of(r, "Origin"), text_of(r, "App"), text_of(r, "Challenge"), text_of(r, "PublicKey"));
    digest_of(r, "EkId", &out->ek_id);
    test_hex(name, TENON_NAME_SIZE, text_of(r, "AkName"));
    out->ak_name = name;
    out->ak_name_n = TENON_NAME_SIZE;
}

static void check_value(const record *r, const record *base)
{
    uint8_t name[TENON_NAME_SIZE];
    tenon_activation a;
    tenon_digest secret, value;
    size_t key_n;
    OWNED uint8_t *key = test_hex_all(text_of(r, "Key"), &key_n);
    test_about("%s", text_of(r, "Origin"));
    activation_of(r, &a, name);
    CHECK_OK(tenon_activation_secret(&secret, key, key_n, a.challenge, a.challenge_n, &a.ek_id, name, sizeof name));
    check_digest(r, "Secret", &secret);
    CHECK_OK(tenon_activation_value(&value, secret.bytes, sizeof secret.bytes, &a));
    check_digest(r, "Value", &value);
    check_message(r, "SecretFields", "Secret", key, key_n);
    check_message(r, "ValueFields", "Value", secret.bytes, sizeof secret.bytes);
    digest_of(r, "Value", &value);
    CHECK_OK(tenon_activation_verify(secret.bytes, sizeof secret.bytes, &a, value.bytes, sizeof value.bytes));
}

static void check_refused(const record *r, const record *base)
{
    uint8_t name[TENON_NAME_SIZE];
    tenon_activation activation;
    tenon_digest secret;
    size_t n;
    OWNED uint8_t *value = test_hex_all(text_of(r, "Value"), &n);
    test_about("%s", text_of(r, "What"));
    activation_of(base, &activation, name);
    digest_of(base, "Secret", &secret);
    CHECK_STATUS(tenon_activation_verify(secret.bytes, sizeof secret.bytes, &activation, value, n),
                 TENON_ERROR_ACTIVATION);
}

static void check_rotation(const record *r, const record *base)
{
    tenon_rotation rotation = {.size = sizeof rotation};
    tenon_digest nonce;
    rotation.origin_n = strlen(rotation.origin = text_of(r, "Origin"));
    rotation.app_id_n = strlen(rotation.app_id = text_of(r, "App"));
    rotation.device_id_n = strlen(rotation.device_id = text_of(r, "Device"));
    rotation.old_public_key_n = strlen(rotation.old_public_key = text_of(r, "OldKey"));
    rotation.new_public_key_n = strlen(rotation.new_public_key = text_of(r, "NewKey"));
    rotation.timestamp_n = strlen(rotation.timestamp = text_of(r, "Timestamp"));
    CHECK_OK(tenon_rotation_nonce(&nonce, &rotation));
    check_digest(r, "Nonce", &nonce);
    check_message(r, "NonceFields", "Nonce", NULL, 0);
}

/* The records of one section, each with the first of the file. */
static size_t each(const char *section, void (*visit)(const record *r, const record *base))
{
    char *text = test_vectors("activation.txt"), *at = text, *name, *value;
    record base = {.count = 0}, r = {.count = 0};
    bool inside = false;
    size_t count = 0;
    while (test_line(&at, &name, &value)) {
        if (name[0] == '[') {
            inside = strcmp(name, section) == 0;
        } else if (take(&r, name, value)) {
            base = base.count == 0 ? r : base;
            if (inside)
                visit(&r, &base);
            count += inside;
            r.count = 0;
        }
    }
    test_about(NULL);
    free(text);
    return count;
}

TEST(activation_vectors_values) { CHECK_NUMBER(each("[values]", check_value), 7); }
TEST(activation_vectors_refused) { CHECK_NUMBER(each("[refused]", check_refused), 42); }
TEST(activation_vectors_rotation) { CHECK_NUMBER(each("[rotation]", check_rotation), 2); }
