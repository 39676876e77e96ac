/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

/* Cases that the vectors lack: see activation_vectors_test.c. */

enum { ROOM = 128 };

static uint8_t bytes[ROOM]; /* bytes[i] = i */
static uint8_t ak_name[TENON_NAME_SIZE] = {0, 0x0b};
static tenon_digest ek_id;

static void set_up(void)
{
    for (size_t i = 0; i < ROOM; i++)
        bytes[i] = (uint8_t)i;
    memcpy(ak_name + 2, bytes + 64, 32);
    memcpy(ek_id.bytes, bytes + 32, sizeof ek_id.bytes);
}

static tenon_activation an_activation(void)
{
    set_up();
    tenon_activation made = test_activation("https://auth.example", "app", "challenge", "cHVibGljIGtleQ==");
    made.ek_id = ek_id;
    made.ak_name = ak_name;
    made.ak_name_n = sizeof ak_name;
    return made;
}

static tenon_rotation a_rotation(void)
{
    return (tenon_rotation){.size = sizeof(tenon_rotation),
                            .origin = "https://auth.example",
                            .origin_n = 20,
                            .app_id = "app",
                            .app_id_n = 3,
                            .device_id = "device",
                            .device_id_n = 6,
                            .old_public_key = "b2xk",
                            .old_public_key_n = 4,
                            .new_public_key = "bmV3",
                            .new_public_key_n = 4,
                            .timestamp = "1700000000",
                            .timestamp_n = 10};
}

/* A text field of a struct, by its offset. */
typedef struct {
    const char *name;
    size_t at, n_at;
} field;

#define FIELD(type, name)                                                                                              \
    {                                                                                                                  \
#name, offsetof(type, name), offsetof(type, name##_n)                                                          \
    }

static const field of_activation[] = {FIELD(tenon_activation, origin), FIELD(tenon_activation, app_id),
                                      FIELD(tenon_activation, challenge), FIELD(tenon_activation, public_key)};
static const field of_rotation[] = {FIELD(tenon_rotation, origin),         FIELD(tenon_rotation, app_id),
                                    FIELD(tenon_rotation, device_id),      FIELD(tenon_rotation, old_public_key),
                                    FIELD(tenon_rotation, new_public_key), FIELD(tenon_rotation, timestamp)};

enum { ACTIVATION_FIELDS = COUNT(of_activation), ROTATION_FIELDS = COUNT(of_rotation) };

static void set(void *structure, const field *of, const char *text, size_t n)
{
    memcpy((char *)structure + of->at, &text, sizeof text);
    memcpy((char *)structure + of->n_at, &n, sizeof n);
}

static const char *text_of(const void *structure, const field *of, size_t *n)
{
    const char *text;
    memcpy(&text, (const char *)structure + of->at, sizeof text);
    memcpy(n, (const char *)structure + of->n_at, sizeof *n);
    return text;
}

typedef tenon_status digest_of(tenon_digest *out, const void *structure);

static tenon_status activation_digest(tenon_digest *out, const void *structure)
{
    return tenon_activation_value(out, bytes, 32, structure);
}

static tenon_status rotation_digest(tenon_digest *out, const void *structure)
{
    return tenon_rotation_nonce(out, structure);
}

static void check_differs(digest_of *function, const void *changed, const tenon_digest *from)
{
    tenon_digest out;
    CHECK_OK(function(&out, changed));
    CHECK(memcmp(&out, from, sizeof out) != 0);
}

/* structure with one bit of this field changed, or one byte less, or one more. */
static void check_field(digest_of *function, void *structure, const field *of, const tenon_digest *from)
{
    char room[64] = {0};
    size_t n;
    const char *text = text_of(structure, of, &n);
    test_about("%s", of->name);
    memcpy(room, text, n);
    for (size_t at = 0; at < n; at++) {
        room[at] = (char)(room[at] ^ 1);
        set(structure, of, room, n);
        check_differs(function, structure, from);
        room[at] = text[at];
    }
    set(structure, of, room, n - 1);
    check_differs(function, structure, from);
    set(structure, of, room, n + 1); /* a NUL */
    check_differs(function, structure, from);
    set(structure, of, text, n);
}

/* Bytes at the end of one field are not equivalent to bytes at the beginning of the next. */
static void check_border(digest_of *function, void *structure, const field *left, const field *right)
{
    size_t left_n, right_n;
    const char *left_text = text_of(structure, left, &left_n), *right_text = text_of(structure, right, &right_n);
    tenon_digest first, second;
    test_about("%s and %s", left->name, right->name);
    set(structure, left, "ab", 2);
    set(structure, right, "c", 1);
    CHECK_OK(function(&first, structure));
    set(structure, left, "a", 1);
    set(structure, right, "bc", 2);
    CHECK_OK(function(&second, structure));
    CHECK(memcmp(&first, &second, sizeof first) != 0);
    set(structure, left, left_text, left_n);
    set(structure, right, right_text, right_n);
}

