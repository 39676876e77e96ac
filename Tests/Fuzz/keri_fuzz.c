/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"
#include "keri/log.h"
#include "tenon/keri.h"

/*
 * Input: an attachment, the control character 1F, and an event. Chance finds neither a digest nor a signature, so the
 * event is also judged by the rules without these two.
 */
enum { SEPARATOR = 0x1F, RULES_MAX = 32 };

/* A log whose last event committed to the second key of auths-kel-p256.json. */
static tenon_keri_state after_inception(void)
{
    static const char prefix[] = "EKiCzlm2xHzI6WIBcGlo0zlyQ3cSxtmwpNGES_A0VxAD";
    static const char next[] = "ELCwA9jgwPz_kL1PI3zaKTqKL3-JHy1dHgUVPepkYMmP";
    tenon_keri_state state = {.sequence = 0};
    memcpy(state.prefix, prefix, sizeof state.prefix);
    memcpy(state.said, prefix, sizeof state.said);
    memcpy(state.next, next, sizeof state.next);
    return state;
}

static size_t rules_without_luck(tenoni_log_rule *out)
{
    size_t count = 0;
    for (size_t i = 0; i < tenoni_log_rules_count; i++) {
        tenon_status code = tenoni_log_rules[i].code;
        if (code != TENON_KERI_11_SAID && code != TENON_KERI_18_SIGNATURE)
            out[count++] = tenoni_log_rules[i];
    }
    return count;
}

/* What was taken is a state that a rotation may follow, or that says why none may. */
static void must_be_state(const tenon_keri_state *state, uint64_t sequence)
{
    uint8_t event[TENON_KERI_ROTATION_MAX];
    size_t n;
    MUST(state->sequence == sequence);
    MUST((state->flags & ~(uint32_t)TENON_KERI_ESTABLISHMENT_ONLY) == 0);
    MUST(state->next[0] == 'E' || fuzz_all(state->next, sizeof state->next, 0));
    tenon_status status = tenon_keri_rotation(event, sizeof event, &n, state, &state->key, &state->key);
    if (state->next[0] == '\0')
        MUST(status == TENON_KERI_9_ENDED);
    else
        MUST(status == TENON_KERI_24_COMMITMENT || status == TENON_ERROR_NEXT_KEY);
}

static void judge(tenon_keri_state state, tenoni_reader event, tenoni_reader attachment)
{
    static const uint32_t flags[] = {0, TENON_KERI_ALLOW_ZERO_SIZE | TENON_KERI_ALLOW_HIGH_S};
    tenoni_log_rule rules[RULES_MAX];
    const size_t count = rules_without_luck(rules);
    const tenon_keri_state before = state;
    const uint64_t sequence = before.prefix[0] == '\0' ? 0 : before.sequence + 1;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        tenon_status whole =
            tenoni_log_append(&state, event, attachment, flags[i], tenoni_log_rules, tenoni_log_rules_count);
        tenon_keri_state lucky = before;
        tenon_status without = tenoni_log_append(&lucky, event, attachment, flags[i], rules, count);
        MUST(whole == TENON_OK || tenon_status_category(whole) == TENON_CATEGORY_REJECTED);
        MUST(whole == without || whole == TENON_KERI_11_SAID || whole == TENON_KERI_18_SIGNATURE);
        if (whole == TENON_OK)
            must_be_state(&state, sequence);
        else
            MUST(memcmp(&state, &before, sizeof before) == 0);
        if (without == TENON_OK)
            must_be_state(&lucky, sequence);
        else
            MUST(memcmp(&lucky, &before, sizeof before) == 0);
        state = before;
    }
}

FUZZ_TARGET(data, n)
{
    static const tenon_keri_state empty;
    const uint8_t *end = n == 0 ? NULL : memchr(data, SEPARATOR, n);
    const size_t attachment_n = end == NULL ? 0 : (size_t)(end - data);
    const size_t event_n = end == NULL ? n : n - attachment_n - 1;
    OWNED uint8_t *attachment = fuzz_copy(data, attachment_n);
    OWNED uint8_t *event = fuzz_copy(data + n - event_n, event_n);
    judge(empty, tenoni_reader_over(event, event_n), tenoni_reader_over(attachment, attachment_n));
    judge(after_inception(), tenoni_reader_over(event, event_n), tenoni_reader_over(attachment, attachment_n));
}
