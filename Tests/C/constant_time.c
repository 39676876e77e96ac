/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <valgrind/memcheck.h>

#include "base/secure.h"
#include "base/signature.h"
#include "tenon/tenon.h"

/*
 * Run by valgrind: secrets are marked as undefined, and memcheck reports every branch taken on them and every address
 * made of them, in our own code (decision: constant-time).
 *
 *   constant_time           compare, wipe, encode, scalars: memcheck may report nothing
 *   constant_time decode    decoders branch on their verdict, so memcheck reports that, and this mode counts: as many
 *                           reports for a long text as for a short one, and no more than there are verdicts
 *   constant_time leaky     a branch and a look-up by a secret, which memcheck must report
 */

enum { SHORT = 30, LONG = 960, VERDICTS = 6 };

static uint8_t secret[LONG], other[LONG], out[2 * LONG];
static char text[2 * LONG];
static int failures;

static void hide(void *bytes, size_t n) { (void)VALGRIND_MAKE_MEM_UNDEFINED(bytes, n); }
static void show(void *bytes, size_t n) { (void)VALGRIND_MAKE_MEM_DEFINED(bytes, n); }

/* Whether memcheck considers all of it defined, without a report. */
static bool is_known(void *bytes, size_t n)
{
    static uint8_t unknown_bits[2 * LONG];
    (void)VALGRIND_GET_VBITS(bytes, unknown_bits, n);
    for (size_t i = 0; i < n; i++)
        if (unknown_bits[i] != 0)
            return false;
    return true;
}

static void expect(const char *what, bool holds)
{
    show(&holds, sizeof holds);
    if (!holds) {
        fprintf(stderr, "does not hold: %s\n", what);
        failures++;
    }
}

static void fill(void)
{
    for (size_t i = 0; i < sizeof secret; i++)
        secret[i] = other[i] = (uint8_t)(i * 7 + 3);
    hide(secret, sizeof secret);
}

typedef tenon_status encoder(char *to, size_t n, size_t *written, const uint8_t *data, size_t data_n);
typedef tenon_status decoder(uint8_t *to, size_t n, size_t *written, const char *from, size_t from_n);

/* An encoded secret is as secret as the original. */
static void encode(encoder *function, size_t n)
{
    size_t written = 0;
    expect("encoded", function(text, sizeof text, &written, secret, n) == TENON_OK);
    expect("the text is secret", n == 0 || !is_known(text, written));
}

static void compare(void)
{
    fill();
    for (size_t n = 0; n <= SHORT; n++)
        expect("equal", tenoni_equal(secret, other, n));
    other[SHORT / 2] ^= 1;
    expect("not equal", !tenoni_equal(secret, other, SHORT));
    tenoni_wipe(secret, sizeof secret);
    expect("wiped bytes are known", is_known(secret, sizeof secret));
}

static void scalars(void)
{
    for (int high = 0; high < 2; high++) {
        fill();
        bool bit = high != 0;
        uint8_t scalar[32];
        memset(scalar, high != 0 ? 0x80 : 0x40, sizeof scalar);
        hide(scalar, sizeof scalar);
        expect("in range", tenoni_scalar_in_range(scalar));
        expect("in the field", tenoni_field_in_range(scalar));
        expect("high or not", tenoni_scalar_is_high(scalar) == bit);
        tenoni_scalar_negate(scalar);
        expect("now the other", tenoni_scalar_is_high(scalar) != bit);
    }
}

static int check_all(void)
{
    fill();
    for (size_t n = 0; n <= SHORT; n++) {
        encode(tenon_base64_encode, n);
        encode(tenon_base64url_encode, n);
        encode(tenon_hex_encode, n);
    }
    compare();
    scalars();
    return failures != 0;
}

/* The number of memcheck's reports while a text of n secret bytes is decoded. */
static unsigned reports(encoder *encoded_by, decoder *decoded_by, size_t n)
{
    size_t text_n = 0, written = 0;
    fill();
    expect("encoded", encoded_by(text, sizeof text, &text_n, secret, n) == TENON_OK);
    show(&text_n, sizeof text_n);
    /* Without the end of the text: its padding reveals the length, which is not secret. */
    hide(text, text_n - 3);
    show(text + text_n - 3, 3);
    unsigned before = VALGRIND_COUNT_ERRORS;
    tenon_status status = decoded_by(out, sizeof out, &written, text, text_n);
    unsigned after = VALGRIND_COUNT_ERRORS;
    show(&status, sizeof status);
    show(&written, sizeof written);
    expect("decoded", status == TENON_OK && written == n);
    show(out, sizeof out);
    show(secret, sizeof secret);
    expect("as it was", memcmp(out, secret, n) == 0);
    return after - before;
}

static void count_reports(const char *name, encoder *encoded_by, decoder *decoded_by)
{
    /* Whole groups and both tails, so that each verdict is taken. */
    for (size_t tail = 0; tail < 3; tail++) {
        unsigned few = reports(encoded_by, decoded_by, SHORT - tail);
        unsigned many = reports(encoded_by, decoded_by, LONG - tail);
        printf("%s: %u verdicts on %d bytes, %u on %d\n", name, few, SHORT - (int)tail, many, LONG - (int)tail);
        if (few == 0 || few > VERDICTS || many != few) {
            fprintf(stderr, "%s branches on what it decodes\n", name);
            failures++;
        }
    }
}

static int check_decoders(void)
{
    count_reports("base64", tenon_base64_encode, tenon_base64_decode);
    count_reports("base64url", tenon_base64url_encode, tenon_base64url_decode);
    count_reports("hex", tenon_hex_encode, tenon_hex_decode);
    return failures != 0;
}

static int leak(void)
{
    static volatile int table[256], sink;
    fill();
    for (size_t i = 0; i < SHORT; i++) {
        if (secret[i] > 100)
            sink = 1;
        sink += table[secret[i]];
    }
    return 0;
}

int main(int count, char **arguments)
{
    if (!RUNNING_ON_VALGRIND) {
        fprintf(stderr, "run this under valgrind\n");
        return 2;
    }
    if (count == 2 && strcmp(arguments[1], "leaky") == 0)
        return leak();
    return count == 2 && strcmp(arguments[1], "decode") == 0 ? check_decoders() : check_all();
}
