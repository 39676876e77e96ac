/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>

#include "test.h"
#include "test_workers.h"

static test_case *tests;
static atomic_int failures;
static _Thread_local char about[160];

/* The order of constructors is not defined, so the list is kept sorted. */
void test_add(test_case *test)
{
    test_case **at = &tests;
    while (*at != NULL && strcmp((*at)->name, test->name) < 0)
        at = &(*at)->next;
    test->next = *at;
    *at = test;
}

void test_about(const char *format, ...)
{
    va_list arguments;
    about[0] = '\0';
    if (format == NULL)
        return;
    va_start(arguments, format);
    vsnprintf(about, sizeof about, format, arguments);
    va_end(arguments);
}

/* Failures are repeated at the end, where people look; a test may run in a process of its own. */
enum { DIGEST_MAX = 1500 };
typedef struct {
    atomic_size_t used;
    char text[DIGEST_MAX];
} failure_digest;
static failure_digest *digest;

void test_say(const char *format, ...)
{
    char line[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    fputs(line, stderr);
    size_t n = strlen(line), at = atomic_load(&digest->used);
    while (at + n < DIGEST_MAX && !atomic_compare_exchange_weak(&digest->used, &at, at + n))
        ;
    if (at + n < DIGEST_MAX)
        memcpy(digest->text + at, line, n);
}

void test_fail(const char *file, int line, const char *format, ...)
{
    enum { SHOWN = 20 };
    char message[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (atomic_fetch_add(&failures, 1) < SHOWN)
        test_say("%s:%d: %s%s%s\n", file, line, message, about[0] != '\0' ? "   about: " : "", about);
}

bool test_true(const char *file, int line, const char *what, bool holds)
{
    if (!holds)
        test_fail(file, line, "does not hold: %s", what);
    return holds;
}

bool test_number(const char *file, int line, const char *what, uint64_t found, uint64_t expected)
{
    if (found != expected)
        test_fail(file, line, "%s is %" PRIu64 " (0x%" PRIx64 "), expected %" PRIu64 " (0x%" PRIx64 ")", what, found,
                  found, expected, expected);
    return found == expected;
}

static void to_hex(char *out, size_t size, const uint8_t *bytes, size_t n)
{
    size_t i = 0;
    for (; i < n && 2 * i + 4 < size; i++)
        snprintf(out + 2 * i, 3, "%02x", bytes[i]);
    snprintf(out + 2 * i, 2, "%s", i < n ? "+" : "");
}

bool test_bytes(const char *file, int line, const char *what, const void *found, const void *expected, size_t n)
{
    char left[300], right[300];
    if (n == 0 || memcmp(found, expected, n) == 0)
        return true;
    to_hex(left, sizeof left, found, n);
    to_hex(right, sizeof right, expected, n);
    test_fail(file, line, "%s is %s, expected %s", what, left, right);
    return false;
}

bool test_same(const char *file, int line, const char *what, const void *found, size_t n, const void *expected,
               size_t expected_n)
{
    char size[200];
    snprintf(size, sizeof size, "size of %s", what);
    return test_number(file, line, size, n, expected_n) && test_bytes(file, line, what, found, expected, n);
}

bool test_zero(const char *file, int line, const char *what, const void *found, size_t n)
{
    const uint8_t *bytes = found;
    for (size_t i = 0; i < n; i++)
        if (bytes[i] != 0) {
            test_fail(file, line, "%s is not all zeros: byte %zu is %02x", what, i, bytes[i]);
            return false;
        }
    return true;
}

enum { PROVOKED_MAX = 256 };
static _Atomic tenon_status *provoked;

static void remember(tenon_status status)
{
    for (size_t i = 0; i < PROVOKED_MAX; i++) {
        tenon_status empty = TENON_OK;
        if (provoked[i] == status || atomic_compare_exchange_strong(&provoked[i], &empty, status))
            return;
    }
}

bool test_was_provoked(tenon_status status)
{
    for (size_t i = 0; i < PROVOKED_MAX; i++)
        if (provoked[i] == status)
            return true;
    return false;
}

bool test_status(const char *file, int line, const char *call, tenon_status found, tenon_status expected)
{
    if (found != expected)
        test_fail(file, line, "%s is %s (0x%08" PRIx32 "), expected %s", call, tenon_status_name(found),
                  (uint32_t)found, tenon_status_name(expected));
    else if (found != TENON_OK)
        remember(found);
    return found == expected;
}

size_t test_rounds(size_t full, size_t quick) { return getenv("TENON_TEST_QUICK") != NULL ? quick : full; }

static const char *again(void)
{
    const char *command = getenv("TENON_TEST_AGAIN");
    return command != NULL ? command : "make check";
}

static bool run(const test_case *test)
{
    atomic_store(&failures, 0);
    test_about(NULL);
    test->body();
    int count = atomic_load(&failures);
    if (count != 0)
        test_say("FAILED %s (%d checks); again: %s ONLY=%s\n", test->name, count, again(), test->name);
    return count == 0;
}

/* By a beginning of its name; a last one by the whole of it. All, when there are no names. */
static bool is_wanted(const test_case *test, int count, char **names)
{
    for (int i = 0; i < count; i++)
        if (strncmp(test->name, names[i], test->last ? strlen(test->name) + 1 : strlen(names[i])) == 0)
            return true;
    return count == 0;
}

/* Named in TENON_TEST_WITHOUT, which is what a processor that is emulated cannot run. It is said, and not counted. */
static bool is_left_out(const test_case *test)
{
    const char *names = getenv("TENON_TEST_WITHOUT");
    for (size_t n; names != NULL && *names != '\0'; names += n + (names[n] == ' ')) {
        n = strcspn(names, " ");
        if (strlen(test->name) == n && strncmp(test->name, names, n) == 0) {
            test_say("not run: %s\n", test->name);
            return true;
        }
    }
    return false;
}

enum { CHOSEN_MAX = 2000 };
static const test_case *chosen[CHOSEN_MAX];

static bool run_chosen(size_t i) { return run(chosen[i]); }
static const char *name_chosen(size_t i) { return chosen[i]->name; }

/* Runs the wanted tests, the last ones or all others, in this many processes; 0 means this one. */
static void run_all(bool last, int count, char **names, size_t workers, test_tally *tally)
{
    test_work work = {.run = run_chosen, .name = name_chosen};
    for (const test_case *test = tests; test != NULL; test = test->next) {
        if (test->last != last || !is_wanted(test, count, names) || is_left_out(test))
            continue;
        if (work.count == CHOSEN_MAX)
            abort();
        chosen[work.count++] = test;
    }
    if (workers != 0 && work.count != 0) {
        test_tally found = test_workers_run(workers, &work);
        tally->passed += found.passed;
        tally->failed += found.failed;
        return;
    }
    for (size_t i = 0; i < work.count; i++)
        *(run(chosen[i]) ? &tally->passed : &tally->failed) += 1;
}

static int list(void)
{
    for (const test_case *test = tests; test != NULL; test = test->next)
        puts(test->name);
    return EXIT_SUCCESS;
}

int main(int count, char **arguments)
{
    test_tally tally = {0, 0};
    size_t workers = 0;
    int names = 1;
    if (count == 2 && strcmp(arguments[1], "--list") == 0)
        return list();
    if (count > 2 && strcmp(arguments[1], "-j") == 0) {
        workers = strtoul(arguments[2], NULL, 10);
        names = 3;
    }
    provoked = test_shared(PROVOKED_MAX * sizeof *provoked);
    digest = test_shared(sizeof *digest);
    run_all(false, count - names, arguments + names, workers, &tally);
    run_all(true, count - names, arguments + names, 0, &tally);
    if (tally.passed + tally.failed == 0)
        fprintf(stderr, "no test has such a name; --list shows them\n");
    if (tally.failed != 0)
        fprintf(stderr, "\n%s", digest->text);
    fflush(stderr);
    printf("%zu passed, %zu failed\n", tally.passed, tally.failed);
    return tally.failed == 0 && tally.passed != 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