static void check_refused(digest_of *function, void *structure, const field *of)
{
    static const char large[65536] = {0};
    size_t n;
    tenon_digest out;
    const char *text = text_of(structure, of, &n);
    test_about("%s", of->name);
    memset(&out, 0xa5, sizeof out);
    set(structure, of, text, 0);
    CHECK_CLEARS(function(&out, structure), TENON_ERROR_EMPTY, &out);
    set(structure, of, NULL, n);
    CHECK_STATUS(function(&out, structure), TENON_ERROR_NULL);
    set(structure, of, large, sizeof large);
    CHECK_STATUS(function(&out, structure), TENON_ERROR_TOO_LARGE);
    set(structure, of, large, sizeof large - 1);
    CHECK_OK(function(&out, structure));
    set(structure, of, text, n);
}

static void check_fields(digest_of *function, void *structure, const field *of, size_t count)
{
    tenon_digest from, after;
    CHECK_OK(function(&from, structure));
    for (size_t i = 0; i < count; i++) {
        check_field(function, structure, &of[i], &from);
        check_refused(function, structure, &of[i]);
        if (i + 1 < count)
            check_border(function, structure, &of[i], &of[i + 1]);
    }
    test_about(NULL);
    CHECK_OK(function(&after, structure));
    CHECK_BYTES(&after, &from, sizeof after);
}

TEST(activation_binds_each_field)
{
    tenon_activation activation = an_activation(), changed;
    tenon_digest from, out;
    CHECK_OK(tenon_activation_value(&from, bytes, 32, &activation));
    check_fields(activation_digest, &activation, of_activation, ACTIVATION_FIELDS);
    for (size_t at = 0; at < 32; at++) {
        uint8_t name[TENON_NAME_SIZE], secret[32];
        test_about("byte %zu of ek_id, ak_name, secret", at);
        changed = activation;
        changed.ek_id.bytes[at] ^= 0x80;
        check_differs(activation_digest, &changed, &from);
        changed = activation;
        memcpy(name, ak_name, sizeof name);
        name[2 + at] ^= 1;
        changed.ak_name = name;
        check_differs(activation_digest, &changed, &from);
        memcpy(secret, bytes, sizeof secret);
        secret[at] ^= 1;
        CHECK_OK(tenon_activation_value(&out, secret, sizeof secret, &activation));
        CHECK(memcmp(&out, &from, sizeof out) != 0);
    }
}

TEST(activation_rotation_nonce_binds_each_field)
{
    tenon_rotation rotation = a_rotation();
    check_fields(rotation_digest, &rotation, of_rotation, ROTATION_FIELDS);
}

static void check_other_secret(const tenon_digest *from, const uint8_t *key, size_t key_n, const char *challenge,
                               const tenon_digest *ek, const uint8_t *name)
{
    tenon_digest out;
    CHECK_OK(tenon_activation_secret(&out, key, key_n, challenge, strlen(challenge), ek, name, TENON_NAME_SIZE));
    CHECK(memcmp(&out, from, sizeof out) != 0);
}

TEST(activation_secret_binds_each_field)
{
    tenon_digest from, other_ek;
    uint8_t name[TENON_NAME_SIZE], key[33];
    set_up();
    CHECK_OK(tenon_activation_secret(&from, bytes, 32, "challenge", 9, &ek_id, ak_name, 34));
    check_other_secret(&from, bytes, 32, "challengf", &ek_id, ak_name);
    check_other_secret(&from, bytes, 32, "challeng", &ek_id, ak_name);
    check_other_secret(&from, bytes, 33, "challenge", &ek_id, ak_name);
    for (size_t at = 0; at < 32; at++) {
        test_about("byte %zu", at);
        other_ek = ek_id;
        other_ek.bytes[at] ^= 1;
        check_other_secret(&from, bytes, 32, "challenge", &other_ek, ak_name);
        memcpy(name, ak_name, sizeof name);
        name[2 + at] ^= 1;
        check_other_secret(&from, bytes, 32, "challenge", &ek_id, name);
        memcpy(key, bytes, sizeof key);
        key[at] ^= 1;
        check_other_secret(&from, key, 32, "challenge", &ek_id, ak_name);
    }
}

