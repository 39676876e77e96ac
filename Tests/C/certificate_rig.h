/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CERTIFICATE_RIG_H
#define CERTIFICATE_RIG_H

#include "internal/certificate.h"
#include "tenon/activate.h"
#include "test.h"

/* The vectors of Tests/Vectors/certificates. */

/* The DER of one, of certificates.txt or swtpm.txt; an unknown name ends the run. It lives as long as the program. */
tenon_bytes certificate_named(const char *name);
tenon_bytes certificate_of_swtpm(const char *name);

enum { CERTIFICATE_CASE_MAX = 8 };

typedef struct {
    char *name;
    tenon_bytes chain[CERTIFICATE_CASE_MAX];
    size_t count;
    tenon_bytes roots[CERTIFICATE_CASE_MAX];
    size_t roots_count;
    int64_t now;
    bool requires_usage;
    bool allows_simulator;
    tenon_status result; /* of tenon_ek_verify */
} certificate_case;

/* Calls visit for each of cases.txt. */
void certificate_each_case(void (*visit)(const certificate_case *one));

/*
 * Whether a table has to try this case: all of them, but in a quick run of those that cost a signature only some for
 * each result, the first among them. numbers are the table's own, zeros at first.
 */
enum { CERTIFICATE_RESULTS = 0x200 };
bool certificate_case_is_due(const certificate_case *one, size_t *numbers);

/* One of them, by its name. */
certificate_case certificate_case_named(const char *name);

/* What it asks for. */
tenon_ek_policy certificate_case_policy(const certificate_case *one);

/* What tenon_ek_verify would say of it without this rule. */
tenon_status certificate_case_without(const certificate_case *one, tenon_status rule);

enum { CERTIFICATE_NOW = 1800000000 };

#endif
