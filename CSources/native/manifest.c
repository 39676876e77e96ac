/* SPDX-License-Identifier: Apache-2.0 */
#include "native/manifest.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/secure.h"
#include "crypto/hash.h"
#include "native/counter.h"

enum { ENTRY = TENON_DIGEST_SIZE + 8, ENTRIES_MAX = 65536 };

static const char file_name[] = "manifest", copy_name[] = "manifest.copy";

void tenoni_manifest_free(tenoni_manifest *manifest)
{
    free(manifest->entries);
    *manifest = (tenoni_manifest){.count = 0};
}

static tenoni_result set_about(tenon_digest *out)
{
    static const char tag[] = "tenon-native-manifest";
    return tenoni_of(tenoni_sha256_parts(out, &(tenoni_part){tag, sizeof tag}, 1));
}

static tenoni_result read_one(const tenoni_folder *folder, const char *file, const uint8_t *secret,
                              tenoni_manifest *out)
{
    tenon_digest about;
    tenoni_plain plain;
    tenoni_result result = set_about(&about);
    if (tenoni_done(result))
        result = tenoni_cipher_read(folder, file, ENTRIES_MAX * ENTRY, secret, &about, &plain);
    if (!tenoni_done(result))
        return result;
    *out = (tenoni_manifest){.number = plain.number, .count = plain.n / ENTRY, .entries = plain.bytes};
    return plain.n % ENTRY == 0 ? result : tenoni_because(TENONI_FILE_DAMAGED);
}

/*
 * The manifest was written, and then the process ended: the count is made up for, once the name is on the disk. A count
 * that passes what a loss of power leaves would make every value an old one.
 */
static tenoni_result compare(const tenoni_folder *folder, tenon_tpm *tpm, tenoni_sealed *sealed, const uint8_t *secret,
                             uint64_t number)
{
    uint64_t count;
    tenoni_result result = tenoni_of(tenoni_counter_read(tpm, sealed, secret, &count));
    if (!tenoni_done(result) || number == count)
        return result;
    if (number != count + 1)
        return tenoni_because(TENONI_FILE_STALE);
    result = tenoni_folder_sync(folder);
    return tenoni_done(result) ? tenoni_of(tenoni_counter_raise(tpm, sealed, secret, number)) : result;
}

tenoni_result tenoni_manifest_read(const tenoni_folder *folder, tenon_tpm *tpm, tenoni_sealed *sealed,
                                   const uint8_t *secret, tenoni_manifest *out)
{
    *out = (tenoni_manifest){.count = 0};
    tenoni_result result = read_one(folder, file_name, secret, out);
    if (!tenoni_done(result)) {
        tenoni_manifest_free(out);
        result = read_one(folder, copy_name, secret, out);
    }
    if (tenoni_nothing(result))
        result = tenoni_because(TENONI_FILE_MISSING);
    if (tenoni_done(result))
        result = compare(folder, tpm, sealed, secret, out->number);
    if (!tenoni_done(result))
        tenoni_manifest_free(out);
    return result;
}

static tenoni_result write_both(const tenoni_folder *folder, const uint8_t *secret, const tenoni_manifest *manifest)
{
    tenon_digest about;
    tenoni_result result = set_about(&about);
    for (int i = 0; i < 2 && tenoni_done(result); i++) {
        result = tenoni_cipher_write(folder, i == 0 ? file_name : copy_name, secret, &about, manifest->number,
                                     manifest->entries, manifest->count * ENTRY);
        if (tenoni_done(result))
            result = tenoni_folder_sync(folder);
    }
    return result;
}

tenoni_result tenoni_manifest_begin(const tenoni_folder *folder, tenon_tpm *tpm, tenoni_sealed *sealed,
                                    const uint8_t *secret)
{
    tenoni_manifest manifest = {.count = 0};
    tenon_status status = tenoni_counter_read(tpm, sealed, secret, &manifest.number);
    return status == TENON_OK ? write_both(folder, secret, &manifest) : tenoni_of(status);
}

static uint8_t *entry_of(const tenoni_manifest *manifest, const tenon_digest *about)
{
    for (size_t i = 0; i < manifest->count; i++)
        if (tenoni_equal(manifest->entries + i * ENTRY, about->bytes, sizeof about->bytes))
            return manifest->entries + i * ENTRY;
    return NULL;
}

uint64_t tenoni_manifest_number(const tenoni_manifest *manifest, const tenon_digest *about)
{
    uint64_t number = 0;
    const uint8_t *entry = entry_of(manifest, about);
    if (entry != NULL) {
        tenoni_reader reader = tenoni_reader_over(entry + TENON_DIGEST_SIZE, 8);
        (void)tenoni_read_u64(&reader, &number);
    }
    return number;
}

bool tenoni_manifest_has_room(const tenoni_manifest *manifest, const tenon_digest *about)
{
    return manifest->count < ENTRIES_MAX || entry_of(manifest, about) != NULL;
}

/* With room for one more; the entry that changes is left out. */
static tenoni_result copy_without(const tenoni_manifest *from, const tenon_digest *about, tenoni_manifest *to)
{
    const uint8_t *skipped = entry_of(from, about);
    *to = (tenoni_manifest){.number = from->number + 1, .entries = malloc((from->count + 1) * ENTRY)};
    if (to->entries == NULL)
        return tenoni_because(TENONI_NO_MEMORY);
    for (size_t i = 0; i < from->count; i++)
        if (from->entries + i * ENTRY != skipped)
            memcpy(to->entries + ENTRY * to->count++, from->entries + i * ENTRY, ENTRY);
    return tenoni_because(TENONI_DONE);
}

tenoni_result tenoni_manifest_next(const tenoni_folder *folder, tenon_tpm *tpm, tenoni_sealed *sealed,
                                   const uint8_t *secret, tenoni_manifest *manifest, const tenon_digest *about,
                                   bool there)
{
    tenoni_manifest next;
    tenoni_result result = copy_without(manifest, about, &next);
    if (tenoni_done(result) && there) {
        tenoni_writer writer = tenoni_writer_over(next.entries + ENTRY * next.count++, ENTRY);
        tenoni_write_bytes(&writer, about->bytes, sizeof about->bytes);
        tenoni_write_u64(&writer, next.number);
    }
    if (tenoni_done(result))
        result = write_both(folder, secret, &next);
    if (tenoni_done(result))
        result = tenoni_of(tenoni_counter_raise(tpm, sealed, secret, next.number));
    tenoni_manifest_free(&next);
    return result;
}
