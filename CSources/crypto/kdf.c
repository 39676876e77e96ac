/* SPDX-License-Identifier: Apache-2.0 */
#include "internal/kdf.h"

#include <string.h>

#include "internal/secure.h"
#include "internal/writer.h"

static tenoni_part word(uint8_t *bytes, uint32_t number)
{
    tenoni_writer writer = tenoni_writer_over(bytes, sizeof number);
    tenoni_write_u32(&writer, number);
    return (tenoni_part){bytes, sizeof number};
}

/* Block after block over five parts, of which the first is the number of the block; keyed or not. */
static tenon_status derive(uint8_t *out, size_t n, const tenoni_part *key, tenoni_part *parts)
{
    enum { PARTS = 5 };
    tenon_digest block;
    uint8_t counter[4];
    tenon_status status = TENON_OK;
    for (size_t done = 0; status == TENON_OK && done < n; done += sizeof block.bytes) {
        size_t length = n - done < sizeof block.bytes ? n - done : sizeof block.bytes;
        parts[0] = word(counter, (uint32_t)(done / sizeof block.bytes + 1));
        status = key == NULL ? tenoni_sha256_parts(&block, parts, PARTS)
                             : tenoni_hmac(&block, key->bytes, key->n, parts, PARTS);
        if (status == TENON_OK)
            memcpy(out + done, block.bytes, length);
    }
    tenoni_wipe(&block, sizeof block);
    if (status != TENON_OK)
        tenoni_wipe(out, n);
    return status;
}

tenon_status tenoni_kdfa(uint8_t *out, size_t n, tenoni_part key, const char *label, tenoni_part u, tenoni_part v)
{
    uint8_t bits[4];
    tenoni_part parts[] = {{NULL, 0}, {label, strlen(label) + 1}, u, v, word(bits, (uint32_t)(8 * n))};
    return derive(out, n, &key, parts);
}

tenon_status tenoni_kdfe(uint8_t *out, size_t n, tenoni_part z, const char *label, tenoni_part u, tenoni_part v)
{
    tenoni_part parts[] = {{NULL, 0}, z, {label, strlen(label) + 1}, u, v};
    return derive(out, n, NULL, parts);
}
