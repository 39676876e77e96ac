/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include <sys/stat.h>
#include <unistd.h>

#include "native/envelope.h"
#include "native/json_text.h"
#include "native_rig.h"

/* The keys of a runtime's device ids. */

static const uint8_t data[] = "what the runtime signs";

/* {"x":"43","y":"43"} */
static tenon_public_key point_of(const char *json)
{
    enum { X_AT = 6, Y_AT = X_AT + 43 + 7, LENGTH = Y_AT + 43 + 2 };
    tenon_public_key key = {{0}};
    size_t n;
    if (!CHECK(json != NULL && strlen(json) == LENGTH && strncmp(json, "{\"x\":\"", X_AT) == 0 &&
               strncmp(json + X_AT + 43, "\",\"y\":\"", 7) == 0 && strcmp(json + Y_AT + 43, "\"}") == 0))
        return key;
    CHECK_OK(tenon_base64url_decode(key.bytes, 32, &n, json + X_AT, 43));
    CHECK_OK(tenon_base64url_decode(key.bytes + 32, 32, &n, json + Y_AT, 43));
    return key;
}

static bool signs(const char *id, const char *key_json)
{
    OWNED char *text = synheart_native_sign_bytes(id, data, sizeof data);
    const tenon_public_key key = point_of(key_json);
    tenon_signature signature;
    tenon_digest digest;
    size_t n;
    if (text == NULL || !CHECK_NUMBER(strlen(text), 86))
        return false;
    CHECK_OK(tenon_base64url_decode(signature.bytes, sizeof signature.bytes, &n, text, 86));
    CHECK_OK(tenon_sha256(&digest, data, sizeof data));
    return tenon_p256_verify(&key, &digest, &signature) == TENON_OK;
}

TEST_NATIVE(native_key_is_made_once)
{
    OWNED char *first = synheart_native_generate_key("dev_1");
    CHECK_CODE(NULL);
    CHECK(signs("dev_1", first));
    CHECK_TEXT(synheart_native_generate_key("dev_1"), first);
    native_rig_again(rig);
    CHECK_TEXT(synheart_native_generate_key("dev_1"), first);
    CHECK(signs("dev_1", first));
    CHECK_NUMBER(synheart_native_key_exists("dev_1"), 1);
    CHECK_NUMBER(tenon_native_key_state("dev_1"), TENON_NATIVE_FOUND);
}

/* The JSON of a key has no other form, however many keys are made. */
TEST_NATIVE(native_keys_differ)
{
    char id[16];
    OWNED char *first = synheart_native_generate_key("dev_0");
    for (int i = 1; i < 6; i++) {
        snprintf(id, sizeof id, "dev_%d", i);
        OWNED char *other = synheart_native_generate_key(id);
        CHECK(signs(id, other) && strcmp(first, other) != 0 && !signs(id, first));
    }
    CHECK(signs("dev_0", first));
}

TEST_NATIVE(native_sign_makes_nothing)
{
    CHECK_NONE(synheart_native_sign_bytes("dev_1", data, sizeof data), "NATIVE_ABSENT");
    CHECK_NUMBER(synheart_native_key_exists("dev_1"), 0);
    CHECK_NUMBER(tenon_native_key_state("dev_1"), TENON_NATIVE_ABSENT);
    CHECK_NUMBER(native_rig_count(rig, ""), 0);
}

TEST_NATIVE(native_delete_is_the_end_of_a_key)
{
    CHECK_NUMBER(synheart_native_delete_key("dev_1"), 0);
    OWNED char *first = synheart_native_generate_key("dev_1");
    CHECK_NUMBER(synheart_native_delete_key("dev_1"), 0);
    CHECK_NUMBER(synheart_native_key_exists("dev_1"), 0);
    CHECK_NUMBER(native_rig_count(rig, "k-"), 0);
    CHECK_TEXT(synheart_native_sign_bytes("dev_1", data, sizeof data), NULL);
    OWNED char *second = synheart_native_generate_key("dev_1");
    CHECK(signs("dev_1", second) && strcmp(first, second) != 0);
}

/* A key that another process deleted and made anew: what is loaded here is of no use any more. */
TEST_NATIVE(native_key_of_another_process)
{
    OWNED char *first = synheart_native_generate_key("dev_1");
    OWNED_FILE file = native_rig_open(rig, "k-");
    native_rig_write(file.path, file.bytes, file.n);
    CHECK(signs("dev_1", first));
    CHECK_NUMBER(unlink(file.path) + unlink(file.copy), 0);
    CHECK_NONE(synheart_native_sign_bytes("dev_1", data, sizeof data), "NATIVE_ABSENT");
}

