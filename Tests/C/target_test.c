/* SPDX-License-Identifier: Apache-2.0 */
#include "base/target.h"

#include "test.h"

/*
 * The only form of authority, path and query, set against the examples and the grammar of the documents that define
 * it. A text that those documents call equal to another one has to be refused, unless it is the normal one of them.
 */

enum { AUTHORITY, PATH, QUERY };

typedef struct {
    const char *where; /* the document and its section */
    int component;
    const char *texts[16]; /* "text", which is normal, or "text -> normal"; nothing there: it has none that is signed */
} example;

static tenon_status check(int component, const char *text, size_t n)
{
    if (component == AUTHORITY)
        return tenoni_authority_check(text, n);
    return component == PATH ? tenoni_normal_path_check(text, n) : tenoni_query_check(text, n);
}

static void check_example(int component, const char *text)
{
    static const tenon_status refusals[] = {TENON_ERROR_AUTHORITY, TENON_ERROR_PATH, TENON_ERROR_QUERY};
    static const char arrow[] = " -> ";
    const char *at = strstr(text, arrow);
    const size_t n = at == NULL ? strlen(text) : (size_t)(at - text);
    const char *normal = at == NULL ? text : at + strlen(arrow);
    CHECK_STATUS(check(component, text, n), at == NULL ? TENON_OK : refusals[component]);
    if (*normal != '\0')
        CHECK_OK(check(component, normal, strlen(normal)));
}

static void check_examples(const example *examples, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < COUNT(examples->texts) && examples[i].texts[j] != NULL; j++) {
            test_about("%s: %s", examples[i].where, examples[i].texts[j]);
            check_example(examples[i].component, examples[i].texts[j]);
        }
}

TEST(target_rfc9421_examples)
{
    static const example examples[] = {
        {"RFC 9421, 2.2.3",
         AUTHORITY,
         {"www.example.com", "WWW.Example.com -> www.example.com", "www.example.com:443 -> www.example.com"}},
        {"RFC 9421, 2.2.6", PATH, {"/path", " -> /"}},
        {"RFC 9421, 2.2.7", QUERY, {"?param=value&foo=bar&baz=batman", "?queryString", " -> ?"}},
        {"RFC 9421, 2.2.8",
         QUERY,
         {"?param=value&foo=bar&baz=batman&qux=",
          "?var=this%20is%20a%20big%0Amultiline%20value&bar=with+plus+whitespace&fa%C3%A7ade%22%3A%20=something"}},
        {"RFC 9421, 2.2.5", PATH, {"* -> ", "https://www.example.com/path -> "}},
        {"RFC 9421, B.2", AUTHORITY, {"example.com"}},
        {"RFC 9421, B.2", PATH, {"/foo"}},
        {"RFC 9421, B.2", QUERY, {"?param=Value&Pet=dog"}},
        {"RFC 9421, B.3", AUTHORITY, {"origin.host.internal.example"}},
        {"RFC 9421, B.4", PATH, {"/demo"}},
        {"RFC 9110, 4.2.3", AUTHORITY, {"EXAMPLE.com -> example.com", "example.com: -> example.com"}},
        {"RFC 9110, 4.2.3",
         PATH,
         {"/~smith/home.html", "/%7Esmith/home.html -> /~smith/home.html", "/%7esmith/home.html -> /~smith/home.html"}},
    };
    check_examples(examples, COUNT(examples));
}

