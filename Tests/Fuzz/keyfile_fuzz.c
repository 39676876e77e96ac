/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"
#include "tenon/encoding.h"
#include "tpm/keyfile.h"

/*
 * Input: a key file as text. The same bytes are tried as the DER inside a file and as a public area, which chance would
 * not find behind base64.
 */

static bool is_fact(const char *line) { return strncmp(line, "tenon-", 6) == 0 || *line == '\n'; }

/* A file that is read can be written, and is read again as the same; the written form is the only one. */
static void must_come_back(const tenoni_keyfile *file)
{
    char text[TENON_TPM_KEY_MAX], same[TENON_TPM_KEY_MAX];
    tenoni_keyfile again;
    size_t n, same_n;
    MUST(tenoni_keyfile_write(text, sizeof text, &n, file) == TENON_OK);
    OWNED char *exact = fuzz_copy(text, n);
    MUST(tenoni_keyfile_read(&again, exact, n) == TENON_OK);
    MUST(memcmp(&again, file, sizeof again) == 0);
    MUST(tenoni_keyfile_write(same, sizeof same, &same_n, &again) == TENON_OK);
    MUST(same_n == n && memcmp(same, text, n) == 0);
    /* Only the line feed at the end may be missing. */
    MUST(tenoni_keyfile_read(&again, exact, n - 1) == TENON_OK);
    MUST(tenoni_keyfile_read(&again, exact, n - 2) != TENON_OK);
}

/* An independent check of the form: facts and empty lines, one block, nothing behind it. */
static void must_be_framed(const char *text, size_t n)
{
    static const char begin[] = "-----BEGIN TSS2 PRIVATE KEY-----\n";
    static const char end[] = "\n-----END TSS2 PRIVATE KEY-----";
    OWNED char *copy = fuzz_room(n + 1);
    memcpy(copy, text, n);
    copy[n] = '\0';
    MUST(strlen(copy) == n);
    const char *at = copy;
    for (; strncmp(at, begin, sizeof begin - 1) != 0; at = strchr(at, '\n') + 1)
        MUST(is_fact(at));
    const char *last = strstr(at, end);
    MUST(last != NULL);
    last += sizeof end - 1;
    MUST(*last == '\0' || strcmp(last, "\n") == 0);
}

static tenon_status read_text(const char *text, size_t n)
{
    tenoni_keyfile file;
    memset(&file, FUZZ_FILL, sizeof file);
    tenon_status status = tenoni_keyfile_read(&file, text, n);
    if (status == TENON_OK) {
        must_be_framed(text, n);
        must_come_back(&file);
    } else {
        MUST(fuzz_all(&file, sizeof file, 0));
        MUST(tenon_status_category(status) == TENON_CATEGORY_FORMAT || n > TENON_TPM_KEY_MAX);
    }
    return status;
}

static void read_der(const uint8_t *der, size_t n)
{
    enum { LINE = 64, ROOM = 4096 };
    char base64[ROOM], text[ROOM];
    size_t left;
    if (n > ROOM / 2)
        return;
    MUST(tenon_base64_encode(base64, sizeof base64, &left, der, n) == TENON_OK);
    size_t used = (size_t)sprintf(text, "-----BEGIN TSS2 PRIVATE KEY-----\n");
    for (const char *at = base64; left != 0;) {
        size_t part = left < LINE ? left : LINE;
        used += (size_t)sprintf(text + used, "%.*s\n", (int)part, at);
        at += part;
        left -= part;
    }
    used += (size_t)sprintf(text + used, "-----END TSS2 PRIVATE KEY-----\n");
    OWNED char *exact = fuzz_copy(text, used);
    tenon_status status = read_text(exact, used);
    MUST(tenon_status_category(status) != TENON_CATEGORY_FORMAT ||
         (status != TENON_ERROR_PEM_FORM && status != TENON_ERROR_PEM_FACT));
}

/* An area that is read is written unchanged, and no verdict contradicts another. */
static void read_area(const uint8_t *area, size_t n)
{
    tenoni_public key;
    memset(&key, FUZZ_FILL, sizeof key);
    tenon_status status = tenoni_public_read(&key, area, n);
    if (status != TENON_OK) {
        MUST(status == TENON_ERROR_KEY_PUBLIC && fuzz_all(&key, sizeof key, 0));
        return;
    }
    uint8_t *again = fuzz_room(n);
    tenoni_writer writer = tenoni_writer_over(again, n);
    tenoni_public_write(&writer, &key);
    MUST(!writer.overflowed && writer.used == n && memcmp(again, area, n) == 0);
    free(again);
    bool own = tenoni_public_check_own(&key) == TENON_OK;
    bool foreign = tenoni_public_check_foreign(&key) == TENON_OK;
    MUST(!own || foreign);
    MUST(!tenoni_public_is_storage(&key) || !foreign);
    MUST(!own || key.attributes == 0x00040472);
    tenon_public_key point;
    status = tenoni_public_point(&point, &key);
    MUST(status == TENON_OK || fuzz_all(&point, sizeof point, 0));
    uint8_t name[TENON_NAME_SIZE];
    MUST((tenoni_public_name(name, area, n) == TENON_OK) == (key.name_algorithm == TENONI_ALG_SHA256));
}

FUZZ_TARGET(data, n)
{
    (void)read_text((const char *)data, n);
    read_der(data, n);
    read_area(data, n);
}
