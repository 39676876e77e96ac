/* SPDX-License-Identifier: Apache-2.0 */
#include "tenon/encoding.h"

#include "base/bytes.h"
#include "base/secure.h"

/*
 * RFC 4648, 4 and 5. No table is indexed with the data, and no branch depends on it: keys and secrets pass through
 * here.
 */
typedef struct {
    uint32_t plus;
    uint32_t slash;
    bool padded;
} alphabet;

static const alphabet standard = {.plus = '+', .slash = '/', .padded = true};
static const alphabet url_safe = {.plus = '-', .slash = '_', .padded = false};

enum { NO_CHARACTER = 0x100 };

static char character_of(const alphabet *letters, uint32_t value)
{
    uint32_t c = tenoni_mask_below(value, 26) & (value + 'A');
    c |= ~tenoni_mask_below(value, 26) & tenoni_mask_below(value, 52) & (value - 26 + 'a');
    c |= ~tenoni_mask_below(value, 52) & tenoni_mask_below(value, 62) & (value - 52 + '0');
    c |= tenoni_mask_equal(value, 62) & letters->plus;
    c |= tenoni_mask_equal(value, 63) & letters->slash;
    return (char)c;
}

static uint32_t value_of_character(const alphabet *letters, char character)
{
    uint32_t c = (uint8_t)character;
    uint32_t upper = tenoni_mask_within(c, 'A', 'Z');
    uint32_t lower = tenoni_mask_within(c, 'a', 'z');
    uint32_t digit = tenoni_mask_within(c, '0', '9');
    uint32_t plus = tenoni_mask_equal(c, letters->plus);
    uint32_t slash = tenoni_mask_equal(c, letters->slash);
    uint32_t value =
        (upper & (c - 'A')) | (lower & (c - 'a' + 26)) | (digit & (c - '0' + 52)) | (plus & 62) | (slash & 63);
    return value | (~(upper | lower | digit | plus | slash) & NO_CHARACTER);
}

static size_t encoded_size(const alphabet *letters, size_t n)
{
    size_t rest = n % 3;
    size_t tail = rest == 0 ? 0 : letters->padded ? 4 : rest + 1;
    return n / 3 * 4 + tail;
}

static void encode_group(const alphabet *letters, char *out, uint32_t bits)
{
    for (int i = 0; i < 4; i++)
        out[i] = character_of(letters, bits >> (18 - 6 * i) & 0x3f);
}

static void encode_rest(const alphabet *letters, char *out, const uint8_t *data, size_t n)
{
    char group[4];
    encode_group(letters, group, (uint32_t)data[0] << 16 | (n > 1 ? (uint32_t)data[1] << 8 : 0));
    for (size_t i = 0; i <= n; i++)
        out[i] = group[i];
    for (size_t i = n + 1; i < 4 && letters->padded; i++)
        out[i] = '=';
}

static tenon_status encode(const alphabet *letters, char *out, size_t n, size_t *written, const uint8_t *data,
                           size_t data_n)
{
    if (written != NULL)
        *written = 0;
    if (data == NULL && data_n != 0)
        return TENON_ERROR_NULL;
    if (data_n > SIZE_MAX / 4)
        return TENON_ERROR_TOO_LARGE;
    tenon_status status = tenoni_output_fits(out, n, written, encoded_size(letters, data_n));
    if (status != TENON_OK)
        return status;
    for (; data_n >= 3; data += 3, data_n -= 3, out += 4)
        encode_group(letters, out, (uint32_t)data[0] << 16 | (uint32_t)data[1] << 8 | data[2]);
    if (data_n != 0)
        encode_rest(letters, out, data, data_n);
    return TENON_OK;
}

/* Takes the padding off the end of *n. */
static tenon_status unpad(const alphabet *letters, const char *text, size_t *n)
{
    size_t padding = 0;
    while (padding < 3 && padding < *n && text[*n - 1 - padding] == '=')
        padding++;
    if (padding > (letters->padded ? 2 : 0))
        return TENON_ERROR_BASE64_PADDING;
    if ((*n - padding) % 4 == 1)
        return TENON_ERROR_BASE64_LENGTH;
    if (letters->padded && *n % 4 != 0)
        return TENON_ERROR_BASE64_PADDING;
    *n -= padding;
    return TENON_OK;
}

