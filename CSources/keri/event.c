/* SPDX-License-Identifier: Apache-2.0 */
#include "keri/event.h"

#include <string.h>

#include "base/secure.h"
#include "crypto/blake3.h"
#include "keri/cesr.h"

/*
 * There is one text of an event, so it is read as a text: no white space, no escapes, no other order. Field by field
 * nothing recurses, and nothing is copied.
 */

typedef bool (*read_function)(tenoni_reader *, tenoni_reader *);
typedef enum { TEXT, TEXTS, SEALS } value_form;

typedef struct {
    char name[3];
    uint8_t field;
    value_form form;
} field;

static bool skip(tenoni_reader *reader, const char *text)
{
    tenoni_reader part, after = *reader;
    size_t n = strlen(text);
    if (!tenoni_read_part(&after, &part, n) || !tenoni_equal(part.at, text, n))
        return false;
    *reader = after;
    return true;
}

static bool is_plain(uint8_t c)
{
    return c >= 0x20 && c <= 0x7e && c != '"' && c != '\\';
}

static bool read_text(tenoni_reader *reader, tenoni_reader *out)
{
    size_t n = 0;
    if (!skip(reader, "\""))
        return false;
    while (n < reader->left && is_plain(reader->at[n]))
        n++;
    return tenoni_read_part(reader, out, n) && skip(reader, "\"");
}

static bool read_elements(tenoni_reader *reader, tenoni_reader *out, read_function read)
{
    tenoni_reader element, content;
    if (!skip(reader, "["))
        return false;
    content = *reader;
    if (reader->left == 0 || *reader->at != ']') {
        do
            if (!read(reader, &element))
                return false;
        while (skip(reader, ","));
    }
    return tenoni_read_part(&content, out, content.left - reader->left) && skip(reader, "]");
}

static bool is_among(tenoni_reader name, const tenoni_reader *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (names[i].left == name.left && tenoni_equal(names[i].at, name.at, name.left))
            return true;
    return false;
}

/* Another reader would take the first or the last of two members with one name. */
static bool read_seal(tenoni_reader *reader, tenoni_reader *out)
{
    enum { MEMBERS_MAX = 16 };
    tenoni_reader names[MEMBERS_MAX], value;
    size_t n = 0;
    *out = *reader;
    if (!skip(reader, "{"))
        return false;
    do {
        if (n == MEMBERS_MAX || !read_text(reader, &names[n]) || is_among(names[n], names, n) || !skip(reader, ":") ||
            !read_text(reader, &value))
            return false;
        n++;
    } while (skip(reader, ","));
    return skip(reader, "}");
}

static bool read_value(tenoni_reader *reader, tenoni_reader *out, value_form form)
{
    switch (form) {
    case TEXT:
        return read_text(reader, out);
    case TEXTS:
        return read_elements(reader, out, read_text);
    case SEALS:
        return read_elements(reader, out, read_seal);
    }
    return false;
}

static const field inception[] = {{"d", TENONI_EVENT_SAID, TEXT},       {"i", TENONI_EVENT_IDENTIFIER, TEXT},
                                  {"s", TENONI_EVENT_SEQUENCE, TEXT},   {"kt", TENONI_EVENT_THRESHOLD, TEXT},
                                  {"k", TENONI_EVENT_KEYS, TEXTS},      {"nt", TENONI_EVENT_NEXT_THRESHOLD, TEXT},
                                  {"n", TENONI_EVENT_NEXT, TEXTS},      {"bt", TENONI_EVENT_WITNESS_COUNT, TEXT},
                                  {"b", TENONI_EVENT_WITNESSES, TEXTS}, {"c", TENONI_EVENT_TRAITS, TEXTS},
                                  {"a", TENONI_EVENT_ANCHORS, SEALS}};

static const field rotation[] = {{"d", TENONI_EVENT_SAID, TEXT},
                                 {"i", TENONI_EVENT_IDENTIFIER, TEXT},
                                 {"s", TENONI_EVENT_SEQUENCE, TEXT},
                                 {"p", TENONI_EVENT_PRIOR, TEXT},
                                 {"kt", TENONI_EVENT_THRESHOLD, TEXT},
                                 {"k", TENONI_EVENT_KEYS, TEXTS},
                                 {"nt", TENONI_EVENT_NEXT_THRESHOLD, TEXT},
                                 {"n", TENONI_EVENT_NEXT, TEXTS},
                                 {"bt", TENONI_EVENT_WITNESS_COUNT, TEXT},
                                 {"br", TENONI_EVENT_WITNESSES, TEXTS},
                                 {"ba", TENONI_EVENT_ADDED, TEXTS},
                                 {"a", TENONI_EVENT_ANCHORS, SEALS}};

