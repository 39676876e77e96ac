/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_LOG_H
#define TENONI_LOG_H

#include "base/bytes.h"
#include "keri/event.h"
#include "tenon/keri.h"

/* One event on its way into a log. */
typedef struct {
    const tenon_keri_state *before;
    tenon_keri_state after; /* filled by the rules that look at what it holds */
    uint32_t flags;
    tenoni_reader bytes;
    tenoni_reader attachment;
    tenoni_event event;
    tenon_signature signature;
    tenon_status failure; /* what kept a rule from being asked: no memory */
} tenoni_log_step;

typedef struct {
    tenon_status code;
    bool (*holds)(tenoni_log_step *step);
} tenoni_log_rule;

/* The rules of tenon_keri_append, in order. Tests leave one out. */
extern const tenoni_log_rule tenoni_log_rules[];
extern const size_t tenoni_log_rules_count;

tenon_status tenoni_log_append(tenon_keri_state *state, tenoni_reader event, tenoni_reader attachment, uint32_t flags,
                               const tenoni_log_rule *rules, size_t count);

#endif
