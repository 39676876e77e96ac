/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_CIPHER_H
#define TENONI_CIPHER_H

#include "native/folder.h"
#include "tenon/types.h"

/*
 * A file whose content is encrypted: a number, a nonce, a tag, and the content under AES-256-GCM. What it is about and
 * its number are authenticated with it, so a file in another's place is noticed.
 */
typedef struct {
    uint64_t number;
    uint8_t *bytes; /* with a NUL behind it; to be given to tenoni_plain_free */
    size_t n;
} tenoni_plain;

void tenoni_plain_free(tenoni_plain *plain);

/* TENONI_FILE_DAMAGED: it was not written with this key about this. */
tenoni_result tenoni_cipher_read(const tenoni_folder *folder, const char *file, size_t max, const uint8_t *key,
                                 const tenon_digest *about, tenoni_plain *out);

/* Writes it; the caller syncs the folder. */
tenoni_result tenoni_cipher_write(const tenoni_folder *folder, const char *file, const uint8_t *key,
                                  const tenon_digest *about, uint64_t number, const uint8_t *bytes, size_t n);

#endif
