/* SPDX-License-Identifier: Apache-2.0 */
#include "keri/log.h"

#include <string.h>

#include "base/secure.h"
#include "keri/cesr.h"
#include "tenon/digest.h"
#include "tenon/encoding.h"
#include "tenon/p256.h"

static bool is_first(const tenoni_log_step *step)
{
    return step->before->prefix[0] == '\0';
}

static tenoni_reader field_of(const tenoni_log_step *step, size_t field)
{
    return step->event.fields[field];
}

static bool is_text(tenoni_reader found, const char *text, size_t n)
{
    return found.left == n && tenoni_equal(found.at, text, n);
}

static bool is(const tenoni_log_step *step, size_t field, const char *text)
{
    return is_text(field_of(step, field), text, strlen(text));
}

static bool establishes(const tenoni_log_step *step)
{
    return step->event.type != TENONI_EVENT_INTERACTION;
}

static bool size_holds(tenoni_log_step *step)
{
    return step->bytes.left >= 1 && step->bytes.left <= TENON_KERI_EVENT_MAX;
}

static bool signed_holds(tenoni_log_step *step)
{
    return step->attachment.left != 0;
}

static bool version_holds(tenoni_log_step *step)
{
    return step->event.has_version;
}

static bool stated_size_holds(tenoni_log_step *step)
{
    bool is_zero = step->event.stated_size == 0 && (step->flags & TENON_KERI_ALLOW_ZERO_SIZE) != 0;
    return step->event.stated_size == step->bytes.left || is_zero;
}

static bool type_holds(tenoni_log_step *step)
{
    return step->event.type != TENONI_EVENT_OTHER;
}

static bool inception_holds(tenoni_log_step *step)
{
    return !is_first(step) || step->event.type == TENONI_EVENT_INCEPTION;
}

static bool inception_once_holds(tenoni_log_step *step)
{
    return is_first(step) || step->event.type != TENONI_EVENT_INCEPTION;
}

static bool form_holds(tenoni_log_step *step)
{
    return step->event.has_form;
}

static bool not_ended_holds(tenoni_log_step *step)
{
    return is_first(step) || step->before->next[0] != '\0';
}

static bool rotations_only_holds(tenoni_log_step *step)
{
    return establishes(step) || (step->before->flags & TENON_KERI_ESTABLISHMENT_ONLY) == 0;
}

/* An inception was hashed before its identifier was known, unless the identifier is no digest. */
static bool said_holds(tenoni_log_step *step)
{
    tenoni_reader said = field_of(step, TENONI_EVENT_SAID), identifier = field_of(step, TENONI_EVENT_IDENTIFIER);
    size_t offsets[2], count = 0;
    if (said.left != TENON_KERI_SAID_SIZE)
        return false;
    offsets[count++] = (size_t)(said.at - step->bytes.at);
    if (step->event.type == TENONI_EVENT_INCEPTION && identifier.left == TENON_KERI_SAID_SIZE && *identifier.at == 'E')
        offsets[count++] = (size_t)(identifier.at - step->bytes.at);
    step->failure = tenoni_event_said(step->after.said, step->bytes.at, step->bytes.left, offsets, count);
    return step->failure == TENON_OK && is_text(said, step->after.said, sizeof step->after.said);
}

static bool read_sequence(uint64_t *out, tenoni_reader text)
{
    enum { DIGITS_MAX = 16 };
    if (text.left == 0 || text.left > DIGITS_MAX || (*text.at == '0' && text.left != 1))
        return false;
    *out = 0;
    for (size_t i = 0; i < text.left; i++) {
        uint8_t digit = text.at[i];
        bool is_decimal = digit >= '0' && digit <= '9';
        if (!is_decimal && (digit < 'a' || digit > 'f'))
            return false;
        *out = *out << 4 | (uint64_t)(is_decimal ? digit - '0' : digit - 'a' + 10);
    }
    return true;
}

static bool sequence_holds(tenoni_log_step *step)
{
    if (!read_sequence(&step->after.sequence, field_of(step, TENONI_EVENT_SEQUENCE)))
        return false;
    if (is_first(step))
        return step->after.sequence == 0;
    return step->before->sequence != UINT64_MAX && step->after.sequence == step->before->sequence + 1;
}

static bool identifier_holds(tenoni_log_step *step)
{
    const tenon_keri_state *before = step->before;
    return is_first(step) || is_text(field_of(step, TENONI_EVENT_IDENTIFIER), before->prefix, sizeof before->prefix);
}

static bool prior_holds(tenoni_log_step *step)
{
    const tenon_keri_state *before = step->before;
    return is_first(step) || is_text(field_of(step, TENONI_EVENT_PRIOR), before->said, sizeof before->said);
}

