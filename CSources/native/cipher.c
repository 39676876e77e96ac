/* SPDX-License-Identifier: Apache-2.0 */
#include "native/cipher.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/secure.h"
#include "crypto/gcm.h"

static const uint32_t magic = 0x746e7631; /* "tnv1" */

enum { HEAD = 4 + 8 + TENONI_GCM_NONCE_SIZE + TENONI_GCM_TAG_SIZE, ABOUT = TENON_DIGEST_SIZE + 8 };

void tenoni_plain_free(tenoni_plain *plain)
{
    tenoni_wipe(plain->bytes, plain->n);
    free(plain->bytes);
    *plain = (tenoni_plain){.bytes = NULL};
}

static void write_about(uint8_t *out, const tenon_digest *about, uint64_t number)
{
    tenoni_writer writer = tenoni_writer_over(out, ABOUT);
    tenoni_write_bytes(&writer, about->bytes, sizeof about->bytes);
    tenoni_write_u64(&writer, number);
}

static tenoni_result decrypt(tenoni_reader from, const uint8_t *key, const tenon_digest *about, tenoni_plain *out)
{
    uint8_t nonce[TENONI_GCM_NONCE_SIZE], tag[TENONI_GCM_TAG_SIZE], bound[ABOUT];
    uint32_t found;
    bool good;
    if (!tenoni_read_u32(&from, &found) || found != magic || !tenoni_read_u64(&from, &out->number) ||
        !tenoni_read_bytes(&from, nonce, sizeof nonce) || !tenoni_read_bytes(&from, tag, sizeof tag))
        return tenoni_because(TENONI_FILE_DAMAGED);
    write_about(bound, about, out->number);
    out->bytes = calloc(1, from.left + 1);
    if (out->bytes == NULL)
        return tenoni_because(TENONI_NO_MEMORY);
    out->n = from.left;
    tenon_status status =
        tenoni_gcm_decrypt(out->bytes, &good, key, nonce, (tenoni_part){bound, sizeof bound}, tag, from.at, from.left);
    if (status == TENON_OK && good)
        return tenoni_because(TENONI_DONE);
    tenoni_plain_free(out);
    return status == TENON_OK ? tenoni_because(TENONI_FILE_DAMAGED) : tenoni_of(status);
}

tenoni_result tenoni_cipher_read(const tenoni_folder *folder, const char *file, size_t max, const uint8_t *key,
                                 const tenon_digest *about, tenoni_plain *out)
{
    uint8_t *bytes;
    size_t n;
    *out = (tenoni_plain){.bytes = NULL};
    tenoni_result result = tenoni_file_read(folder->files, file, HEAD + max, &bytes, &n);
    if (!tenoni_done(result))
        return result;
    result = decrypt(tenoni_reader_over(bytes, n), key, about, out);
    free(bytes);
    return result;
}

tenoni_result tenoni_cipher_write(const tenoni_folder *folder, const char *file, const uint8_t *key,
                                  const tenon_digest *about, uint64_t number, const uint8_t *bytes, size_t n)
{
    uint8_t nonce[TENONI_GCM_NONCE_SIZE], tag[TENONI_GCM_TAG_SIZE], bound[ABOUT];
    uint8_t *whole = malloc(HEAD + n);
    if (whole == NULL)
        return tenoni_because(TENONI_NO_MEMORY);
    write_about(bound, about, number);
    tenon_status status = tenoni_random(nonce, sizeof nonce);
    if (status == TENON_OK)
        status = tenoni_gcm_encrypt(whole + HEAD, tag, key, nonce, (tenoni_part){bound, sizeof bound}, bytes, n);
    tenoni_writer writer = tenoni_writer_over(whole, HEAD);
    tenoni_write_u32(&writer, magic);
    tenoni_write_u64(&writer, number);
    tenoni_write_bytes(&writer, nonce, sizeof nonce);
    tenoni_write_bytes(&writer, tag, sizeof tag);
    tenoni_result result = status == TENON_OK ? tenoni_file_write(folder, file, whole, HEAD + n) : tenoni_of(status);
    free(whole);
    return result;
}