static const field interaction[] = {{"d", TENONI_EVENT_SAID, TEXT},
                                    {"i", TENONI_EVENT_IDENTIFIER, TEXT},
                                    {"s", TENONI_EVENT_SEQUENCE, TEXT},
                                    {"p", TENONI_EVENT_PRIOR, TEXT},
                                    {"a", TENONI_EVENT_ANCHORS, SEALS}};

static const struct {
    char text[4];
    tenoni_event_type type;
    const field *fields;
    size_t count;
} types[] = {{"icp", TENONI_EVENT_INCEPTION, inception, sizeof inception / sizeof *inception},
             {"rot", TENONI_EVENT_ROTATION, rotation, sizeof rotation / sizeof *rotation},
             {"ixn", TENONI_EVENT_INTERACTION, interaction, sizeof interaction / sizeof *interaction}};

static bool read_version(tenoni_event *out, tenoni_reader *reader)
{
    uint8_t digit;
    if (!skip(reader, "{\"v\":\"KERI10JSON"))
        return false;
    for (size_t i = 0; i < TENONI_EVENT_SIZE_DIGITS; i++) {
        if (!tenoni_read_u8(reader, &digit))
            return false;
        bool is_decimal = digit >= '0' && digit <= '9';
        if (!is_decimal && (digit < 'a' || digit > 'f'))
            return false;
        out->stated_size = out->stated_size << 4 | (uint32_t)(is_decimal ? digit - '0' : digit - 'a' + 10);
    }
    return skip(reader, "_\"");
}

static bool read_fields(tenoni_event *out, tenoni_reader *reader, const field *fields, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!skip(reader, ",\"") || !skip(reader, fields[i].name) || !skip(reader, "\":") ||
            !read_value(reader, &out->fields[fields[i].field], fields[i].form))
            return false;
    return skip(reader, "}") && reader->left == 0;
}

void tenoni_event_read(tenoni_event *out, tenoni_reader event)
{
    tenoni_reader text;
    memset(out, 0, sizeof *out);
    out->has_version = read_version(out, &event);
    if (!out->has_version || !skip(&event, ",\"t\":") || !read_text(&event, &text))
        return;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (text.left == strlen(types[i].text) && tenoni_equal(text.at, types[i].text, text.left)) {
            out->type = types[i].type;
            out->has_form = read_fields(out, &event, types[i].fields, types[i].count);
        }
}

static void write_size(uint8_t *out, size_t n)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < TENONI_EVENT_SIZE_DIGITS; i++)
        out[i] = (uint8_t)digits[n >> 4 * (TENONI_EVENT_SIZE_DIGITS - 1 - i) & 0xf];
}

tenon_status tenoni_event_said(char *out, const uint8_t *event, size_t n, const size_t *offsets, size_t count)
{
    uint8_t size[TENONI_EVENT_SIZE_DIGITS], blank[TENON_KERI_SAID_SIZE];
    tenoni_blake3_stream stream;
    tenon_digest digest;
    size_t at = TENONI_EVENT_SIZE_AT + TENONI_EVENT_SIZE_DIGITS;
    memset(blank, '#', sizeof blank);
    write_size(size, n);
    tenoni_blake3_begin(&stream);
    tenoni_blake3_update(&stream, event, TENONI_EVENT_SIZE_AT);
    tenoni_blake3_update(&stream, size, sizeof size);
    for (size_t i = 0; i < count; i++) {
        tenoni_blake3_update(&stream, event + at, offsets[i] - at);
        tenoni_blake3_update(&stream, blank, sizeof blank);
        at = offsets[i] + sizeof blank;
    }
    tenoni_blake3_update(&stream, event + at, n - at);
    tenoni_blake3_finish(&stream, &digest);
    return tenoni_cesr_write_digest(out, &digest);
}

/* ---- The two events that a device makes ---- */

enum { OFFSETS_MAX = 2 };

/* An event in the making, and where its SAID has to stand. */
typedef struct {
    uint8_t bytes[TENON_KERI_ROTATION_MAX];
    tenoni_writer writer;
    size_t offsets[OFFSETS_MAX];
    size_t count;
} draft;

static void put(draft *event, const char *text)
{
    tenoni_write_bytes(&event->writer, text, strlen(text));
}

static void put_said(draft *event)
{
    char blank[TENON_KERI_SAID_SIZE];
    memset(blank, '#', sizeof blank);
    event->offsets[event->count++] = event->writer.used;
    tenoni_write_bytes(&event->writer, blank, sizeof blank);
}

static void begin(draft *event, const char *type)
{
    event->writer = tenoni_writer_over(event->bytes, sizeof event->bytes);
    event->count = 0;
    put(event, "{\"v\":\"KERI10JSON000000_\",\"t\":\"");
    put(event, type);
    put(event, "\",\"d\":\"");
    put_said(event);
    put(event, "\",\"i\":\"");
}

