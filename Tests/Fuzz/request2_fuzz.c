/* SPDX-License-Identifier: Apache-2.0 */
#include "batch/request2.h"
#include "fuzz.h"
#include "tenon/batch/batch.h"

/*
 * Input: the texts of a request, a line each, and a last line that damages what is sent. A device signs the request and
 * sends it; a verifier reads it with a parser of its own. What is read is what was signed. After the damage it is
 * refused, has another digest, or is still the same request in each part.
 */

enum { METHOD, AUTHORITY, PATH, QUERY, TYPE, ENCODING, APP, DEVICE, DAMAGE, PARTS };

typedef struct {
    tenon_text parts[DAMAGE];
    tenon_text digest;
    tenon_text input;
} message;

static const char nonce[] = "d8f6c9a2-4f1b-4c5e-9a3d-0b7e6f5a4c3d";
static const char keyid[] = "DOvxvJiAdIqVWIkFt5hDtCunXLF0BV4-JGv4f-ALSm0";

static tenon_request2 request_of(const message *m, uint32_t form)
{
    return (tenon_request2){
        .method = m->parts[METHOD],
        .authority = m->parts[AUTHORITY],
        .path = m->parts[PATH],
        .query = m->parts[QUERY],
        .content_type = m->parts[TYPE],
        .content_encoding = m->parts[ENCODING],
        .app_id = m->parts[APP],
        .device_id = m->parts[DEVICE],
        .nonce = {nonce, sizeof nonce - 1},
        .keyid = {keyid, sizeof keyid - 1},
        .created = 1790000000,
        .expires = 1790000300,
        .form = form,
    };
}

/* ---- What a device sends ---- */

typedef struct {
    char *text;
    size_t n;
} wire;

static void add(wire *w, const char *text, size_t n)
{
    memcpy(w->text + w->n, text, n);
    w->n += n;
}

static const char *const names[] = {NULL,       "Host",       NULL, NULL, "Content-Type", "Content-Encoding",
                                    "X-App-ID", "X-Device-ID"};

static void add_header(wire *w, const char *name, tenon_text value)
{
    if (name == NULL || value.text == NULL)
        return;
    add(w, name, strlen(name));
    add(w, ": ", 2);
    add(w, value.text, value.n);
    add(w, "\r\n", 2);
}

/* RFC 9112, 3 and 5. A query that is only its question mark is not sent. */
static void write_request(wire *w, const message *m)
{
    const tenon_text *query = &m->parts[QUERY];
    add(w, m->parts[METHOD].text, m->parts[METHOD].n);
    add(w, " ", 1);
    add(w, m->parts[PATH].text, m->parts[PATH].n);
    add(w, query->text, query->n == 1 ? 0 : query->n);
    add(w, " HTTP/1.1\r\n", 11);
    for (size_t i = 0; i < DAMAGE; i++)
        add_header(w, names[i], m->parts[i]);
    add_header(w, "Content-Digest", m->digest);
    add_header(w, "Signature-Input", m->input);
    add(w, "\r\n", 2);
}

/* ---- What a verifier reads ---- */

/* The text before a separator, which is taken as well; NULL if it does not come. */
static tenon_text take(tenon_text *rest, const char *separator)
{
    const size_t n = strlen(separator);
    for (size_t i = 0; i + n <= rest->n; i++)
        if (memcmp(rest->text + i, separator, n) == 0) {
            const tenon_text taken = {rest->text, i};
            *rest = (tenon_text){rest->text + i + n, rest->n - i - n};
            return taken;
        }
    return (tenon_text){NULL, 0};
}

static char lower(char c) { return (char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c); }

static bool is_name(tenon_text name, const char *wanted)
{
    if (wanted == NULL || name.n != strlen(wanted))
        return false;
    for (size_t i = 0; i < name.n; i++)
        if (lower(name.text[i]) != lower(wanted[i]))
            return false;
    return true;
}

static bool is_space(char c) { return c == ' ' || c == '\t'; }

/* Puts a header where it belongs. One that comes twice is refused; one that nobody asks for is passed over. */
static bool put(message *m, tenon_text name, tenon_text value)
{
    tenon_text *place = NULL;
    for (size_t i = 0; i < DAMAGE; i++)
        if (is_name(name, names[i]))
            place = &m->parts[i];
    if (is_name(name, "Content-Digest"))
        place = &m->digest;
    if (is_name(name, "Signature-Input"))
        place = &m->input;
    while (value.n > 0 && is_space(value.text[0]))
        value = (tenon_text){value.text + 1, value.n - 1};
    while (value.n > 0 && is_space(value.text[value.n - 1]))
        value.n--;
    if (place != NULL && place->text != NULL)
        return false;
    if (place != NULL)
        *place = value;
    return true;
}

/* RFC 9112, 3: the target is split at its first question mark. */
static bool read_line(message *m, tenon_text line)
{
    static const char lone[] = "?";
    m->parts[METHOD] = take(&line, " ");
    tenon_text target = take(&line, " ");
    if (m->parts[METHOD].text == NULL || target.text == NULL || line.n != 8 || memcmp(line.text, "HTTP/1.1", 8) != 0)
        return false;
    const tenon_text whole = target;
    m->parts[PATH] = take(&target, "?");
    m->parts[QUERY] = (tenon_text){target.text - 1, target.n + 1};
    if (m->parts[PATH].text == NULL) {
        m->parts[PATH] = whole;
        m->parts[QUERY] = (tenon_text){lone, 1};
    }
    return true;
}