TEST(activation_secret_refuses_arguments)
{
    static const char large[65536] = {0};
    tenon_digest out;
    uint8_t name[40] = {0, 0x0b};
    set_up();
    CHECK_STATUS(tenon_activation_secret(NULL, bytes, 32, "c", 1, &ek_id, ak_name, 34), TENON_ERROR_NULL);
    CHECK_CLEARS(tenon_activation_secret(&out, NULL, 32, "c", 1, &ek_id, ak_name, 34), TENON_ERROR_NULL, &out);
    CHECK_STATUS(tenon_activation_secret(&out, bytes, 32, NULL, 1, &ek_id, ak_name, 34), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_activation_secret(&out, bytes, 32, "c", 1, NULL, ak_name, 34), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_activation_secret(&out, bytes, 32, "c", 1, &ek_id, NULL, 34), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_activation_secret(&out, bytes, 31, "c", 1, &ek_id, ak_name, 34), TENON_ERROR_OPTIONS);
    CHECK_STATUS(tenon_activation_secret(&out, bytes, 0, "c", 1, &ek_id, ak_name, 34), TENON_ERROR_OPTIONS);
    CHECK_STATUS(tenon_activation_secret(&out, bytes, 32, "c", 0, &ek_id, ak_name, 34), TENON_ERROR_EMPTY);
    CHECK_STATUS(tenon_activation_secret(&out, bytes, 32, large, sizeof large, &ek_id, ak_name, 34),
                 TENON_ERROR_TOO_LARGE);
    for (size_t i = 0; i <= sizeof name; i++)
        CHECK_STATUS(tenon_activation_secret(&out, bytes, 32, "c", 1, &ek_id, name, i),
                     i == 34 ? TENON_OK : TENON_ERROR_OPTIONS);
    name[1] = 0x0c;
    CHECK_CLEARS(tenon_activation_secret(&out, bytes, 32, "c", 1, &ek_id, name, 34), TENON_ERROR_OPTIONS, &out);
}

TEST(activation_value_refuses_arguments)
{
    tenon_activation activation = an_activation(), bad = activation;
    tenon_rotation rotation = a_rotation();
    tenon_digest out;
    CHECK_STATUS(tenon_activation_value(NULL, bytes, 32, &activation), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_activation_value(&out, NULL, 32, &activation), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_activation_value(&out, bytes, 32, NULL), TENON_ERROR_NULL);
    for (size_t n = 0; n <= 64; n++)
        CHECK_STATUS(tenon_activation_value(&out, n == 0 ? NULL : bytes, n, &activation),
                     n == 32 ? TENON_OK : TENON_ERROR_CREDENTIAL_FORM);
    bad.size--;
    CHECK_CLEARS(tenon_activation_value(&out, bytes, 32, &bad), TENON_ERROR_OPTIONS, &out);
    bad = activation;
    bad.ak_name_n--;
    CHECK_STATUS(tenon_activation_value(&out, bytes, 32, &bad), TENON_ERROR_OPTIONS);
    bad.ak_name = NULL;
    CHECK_STATUS(tenon_activation_value(&out, bytes, 32, &bad), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_rotation_nonce(NULL, &rotation), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_rotation_nonce(&out, NULL), TENON_ERROR_NULL);
    rotation.size++;
    CHECK_CLEARS(tenon_rotation_nonce(&out, &rotation), TENON_ERROR_OPTIONS, &out);
}

TEST(activation_verify_takes_the_value_only)
{
    tenon_activation activation = an_activation(), relayed = activation;
    tenon_digest value;
    uint8_t longer[33] = {0};
    CHECK_OK(tenon_activation_value(&value, bytes, 32, &activation));
    CHECK_OK(tenon_activation_verify(bytes, 32, &activation, value.bytes, 32));
    for (size_t bit = 0; bit < 256; bit++) {
        value.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        CHECK_STATUS(tenon_activation_verify(bytes, 32, &activation, value.bytes, 32), TENON_ERROR_ACTIVATION);
        value.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    memcpy(longer, value.bytes, 32);
    for (size_t n = 0; n <= sizeof longer; n++)
        CHECK_STATUS(tenon_activation_verify(bytes, 32, &activation, n == 0 ? NULL : longer, n),
                     n == 32 ? TENON_OK : TENON_ERROR_ACTIVATION);
    CHECK_STATUS(tenon_activation_verify(bytes, 32, &activation, NULL, 32), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_activation_verify(bytes, 31, &activation, value.bytes, 32), TENON_ERROR_CREDENTIAL_FORM);
    CHECK_STATUS(tenon_activation_verify(bytes, 32, NULL, value.bytes, 32), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_activation_verify(bytes + 1, 32, &activation, value.bytes, 32), TENON_ERROR_ACTIVATION);
    /* Values that a service in the middle could have obtained for itself. */
    relayed.origin = "https://evil.example";
    CHECK_STATUS(tenon_activation_verify(bytes, 32, &relayed, value.bytes, 32), TENON_ERROR_ACTIVATION);
    relayed = activation;
    relayed.app_id = "apq";
    CHECK_STATUS(tenon_activation_verify(bytes, 32, &relayed, value.bytes, 32), TENON_ERROR_ACTIVATION);
}
