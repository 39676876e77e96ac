/* SPDX-License-Identifier: Apache-2.0 */
#include "base/der.h"
#include "tenon/activate.h"

/* TCG PC Client, 7.3.2: a stored certificate may have a tag 1001, a type 00 (whole certificate) and its size before it.
 * *stored is then what that size takes in, and the reader stands behind it. */
static bool take_stored(tenoni_reader *reader, tenoni_reader *stored)
{
    const tenoni_reader whole = *reader;
    uint16_t tag, size;
    uint8_t type;
    if (!tenoni_read_u16(reader, &tag) || tag != 0x1001) {
        *reader = tenoni_reader_over(NULL, 0);
        *stored = whole;
        return true;
    }
    return tenoni_read_u8(reader, &type) && type == 0 && tenoni_read_u16(reader, &size) &&
           tenoni_read_part(reader, stored, size);
}

static bool is_padding(tenoni_reader rest)
{
    for (size_t i = 0; i < rest.left; i++)
        if (rest.at[i] != 0x00 && rest.at[i] != 0xff)
            return false;
    return true;
}

tenon_status tenon_certificate_trim(tenon_bytes *out, const uint8_t *bytes, size_t n)
{
    if (out == NULL)
        return TENON_ERROR_NULL;
    *out = (tenon_bytes){.bytes = NULL, .n = 0};
    if (bytes == NULL && n != 0)
        return TENON_ERROR_NULL;
    tenoni_reader behind = tenoni_reader_over(bytes, n), stored, content;
    if (!take_stored(&behind, &stored))
        return TENON_ERROR_CERTIFICATE_FORM;
    const tenoni_reader start = stored;
    if (tenoni_der_read(&stored, TENONI_DER_SEQUENCE, &content) != TENON_OK || !is_padding(stored) ||
        !is_padding(behind))
        return TENON_ERROR_CERTIFICATE_FORM;
    *out = (tenon_bytes){.bytes = start.at, .n = start.left - stored.left};
    return TENON_OK;
}
