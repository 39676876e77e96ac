/* SPDX-License-Identifier: Apache-2.0 */
#include "crypto/kdf.h"

#include <string.h>

#include "base/secure.h"
#include "base/writer.h"

static tenoni_part word(uint8_t *bytes, uint32_t number)
{
    tenoni_writer writer = tenoni_writer_over(bytes, sizeof number);
    tenoni_write_u32(&writer, number);
    return (tenoni_part){bytes, sizeof number};
}

/* Block after block over five parts, of which the first is the number of the block; keyed or not. */
static tenon_status derive(tenoni_hash hash, uint8_t *out, size_t n, const tenoni_part *key, tenoni_part *parts)
{
    enum { PARTS = 5 };
    uint8_t block[TENONI_HASH_MAX], counter[4];
    size_t size = tenoni_hash_size(hash);
    tenon_status status = TENON_OK;
    for (size_t done = 0; status == TENON_OK && done < n; done += size) {
        parts[0] = word(counter, (uint32_t)(done / size + 1));
        status = key == NULL ? tenoni_hash_parts(hash, block, parts, PARTS)
                             : tenoni_hmac_with(hash, block, key->bytes, key->n, parts, PARTS);
        if (status == TENON_OK)
            memcpy(out + done, block, n - done < size ? n - done : size);
    }
    tenoni_wipe(block, sizeof block);
    if (status != TENON_OK)
        tenoni_wipe(out, n);
    return status;
}

tenon_status tenoni_kdfa_with(tenoni_hash hash, uint8_t *out, size_t n, tenoni_part key, const char *label,
                              tenoni_part u, tenoni_part v)
{
    uint8_t bits[4];
    tenoni_part parts[] = {{NULL, 0}, {label, strlen(label) + 1}, u, v, word(bits, (uint32_t)(8 * n))};
    return derive(hash, out, n, &key, parts);
}

tenon_status tenoni_kdfe_with(tenoni_hash hash, uint8_t *out, size_t n, tenoni_part z, const char *label, tenoni_part u,
                              tenoni_part v)
{
    tenoni_part parts[] = {{NULL, 0}, z, {label, strlen(label) + 1}, u, v};
    return derive(hash, out, n, NULL, parts);
}

tenon_status tenoni_kdfa(uint8_t *out, size_t n, tenoni_part key, const char *label, tenoni_part u, tenoni_part v)
{
    return tenoni_kdfa_with(TENONI_SHA256, out, n, key, label, u, v);
}

tenon_status tenoni_kdfe(uint8_t *out, size_t n, tenoni_part z, const char *label, tenoni_part u, tenoni_part v)
{
    return tenoni_kdfe_with(TENONI_SHA256, out, n, z, label, u, v);
}