/* The only text of a list: without its quotes. */
static bool only_text(tenoni_reader *out, tenoni_reader list, size_t n)
{
    tenoni_reader quote;
    return list.left == n + 2 && tenoni_read_part(&list, &quote, 1) && tenoni_read_part(&list, out, n);
}

static bool is_internal(tenon_status status)
{
    return tenon_status_category(status) == TENON_CATEGORY_INTERNAL;
}

static bool key_holds(tenoni_log_step *step)
{
    tenoni_reader text;
    if (!establishes(step))
        return true;
    if (!only_text(&text, field_of(step, TENONI_EVENT_KEYS), TENON_KERI_KEY_SIZE))
        return false;
    tenon_status status = tenoni_cesr_read_key(&step->after.key, text);
    step->failure = is_internal(status) ? status : TENON_OK;
    return status == TENON_OK;
}

static bool attachment_holds(tenoni_log_step *step)
{
    return tenoni_cesr_read_attachment(&step->signature, step->attachment) == TENON_OK;
}

static bool low_s_holds(tenoni_log_step *step)
{
    return (step->flags & TENON_KERI_ALLOW_HIGH_S) != 0 || tenon_signature_is_low_s(&step->signature) != 0;
}

static bool signature_holds(tenoni_log_step *step)
{
    tenon_digest digest;
    tenon_status status = tenon_sha256(&digest, step->bytes.at, step->bytes.left);
    if (status == TENON_OK)
        status = tenon_p256_verify(&step->after.key, &digest, &step->signature);
    step->failure = is_internal(status) ? status : TENON_OK;
    return status == TENON_OK;
}

static bool self_certifying_holds(tenoni_log_step *step)
{
    tenoni_reader said = field_of(step, TENONI_EVENT_SAID);
    if (!is_first(step))
        return true;
    if (said.left != sizeof step->after.prefix)
        return false;
    memcpy(step->after.prefix, said.at, said.left);
    return is_text(field_of(step, TENONI_EVENT_IDENTIFIER), step->after.prefix, sizeof step->after.prefix);
}

static bool witnesses_hold(tenoni_log_step *step)
{
    return !establishes(step) ||
           (is(step, TENONI_EVENT_WITNESS_COUNT, "0") && field_of(step, TENONI_EVENT_WITNESSES).left == 0 &&
            field_of(step, TENONI_EVENT_ADDED).left == 0);
}

static bool threshold_holds(tenoni_log_step *step)
{
    bool goes_on = field_of(step, TENONI_EVENT_NEXT).left != 0;
    return !establishes(step) ||
           (is(step, TENONI_EVENT_THRESHOLD, "1") && is(step, TENONI_EVENT_NEXT_THRESHOLD, goes_on ? "1" : "0"));
}

static bool next_holds(tenoni_log_step *step)
{
    tenoni_reader list = field_of(step, TENONI_EVENT_NEXT), text;
    if (!establishes(step))
        return true;
    memset(step->after.next, 0, sizeof step->after.next);
    if (list.left == 0)
        return true;
    if (!only_text(&text, list, TENON_KERI_SAID_SIZE) || !tenoni_cesr_is_digest(text))
        return false;
    memcpy(step->after.next, text.at, sizeof step->after.next);
    return true;
}

/* Takes this trait off if the unread traits begin with it. */
static bool take_trait(tenoni_reader *traits, const char *quoted)
{
    tenoni_reader trait;
    size_t n = strlen(quoted);
    if (traits->left < n || !tenoni_equal(traits->at, quoted, n))
        return false;
    return tenoni_read_part(traits, &trait, n) && (traits->left == 0 || tenoni_read_part(traits, &trait, 1));
}

static bool traits_hold(tenoni_log_step *step)
{
    static const char known[][6] = {"\"EO\"", "\"DND\"", "\"RB\"", "\"NRB\""};
    tenoni_reader traits = field_of(step, TENONI_EVENT_TRAITS);
    uint32_t found = 0;
    while (traits.left != 0) {
        size_t i = 0;
        while (i < sizeof known / sizeof *known && !take_trait(&traits, known[i]))
            i++;
        if (i == sizeof known / sizeof *known || (found & 1u << i) != 0)
            return false;
        found |= 1u << i;
    }
    if (step->event.type == TENONI_EVENT_INCEPTION)
        step->after.flags = found & TENON_KERI_ESTABLISHMENT_ONLY;
    return true;
}

