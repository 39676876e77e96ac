/* SPDX-License-Identifier: Apache-2.0 */
#include "base/secure.h"
#include "base/writer.h"
#include "tenon/encoding.h"

/* No table is indexed with the data and no branch taken on it: secrets pass through here. */

static char digit_of(uint32_t value)
{
    return (char)(value + '0' + (~tenoni_mask_below(value, 10) & ('a' - '0' - 10)));
}

enum { INVALID = 0x100 };

static uint32_t value_of(char character)
{
    uint32_t c = (uint8_t)character;
    uint32_t digit = tenoni_mask_within(c, '0', '9');
    uint32_t lower = tenoni_mask_within(c, 'a', 'f');
    uint32_t upper = tenoni_mask_within(c, 'A', 'F');
    uint32_t value = (digit & (c - '0')) | (lower & (c - 'a' + 10)) | (upper & (c - 'A' + 10));
    return value | (~(digit | lower | upper) & INVALID);
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
        invalid |= value_of(text[i]);
    if ((invalid & INVALID) != 0)
        return TENON_ERROR_HEX_ALPHABET;
    tenon_status status = tenoni_output_fits(out, n, written, text_n / 2);
    if (status != TENON_OK)
        return status;
    for (size_t i = 0; i < text_n; i += 2)
        *out++ = (uint8_t)(value_of(text[i]) << 4 | value_of(text[i + 1]));
    return TENON_OK;
}
