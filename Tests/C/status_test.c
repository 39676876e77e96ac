/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE /* glob */
#include <glob.h>

#include "test.h"

/* The headers themselves say what has to be tested: a code or a size that is added and forgotten fails here. */

typedef struct {
    char name[64];
    long value;
} enumerator;

enum { CODES_MAX = 256 };

/* Reads the "NAME = number" of a header; answers how many there are. */
static size_t read_enumerators(const char *path, const char *prefix, enumerator *out)
{
    OWNED char *text = test_file(path);
    size_t count = 0;
    for (char *at = strstr(text, prefix); at != NULL && count < CODES_MAX; at = strstr(at, prefix)) {
        size_t n = strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
        bool fits = n < sizeof out->name && (strncmp(at + n, " =", 2) == 0 || strncmp(at + n, ", 0x", 4) == 0);
        if (fits) {
            memcpy(out[count].name, at, n);
            out[count].name[n] = '\0';
            out[count++].value = strtol(at + n + 2, NULL, 0);
        }
        at += n;
    }
    return count;
}

static enumerator found[2 * CODES_MAX];

static size_t read_codes(void)
{
    size_t errors = read_enumerators("include/tenon/status.h", "TENON_ERROR_", found);
    size_t rules = read_enumerators("include/tenon/status.h", "TENON_RULE_", found + errors);
    size_t log_rules = read_enumerators("include/tenon/status.h", "TENON_KERI_", found + errors + rules);
    size_t before = errors + rules + log_rules;
    size_t quote_rules = read_enumerators("include/tenon/status.h", "TENON_QUOTE_", found + before);
    CHECK(errors > 70 && rules > 30 && log_rules == 24 && quote_rules == 13);
    return before + quote_rules;
}

TEST(status_every_code_has_its_name_text_and_category)
{
    for (size_t i = 0, count = read_codes(); i < count; i++) {
        tenon_status status = (tenon_status)found[i].value;
        const char *text = tenon_status_text(status);
        test_about("%s", found[i].name);
        CHECK_BYTES(tenon_status_name(status), found[i].name, strlen(found[i].name) + 1);
        CHECK(strlen(text) > 10 && text[strlen(text) - 1] == '.');
        CHECK(text[0] >= 'A' && text[0] <= 'z' && strchr(text, '\n') == NULL);
        CHECK_NUMBER(tenon_status_category(status), found[i].value >> 24);
        CHECK_NUMBER(tenon_status_tpm_rc(status), 0);
        CHECK((status & 0xffffff) != 0 && status > 0 && (status & 0x00800000) == 0);
        for (size_t j = 0; j < i; j++)
            CHECK(found[i].value != found[j].value &&
                  strcmp(text, tenon_status_text((tenon_status)found[j].value)) != 0);
    }
}

TEST(status_every_category_is_known)
{
    enumerator categories[CODES_MAX];
    size_t count = read_enumerators("include/tenon/status.h", "TENON_CATEGORY_", categories);
    CHECK_NUMBER(count, 11);
    for (size_t i = 0; i < count; i++) {
        tenon_status status = (tenon_status)(categories[i].value << 24 | 0x880101);
        test_about("%s", categories[i].name);
        CHECK_NUMBER(categories[i].value, i + 1);
        CHECK_NUMBER(tenon_status_category(status), categories[i].value);
        CHECK_NUMBER(tenon_status_tpm_rc(status), 0x80101);
        CHECK(strncmp(tenon_status_name(status), "TENON_TPM_", 10) == 0);
        CHECK(strcmp(tenon_status_name(status) + 10, categories[i].name + strlen("TENON_CATEGORY_")) == 0);
        CHECK(tenon_status_text(status)[strlen(tenon_status_text(status)) - 1] == '.');
    }
}

TEST(status_success)
{
    CHECK(strcmp(tenon_status_name(TENON_OK), "TENON_OK") == 0);
    CHECK(strcmp(tenon_status_text(TENON_OK), "Success.") == 0);
    CHECK_NUMBER(tenon_status_category(TENON_OK), 0);
    CHECK_NUMBER(tenon_status_tpm_rc(TENON_OK), 0);
}

TEST(status_any_value_may_be_asked_about)
{
    static const tenon_status values[] = {1,          -1,         0x7fffffff, INT32_MIN,  0x00800101, 0x0c800101,
                                          0x7f800101, 0x01000000, 0x09000000, 0x0c000001, 0x01ffffff, 0x02000099};
    uint64_t state = 1;
    size_t rounds = test_rounds(20000, 500);
    for (size_t i = 0; i < rounds; i++) {
        size_t fixed = COUNT(values);
        tenon_status status = i < fixed ? values[i] : (tenon_status)(test_random(&state) & UINT32_MAX);
        test_about("%08x", (unsigned)status);
        CHECK(tenon_status_name(status) != NULL && tenon_status_text(status) != NULL);
        CHECK(tenon_status_category(status) >= 0 && tenon_status_category(status) <= 0x7f);
        CHECK(tenon_status_tpm_rc(status) <= 0xfffff);
    }
    CHECK(strcmp(tenon_status_name(0x01000099), "TENON_ERROR_UNNAMED") == 0);
    CHECK(strcmp(tenon_status_name(-1), "TENON_ERROR_UNNAMED") == 0);
    CHECK(strcmp(tenon_status_name(0x0c800101), "TENON_ERROR_UNNAMED") == 0);
    CHECK(strcmp(tenon_status_name(0x00800101), "TENON_ERROR_UNNAMED") == 0);
    CHECK(strcmp(tenon_status_name(0x01800000), tenon_status_name(0x01800001)) != 0);
}

