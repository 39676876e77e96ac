/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* strnlen */
#include "native/json_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/secure.h"

/* What was outgrown is wiped: a text may hold a value. */
static bool make_room(tenoni_text *text, size_t n)
{
    enum { FIRST = 256 };
    if (text->failed || text->room - text->used > n)
        return !text->failed;
    size_t room = text->room == 0 ? FIRST : text->room;
    while (room - text->used <= n)
        room *= 2;
    char *bytes = malloc(room);
    text->failed = bytes == NULL;
    if (bytes != NULL && text->used != 0)
        memcpy(bytes, text->bytes, text->used);
    tenoni_wipe(text->bytes, text->used);
    free(text->bytes);
    text->bytes = bytes;
    text->room = bytes == NULL ? 0 : room;
    text->used = bytes == NULL ? 0 : text->used;
    return bytes != NULL;
}

void tenoni_text_bytes(tenoni_text *text, const char *more, size_t n)
{
    if (!make_room(text, n))
        return;
    memcpy(text->bytes + text->used, more, n);
    text->used += n;
    text->bytes[text->used] = 0;
}

void tenoni_text_add(tenoni_text *text, const char *more)
{
    tenoni_text_bytes(text, more, strlen(more));
}

void tenoni_text_number(tenoni_text *text, uint64_t number)
{
    char digits[20];
    size_t at = sizeof digits;
    do
        digits[--at] = (char)('0' + number % 10);
    while ((number /= 10) != 0);
    tenoni_text_bytes(text, digits + at, sizeof digits - at);
}

/* RFC 8259, 7. */
void tenoni_text_quote(tenoni_text *text, const char *more)
{
    static const char hex[] = "0123456789abcdef";
    tenoni_text_add(text, "\"");
    for (; *more != 0; more++) {
        unsigned char c = (unsigned char)*more;
        char escaped[] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15], 0};
        if (c == '"' || c == '\\')
            tenoni_text_add(text, "\\");
        if (c < 0x20 || c == 0x7f)
            tenoni_text_add(text, escaped);
        else
            tenoni_text_bytes(text, more, 1);
    }
    tenoni_text_add(text, "\"");
}

char *tenoni_text_take(tenoni_text *text)
{
    char *bytes = text->failed ? NULL : text->bytes;
    *text = (tenoni_text){0};
    return bytes;
}

/* How many bytes the sequence that begins here has, or 0 for none. */
static size_t sequence(const unsigned char *at, size_t left)
{
    size_t n = at[0] < 0x80 ? 1 : at[0] < 0xc2 ? 0 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : at[0] < 0xf5 ? 4 : 0;
    if (n == 0 || n > left)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    bool overlong = (at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xf0 && at[1] < 0x90);
    bool surrogate = at[0] == 0xed && at[1] >= 0xa0;
    bool beyond = at[0] == 0xf4 && at[1] >= 0x90;
    return overlong || surrogate || beyond ? 0 : n;
}

bool tenoni_utf8(const char *text, size_t max, bool empty, size_t *n)
{
    *n = 0;
    if (text == NULL)
        return false;
    size_t length = strnlen(text, max + 1);
    const unsigned char *at = (const unsigned char *)text;
    if (length > max || (length == 0 && !empty))
        return false;
    for (size_t i = 0, step; i < length; i += step) {
        step = sequence(at + i, length - i);
        if (step == 0)
            return false;
    }
    *n = length;
    return true;
}
