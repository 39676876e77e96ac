/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>

#include "proof_rig.h"
#include "test_workers.h"

/* The tests' results for each rule of tenon/verify.h and tenon/activate.h. */

typedef struct {
    atomic_size_t cases, caught; /* caught: and accepted, or refused by a later rule, with this rule left out */
    char first[64];              /* the first case */
    tenon_status code;
} row;

/* TENON_RULE_<n> is FIRST + n. */
enum { FIRST = 0x03000100, NUMBERS = 0x40 };

/* Each process that runs tests notes its results here. */
static row *rows;

__attribute__((constructor)) static void make_rows(void) { rows = test_shared(NUMBERS * sizeof *rows); }

void rules_note(tenon_status rule, tenon_status code, const char *name, tenon_status found, tenon_status without)
{
    if (rule == TENON_OK || !CHECK(rule >= FIRST && rule < FIRST + NUMBERS))
        return;
    row *at = &rows[rule - FIRST];
    if (atomic_fetch_add(&at->cases, 1) == 0) {
        snprintf(at->first, sizeof at->first, "%s", name);
        at->code = code;
    }
    at->caught += found == code && without != code;
}

/* Rule, name, code, cases that break it, and the first of them. */
static void print(tenon_status rule)
{
    const row *at = &rows[rule - FIRST];
    const char *name = tenon_status_name(rule) + strlen("TENON_RULE_");
    int number = (int)strcspn(name, "_");
    printf("%-4.*s %-20s %08x %-26s %3zu of %3zu caught, not without it   %s\n", number, name, name + number + 1,
           (unsigned)at->code, tenon_status_name(at->code) + strlen("TENON_"), at->caught, at->cases, at->first);
}

static void check(tenon_status rule)
{
    const row *at = &rows[rule - FIRST];
    if (strcmp(tenon_status_name(rule), tenon_status_name(FIRST)) == 0) /* no rule has number 0 */
        return;
    test_about("%s", tenon_status_name(rule));
    CHECK(at->cases != 0);
    CHECK_NUMBER(at->caught, at->cases);
    if (getenv("TENON_TEST_TABLE") != NULL && at->cases != 0)
        print(rule);
}

TEST_CASE(rules_are_all_caught, true)
{
    for (tenon_status number = 1; number < NUMBERS; number++)
        check(FIRST + number);
}
