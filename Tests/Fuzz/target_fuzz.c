/* SPDX-License-Identifier: Apache-2.0 */
#include "base/target.h"
#include "batch/request2.h"
#include "fuzz.h"
#include "tenon/batch/batch.h"

/*
 * Input: authority, path and query, with spaces between them. What is signed is read by nobody otherwise: a text that
 * passes is what RFC 3986's own normalisation makes of it, computed here in another way.
 */

static bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F') || (c >= 'a' && c <= 'f'); }

static unsigned value_of(char c) { return (unsigned)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10); }

static bool is_unreserved(unsigned c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
           c == '_' || c == '~';
}

/* RFC 3986, 6.2.2.1 and 6.2.2.2: escapes in upper case, and none of what is unreserved. */
static size_t normal_escapes(char *out, const char *text, size_t n)
{
    size_t written = 0;
    for (size_t i = 0; i < n; i++) {
        if (text[i] != '%' || n - i < 3 || !is_hex(text[i + 1]) || !is_hex(text[i + 2])) {
            out[written++] = text[i];
            continue;
        }
        const unsigned c = value_of(text[i + 1]) << 4 | value_of(text[i + 2]);
        if (is_unreserved(c)) {
            out[written++] = (char)c;
        } else {
            static const char digits[] = "0123456789ABCDEF";
            out[written++] = '%';
            out[written++] = digits[c >> 4];
            out[written++] = digits[c & 15];
        }
        i += 2;
    }
    return written;
}

static bool is_segment(const char *text, size_t n, const char *segment)
{
    return n == strlen(segment) && memcmp(text, segment, n) == 0;
}

/* RFC 3986, 5.2.4, for a path that begins with a slash: an output stack of segments. */
static size_t without_dots(char *out, const char *path, size_t n)
{
    size_t written = 0, from = 1;
    while (from <= n) {
        size_t end = from;
        while (end < n && path[end] != '/')
            end++;
        const bool last = end == n, up = is_segment(path + from, end - from, "..");
        if (up)
            while (written > 0 && out[--written] != '/')
                continue;
        if (up || is_segment(path + from, end - from, ".")) {
            if (last)
                out[written++] = '/';
        } else {
            out[written++] = '/';
            memcpy(out + written, path + from, end - from);
            written += end - from;
        }
        from = end + 1;
    }
    return written;
}

static void must_be_normal(const char *text, size_t n, bool is_path)
{
    OWNED char *once = fuzz_room(n + 1), *twice = fuzz_room(n + 1);
    size_t once_n = normal_escapes(once, text, n), twice_n = once_n;
    if (is_path)
        twice_n = without_dots(twice, once, once_n);
    else
        memcpy(twice, once, once_n);
    MUST(twice_n == n && memcmp(twice, text, n) == 0);
    for (size_t i = 0; i < n; i++)
        MUST(text[i] > 0x20 && text[i] < 0x7f && text[i] != '#' && text[i] != '"' && (!is_path || text[i] != '?'));
}

static size_t part(const char *text, size_t n)
{
    size_t end = 0;
    while (end < n && text[end] != ' ')
        end++;
    return end;
}

FUZZ_TARGET(data, n)
{
    OWNED char *text = fuzz_copy(data, n);
    const size_t authority_n = part(text, n);
    const size_t path_from = authority_n < n ? authority_n + 1 : n;
    const size_t path_n = part(text + path_from, n - path_from);
    const size_t query_from = path_from + path_n < n ? path_from + path_n + 1 : n;
    const size_t query_n = n - query_from;
    OWNED char *authority = fuzz_copy(text, authority_n), *path = fuzz_copy(text + path_from, path_n),
               *query = fuzz_copy(text + query_from, query_n);
    if (tenoni_authority_check(authority, authority_n) == TENON_OK)
        for (size_t i = 0; i < authority_n; i++)
            MUST(authority[i] > 0x20 && authority[i] < 0x7f &&
                 strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZ@/?#%", authority[i]) == NULL);
    if (tenoni_normal_path_check(path, path_n) == TENON_OK)
        must_be_normal(path, path_n, true);
    if (tenoni_query_check(query, query_n) == TENON_OK)
        must_be_normal(query, query_n, false);
}