TEST(target_rfc3986_examples)
{
    static const example examples[] = {
        {"RFC 3986, 1.1.2", AUTHORITY, {"ftp.is.co.za", "[2001:db8::7]", "192.0.2.16:80"}},
        {"RFC 3986, 1.1.2", PATH, {"/c=GB"}},
        {"RFC 3986, 1.1.2", QUERY, {"?objectClass?one"}},
        {"RFC 3986, 2.1", PATH, {"/%3a -> /%3A"}},
        {"RFC 3986, 3", AUTHORITY, {"example.com:8042"}},
        {"RFC 3986, 3", PATH, {"/over/there"}},
        {"RFC 3986, 3", QUERY, {"?name=ferret", "?name=ferret#nose -> "}},
        {"RFC 3986, 3.2.1", AUTHORITY, {"user@example.com -> "}},
        {"RFC 3986, 3.2.2", AUTHORITY, {"[v1.fe80::a+en1] -> ", "%65xample.com -> example.com"}},
        {"RFC 3986, 6.2.2", PATH, {"/./b/../b/%63/%7bfoo%7d -> /b/c/%7Bfoo%7D"}},
        {"RFC 3986, 6.2.2.1", AUTHORITY, {"www.EXAMPLE.com -> www.example.com"}},
        {"RFC 3986, 6.2.3", AUTHORITY, {"example.com: -> example.com"}},
        {"RFC 3986, 7.4", AUTHORITY, {"0x7f.0.0.1", "127.1 -> ", "0177.0.0.1 -> ", "2130706433 -> "}},
        {"RFC 3986, 7.6", AUTHORITY, {"cnn.example.com&story=breaking_news@10.0.0.1 -> "}},
        {"RFC 6874, 2", AUTHORITY, {"[fe80::a%25en1] -> "}},
    };
    check_examples(examples, COUNT(examples));
}

/* The paths of RFC 3986, 5.4, before their dots are removed (5.2.4), and after. */
TEST(target_rfc3986_resolutions)
{
    static const example examples[] = {
        {"RFC 3986, 5.2.4", PATH, {"/a/b/c/./../../g -> /a/g"}},
        {"RFC 3986, 5.4.1",
         PATH,
         {"/b/c/g", "/b/c/./g -> /b/c/g", "/b/c/g/", "/b/c/d;p", "/b/c/g;x", "/b/c/. -> /b/c/", "/b/c/./ -> /b/c/",
          "/b/c/.. -> /b/", "/b/c/../ -> /b/", "/b/c/../g -> /b/g", "/b/c/../.. -> /", "/b/c/../../ -> /",
          "/b/c/../../g -> /g"}},
        {"RFC 3986, 5.4.2",
         PATH,
         {"/b/c/../../../g -> /g", "/./g -> /g", "/../g -> /g", "/b/c/g.", "/b/c/.g", "/b/c/g..", "/b/c/..g",
          "/b/c/./../g -> /b/g", "/b/c/./g/. -> /b/c/g/", "/b/c/g/./h -> /b/c/g/h", "/b/c/g/../h -> /b/c/h",
          "/b/c/g;x=1/./y -> /b/c/g;x=1/y", "/b/c/g;x=1/../y -> /b/c/y"}},
        {"RFC 3986, 5.4.2", QUERY, {"?y/./x", "?y/../x"}},
    };
    check_examples(examples, COUNT(examples));
}

/* An IPv6 address has the one text of RFC 5952, 4. */
TEST(target_rfc5952_examples)
{
    static const example examples[] = {
        {"RFC 5952, 4.1", AUTHORITY, {"[2001:0db8::1] -> [2001:db8::1]"}},
        {"RFC 5952, 4.2.1",
         AUTHORITY,
         {"[2001:db8::0:1] -> [2001:db8::1]", "[2001:db8:0:0:0:0:2:1] -> [2001:db8::2:1]"}},
        {"RFC 5952, 4.2.2", AUTHORITY, {"[2001:db8:0:1:1:1:1:1]", "[2001:db8::1:1:1:1:1] -> [2001:db8:0:1:1:1:1:1]"}},
        {"RFC 5952, 4.2.3",
         AUTHORITY,
         {"[2001:0:0:1:0:0:0:1] -> [2001:0:0:1::1]", "[2001:db8:0:0:1:0:0:1] -> [2001:db8::1:0:0:1]",
          "[2001:db8:0:0:1::1] -> [2001:db8::1:0:0:1]"}},
        {"RFC 5952, 4.3", AUTHORITY, {"[2001:DB8::1] -> [2001:db8::1]"}},
        {"RFC 5952, 5", AUTHORITY, {"[::ffff:192.0.2.1]", "[::ffff:c000:201] -> [::ffff:192.0.2.1]"}},
        {"RFC 5952, 6", AUTHORITY, {"2001:db8::1 -> ", "[2001:db8::1]:80", "[2001:db8::1]:443 -> [2001:db8::1]"}},
    };
    check_examples(examples, COUNT(examples));
}