static bool read_request(message *m, const wire *w)
{
    tenon_text rest = {w->text, w->n};
    memset(m, 0, sizeof *m);
    tenon_text line = take(&rest, "\r\n");
    if (line.text == NULL || !read_line(m, line))
        return false;
    for (line = take(&rest, "\r\n"); line.text != NULL && line.n != 0; line = take(&rest, "\r\n")) {
        const tenon_text name = take(&line, ":");
        if (name.text == NULL || name.n == 0 || !put(m, name, line))
            return false;
    }
    return line.text != NULL && rest.n == 0 && m->digest.text != NULL && m->input.text != NULL;
}

/* As a verifier does it: the reader of Signature-Input, then the digest of the request as it came. */
static bool verified_digest(tenon_digest *digest, const message *m)
{
    static const uint8_t pair[68] = {[31] = 1, [63] = 1, [65] = 1};
    char value[TENON_SIGNATURE_VALUE_MAX];
    size_t n;
    tenon_signed2 read;
    tenon_request2 request = request_of(m, TENON_FORM_PLAIN);
    const char tag[] = "tenon-batch\"";
    const bool is_batch =
        m->input.n >= sizeof tag && memcmp(m->input.text + m->input.n - sizeof tag + 1, tag, sizeof tag - 1) == 0;
    MUST(tenoni_signature_value(value, sizeof value, &n, pair, is_batch ? 68 : 64) == TENON_OK);
    return tenon_content_digest_read(&request.content, m->digest.text, m->digest.n) == TENON_OK &&
           tenon_signed2_read(&read, m->input.text, m->input.n, value, n) == TENON_OK &&
           tenon_signed2_digest(&read, digest, &request) == TENON_OK;
}

static void must_be_same(const message *a, const message *b)
{
    for (size_t i = 0; i < DAMAGE; i++) {
        const tenon_text *one = &a->parts[i], *other = &b->parts[i];
        MUST((one->text == NULL) == (other->text == NULL) && one->n == other->n);
        MUST(one->n == 0 || memcmp(one->text, other->text, one->n) == 0);
    }
    MUST(a->digest.n == b->digest.n && memcmp(a->digest.text, b->digest.text, a->digest.n) == 0);
    MUST(a->input.n == b->input.n && memcmp(a->input.text, b->input.text, a->input.n) == 0);
}

/* ---- On the way ---- */

/* Three bytes say where a byte is changed, added or taken away; any number of them follow one another. */
static void damage(wire *w, tenon_text orders)
{
    for (; orders.n >= 3; orders = (tenon_text){orders.text + 3, orders.n - 3}) {
        const uint8_t *order = (const uint8_t *)orders.text;
        const size_t at = (order[0] * 256u + order[1]) % (w->n + 1);
        char *place = w->text + at;
        switch (order[1] % 3) {
        case 0:
            if (at < w->n)
                *place = (char)order[2];
            break;
        case 1:
            memmove(place + 1, place, w->n++ - at);
            *place = (char)order[2];
            break;
        default:
            if (at < w->n)
                memmove(place, place + 1, --w->n - at);
        }
    }
}

static void must_be_read_as_signed(const message *m, const tenon_digest *digest, tenon_text orders, size_t room)
{
    OWNED char *text = fuzz_room(room);
    wire w = {text, 0};
    message read_back;
    tenon_digest again;
    write_request(&w, m);
    MUST(read_request(&read_back, &w));
    must_be_same(m, &read_back);
    MUST(verified_digest(&again, &read_back));
    MUST(memcmp(&again, digest, sizeof again) == 0);
    damage(&w, orders);
    if (read_request(&read_back, &w) && verified_digest(&again, &read_back) &&
        memcmp(&again, digest, sizeof again) == 0)
        must_be_same(m, &read_back);
}

FUZZ_TARGET(data, n)
{
    OWNED char *text = fuzz_copy(data, n);
    tenon_text rest = {text, n}, parts[PARTS] = {{NULL, 0}};
    message m = {0};
    char digest_text[TENON_CONTENT_DIGEST_SIZE], input[TENON_SIGNATURE_INPUT_MAX];
    size_t written, input_n;
    tenon_digest digest;
    for (size_t i = 0; i < DAMAGE; i++)
        parts[i] = take(&rest, "\n");
    parts[DAMAGE] = rest;
    for (size_t i = 0; i < DAMAGE; i++)
        m.parts[i] = (i == TYPE || i == ENCODING) && parts[i].n == 0 ? (tenon_text){NULL, 0} : parts[i];
    tenon_request2 request = request_of(&m, n % 2 == 0 ? TENON_FORM_PLAIN : TENON_FORM_BATCH);
    if (n >= sizeof request.content)
        memcpy(&request.content, data, sizeof request.content);
    if (tenon_request2_input(input, sizeof input, &input_n, &digest, &request) != TENON_OK)
        return;
    MUST(tenon_content_digest(digest_text, sizeof digest_text, &written, &request.content) == TENON_OK);
    m.digest = (tenon_text){digest_text, written};
    m.input = (tenon_text){input, input_n};
    must_be_read_as_signed(&m, &digest, parts[DAMAGE], n + sizeof digest_text + sizeof input + 256);
}