static tenon_status put_keys(draft *event, const tenon_public_key *key, const tenon_public_key *next)
{
    char key_text[TENON_KERI_KEY_SIZE], next_text[TENON_KERI_KEY_SIZE], commitment[TENON_KERI_SAID_SIZE];
    tenon_status status = tenoni_cesr_write_key(key_text, key);
    if (status == TENON_OK)
        status = tenoni_cesr_write_key(next_text, next);
    if (status == TENON_OK)
        status = tenoni_cesr_commit(commitment, next_text, sizeof next_text);
    if (status != TENON_OK)
        return status;
    put(event, "\",\"kt\":\"1\",\"k\":[\"");
    tenoni_write_bytes(&event->writer, key_text, sizeof key_text);
    put(event, "\"],\"nt\":\"1\",\"n\":[\"");
    tenoni_write_bytes(&event->writer, commitment, sizeof commitment);
    put(event, "\"],\"bt\":\"0\",");
    return TENON_OK;
}

static tenon_status end(draft *event, uint8_t *out, size_t n, size_t *written)
{
    char said[TENON_KERI_SAID_SIZE];
    put(event, "\"a\":[]}");
    if (event->writer.overflowed)
        return TENON_ERROR_TOO_LARGE;
    write_size(event->bytes + TENONI_EVENT_SIZE_AT, event->writer.used);
    tenon_status status = tenoni_event_said(said, event->bytes, event->writer.used, event->offsets, event->count);
    for (size_t i = 0; i < event->count; i++)
        memcpy(event->bytes + event->offsets[i], said, sizeof said);
    return status == TENON_OK ? tenoni_output_copy(out, n, written, event->bytes, event->writer.used) : status;
}

static bool is_one_key(const tenon_public_key *key, const tenon_public_key *next)
{
    return tenoni_equal(key->bytes, next->bytes, sizeof key->bytes);
}

tenon_status tenon_keri_inception(uint8_t *out, size_t n, size_t *written, const tenon_public_key *key,
                                  const tenon_public_key *next)
{
    draft event;
    if (written != NULL)
        *written = 0;
    if (key == NULL || next == NULL)
        return TENON_ERROR_NULL;
    if (is_one_key(key, next))
        return TENON_ERROR_NEXT_KEY;
    begin(&event, "icp");
    put_said(&event);
    put(&event, "\",\"s\":\"0");
    tenon_status status = put_keys(&event, key, next);
    put(&event, "\"b\":[],\"c\":[],");
    return status == TENON_OK ? end(&event, out, n, written) : status;
}

static void put_sequence(draft *event, uint64_t sequence)
{
    static const char digits[] = "0123456789abcdef";
    unsigned shift = 60;
    while (shift != 0 && sequence >> shift == 0)
        shift -= 4;
    for (;; shift -= 4) {
        tenoni_write_bytes(&event->writer, &digits[sequence >> shift & 0xf], 1);
        if (shift == 0)
            return;
    }
}

/* Whether a rotation may follow, and with this key. */
static tenon_status check_state(const tenon_keri_state *state, const tenon_public_key *key)
{
    char commitment[TENON_KERI_SAID_SIZE];
    size_t n;
    if (state->prefix[0] == '\0')
        return TENON_KERI_6_NO_INCEPTION;
    if (state->next[0] == '\0')
        return TENON_KERI_9_ENDED;
    if (state->sequence == UINT64_MAX)
        return TENON_KERI_12_SEQUENCE;
    tenon_status status = tenon_keri_key_digest(commitment, sizeof commitment, &n, key);
    if (status != TENON_OK)
        return status;
    return tenoni_equal(commitment, state->next, sizeof commitment) ? TENON_OK : TENON_KERI_24_COMMITMENT;
}

tenon_status tenon_keri_rotation(uint8_t *out, size_t n, size_t *written, const tenon_keri_state *state,
                                 const tenon_public_key *key, const tenon_public_key *next)
{
    draft event;
    if (written != NULL)
        *written = 0;
    if (state == NULL || key == NULL || next == NULL)
        return TENON_ERROR_NULL;
    tenon_status status = check_state(state, key);
    if (status != TENON_OK)
        return status;
    if (is_one_key(key, next))
        return TENON_ERROR_NEXT_KEY;
    begin(&event, "rot");
    tenoni_write_bytes(&event.writer, state->prefix, sizeof state->prefix);
    put(&event, "\",\"s\":\"");
    put_sequence(&event, state->sequence + 1);
    put(&event, "\",\"p\":\"");
    tenoni_write_bytes(&event.writer, state->said, sizeof state->said);
    status = put_keys(&event, key, next);
    put(&event, "\"br\":[],\"ba\":[],");
    return status == TENON_OK ? end(&event, out, n, written) : status;
}