/* The grammar of RFC 3986, Appendix A, written down a second time. */
#define UNRESERVED "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
#define SUB_DELIMS "!$&'()*+,;="
#define SEGMENTS UNRESERVED SUB_DELIMS ":@/"

static bool has(const char *characters, unsigned octet) { return octet != 0 && strchr(characters, (int)octet) != NULL; }

/* Each octet as it is, between two letters. */
TEST(target_each_octet)
{
    for (unsigned octet = 0; octet < 256; octet++) {
        const char path[] = {'/', 'a', (char)octet, 'b'}, query[] = {'?', 'a', (char)octet, 'b'};
        test_about("octet %02x", octet);
        CHECK_STATUS(check(PATH, path, sizeof path), has(SEGMENTS, octet) ? TENON_OK : TENON_ERROR_PATH);
        CHECK_STATUS(check(QUERY, query, sizeof query), has(SEGMENTS "?", octet) ? TENON_OK : TENON_ERROR_QUERY);
    }
}

static void check_escape(unsigned octet, const char *digits)
{
    char text[8];
    const bool is_upper = digits[10] == 'A';
    const bool has_letters = octet >> 4 > 9 || (octet & 15) > 9;
    const bool is_normal = !has(UNRESERVED, octet) && (is_upper || !has_letters);
    snprintf(text, sizeof text, "/%%%c%c", digits[octet >> 4], digits[octet & 15]);
    test_about("escape %s", text);
    CHECK_STATUS(check(PATH, text, 4), is_normal ? TENON_OK : TENON_ERROR_PATH);
    CHECK_STATUS(check(PATH, text, 3), TENON_ERROR_PATH);
    CHECK_STATUS(check(PATH, text, 2), TENON_ERROR_PATH);
    text[0] = '?';
    CHECK_STATUS(check(QUERY, text, 4), is_normal ? TENON_OK : TENON_ERROR_QUERY);
    CHECK_STATUS(check(QUERY, text, 3), TENON_ERROR_QUERY);
}

/* Each octet as an escape, in both cases of its digits, and cut (RFC 3986, 2.1, 2.3 and 6.2.2). */
TEST(target_each_escape)
{
    for (unsigned octet = 0; octet < 256; octet++) {
        check_escape(octet, "0123456789ABCDEF");
        check_escape(octet, "0123456789abcdef");
    }
}

/* RFC 1035, 2.3.4: a name has at most 255 bytes; the port does not count. */
TEST(target_longest_host)
{
    char text[256 + sizeof ":65535"];
    memset(text, 'a', sizeof text);
    CHECK_OK(check(AUTHORITY, text, 255));
    CHECK_STATUS(check(AUTHORITY, text, 256), TENON_ERROR_AUTHORITY);
    memcpy(text + 255, ":65535", 6);
    CHECK_OK(check(AUTHORITY, text, 255 + 6));
    memcpy(text + 255, "a:65535", 7);
    CHECK_STATUS(check(AUTHORITY, text, 256 + 6), TENON_ERROR_AUTHORITY);
}

/* RFC 3986, 3.2.3: a port in decimal digits; and 4.2.3 of RFC 9110: none that is the scheme's own. */
TEST(target_each_port)
{
    for (unsigned port = 0; port <= 70000; port++) {
        char text[16];
        const int n = snprintf(text, sizeof text, "a:%u", port);
        const bool good = port >= 1 && port <= 65535 && port != 443;
        test_about("%s", text);
        CHECK_STATUS(check(AUTHORITY, text, (size_t)n), good ? TENON_OK : TENON_ERROR_AUTHORITY);
    }
}
