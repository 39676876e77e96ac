/* SPDX-License-Identifier: Apache-2.0 */
#include "base/target.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "tenon/types.h"

static bool is_between(char c, char low, char high)
{
    return c >= low && c <= high;
}

static bool is_digit(char c)
{
    return is_between(c, '0', '9');
}

static bool is_one_of(char c, const char *characters)
{
    return c != '\0' && strchr(characters, c) != NULL;
}

/* RFC 3986, 2.3. */
static bool is_unreserved(char c)
{
    return is_between(c, 'a', 'z') || is_between(c, 'A', 'Z') || is_digit(c) || is_one_of(c, "-._~");
}

static bool read_digit(uint8_t *value, char c)
{
    if (!is_digit(c) && !is_between(c, 'A', 'F'))
        return false;
    *value = (uint8_t)(is_digit(c) ? c - '0' : c - 'A' + 10);
    return true;
}

/* RFC 3986, 6.2.2.1 and 6.2.2.2: upper case, and of a character that cannot stand there itself. */
static bool is_needed_escape(const char *text, size_t n)
{
    uint8_t high, low;
    return n >= 3 && read_digit(&high, text[1]) && read_digit(&low, text[2]) && !is_unreserved((char)(high << 4 | low));
}

/* Characters of segments (pchar: unreserved, sub-delims, colon, at), slashes, and these more. */
static bool is_normal(const char *text, size_t n, const char *more)
{
    for (size_t i = 0; i < n; i++) {
        const char c = text[i];
        if (is_between(c, 'a', 'z') || c == '/')
            continue;
        if (is_unreserved(c) || is_one_of(c, "!$&'()*+,;=:@") || is_one_of(c, more))
            continue;
        if (c != '%' || !is_needed_escape(text + i, n - i))
            return false;
        i += 2;
    }
    return true;
}

/* RFC 3986, 5.2.4: a segment "." or ".." stands for another path. */
static bool has_dot_segment(const char *path, size_t n)
{
    size_t dots = 0;
    bool only_dots = false;
    for (size_t i = 0; i < n; i++) {
        if (path[i] == '/') {
            if (only_dots && (dots == 1 || dots == 2))
                return true;
            only_dots = true;
            dots = 0;
        } else if (path[i] == '.')
            dots++;
        else
            only_dots = false;
    }
    return only_dots && (dots == 1 || dots == 2);
}

tenon_status tenoni_normal_path_check(const char *path, size_t n)
{
    if (path == NULL && n != 0)
        return TENON_ERROR_NULL;
    bool good = n >= 1 && n <= TENON_PATH_MAX && path[0] == '/' && is_normal(path, n, "") && !has_dot_segment(path, n);
    return good ? TENON_OK : TENON_ERROR_PATH;
}

tenon_status tenoni_query_check(const char *query, size_t n)
{
    if (query == NULL && n != 0)
        return TENON_ERROR_NULL;
    bool good = n >= 1 && n <= TENON_PATH_MAX && query[0] == '?' && is_normal(query, n, "?");
    return good ? TENON_OK : TENON_ERROR_QUERY;
}

enum { HOST_MAX = 255, PORT_MAX = 65535, HTTPS_PORT = 443 };

/* An address has one text only, the one that it is printed as. */
static bool is_address(int family, const char *text, size_t n)
{
    char before[INET6_ADDRSTRLEN] = {0}, after[INET6_ADDRSTRLEN] = {0};
    uint8_t address[sizeof(struct in6_addr)];
    if (n >= sizeof before || memchr(text, 0, n) != NULL)
        return false;
    memcpy(before, text, n);
    return inet_pton(family, before, address) == 1 && inet_ntop(family, address, after, sizeof after) != NULL &&
           strcmp(before, after) == 0;
}

static bool is_host(const char *text, size_t n)
{
    bool number = true;
    if (n >= 2 && text[0] == '[' && text[n - 1] == ']')
        return is_address(AF_INET6, text + 1, n - 2);
    for (size_t i = 0; i < n; i++) {
        const char c = text[i];
        bool numeric = is_digit(c) || c == '.';
        if (!is_between(c, 'a', 'z') && !numeric && c != '-' && c != '_')
            return false;
        number = number && numeric;
    }
    return n >= 1 && n <= HOST_MAX && (!number || is_address(AF_INET, text, n));
}

static bool is_port(const char *text, size_t n)
{
    uint32_t port = 0;
    if (n < 1 || n > 5 || text[0] == '0')
        return false;
    for (size_t i = 0; i < n; i++) {
        if (!is_digit(text[i]))
            return false;
        port = 10 * port + (uint32_t)(text[i] - '0');
    }
    return port <= PORT_MAX && port != HTTPS_PORT;
}

tenon_status tenoni_authority_check(const char *authority, size_t n)
{
    if (authority == NULL && n != 0)
        return TENON_ERROR_NULL;
    size_t host = n;
    while (host > 0 && is_digit(authority[host - 1]))
        host--;
    if (host == n || host == 0 || authority[host - 1] != ':')
        return n != 0 && is_host(authority, n) ? TENON_OK : TENON_ERROR_AUTHORITY;
    bool good = is_host(authority, host - 1) && is_port(authority + host, n - host);
    return good ? TENON_OK : TENON_ERROR_AUTHORITY;
}
