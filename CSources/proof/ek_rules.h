/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_EK_RULES_H
#define TENONI_EK_RULES_H

#include "base/bytes.h"
#include "proof/certificate.h"
#include "tenon/activate.h"

/* An EK certificate that is being verified: the arguments, and what was read. */
typedef struct {
    const tenon_bytes *chain;
    size_t count;
    const tenon_ek_policy *policy;
    tenon_status walked;     /* of the chain */
    tenoni_certificate leaf; /* once all forms are good */
    tenon_ek ek;             /* all but the key is the leaf's, the key is put there by rule 36 */
} tenoni_ek_verification;

/* A rule of tenon_ek_verify, like tenoni_rule of proof/rules.h: it relies on no other rule. */
typedef struct {
    tenon_status code;
    tenon_status (*holds)(tenoni_ek_verification *verification);
} tenoni_ek_rule;

/* All of them in order. */
extern const tenoni_ek_rule tenoni_ek_rules[];
extern const size_t tenoni_ek_rules_count;

/* tenon_ek_verify with these rules; a test leaves one out. */
tenon_status tenoni_ek_verify(tenon_ek *out, tenon_report *report, const tenon_bytes *chain, size_t count,
                              const tenon_ek_policy *policy, const tenoni_ek_rule *rules, size_t rules_count);

#endif
