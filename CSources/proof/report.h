/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_REPORT_H
#define TENONI_REPORT_H

#include <stdbool.h>

#include "tenon/verify.h"

/* What is written down while a proof is checked; report may be NULL. */

/* tenon_check.held */
enum { TENONI_NOT_HELD = 0, TENONI_HELD = 1, TENONI_NOTED = 2 };

/* Until tenoni_report_end says otherwise the verdict is a refusal. */
void tenoni_report_begin(tenon_report *report);
void tenoni_report_add(tenon_report *report, tenon_status rule, uint32_t held);

/* Answers the verdict. */
tenon_status tenoni_report_end(tenon_report *report, tenon_status verdict);

tenon_status tenoni_verdict(bool holds, tenon_status rule);

/* What a check of another module means here: what is not the proof's fault stays what it is. */
tenon_status tenoni_as_rule(tenon_status status, tenon_status rule);

#endif