static tenon_status check_text(const alphabet *letters, const char *text, size_t n)
{
    uint32_t invalid = 0;
    uint32_t padding = 0;
    for (size_t i = 0; i < n; i++) {
        invalid |= value_of_character(letters, text[i]);
        padding |= tenoni_mask_equal((uint8_t)text[i], '=');
    }
    if (padding != 0)
        return TENON_ERROR_BASE64_PADDING;
    if ((invalid & NO_CHARACTER) != 0)
        return TENON_ERROR_BASE64_ALPHABET;
    uint32_t stray = n % 4 == 2 ? 0xf : n % 4 == 3 ? 0x3 : 0;
    if (stray != 0 && (value_of_character(letters, text[n - 1]) & stray) != 0)
        return TENON_ERROR_BASE64_STRAY_BITS;
    return TENON_OK;
}

static tenon_status decode(const alphabet *letters, uint8_t *out, size_t n, size_t *written, const char *text,
                           size_t text_n)
{
    if (written != NULL)
        *written = 0;
    if (text == NULL && text_n != 0)
        return TENON_ERROR_NULL;
    tenon_status status = unpad(letters, text, &text_n);
    if (status == TENON_OK)
        status = check_text(letters, text, text_n);
    if (status != TENON_OK)
        return status;
    status = tenoni_output_fits(out, n, written, text_n / 4 * 3 + text_n % 4 * 3 / 4);
    if (status != TENON_OK)
        return status;
    uint32_t bits = 0;
    for (size_t i = 0; i < text_n; i++) {
        bits = bits << 6 | value_of_character(letters, text[i]);
        /* After the 2nd, 3rd and 4th character of a group, one more byte is complete. */
        if (i % 4 != 0)
            *out++ = (uint8_t)(bits >> (6 - 2 * (i % 4)));
    }
    return TENON_OK;
}

tenon_status tenon_base64_encode(char *out, size_t n, size_t *written, const uint8_t *data, size_t data_n)
{
    return encode(&standard, out, n, written, data, data_n);
}

tenon_status tenon_base64_decode(uint8_t *out, size_t n, size_t *written, const char *text, size_t text_n)
{
    return decode(&standard, out, n, written, text, text_n);
}

tenon_status tenon_base64url_encode(char *out, size_t n, size_t *written, const uint8_t *data, size_t data_n)
{
    return encode(&url_safe, out, n, written, data, data_n);
}

tenon_status tenon_base64url_decode(uint8_t *out, size_t n, size_t *written, const char *text, size_t text_n)
{
    return decode(&url_safe, out, n, written, text, text_n);
}

/* No table is indexed with the data and no branch taken on it: secrets pass through here. */

static char digit_of(uint32_t value)
{
    return (char)(value + '0' + (~tenoni_mask_below(value, 10) & ('a' - '0' - 10)));
}

enum { NO_DIGIT = 0x100 };

static uint32_t value_of_digit(char character)
{
    uint32_t c = (uint8_t)character;
    uint32_t digit = tenoni_mask_within(c, '0', '9');
    uint32_t lower = tenoni_mask_within(c, 'a', 'f');
    uint32_t upper = tenoni_mask_within(c, 'A', 'F');
    uint32_t value = (digit & (c - '0')) | (lower & (c - 'a' + 10)) | (upper & (c - 'A' + 10));
    return value | (~(digit | lower | upper) & NO_DIGIT);
}

tenon_status tenon_hex_encode(char *out, size_t n, size_t *written, const uint8_t *data, size_t data_n)
{
    if (written != NULL)
        *written = 0;
    if (data == NULL && data_n != 0)
        return TENON_ERROR_NULL;
    if (data_n > SIZE_MAX / 2)
        return TENON_ERROR_TOO_LARGE;
    tenon_status status = tenoni_output_fits(out, n, written, data_n * 2);
    if (status != TENON_OK)
        return status;
    for (size_t i = 0; i < data_n; i++) {
        *out++ = digit_of(data[i] >> 4);
        *out++ = digit_of(data[i] & 0xf);
    }
    return TENON_OK;
}

tenon_status tenon_hex_decode(uint8_t *out, size_t n, size_t *written, const char *text, size_t text_n)
{
    if (written != NULL)
        *written = 0;
    if (text == NULL && text_n != 0)
        return TENON_ERROR_NULL;
    if (text_n % 2 != 0)
        return TENON_ERROR_HEX_LENGTH;
    uint32_t invalid = 0;
    for (size_t i = 0; i < text_n; i++)
        invalid |= value_of_digit(text[i]);
    if ((invalid & NO_DIGIT) != 0)
        return TENON_ERROR_HEX_ALPHABET;
    tenon_status status = tenoni_output_fits(out, n, written, text_n / 2);
    if (status != TENON_OK)
        return status;
    for (size_t i = 0; i < text_n; i += 2)
        *out++ = (uint8_t)(value_of_digit(text[i]) << 4 | value_of_digit(text[i + 1]));
    return TENON_OK;
}
