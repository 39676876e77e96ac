/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_JSON_TEXT_H
#define TENONI_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A text that grows. All zeros at first; once there is no memory it stays empty, so that only the end is checked. */
typedef struct {
    char *bytes;
    size_t used;
    size_t room;
    bool failed;
} tenoni_text;

void tenoni_text_add(tenoni_text *text, const char *more);
void tenoni_text_bytes(tenoni_text *text, const char *more, size_t n);
void tenoni_text_number(tenoni_text *text, uint64_t number);

/* Adds a JSON string of UTF-8. */
void tenoni_text_quote(tenoni_text *text, const char *more);

/* Gives the text to the caller, who frees it; NULL if there was no memory. */
char *tenoni_text_take(tenoni_text *text);

/* Whether this is a text of at most max bytes of UTF-8 (RFC 3629), and its length. empty: it may have 0 bytes. */
bool tenoni_utf8(const char *text, size_t max, bool empty, size_t *n);

#endif
