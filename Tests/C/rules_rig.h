/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RULES_RIG_H
#define RULES_RIG_H

#include "test.h"

/*
 * Notes a case that breaks this rule: its name, the code that it should be refused with, what it was answered, and what
 * it was answered with the rule left out. A case that breaks none, of TENON_OK, is not noted.
 * rules_are_all_caught reads it; `make rules-table` prints it.
 */
void rules_note(tenon_status rule, tenon_status code, const char *name, tenon_status found, tenon_status without);

#endif
