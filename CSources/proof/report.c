/* SPDX-License-Identifier: Apache-2.0 */
#include "proof/report.h"

#include <string.h>

void tenoni_report_begin(tenon_report *report)
{
    if (report == NULL)
        return;
    memset(report, 0, sizeof *report);
    report->verdict = TENON_RULE_23A_SIGNATURE;
}

void tenoni_report_add(tenon_report *report, tenon_status rule, uint32_t held)
{
    if (report != NULL && report->count < TENON_REPORT_MAX)
        report->checks[report->count++] = (tenon_check){.rule = rule, .held = held};
}

tenon_status tenoni_report_end(tenon_report *report, tenon_status verdict)
{
    if (report != NULL)
        report->verdict = verdict;
    return verdict;
}

tenon_status tenoni_verdict(bool holds, tenon_status rule)
{
    return holds ? TENON_OK : rule;
}

tenon_status tenoni_as_rule(tenon_status status, tenon_status rule)
{
    return status == TENON_OK || tenon_status_category(status) == TENON_CATEGORY_INTERNAL ? status : rule;
}
