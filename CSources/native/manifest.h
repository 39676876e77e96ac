/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_MANIFEST_H
#define TENONI_MANIFEST_H

#include "native/cipher.h"
#include "native/sealed.h"

/*
 * Which values there are, and the number of each; its own number is that of the TPM's counter (decision:
 * native-counter). A change writes the value with the next number, then the manifest, then counts. So after a cut the
 * manifest is one ahead of the counter, or a value one ahead of the manifest, and both are taken.
 */
typedef struct {
    uint64_t number;
    size_t count;
    uint8_t *entries; /* for each value 32 bytes that it is about, and 8 of its number */
} tenoni_manifest;

void tenoni_manifest_free(tenoni_manifest *manifest);

/* Reads it, compares it with the counter, and counts if a cut left that open. TENONI_FILE_STALE: it is an old one. */
tenoni_result tenoni_manifest_read(const tenoni_folder *folder, tenon_tpm *tpm, tenoni_sealed *sealed,
                                   const uint8_t *secret, tenoni_manifest *out);

/* The first one, for a counter that was made. */
tenoni_result tenoni_manifest_begin(const tenoni_folder *folder, tenon_tpm *tpm, tenoni_sealed *sealed,
                                    const uint8_t *secret);

/* The number of a value; 0 if the manifest does not list it. */
uint64_t tenoni_manifest_number(const tenoni_manifest *manifest, const tenon_digest *about);

/* Whether a value may get the next number: there are at most 65,536. */
bool tenoni_manifest_has_room(const tenoni_manifest *manifest, const tenon_digest *about);

/* Writes the next one, in which this value has the manifest's number, or is not there; then counts. */
tenoni_result tenoni_manifest_next(const tenoni_folder *folder, tenon_tpm *tpm, tenoni_sealed *sealed,
                                   const uint8_t *secret, tenoni_manifest *manifest, const tenon_digest *about,
                                   bool there);

#endif
