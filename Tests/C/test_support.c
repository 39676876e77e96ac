/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* pthread_barrier_t */
#include <pthread.h>

#include "test.h"

/* Functions that the tests share. */

uint64_t test_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

void test_random_fill(uint64_t *state, void *out, size_t n)
{
    uint8_t *bytes = out;
    for (size_t i = 0; i < n; i++)
        bytes[i] = (uint8_t)test_random(state);
}

static int digit(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = c == '\0' ? NULL : strchr(digits, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c);
    return at == NULL ? -1 : (int)(at - digits);
}

static void broken(const char *what, const char *which)
{
    fprintf(stderr, "%s: %s\n", what, which);
    exit(2);
}

void test_hex(void *out, size_t n, const char *hex)
{
    uint8_t *bytes = out;
    if (strlen(hex) != 2 * n)
        broken("not as many hexadecimal digits as expected", hex);
    for (size_t i = 0; i < n; i++) {
        int high = digit(hex[2 * i]), low = digit(hex[2 * i + 1]);
        if (high < 0 || low < 0)
            broken("not hexadecimal", hex);
        bytes[i] = (uint8_t)(high << 4 | low);
    }
}

tenon_status test_cleared(tenon_status status, const void *out, size_t n)
{
    CHECK(status == TENON_OK || CHECK_ZERO(out, n));
    return status;
}

void *test_copy(const void *bytes, size_t n)
{
    void *copy = malloc(n + (n == 0));
    if (copy == NULL)
        broken("no memory", "");
    if (n != 0)
        memcpy(copy, bytes, n);
    return copy;
}

tenon_activation test_activation(const char *origin, const char *app, const char *challenge, const char *public_key)
{
    return (tenon_activation){.size = sizeof(tenon_activation),
                              .origin = origin,
                              .origin_n = strlen(origin),
                              .app_id = app,
                              .app_id_n = strlen(app),
                              .challenge = challenge,
                              .challenge_n = strlen(challenge),
                              .public_key = public_key,
                              .public_key_n = strlen(public_key)};
}

uint8_t *test_hex_all(const char *hex, size_t *n)
{
    *n = strlen(hex) / 2;
    uint8_t *bytes = malloc(*n + 1);
    if (bytes == NULL)
        broken("no memory", "");
    test_hex(bytes, *n, hex);
    return bytes;
}

char *test_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        broken("cannot be read (the tests run in the root of the repository)", path);
    char *text = NULL;
    size_t n = 0, got;
    do {
        text = realloc(text, n + 65536 + 1);
        if (text == NULL)
            broken("no memory", path);
        got = fread(text + n, 1, 65536, file);
        n += got;
    } while (got != 0);
    fclose(file);
    text[n] = '\0';
    return text;
}

char *test_vectors(const char *name)
{
    char path[512];
    const char *folder = getenv("TENON_VECTORS");
    snprintf(path, sizeof path, "%s/%s", folder != NULL ? folder : "Tests/Vectors", name);
    return test_file(path);
}

bool test_line(char **text, char **name, char **value)
{
    while (**text != '\0') {
        char *line = *text;
        size_t n = strcspn(line, "\r\n");
        *text = line + n + (line[n] != '\0');
        line[n] = '\0';
        char *equals = strstr(line, " = ");
        if (line[0] == '#' || (line[0] != '[' && equals == NULL))
            continue;
        *name = line;
        *value = line[0] == '[' ? line + n : equals + 3;
        if (line[0] != '[')
            *equals = '\0';
        return true;
    }
    return false;
}

char *test_section(char *text, const char *heading)
{
    char *at = strstr(text, heading);
    if (at == NULL)
        broken("there is no such section", heading);
    return at + strlen(heading);
}

bool test_section_line(char **text, char **name, char **value) { return test_line(text, name, value) && **name != '['; }

bool test_take(const test_field *fields, size_t count, const char *name, const char *value)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(fields[i].name, name) == 0) {
            test_hex(fields[i].out, fields[i].n, value);
            return true;
        }
    return false;
}

