/* SPDX-License-Identifier: Apache-2.0 */
#include "base/public64.h"

/* What a character stands for; with a flag when it is of one alphabet only, with both when it is of neither. */
enum { STANDARD_ONLY = 0x40, URL_ONLY = 0x80, VALUE = 0x3f };

static const uint8_t values[128] = {
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0xff, 0xff, 0xff, 0xff, 0xff, 0x7e, 0xff, 0xbe, 0xff, 0x7f, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0x3a, 0x3b, 0x3c,
    0x3d, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a,
    0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0xff, 0xff, 0xff, 0xff,
    0xbf, 0xff, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f, 0x20, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28, 0x29, 0x2a,
    0x2b, 0x2c, 0x2d, 0x2e, 0x2f, 0x30, 0x31, 0x32, 0x33, 0xff, 0xff, 0xff, 0xff, 0xff};

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

bool tenoni_public64_decode(uint8_t *out, size_t n, const char *text, size_t text_n, bool url)
{
    const uint8_t foreign = url ? STANDARD_ONLY : URL_ONLY;
    const size_t characters = n / 3 * 4 + (n % 3 == 0 ? 0 : n % 3 + 1);
    const size_t padding = url ? 0 : (4 - characters % 4) % 4;
    uint32_t bits = 0, invalid = 0;
    if (text_n != characters + padding)
        return false;
    for (size_t i = 0; i < characters; i++) {
        uint8_t c = (uint8_t)text[i];
        uint8_t value = c < sizeof values ? values[c] : STANDARD_ONLY | URL_ONLY;
        invalid |= value & foreign;
        bits = bits << 6 | (value & VALUE);
        /* After the 2nd, 3rd and 4th character of a group, one more byte is complete. */
        if (i % 4 != 0)
            *out++ = (uint8_t)(bits >> (6 - 2 * (i % 4)));
    }
    for (size_t i = characters; i < text_n; i++)
        invalid |= text[i] != '=';
    /* The last character has 4 or 2 bits that belong to no byte. */
    uint32_t stray = characters % 4 == 2 ? 0xf : characters % 4 == 3 ? 0x3 : 0;
    return invalid == 0 && (bits & stray) == 0;
}