static bool commitment_holds(tenoni_log_step *step)
{
    char commitment[TENON_KERI_SAID_SIZE];
    tenoni_reader key;
    if (is_first(step) || !establishes(step))
        return true;
    if (!only_text(&key, field_of(step, TENONI_EVENT_KEYS), TENON_KERI_KEY_SIZE))
        return false;
    step->failure = tenoni_cesr_commit(commitment, key.at, key.left);
    return step->failure == TENON_OK && tenoni_equal(commitment, step->before->next, sizeof commitment);
}

const tenoni_log_rule tenoni_log_rules[] = {
    {TENON_KERI_1_SIZE, size_holds},
    {TENON_KERI_2_UNSIGNED, signed_holds},
    {TENON_KERI_3_VERSION, version_holds},
    {TENON_KERI_4_STATED_SIZE, stated_size_holds},
    {TENON_KERI_5_TYPE, type_holds},
    {TENON_KERI_6_NO_INCEPTION, inception_holds},
    {TENON_KERI_7_INCEPTION_AGAIN, inception_once_holds},
    {TENON_KERI_8_FORM, form_holds},
    {TENON_KERI_9_ENDED, not_ended_holds},
    {TENON_KERI_10_ROTATIONS_ONLY, rotations_only_holds},
    {TENON_KERI_11_SAID, said_holds},
    {TENON_KERI_12_SEQUENCE, sequence_holds},
    {TENON_KERI_13_IDENTIFIER, identifier_holds},
    {TENON_KERI_14_PRIOR, prior_holds},
    {TENON_KERI_15_KEY, key_holds},
    {TENON_KERI_16_ATTACHMENT, attachment_holds},
    {TENON_KERI_17_LOW_S, low_s_holds},
    {TENON_KERI_18_SIGNATURE, signature_holds},
    {TENON_KERI_19_SELF_CERTIFYING, self_certifying_holds},
    {TENON_KERI_20_WITNESSES, witnesses_hold},
    {TENON_KERI_21_THRESHOLD, threshold_holds},
    {TENON_KERI_22_NEXT, next_holds},
    {TENON_KERI_23_TRAITS, traits_hold},
    {TENON_KERI_24_COMMITMENT, commitment_holds},
};
const size_t tenoni_log_rules_count = sizeof tenoni_log_rules / sizeof *tenoni_log_rules;

tenon_status tenoni_log_append(tenon_keri_state *state, tenoni_reader event, tenoni_reader attachment, uint32_t flags,
                               const tenoni_log_rule *rules, size_t count)
{
    tenoni_log_step step = {.before = state, .after = *state, .flags = flags, .bytes = event, .attachment = attachment};
    if (event.left <= TENON_KERI_EVENT_MAX)
        tenoni_event_read(&step.event, event);
    for (size_t i = 0; i < count; i++)
        if (!rules[i].holds(&step))
            return step.failure != TENON_OK ? step.failure : rules[i].code;
    *state = step.after;
    return TENON_OK;
}

tenon_status tenon_keri_append(tenon_keri_state *state, const uint8_t *event, size_t n, const char *attachment,
                               size_t attachment_n, uint32_t flags)
{
    enum { ATTACHMENT_MAX = TENON_KERI_ATTACHMENT_SIZE + 4 };
    uint8_t bytes[ATTACHMENT_MAX + 1];
    if (state == NULL || (event == NULL && n != 0) || (attachment == NULL && attachment_n != 0))
        return TENON_ERROR_NULL;
    if ((flags & ~(uint32_t)(TENON_KERI_ALLOW_ZERO_SIZE | TENON_KERI_ALLOW_HIGH_S)) != 0)
        return TENON_ERROR_FLAGS;
    /* A text that is longer than any attachment is refused in the same way if one byte more of it is read. */
    size_t kept = attachment_n < sizeof bytes ? attachment_n : sizeof bytes;
    if (kept != 0)
        memcpy(bytes, attachment, kept);
    return tenoni_log_append(state, tenoni_reader_over(event, n), tenoni_reader_over(bytes, kept), flags,
                             tenoni_log_rules, tenoni_log_rules_count);
}

tenon_status tenon_keri_did(char *out, size_t n, size_t *written, const tenon_keri_state *state)
{
    static const char method[] = "did:keri:";
    char did[TENON_KERI_DID_SIZE];
    if (written != NULL)
        *written = 0;
    if (state == NULL)
        return TENON_ERROR_NULL;
    if (state->prefix[0] == '\0')
        return TENON_ERROR_EMPTY;
    memcpy(did, method, sizeof method - 1);
    memcpy(did + sizeof method - 1, state->prefix, sizeof state->prefix);
    return tenoni_output_copy(out, n, written, did, sizeof did);
}
