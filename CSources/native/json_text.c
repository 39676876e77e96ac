/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* strnlen */
#include "native/json_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static bool make_room(tenoni_text *text, size_t n)
{
    enum { FIRST = 256 };
    if (text->failed || text->room - text->used > n)
        return !text->failed;
    size_t room = text->room == 0 ? FIRST : text->room;
    while (room - text->used <= n)
        room *= 2;
    char *bytes = realloc(text->bytes, room);
    if (bytes == NULL)
        free(text->bytes);
    *text = (tenoni_text){bytes, bytes == NULL ? 0 : text->used, bytes == NULL ? 0 : room, bytes == NULL};
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

bool tenoni_utf8(const char *text, size_t max, bool empty, size_t *n)
{
    size_t length = text == NULL ? 0 : strnlen(text, max + 1);
    bool good =
        text != NULL && length <= max && (length != 0 || empty) && tenoni_is_utf8((const uint8_t *)text, length);
    *n = good ? length : 0;
    return good;
}