TEST_NATIVE(native_ids_are_no_paths)
{
    static const char *const ids[] = {"../../etc/passwd", "/", ".", "a/b", "k-0", "\xc3\xa4", "a\nb", "%s"};
    for (size_t i = 0; i < COUNT(ids); i++) {
        test_about("%s", ids[i]);
        OWNED char *key = synheart_native_generate_key(ids[i]);
        CHECK(signs(ids[i], key));
        CHECK_NUMBER(native_rig_count(rig, "k-"), i + 1);
    }
    CHECK_NUMBER(native_rig_count(rig, ""), COUNT(ids) + 1); /* and the lock */
}

TEST_NATIVE(native_arguments_are_refused)
{
    enum { LONG = 65536 };
    OWNED char *longest = malloc(LONG + 1);
    memset(longest, 'a', LONG);
    longest[LONG] = 0;
    const char *const bad[] = {
        NULL, "", "\xff", "\xc3", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\x80", longest, "\xf0\x8f\xbf\xbf"};
    for (size_t i = 0; i < COUNT(bad); i++) {
        test_about("argument %zu", i);
        CHECK_TEXT(synheart_native_generate_key(bad[i]), NULL);
        CHECK_CODE("NATIVE_ARGUMENT");
        CHECK_TEXT(synheart_native_sign_bytes(bad[i], data, sizeof data), NULL);
        CHECK_TEXT(synheart_native_get_attestation(bad[i], data, 32), NULL);
        CHECK_NUMBER(synheart_native_key_exists(bad[i]), 0);
        CHECK(synheart_native_delete_key(bad[i]) != 0);
        CHECK_NUMBER(tenon_native_key_state(bad[i]), TENON_NATIVE_UNAVAILABLE);
    }
    CHECK_TEXT(synheart_native_sign_bytes("a", NULL, 5), NULL);
    CHECK_TEXT(synheart_native_sign_bytes("a", data, 0), NULL);
    CHECK_TEXT(synheart_native_get_attestation("a", NULL, 32), NULL);
    CHECK_TEXT(synheart_native_get_attestation("a", data, 0), NULL);
    CHECK_TEXT(synheart_native_get_attestation("a", data, 31), NULL);
    CHECK_NUMBER(support_transport_count(rig->wire, SUPPORT_ANY), 0);
}

TEST_NATIVE(native_options)
{
    enum { SIZE = sizeof(tenon_native_options) };
    const tenon_native_options same = {.size = SIZE, .state_dir = rig->folder};
    const tenon_native_options bad[] = {
        {.size = SIZE - 1},           {.size = SIZE, .state_dir = "state"}, {.size = SIZE, .state_dir = ""},
        {.size = SIZE, .tpm = ""},    {.size = SIZE, .tpm = "\xff"},        {.size = SIZE, .allow_simulator = 2},
        {.size = SIZE, .counter = 2},
    };
    /* In use, none of them changes any more. */
    const tenon_native_options others[] = {
        {.size = SIZE, .state_dir = "/"},
        {.size = SIZE, .state_dir = rig->folder, .tpm = "tabrmd:"},
        {.size = SIZE, .state_dir = rig->folder, .allow_simulator = 1},
        {.size = SIZE, .state_dir = rig->folder, .counter = 1},
    };
    CHECK(tenon_native_configure(NULL) != 0);
    for (size_t i = 0; i < COUNT(bad); i++) {
        test_about("bad options %zu", i);
        CHECK(tenon_native_configure(&bad[i]) != 0);
        CHECK_CODE("NATIVE_ARGUMENT");
    }
    for (size_t i = 0; i < COUNT(others); i++) {
        test_about("other options %zu", i);
        CHECK_NUMBER(tenon_native_configure(&others[i]), 0);
    }
    CHECK_NUMBER(tenon_native_configure(&same), 0);
    CHECK_NUMBER(synheart_native_key_exists("dev_1"), 0);
    for (size_t i = 0; i < COUNT(others); i++) {
        test_about("other options %zu, too late", i);
        CHECK(tenon_native_configure(&others[i]) != 0);
    }
    CHECK_NUMBER(tenon_native_configure(&same), 0);
}

TEST(native_texts_in_json)
{
    static const char *const rows[][2] = {
        {"", "\"\""},
        {"a\"\\", "\"a\\\"\\\\\""},
        {"\x01\x1f\x7f", "\"\\u0001\\u001f\\u007f\""},
        {" ~\xc3\xa4", "\" ~\xc3\xa4\""},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        tenoni_text text = {0};
        tenoni_text_quote(&text, rows[i][0]);
        CHECK_TEXT(tenoni_text_take(&text), rows[i][1]);
    }
}

/* Either of the two files is enough, and the other is written again. */
TEST_NATIVE(native_key_is_mended)
{
    OWNED char *key = synheart_native_generate_key("dev_1");
    OWNED_FILE file = native_rig_open(rig, "k-");
    size_t again_n;
    for (int fault = 0; fault < 6; fault++) {
        const char *hit = fault % 2 == 0 ? file.path : file.copy;
        test_about("fault %d", fault);
        if (fault < 2)
            CHECK_NUMBER(unlink(hit), 0);
        else
            native_rig_write(hit, file.bytes, fault < 4 ? file.n - 1 : file.n / 2);
        native_rig_again(rig);
        CHECK(signs("dev_1", key));
        CHECK_NUMBER(synheart_native_key_exists("dev_1"), 1);
        CHECK_TEXT(synheart_native_generate_key("dev_1"), key);
        OWNED uint8_t *again = native_rig_bytes(hit, &again_n);
        CHECK_SAME(again, again_n, file.bytes, file.n);
    }
}

/* A key that cannot be read is there: nothing is made, and nothing is deleted. */
TEST_NATIVE(native_damaged_key_is_not_replaced)
{
    OWNED char *key = synheart_native_generate_key("dev_1");
    OWNED_FILE file = native_rig_open(rig, "k-");
    for (size_t at = 0; at < file.n; at += test_rounds(7, 97)) {
        test_about("byte %zu", at);
        file.bytes[at] ^= 1;
        native_rig_write(file.path, file.bytes, file.n);
        native_rig_write(file.copy, file.bytes, file.n);
        native_rig_again(rig);
        CHECK_TEXT(synheart_native_generate_key("dev_1"), NULL);
        CHECK_CODE("NATIVE_DAMAGED");
        CHECK_TEXT(synheart_native_sign_bytes("dev_1", data, sizeof data), NULL);
        CHECK_NUMBER(synheart_native_key_exists("dev_1"), 1);
        CHECK_NUMBER(tenon_native_key_state("dev_1"), TENON_NATIVE_UNAVAILABLE);
        CHECK_NUMBER(support_transport_count(rig->wire, SUPPORT_ANY), 0);
        file.bytes[at] ^= 1;
    }
    native_rig_write(file.path, file.bytes, file.n);
    CHECK_TEXT(synheart_native_generate_key("dev_1"), key);
}

static void check_exchanged(const char *id)
{
    OWNED_NATIVE rig = native_rig_start();
    OWNED char *first = synheart_native_generate_key("dev_1");
    OWNED_FILE file = native_rig_open(&rig, "k-");
    CHECK_NUMBER(unlink(file.path) + unlink(file.copy), 0);
    OWNED char *second = synheart_native_generate_key(id);
    OWNED_FILE other = native_rig_open(&rig, "k-");
    native_rig_write(other.path, file.bytes, file.n);
    native_rig_write(other.copy, file.bytes, file.n);
    native_rig_again(&rig);
    CHECK_NONE(synheart_native_sign_bytes(id, data, sizeof data), "NATIVE_EXCHANGED");
    CHECK_TEXT(synheart_native_generate_key(id), NULL);
    CHECK_NUMBER(synheart_native_key_exists(id), 1);
    size_t kept;
    OWNED uint8_t *still = native_rig_bytes(other.path, &kept);
    CHECK_SAME(still, kept, file.bytes, file.n);
    CHECK(first != NULL && second != NULL);
}

TEST(native_exchanged_key_is_not_used)
{
    check_exchanged("dev_2");
    check_exchanged("dev_12"); /* which begins with the other's id */
}

/* A file whose digest fits, and that has a byte behind its content. */
TEST(native_file_ends_with_its_content)
{
    static const char body[] = "tenon-native\n\x01\x01\0\x01i\0\0\0\x01"
                               "c+";
    uint8_t bytes[sizeof body - 1 + TENON_DIGEST_SIZE];
    for (size_t more = 0; more < 2; more++) {
        const size_t n = sizeof body - 2 + more;
        tenon_digest sum;
        tenoni_reader content;
        memcpy(bytes, body, n);
        CHECK_OK(tenon_sha256(&sum, bytes, n));
        memcpy(bytes + n, sum.bytes, sizeof sum.bytes);
        CHECK_NUMBER(tenoni_envelope_open(bytes, n + sizeof sum.bytes, 1, "i", &content).cause,
                     more == 0 ? TENONI_DONE : TENONI_FILE_DAMAGED);
    }
}

/* Each look that cannot be made leaves the key as it is (the shipped Apple shim makes a fresh one here). */
TEST_NATIVE(native_defect_4_unavailable_is_not_absent)
{
    OWNED char *key = synheart_native_generate_key("dev_1");
    OWNED char *native = NULL;
    CHECK(asprintf(&native, "%s/native", rig->folder) > 0);
    for (int fault = 0; fault < 3; fault++) {
        test_about("fault %d", fault);
        native_rig_again(rig);
        if (fault == 0)
            CHECK_NUMBER(chmod(native, 0770), 0);
        if (fault == 1)
            CHECK_NUMBER(chmod(rig->folder, 0777), 0);
        if (fault == 2)
            support_fail_before(rig->wire, support_times(SUPPORT_ANY, 1, 8), TENON_ERROR_TPM_TRANSPORT);
        CHECK_TEXT(synheart_native_generate_key("dev_1"), NULL);
        CHECK_TEXT(synheart_native_sign_bytes("dev_1", data, sizeof data), NULL);
        CHECK_NUMBER(synheart_native_key_exists("dev_1"), 1);
        support_transport_forget_faults(rig->wire);
        CHECK_NUMBER(chmod(native, 0700) + chmod(rig->folder, 0700), 0);
        CHECK_TEXT(synheart_native_generate_key("dev_1"), key);
    }
}

/* A TPM that was cleared, another machine's, and a bare one: the key is lost, and only its owner gives it up. */
TEST(native_cleared_tpm_makes_no_key)
{
    for (int fault = 0; fault < 3; fault++) {
        OWNED_NATIVE rig = native_rig_start();
        support_transport_bare(rig.wire, fault == 2);
        native_rig_again(&rig);
        OWNED char *key = synheart_native_generate_key("dev_1");
        native_rig_again(&rig);
        CHECK_NUMBER(tenon_native_key_state("dev_1"), TENON_NATIVE_FOUND);
        native_rig_again(&rig);
        if (fault != 1)
            CHECK_NUMBER(support_clear(rig.sw, SUPPORT_RH_LOCKOUT, NULL), 0);
        else
            native_rig_exchange_tpm(&rig);
        CHECK_NUMBER(tenon_native_key_state("dev_1"), TENON_NATIVE_UNAVAILABLE);
        CHECK_TEXT(synheart_native_generate_key("dev_1"), NULL);
        CHECK_CODE("TENON_ERROR_KEY_GONE");
        CHECK_NUMBER(synheart_native_key_exists("dev_1"), 1);
        CHECK_NUMBER(native_rig_count(&rig, "k-"), 1);
        CHECK_NUMBER(synheart_native_delete_key("dev_1"), 0);
        OWNED char *other = synheart_native_generate_key("dev_1");
        CHECK(signs("dev_1", other));
    }
}

TEST_NATIVE(native_lockout_and_busy_make_no_key)
{
    OWNED char *key = synheart_native_generate_key("dev_1");
    static const uint32_t codes[] = {0x921, 0x922, 0x908, 0x101, 0x902, 0x903};
    for (size_t i = 0; i < COUNT(codes); i++) {
        test_about("code %x", codes[i]);
        native_rig_again(rig);
        support_fail_code(rig->wire, support_times(SUPPORT_ANY, 1, SUPPORT_ALWAYS), codes[i]);
        CHECK_TEXT(synheart_native_generate_key("dev_1"), NULL);
        CHECK_TEXT(synheart_native_generate_key("dev_2"), NULL);
        CHECK_NUMBER(synheart_native_key_exists("dev_1"), 1);
        support_transport_forget_faults(rig->wire);
        CHECK_TEXT(synheart_native_generate_key("dev_1"), key);
    }
    CHECK_NUMBER(native_rig_count(rig, "k-"), 1);
}

TEST_NATIVE(native_key_counts)
{
    OWNED char *key = synheart_native_generate_key("dev_1");
    CHECK(signs("dev_1", key));
    support_transport_reset_counts(rig->wire);
    CHECK(signs("dev_1", key));
    CHECK_NUMBER(support_transport_count(rig->wire, SUPPORT_ANY), 1);
    CHECK_NUMBER(support_transport_count(rig->wire, SUPPORT_CC_SIGN), 1);
    CHECK_NUMBER(synheart_native_key_exists("dev_1"), 1);
    CHECK_TEXT(synheart_native_generate_key("dev_1"), key);
    CHECK_NUMBER(support_transport_count(rig->wire, SUPPORT_ANY), 1);
}