#define SIZE(constant, function)                                                                                       \
    {                                                                                                                  \
#constant, constant, function                                                                                  \
    }

static const struct {
    const char *name;
    size_t constant;
    size_t (*function)(void);
} sizes[] = {
    SIZE(TENON_DIGEST_SIZE, tenon_digest_size),
    SIZE(TENON_SCALAR_SIZE, tenon_scalar_size),
    SIZE(TENON_PUBLIC_KEY_SIZE, tenon_public_key_size),
    SIZE(TENON_SIGNATURE_SIZE, tenon_signature_size),
    SIZE(TENON_SIGNATURE_DER_MAX, tenon_signature_der_max),
    SIZE(TENON_POINT_SIZE, tenon_point_size),
    SIZE(TENON_COMPRESSED_SIZE, tenon_compressed_size),
    SIZE(TENON_SPKI_SIZE, tenon_spki_size),
    SIZE(TENON_THUMBPRINT_SIZE, tenon_thumbprint_size),
    SIZE(TENON_UUID_SIZE, tenon_uuid_size),
    SIZE(TENON_SHA256_STREAM_SIZE, tenon_sha256_stream_size),
    SIZE(TENON_REQUEST_SIZE, tenon_request_size),
    SIZE(TENON_METHOD_MAX, tenon_method_max),
    SIZE(TENON_PATH_MAX, tenon_path_max),
    SIZE(TENON_APP_ID_MAX, tenon_app_id_max),
    SIZE(TENON_DEVICE_ID_MAX, tenon_device_id_max),
    SIZE(TENON_TIMESTAMP_MAX, tenon_timestamp_max),
    SIZE(TENON_HEADERS_MAX, tenon_headers_max),
};

TEST(status_every_size_is_a_function)
{
    size_t known = COUNT(sizes);
    enumerator constants[CODES_MAX];
    CHECK_NUMBER(read_enumerators("include/tenon/types.h", "TENON_", constants), known);
    for (size_t i = 0; i < known; i++) {
        test_about("%s", sizes[i].name);
        CHECK(strcmp(sizes[i].name, constants[i].name) == 0);
        CHECK_NUMBER(constants[i].value, sizes[i].constant);
        CHECK_NUMBER(sizes[i].function(), sizes[i].constant);
    }
    CHECK_NUMBER(sizeof(tenon_digest), TENON_DIGEST_SIZE);
    CHECK_NUMBER(sizeof(tenon_public_key), TENON_PUBLIC_KEY_SIZE);
    CHECK_NUMBER(sizeof(tenon_signature), TENON_SIGNATURE_SIZE);
    CHECK_NUMBER(sizeof(tenon_sha256_stream), TENON_SHA256_STREAM_SIZE);
    CHECK_NUMBER(sizeof(tenon_request), TENON_REQUEST_SIZE);
}

TEST(status_version_and_backend_are_named)
{
    unsigned version = tenon_version();
    char text[32];
    snprintf(text, sizeof text, "%u.%u.%u", version >> 24, version >> 16 & 0xff, version >> 8 & 0xff);
    CHECK(strcmp(text, tenon_version_text()) == 0);
    CHECK_NUMBER(version & 0xff, 0);
#ifdef TENON_OPENSSL
    CHECK(strcmp(tenon_backend_name(), "openssl") == 0);
#else
    CHECK(strcmp(tenon_backend_name(), "mbedtls") == 0);
#endif
}

static bool is_in_file(const char *path, const char *name)
{
    OWNED char *text = test_file(path);
    size_t n = strlen(name);
    const char *at = strstr(text, name);
    while (at != NULL && (at[n] == '_' || (at[n] >= 'A' && at[n] <= 'Z')))
        at = strstr(at + n, name);
    return at != NULL;
}

static bool is_in_sources(const char *name)
{
    glob_t sources;
    bool is = false;
    CHECK_NUMBER(glob("CSources/base/*.c", 0, NULL, &sources), 0);
    CHECK_NUMBER(glob("CSources/batch/*.c", GLOB_APPEND, NULL, &sources), 0);
    CHECK_NUMBER(glob("CSources/crypto/*.c", GLOB_APPEND, NULL, &sources), 0);
    CHECK_NUMBER(glob("CSources/keri/*.c", GLOB_APPEND, NULL, &sources), 0);
    CHECK_NUMBER(glob("CSources/proof/*.c", GLOB_APPEND, NULL, &sources), 0);
    CHECK_NUMBER(glob("CSources/tpm/*.c", GLOB_APPEND, NULL, &sources), 0);
    for (size_t i = 0; !is && i < sources.gl_pathc; i++)
        is = strstr(sources.gl_pathv[i], "/status.c") == NULL && is_in_file(sources.gl_pathv[i], name);
    globfree(&sources);
    return is;
}

TEST(status_every_code_is_given_by_a_source)
{
    for (size_t i = 0, count = read_codes(); i < count; i++) {
        test_about("%s", found[i].name);
        CHECK(is_in_sources(found[i].name));
    }
}

/* TENON_ERROR_CRYPTO is what cannot happen, TENON_ERROR_FORKED what happens in a child process of tpm_fork_test.c. */
TEST_CASE(status_every_code_was_provoked, true)
{
    for (size_t i = 0, count = read_codes(); i < count; i++) {
        test_about("%s", found[i].name);
        if (found[i].value != TENON_ERROR_CRYPTO && found[i].value != TENON_ERROR_FORKED)
            CHECK(test_was_provoked((tenon_status)found[i].value));
    }
}
