/* SPDX-License-Identifier: Apache-2.0 */
#include "certificate_rig.h"
#include "proof/ek_rules.h"

/*
 * Each case breaks one rule of tenon_ek_verify. With this rule left out it has to be accepted, or refused by a later
 * one; with any other left out it has to fare as before.
 */

/* After all of them if it was accepted. */
static size_t place(tenon_status status)
{
    size_t i = 0;
    while (i < tenoni_ek_rules_count && tenoni_ek_rules[i].code != status)
        i++;
    CHECK(i < tenoni_ek_rules_count || status == TENON_OK);
    return i;
}

static void check_without(const certificate_case *one)
{
    static size_t number;
    if (number++ % test_rounds(1, 31) != 0)
        return;
    for (size_t i = 0; i < tenoni_ek_rules_count; i++) {
        tenon_status rule = tenoni_ek_rules[i].code, found = certificate_case_without(one, rule);
        test_about("%s, without %s", one->name, tenon_status_name(rule));
        if (rule == one->result)
            CHECK(place(found) > place(rule));
        else
            CHECK_STATUS(found, one->result);
    }
}

TEST(ek_no_rule_does_the_work_of_another) { certificate_each_case(check_without); }

static size_t broken[16];

static void count_result(const certificate_case *one) { broken[place(one->result)]++; }

TEST(ek_each_rule_has_cases)
{
    certificate_each_case(count_result);
    for (size_t i = 0; i < tenoni_ek_rules_count; i++) {
        test_about("%s", tenon_status_name(tenoni_ek_rules[i].code));
        CHECK(broken[i] >= 2);
    }
}

static size_t accepted[16];

static void count_accepted(const certificate_case *one)
{
    if (one->result != TENON_OK)
        accepted[place(one->result)] += certificate_case_without(one, one->result) == TENON_OK;
}

/* Rules 22 and 23 leave nothing for later rules, and a key for OAEP has no kind. */
TEST(ek_each_other_rule_alone_refuses)
{
    certificate_each_case(count_accepted);
    for (size_t i = 0; i < tenoni_ek_rules_count; i++) {
        tenon_status rule = tenoni_ek_rules[i].code;
        bool is_backed =
            rule == TENON_RULE_22_CERTIFICATE || rule == TENON_RULE_23_CRITICAL || rule == TENON_RULE_35_NOT_OAEP;
        test_about("%s", tenon_status_name(rule));
        CHECK((accepted[i] == 0) == is_backed);
    }
}