char *test_json(const char **text, const char *key, const char *end)
{
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\"", key);
    const char *at = strstr(*text, quoted);
    if (at == NULL || (end != NULL && at >= end))
        return NULL;
    at += strlen(quoted);
    at += strspn(at, ": \n");
    if (*at++ != '"')
        broken("not a string", key);
    char *out = malloc(strlen(at) + 1);
    size_t n = 0;
    for (; out != NULL && *at != '"'; at++) {
        if (*at == '\\' && *++at != '"')
            broken("an escape that these files do not have", key);
        out[n++] = *at;
    }
    if (out == NULL)
        broken("no memory", key);
    out[n] = '\0';
    *text = at;
    return out;
}

void test_each_text(const test_texts *rows, size_t count, test_reader *read)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < TEST_TEXTS_MAX && rows[i].texts[j] != NULL; j++) {
            test_about("%d: \"%.200s\"", rows[i].kind, rows[i].texts[j]);
            CHECK_STATUS(read(rows[i].kind, rows[i].texts[j]), rows[i].status);
        }
    test_about(NULL);
}

enum { GUARD = 0xa5, MORE = 16 };

static bool untouched(const uint8_t *bytes, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (bytes[i] != GUARD)
            return false;
    return true;
}

/* Tests one size: the buffer is exactly that long, with guard bytes behind it. */
static void try_size(const char *name, test_output function, const void *input, const void *expected, size_t needed,
                     size_t n)
{
    size_t written = 12345;
    uint8_t *out = malloc(n + MORE);
    if (out == NULL)
        broken("no memory", name);
    memset(out, GUARD, n + MORE);
    test_about("%s with n = %zu of %zu", name, n, needed);
    CHECK_STATUS(function(input, out, n, &written), n < needed ? TENON_ERROR_BUFFER_TOO_SMALL : TENON_OK);
    CHECK_NUMBER(written, needed);
    CHECK(untouched(out, n < needed ? 0 : needed, n + MORE));
    if (n >= needed && expected != NULL)
        CHECK_BYTES(out, expected, needed);
    if (n == needed) {
        memset(out, GUARD, n);
        CHECK_STATUS(function(input, out, n, NULL), TENON_ERROR_NULL);
        CHECK(untouched(out, 0, n));
    }
    free(out);
}

void test_output_rule(const char *name, test_output function, const void *input, const void *expected, size_t needed)
{
    size_t written = 12345;
    for (size_t n = 0; n <= needed + 3; n++)
        try_size(name, function, input, expected, needed, n);
    test_about("%s without a buffer", name);
    CHECK_STATUS(function(input, NULL, 0, &written), needed == 0 ? TENON_OK : TENON_ERROR_BUFFER_TOO_SMALL);
    CHECK_NUMBER(written, needed);
    CHECK_STATUS(function(input, NULL, needed + 1, &written), TENON_ERROR_NULL);
    CHECK_NUMBER(written, 0);
    CHECK_STATUS(function(input, NULL, SIZE_MAX, &written), TENON_ERROR_NULL);
    CHECK_NUMBER(written, 0);
    CHECK_STATUS(function(input, NULL, 0, NULL), TENON_ERROR_NULL);
    test_about(NULL);
}

typedef struct {
    pthread_barrier_t *start;
    void (*run)(void *);
    void *element;
} thread;

static void *begin_together(void *of)
{
    const thread *self = of;
    pthread_barrier_wait(self->start);
    self->run(self->element);
    return NULL;
}

void test_threads(size_t count, void (*run)(void *), void *elements, size_t size)
{
    enum { MOST = 72 };
    pthread_barrier_t start;
    pthread_t ids[MOST];
    thread all[MOST];
    if (!CHECK(count <= MOST && pthread_barrier_init(&start, NULL, (unsigned)count) == 0))
        return;
    for (size_t i = 0; i < count; i++) {
        all[i] = (thread){&start, run, (char *)elements + i * size};
        CHECK_NUMBER(pthread_create(&ids[i], NULL, begin_together, &all[i]), 0);
    }
    for (size_t i = 0; i < count; i++)
        CHECK_NUMBER(pthread_join(ids[i], NULL), 0);
    pthread_barrier_destroy(&start);
}
