/* SPDX-License-Identifier: Apache-2.0 */
#include "crypto/protection.h"

#include <string.h>

#include "base/bytes.h"
#include "base/secure.h"
#include "base/signature.h"
#include "crypto/mbedtls.h"
#include "crypto/p256.h"

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

/* mbedTLS's in both builds: OpenSSL's has a context on the heap, and a command holds a hundred bytes. */
static tenon_status cfb(int mode, uint8_t *data, size_t n, const uint8_t *key, size_t key_n, const uint8_t *iv)
{
    mbedtls_aes_context schedule;
    uint8_t feedback[TENONI_CFB_IV_SIZE];
    size_t offset = 0;
    memcpy(feedback, iv, sizeof feedback);
    mbedtls_aes_init(&schedule);
    int error = mbedtls_aes_setkey_enc(&schedule, key, (unsigned)(8 * key_n));
    if (error == 0 && n != 0)
        error = mbedtls_aes_crypt_cfb128(&schedule, mode, n, &offset, feedback, data, data);
    mbedtls_aes_free(&schedule);
    tenoni_wipe(&schedule, sizeof schedule);
    tenoni_wipe(feedback, sizeof feedback);
    return error == 0 ? TENON_OK : TENON_ERROR_CRYPTO;
}

tenon_status tenoni_cfb_encrypt(uint8_t *data, size_t n, const uint8_t *key, size_t key_n, const uint8_t *iv)
{
    return cfb(MBEDTLS_AES_ENCRYPT, data, n, key, key_n, iv);
}

tenon_status tenoni_cfb_decrypt(uint8_t *data, size_t n, const uint8_t *key, size_t key_n, const uint8_t *iv)
{
    return cfb(MBEDTLS_AES_DECRYPT, data, n, key, key_n, iv);
}

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

size_t tenoni_curve_size(tenoni_curve curve)
{
    return curve == TENONI_CURVE_P384 ? TENONI_P384_SIZE : TENON_SCALAR_SIZE;
}

static tenon_status agree_p256(uint8_t *z, uint8_t *ephemeral, const uint8_t *scalar, const uint8_t *point)
{
    tenon_public_key own, other;
    tenoni_signer *signer = NULL;
    memcpy(other.bytes, point, sizeof other.bytes);
    tenon_status status = tenoni_point_check(&other);
    if (status == TENON_OK && !tenoni_scalar_in_range(scalar))
        status = TENON_ERROR_SCALAR_RANGE;
    if (status == TENON_OK)
        status = tenoni_signer_new(&signer, &own, scalar);
    if (status != TENON_OK)
        return status;
    tenoni_signer_free(signer);
    memcpy(ephemeral, own.bytes, sizeof own.bytes);
    return tenoni_p256_agree(z, scalar, &other);
}

tenon_status tenoni_agree(tenoni_curve curve, uint8_t *z, uint8_t *ephemeral, const uint8_t *scalar,
                          const uint8_t *point)
{
    size_t size = tenoni_curve_size(curve);
    uint8_t secret[TENONI_COORDINATE_MAX], own[2 * TENONI_COORDINATE_MAX];
    tenon_status status = curve == TENONI_CURVE_P384 ? tenoni_p384_agree(secret, own, scalar, point)
                                                     : agree_p256(secret, own, scalar, point);
    if (status == TENON_OK) {
        memcpy(z, secret, size);
        memcpy(ephemeral, own, 2 * size);
    }
    tenoni_wipe(secret, sizeof secret);
    return status;
}
