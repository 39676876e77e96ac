/* SPDX-License-Identifier: Apache-2.0 */
#include "base/public64.h"

/*
 * What a byte stands for; with a flag when it is of one alphabet only, with both when it is of neither. The flags lie
 * above the 24 bits of a group, and those of its four characters, each 6 bits higher than the next one's, do not meet.
 */
enum { VALUE = 0x3f, S = 1 << 24, U = 1 << 25, N = S | U };

#define OF_ALL(flag) ((uint64_t)(flag) << 18 | (uint64_t)(flag) << 12 | (uint64_t)(flag) << 6 | (uint64_t)(flag))

static const uint32_t values[256] = {
    N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,      N,  N,      N,  N,      N,  N,  N,  N,
    N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  62 | S, N,  62 | U, N,  63 | S, 52, 53, 54, 55,
    56, 57, 58, 59, 60, 61, N,  N,  N,  N,  N,  N,  N,  0,  1,  2,  3,  4,      5,  6,      7,  8,      9,  10, 11, 12,
    13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, N,  N,  N,  N,  63 | U, N,  26,     27, 28,     29, 30, 31, 32,
    33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50,     51, N,      N,  N,      N,  N,  N,  N,
    N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,      N,  N,      N,  N,      N,  N,  N,  N,
    N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,      N,  N,      N,  N,      N,  N,  N,  N,
    N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,      N,  N,      N,  N,      N,  N,  N,  N,
    N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,      N,  N,      N,  N,      N,  N,  N,  N,
    N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,      N,  N,      N,  N};

static const char letters[64] = {'A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'I', 'J', 'K', 'L', 'M', 'N', 'O', 'P',
                                 'Q', 'R', 'S', 'T', 'U', 'V', 'W', 'X', 'Y', 'Z', 'a', 'b', 'c', 'd', 'e', 'f',
                                 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o', 'p', 'q', 'r', 's', 't', 'u', 'v',
                                 'w', 'x', 'y', 'z', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '+', '/'};

void tenoni_public64_encode(char *out, const uint8_t *data, size_t n)
{
    for (; n >= 3; data += 3, n -= 3, out += 4) {
        out[0] = letters[data[0] >> 2];
        out[1] = letters[(data[0] << 4 | data[1] >> 4) & VALUE];
        out[2] = letters[(data[1] << 2 | data[2] >> 6) & VALUE];
        out[3] = letters[data[2] & VALUE];
    }
    if (n == 0)
        return;
    uint8_t second = n == 2 ? data[1] : 0;
    out[0] = letters[data[0] >> 2];
    out[1] = letters[(data[0] << 4 | second >> 4) & VALUE];
    out[2] = n == 2 ? letters[second << 2 & VALUE] : '=';
    out[3] = '=';
}

static uint64_t group(const uint8_t *text, size_t n)
{
    const uint64_t a = values[text[0]], b = values[text[1]];
    const uint64_t c = n > 2 ? values[text[2]] : 0, d = n > 3 ? values[text[3]] : 0;
    return a << 18 | b << 12 | c << 6 | d;
}

/* The last 1 or 2 bytes, in one character more: 4 or 2 bits of the last one belong to no byte. */
static bool read_rest(uint8_t *out, size_t n, const uint8_t *text, uint64_t *seen)
{
    const uint64_t bits = group(text, n + 1);
    *seen |= bits;
    out[0] = (uint8_t)(bits >> 16);
    if (n == 2)
        out[1] = (uint8_t)(bits >> 8);
    return (bits & (n == 2 ? 0xff : 0xffff)) == 0;
}

bool tenoni_public64_decode(uint8_t *out, size_t n, const void *text, size_t text_n, bool url)
{
    const uint8_t *at = text;
    const size_t rest = n % 3, padding = rest == 0 || url ? 0 : 3 - rest;
    uint64_t seen = 0;
    if (text_n != n / 3 * 4 + (rest == 0 ? 0 : rest + 1) + padding)
        return false;
    for (; n >= 3; n -= 3, out += 3, at += 4) {
        const uint64_t bits = group(at, 4);
        seen |= bits;
        out[0] = (uint8_t)(bits >> 16);
        out[1] = (uint8_t)(bits >> 8);
        out[2] = (uint8_t)bits;
    }
    bool good = rest == 0 || read_rest(out, rest, at, &seen);
    for (size_t i = 0; i < padding; i++)
        good = good && at[rest + 1 + i] == '=';
    return good && (seen & (url ? OF_ALL(S) : OF_ALL(U))) == 0;
}
