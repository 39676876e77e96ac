/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>

#include "base/text.h"
#include "tenon/types.h"

/* The message of a request is joined with line feeds, so a form that let one through would let two messages be one. */

static bool is_between(char c, char low, char high)
{
    return c >= low && c <= high;
}

static bool all_between(const char *text, size_t n, char low, char high)
{
    for (size_t i = 0; i < n; i++)
        if (!is_between(text[i], low, high))
            return false;
    return true;
}

static bool has(const char *text, size_t n, char c)
{
    for (size_t i = 0; i < n; i++)
        if (text[i] == c)
            return true;
    return false;
}

static tenon_status check_printable(const char *text, size_t n, size_t max, tenon_status code)
{
    if (text == NULL && n != 0)
        return TENON_ERROR_NULL;
    return n >= 1 && n <= max && all_between(text, n, 0x21, 0x7e) ? TENON_OK : code;
}

tenon_status tenoni_method_check(const char *method, size_t n)
{
    if (method == NULL && n != 0)
        return TENON_ERROR_NULL;
    return n >= 1 && n <= TENON_METHOD_MAX && all_between(method, n, 'A', 'Z') ? TENON_OK : TENON_ERROR_METHOD;
}

tenon_status tenoni_path_check(const char *path, size_t n)
{
    tenon_status status = check_printable(path, n, TENON_PATH_MAX, TENON_ERROR_PATH);
    if (status != TENON_OK)
        return status;
    return path[0] == '/' && !has(path, n, '?') && !has(path, n, '#') ? TENON_OK : TENON_ERROR_PATH;
}

tenon_status tenoni_timestamp_check(const char *timestamp, size_t n)
{
    enum { MIN = 10 };
    if (timestamp == NULL && n != 0)
        return TENON_ERROR_NULL;
    bool digits = n >= MIN && n <= TENON_TIMESTAMP_MAX && all_between(timestamp, n, '0', '9');
    return digits && timestamp[0] != '0' ? TENON_OK : TENON_ERROR_TIMESTAMP;
}

static bool is_hex(char c)
{
    return is_between(c, '0', '9') || is_between(c, 'a', 'f') || is_between(c, 'A', 'F');
}

/* RFC 9562, 5.4: version 4, variant 10. */
tenon_status tenoni_nonce_check(const char *nonce, size_t n)
{
    if (nonce == NULL && n != 0)
        return TENON_ERROR_NULL;
    if (n != TENON_UUID_SIZE)
        return TENON_ERROR_NONCE;
    for (size_t i = 0; i < n; i++) {
        bool hyphen = i == 8 || i == 13 || i == 18 || i == 23;
        if (hyphen ? nonce[i] != '-' : !is_hex(nonce[i]))
            return TENON_ERROR_NONCE;
    }
    return nonce[14] == '4' && has("89abAB", 6, nonce[19]) ? TENON_OK : TENON_ERROR_NONCE;
}

tenon_status tenoni_app_id_check(const char *app_id, size_t n)
{
    return check_printable(app_id, n, TENON_APP_ID_MAX, TENON_ERROR_APP_ID);
}

tenon_status tenoni_device_id_check(const char *device_id, size_t n)
{
    return check_printable(device_id, n, TENON_DEVICE_ID_MAX, TENON_ERROR_DEVICE_ID);
}

/* RFC 3629, 4: how many bytes the character has that begins here; 0 if no character begins here. */
static size_t character(const uint8_t *text, size_t n)
{
    static const struct {
        uint8_t first, last, second_first, second_last;
        size_t size;
    } forms[] = {{0x00, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
                 {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
                 {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (text[0] < forms[i].first || text[0] > forms[i].last || forms[i].size > n)
            continue;
        bool good = forms[i].size == 1 || (text[1] >= forms[i].second_first && text[1] <= forms[i].second_last);
        for (size_t more = 2; more < forms[i].size; more++)
            good = good && (text[more] & 0xc0) == 0x80;
        return good ? forms[i].size : 0;
    }
    return 0;
}

bool tenoni_is_utf8(const uint8_t *text, size_t n)
{
    size_t size = 1;
    for (size_t i = 0; i < n && size != 0; i += size)
        size = character(text + i, n - i);
    return size != 0;
}
