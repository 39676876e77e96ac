/* SPDX-License-Identifier: Apache-2.0 */
#include "certificate_rig.h"
#include "internal/admission.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMED_MAX = 500 };

typedef struct {
    char *text; /* which the names lie in */
    char *names[NAMED_MAX];
    tenon_bytes ders[NAMED_MAX];
    size_t count;
} library;

static library certificates, of_swtpm;

static void load(library *into, const char *file)
{
    char *text = test_vectors(file), *name, *value;
    into->text = text;
    while (test_line(&text, &name, &value) && into->count < NAMED_MAX) {
        into->names[into->count] = name;
        into->ders[into->count].bytes = test_hex_all(value, &into->ders[into->count].n);
        into->count++;
    }
}

static tenon_bytes find(const library *in, const char *name)
{
    for (size_t i = 0; i < in->count; i++)
        if (strcmp(in->names[i], name) == 0)
            return in->ders[i];
    fprintf(stderr, "there is no certificate %s\n", name);
    exit(2);
}

tenon_bytes certificate_named(const char *name)
{
    if (certificates.count == 0)
        load(&certificates, "certificates/certificates.txt");
    return find(&certificates, name);
}

tenon_bytes certificate_of_swtpm(const char *name)
{
    if (of_swtpm.count == 0)
        load(&of_swtpm, "certificates/swtpm.txt");
    return find(&of_swtpm, name);
}

static void give_back(const library *of)
{
    for (size_t i = 0; i < of->count; i++)
        free((void *)(uintptr_t)of->ders[i].bytes);
    free(of->text);
}

/* A leak checker looks when a process ends: this one's, and that of a test's child. */
__attribute__((destructor)) static void give_back_all(void)
{
    give_back(&certificates);
    give_back(&of_swtpm);
}

static size_t find_all(tenon_bytes *out, char *names)
{
    size_t count = 0;
    for (char *name = strtok(names, " "); name != NULL && count < CERTIFICATE_CASE_MAX; name = strtok(NULL, " "))
        out[count++] = certificate_named(name);
    return count;
}

static tenon_status result_of(const char *text)
{
    static const struct {
        const char *text;
        tenon_status status;
    } results[] = {
        {"OK", TENON_OK},
        {"24", TENON_RULE_24_CERTIFICATE},
        {"24a", TENON_RULE_24A_CRITICAL},
        {"31", TENON_RULE_31_EK_CERTIFICATE},
        {"32", TENON_RULE_32_EK_CHAIN},
        {"33", TENON_RULE_33_EK_KEY},
        {"33b", TENON_RULE_33B_NOT_OAEP},
        {"33a", TENON_RULE_33A_EK_ALLOWED},
    };
    for (size_t i = 0; i < sizeof results / sizeof *results; i++)
        if (strcmp(results[i].text, text) == 0)
            return results[i].status;
    fprintf(stderr, "there is no result %s\n", text);
    exit(2);
}

/* The lines of a case stand in one order, the result last. */
static void take_line(certificate_case *one, const char *name, char *value)
{
    if (strcmp(name, "Name") == 0)
        *one = (certificate_case){.name = value};
    else if (strcmp(name, "Chain") == 0)
        one->count = find_all(one->chain, value);
    else if (strcmp(name, "Roots") == 0)
        one->roots_count = find_all(one->roots, value);
    else if (strcmp(name, "Now") == 0)
        one->now = strtoll(value, NULL, 10);
    else if (strcmp(name, "Flags") == 0) {
        one->requires_usage = strcmp(value, "usage") == 0;
        one->allows_simulator = strcmp(value, "simulator") == 0;
    } else {
        one->result = result_of(value);
    }
}

void certificate_each_case(void (*visit)(const certificate_case *one))
{
    char *text = test_vectors("certificates/cases.txt"), *at = text, *name, *value;
    certificate_case one = {0};
    size_t count = 0;
    while (test_line(&at, &name, &value)) {
        take_line(&one, name, value);
        if (strcmp(name, "Result") != 0)
            continue;
        test_about("%s", one.name);
        visit(&one);
        count++;
    }
    test_about(NULL);
    CHECK(count >= 260);
    free(text);
}

bool certificate_case_is_due(const certificate_case *one, size_t *numbers)
{
    bool is_cheap = one->result == TENON_RULE_24_CERTIFICATE || one->result == TENON_RULE_24A_CRITICAL;
    return numbers[one->result % CERTIFICATE_RESULTS]++ % test_rounds(1, is_cheap ? 1 : 8) == 0;
}

static const char *wanted;
static certificate_case found;

static void keep(const certificate_case *one)
{
    if (strcmp(one->name, wanted) == 0)
        found = *one;
}

certificate_case certificate_case_named(const char *name)
{
    wanted = name;
    found.count = 0;
    certificate_each_case(keep);
    found.name = NULL;
    CHECK(found.count != 0);
    return found;
}

tenon_ek_policy certificate_case_policy(const certificate_case *one)
{
    return (tenon_ek_policy){
        .size = sizeof(tenon_ek_policy),
        .flags = (one->requires_usage ? (uint32_t)TENON_EK_REQUIRE_USAGE : 0) |
                 (one->allows_simulator ? (uint32_t)TENON_EK_ALLOW_SIMULATOR : 0),
        .roots = one->roots,
        .roots_count = one->roots_count,
        .now = one->now,
    };
}

tenon_status certificate_case_without(const certificate_case *one, tenon_status rule)
{
    enum { MOST = 16 };
    tenoni_ek_rule rules[MOST];
    size_t count = 0;
    tenon_ek_policy policy = certificate_case_policy(one);
    tenon_ek ek;
    for (size_t i = 0; i < tenoni_ek_rules_count; i++)
        if (tenoni_ek_rules[i].code != rule)
            rules[count++] = tenoni_ek_rules[i];
    CHECK_NUMBER(count, tenoni_ek_rules_count - 1);
    return tenoni_ek_verify(&ek, NULL, one->chain, one->count, &policy, rules, count);
}
