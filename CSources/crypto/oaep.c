/* SPDX-License-Identifier: Apache-2.0 */
#include "crypto/oaep.h"

#include <string.h>

#include "base/secure.h"

enum { HASH = 32 };

bool tenoni_rsa_modulus_fits(const uint8_t *modulus)
{
    return (modulus[0] & 0x80) != 0 && (modulus[TENONI_RSA_SIZE - 1] & 1) != 0;
}

/* MGF1 (RFC 8017, B.2.1), of fewer than 256 blocks: masks n bytes with what the seed gives. */
static tenon_status mask(uint8_t *bytes, size_t n, const uint8_t *seed, size_t seed_n)
{
    uint8_t block[HASH], counter[4] = {0};
    tenon_status status = TENON_OK;
    for (size_t i = 0; status == TENON_OK && i < n; i++) {
        if (i % HASH == 0) {
            counter[3] = (uint8_t)(i / HASH);
            status =
                tenoni_hash_parts(TENONI_SHA256, block, (tenoni_part[]){{seed, seed_n}, {counter, sizeof counter}}, 2);
        }
        bytes[i] ^= block[i % HASH];
    }
    tenoni_wipe(block, sizeof block);
    return status;
}

tenon_status tenoni_oaep_encrypt(uint8_t *out, const uint8_t *modulus, const char *label, tenoni_part message,
                                 const uint8_t *salt)
{
    uint8_t encoded[TENONI_RSA_SIZE] = {0};
    uint8_t *seed = encoded + 1, *data = seed + HASH, *end = encoded + sizeof encoded;
    size_t data_n = (size_t)(end - data);
    if (message.n > TENONI_OAEP_MAX)
        return TENON_ERROR_TOO_LARGE;
    memcpy(seed, salt, HASH);
    memcpy(end - message.n, message.bytes, message.n);
    end[-(ptrdiff_t)message.n - 1] = 1;
    tenon_status status = tenoni_hash_parts(TENONI_SHA256, data, &(tenoni_part){label, strlen(label) + 1}, 1);
    if (status == TENON_OK)
        status = mask(data, data_n, seed, HASH);
    if (status == TENON_OK)
        status = mask(seed, HASH, data, data_n);
    if (status == TENON_OK)
        status = tenoni_rsa_raise(out, modulus, encoded);
    tenoni_wipe(encoded, sizeof encoded);
    return status;
}
