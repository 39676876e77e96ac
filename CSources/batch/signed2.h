/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_SIGNED2_H
#define TENONI_SIGNED2_H

#include "base/bytes.h"
#include "tenon/batch/batch.h"

/* What a rule of tenon_signed2_read looks at. bytes: what the base64 of Signature holds, as far as it was decoded. */
typedef struct {
    tenon_signed2 *out;
    tenoni_reader input;
    tenoni_reader signature;
} tenoni_signed2_texts;

/*
 * A rule: its code, and whether it holds. It fills in what it read, also when it does not hold, as far as that goes, so
 * that a test may leave a rule out and see what the later ones say.
 */
typedef struct {
    tenon_status code;
    bool (*holds)(tenoni_signed2_texts *texts);
} tenoni_signed2_rule;

extern const tenoni_signed2_rule tenoni_signed2_rules[];
extern const size_t tenoni_signed2_rules_count;

/* tenon_signed2_read with these rules, in their order. */
tenon_status tenoni_signed2_read(tenon_signed2 *out, tenoni_reader input, tenoni_reader signature,
                                 const tenoni_signed2_rule *rules, size_t count);

#endif
