/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_H
#define TEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "owned.h"
#include "tenon/tenon.h"

/*
 * A test is TEST(noun_what) { ... } in a file of its noun. It goes on after a failed check, so that one run shows all.
 * core_tests [-j N] runs every test, or those whose names begin with an argument: in this process, or in N others.
 */
typedef struct test_case {
    const char *name;
    void (*body)(void);
    bool last; /* after all the others, when all of them ran or it is called by its whole name */
    struct test_case *next;
} test_case;

void test_add(test_case *test);

#define TEST_CASE(test_name, is_last)                                                                                  \
    static void test_name(void);                                                                                       \
    __attribute__((constructor)) static void add_##test_name(void)                                                     \
    {                                                                                                                  \
        static test_case self = {#test_name, test_name, is_last, NULL};                                                \
        test_add(&self);                                                                                               \
    }                                                                                                                  \
    static void test_name(void)
#define TEST(test_name) TEST_CASE(test_name, false)

/* A test with an object that is made before it, and that ends with it: a pointer of this name. */
#define TEST_WITH(test_name, type, name, make, end)                                                                    \
    static void test_name##_with(type *name);                                                                          \
    TEST(test_name)                                                                                                    \
    {                                                                                                                  \
        __attribute__((cleanup(end))) type name = make;                                                                \
        test_name##_with(&name);                                                                                       \
    }                                                                                                                  \
    static void test_name##_with(type *name)

/* Any thread may make checks. Each returns whether it held. */
__attribute__((format(printf, 3, 4))) void test_fail(const char *file, int line, const char *format, ...);
bool test_status(const char *file, int line, const char *call, tenon_status found, tenon_status expected);
bool test_number(const char *file, int line, const char *what, uint64_t found, uint64_t expected);
bool test_bytes(const char *file, int line, const char *what, const void *found, const void *expected, size_t n);
bool test_same(const char *file, int line, const char *what, const void *found, size_t n, const void *expected,
               size_t expected_n);
bool test_zero(const char *file, int line, const char *what, const void *found, size_t n);
bool test_true(const char *file, int line, const char *what, bool holds);

#define CHECK(condition) test_true(__FILE__, __LINE__, #condition, condition)
#define CHECK_STATUS(call, expected) test_status(__FILE__, __LINE__, #call, call, expected)
#define CHECK_OK(call) CHECK_STATUS(call, TENON_OK)
#define CHECK_NUMBER(found, expected) test_number(__FILE__, __LINE__, #found, (uint64_t)(found), (uint64_t)(expected))
#define CHECK_BYTES(found, expected, n) test_bytes(__FILE__, __LINE__, #found, found, expected, n)
#define CHECK_SAME(found, n, expected, expected_n) test_same(__FILE__, __LINE__, #found, found, n, expected, expected_n)
#define CHECK_ZERO(found, n) test_zero(__FILE__, __LINE__, #found, found, n)

/* The call is refused, and its output, which held something else before, is all zeros. */
#define CHECK_CLEARS(call, expected, out)                                                                              \
    do {                                                                                                               \
        memset(out, 0xa5, sizeof *(out));                                                                              \
        CHECK_STATUS(call, expected);                                                                                  \
        CHECK_ZERO(out, sizeof *(out));                                                                                \
    } while (0)

/* The status of a call which, when it is refused, has filled its output with zeros. */
#define CLEARED(call, out) (memset(out, 0xa5, sizeof *(out)), test_cleared(call, out, sizeof *(out)))
tenon_status test_cleared(tenon_status status, const void *out, size_t n);

/* Memory of exactly n bytes, so that a sanitizer sees a byte read behind it; the caller frees it. */
void *test_copy(const void *bytes, size_t n);

/* The texts of an activation; nothing else of it is set. */
tenon_activation test_activation(const char *origin, const char *app, const char *challenge, const char *public_key);

/* How many elements an array has. */
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Names the case that the checks of this thread are about; NULL for none. */
__attribute__((format(printf, 1, 2))) void test_about(const char *format, ...);

/* Whether a check has expected this status and got it, so far. */
bool test_was_provoked(tenon_status status);

/* The length of a loop: the first, or the second if TENON_TEST_QUICK is in the environment (for valgrind). */
size_t test_rounds(size_t full, size_t quick);

/*
 * The rule of tenon.h for (out, n, written), tried with every n from 0 to a few more than needed. expected may be NULL
 * where the output is random.
 */
typedef tenon_status (*test_output)(const void *input, uint8_t *out, size_t n, size_t *written);
#define OUTPUT(name) static tenon_status name(const void *input, uint8_t *out, size_t n, size_t *written)
void test_output_rule(const char *name, test_output function, const void *input, const void *expected, size_t needed);

/* Runs a function in this many threads, which begin at once, each with its own element of this size. Returns after the
 * last. */
void test_threads(size_t count, void (*run)(void *), void *elements, size_t size);

/* Reads a whole file and adds a NUL; the caller frees it. A file that cannot be read ends the run. */
char *test_file(const char *path);
char *test_vectors(const char *name);

/* The next "name = value" line, or a "[section]" as a name with the value "". Writes NULs into the text. */
bool test_line(char **text, char **name, char **value);

/* The text behind the heading of a section, "[name]"; a file without it ends the run. Its lines end at the next one. */
char *test_section(char *text, const char *heading);
bool test_section_line(char **text, char **name, char **value);

/* Fields of a vector, and the bytes that their hexadecimal values fill. Whether there is a field of this name. */
typedef struct {
    const char *name;
    void *out;
    size_t n;
} test_field;
bool test_take(const test_field *fields, size_t count, const char *name, const char *value);

/* The next "key": "value" of a JSON text that begins before end (or anywhere, for NULL); to be freed. NULL for none. */
char *test_json(const char **text, const char *key, const char *end);

/* Decodes hexadecimal text without the core's code; n is exact. */
void test_hex(void *out, size_t n, const char *hex);
uint8_t *test_hex_all(const char *hex, size_t *n);

/*
 * Texts for each of which a reader gives one status: a row of a table. The reader may be told in a number of its own
 * what it is to read. The list ends at its first NULL.
 */
enum { TEST_TEXTS_MAX = 48 };

typedef struct {
    tenon_status status;
    int kind;
    const char *texts[TEST_TEXTS_MAX];
} test_texts;

typedef tenon_status test_reader(int kind, const char *text);
void test_each_text(const test_texts *rows, size_t count, test_reader *read);

/* A sequence of numbers that is the same in each run. */
uint64_t test_random(uint64_t *state);
void test_random_fill(uint64_t *state, void *out, size_t n);

#endif
