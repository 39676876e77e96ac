/* SPDX-License-Identifier: Apache-2.0 */
#include "internal/der.h"
#include "tenon/activate.h"

/* TCG PC Client, 7.3.2: a stored certificate has a tag 1001, a type 00 (whole certificate) and its size before it. */
static bool skip_wrapper(tenoni_reader *reader)
{
    tenoni_reader rest = *reader;
    uint16_t tag, size;
    uint8_t type;
    if (!tenoni_read_u16(&rest, &tag) || tag != 0x1001)
        return true;
    /* What stands behind that size is padding of NV, as is what stands within it behind the certificate. */
    if (!tenoni_read_u8(&rest, &type) || type != 0 || !tenoni_read_u16(&rest, &size) || size > rest.left)
        return false;
    *reader = rest;
    return true;
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
    tenoni_reader reader = tenoni_reader_over(bytes, n), content;
    if (!skip_wrapper(&reader))
        return TENON_ERROR_CERTIFICATE_FORM;
    const uint8_t *start = reader.at;
    size_t before = reader.left;
    if (tenoni_der_read(&reader, TENONI_DER_SEQUENCE, &content) != TENON_OK || !is_padding(reader))
        return TENON_ERROR_CERTIFICATE_FORM;
    *out = (tenon_bytes){.bytes = start, .n = before - reader.left};
    return TENON_OK;
}
