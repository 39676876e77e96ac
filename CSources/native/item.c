/* SPDX-License-Identifier: Apache-2.0 */
#include "native/item.h"

#include <string.h>

#include "base/bytes.h"
#include "crypto/hash.h"
#include "native/store.h"
#include "tenon/native/native.h"

enum { ITEM_MAX = TENON_NATIVE_VALUE_MAX };

typedef struct {
    tenon_digest about;
    char file[TENONI_ITEM_NAME_SIZE];
} place;

/* Each name with its length before it, so that no two pairs give the same bytes. */
tenoni_result tenoni_item_digest(const char *service, const char *key, tenon_digest *out)
{
    static const char tag[] = "tenon-native-item";
    uint8_t lengths[8];
    tenoni_writer writer = tenoni_writer_over(lengths, sizeof lengths);
    tenoni_write_u32(&writer, (uint32_t)strlen(service));
    tenoni_write_u32(&writer, (uint32_t)strlen(key));
    const tenoni_part parts[] = {
        {tag, sizeof tag}, {lengths, sizeof lengths}, {service, strlen(service)}, {key, strlen(key)}};
    return tenoni_of(tenoni_sha256_parts(out, parts, 4));
}

static tenoni_result find_place(const char *service, const char *key, place *out)
{
    tenoni_result result = tenoni_item_digest(service, key, &out->about);
    return tenoni_done(result) ? tenoni_item_name(out->file, &out->about) : result;
}

/* With a counter, the manifest says which number is the newest (decision: native-counter). */
static tenoni_result judge(const tenoni_store *store, const place *at, tenoni_result read, uint64_t number)
{
    if (!store->counted || (!tenoni_done(read) && !tenoni_nothing(read)))
        return read;
    uint64_t listed = tenoni_manifest_number(&store->manifest, &at->about);
    if (tenoni_nothing(read))
        return listed == 0 ? read : tenoni_because(TENONI_FILE_MISSING);
    if (number == listed || number == store->manifest.number + 1)
        return read;
    return tenoni_because(listed == 0 && number <= store->manifest.number ? TENONI_NOTHING : TENONI_FILE_STALE);
}

static tenoni_result read_value(const tenoni_store *store, const place *at, tenoni_plain *out)
{
    tenoni_result result = tenoni_cipher_read(store->folder, at->file, ITEM_MAX, store->secret, &at->about, out);
    result = judge(store, at, result, out->number);
    if (!tenoni_done(result))
        tenoni_plain_free(out);
    return result;
}

/* Without a store, a value that is there cannot be read, and one that is not there is absent. */
static tenoni_result judge_without_store(const tenoni_folder *folder, const place *at)
{
    struct stat found;
    tenoni_result result = tenoni_file_look(folder->files, at->file, &found);
    return tenoni_done(result) ? tenoni_because(TENONI_STORE_KEY_MISSING) : result;
}

/* Without a counter, the folder alone says that there is no such value; the TPM is not asked. */
static tenoni_result look(const tenoni_folder *folder, const place *at, tenoni_store *store)
{
    struct stat found;
    tenoni_result result = tenoni_store_find(folder, store);
    if (tenoni_nothing(result))
        return judge_without_store(folder, at);
    if (tenoni_done(result) && !store->counted)
        result = tenoni_file_look(folder->files, at->file, &found);
    return tenoni_done(result) ? tenoni_store_open(store) : result;
}

tenoni_result tenoni_item_load(const tenoni_folder *folder, const char *service, const char *key, char **out)
{
    place at;
    tenoni_store store;
    tenoni_plain plain;
    tenoni_result result = find_place(service, key, &at);
    if (!tenoni_done(result))
        return result;
    result = look(folder, &at, &store);
    if (tenoni_done(result))
        result = read_value(&store, &at, &plain);
    if (tenoni_done(result))
        *out = (char *)plain.bytes;
    tenoni_store_close(&store);
    return result;
}

typedef struct {
    const tenoni_store *store;
    place ahead;
    bool found;
    tenoni_result result;
} search;

/* A value that is one ahead of the manifest. One that cannot be read now may be it, and then nothing is changed. */
static bool is_not_ahead(void *context, const char *name)
{
    search *work = context;
    tenoni_plain plain;
    if (!tenoni_item_about(name, &work->ahead.about))
        return true;
    work->result =
        tenoni_cipher_read(work->store->folder, name, ITEM_MAX, work->store->secret, &work->ahead.about, &plain);
    work->found = tenoni_done(work->result) && plain.number == work->store->manifest.number + 1;
    tenoni_plain_free(&plain);
    return !work->found && (tenoni_done(work->result) || tenoni_store_is_lost(work->result));
}

/* What a cut left open is ended first: then at most one value is ever ahead. */
static tenoni_result end_what_was_cut(tenoni_store *store)
{
    search work = {.store = store, .result = tenoni_because(TENONI_DONE)};
    if (!store->counted)
        return tenoni_because(TENONI_DONE);
    tenoni_result result = tenoni_folder_list(store->folder->files, is_not_ahead, &work);
    if (tenoni_done(result) && !tenoni_store_is_lost(work.result))
        result = work.result;
    if (tenoni_done(result) && work.found)
        result = tenoni_folder_sync(store->folder); /* the value's name, before the manifest knows of it */
    if (!tenoni_done(result) || !work.found)
        return result;
    result = tenoni_manifest_next(store->folder, store->tpm, store->sealed, store->secret, &store->manifest,
                                  &work.ahead.about, true);
    tenoni_manifest_free(&store->manifest);
    if (!tenoni_done(result))
        return result;
    return tenoni_manifest_read(store->folder, store->tpm, store->sealed, store->secret, &store->manifest);
}

/* A value that no manifest could list would stay ahead for ever: it is not written. */
static tenoni_result write_value(tenoni_store *store, const place *at, uint64_t number, const char *value)
{
    if (store->counted && !tenoni_manifest_has_room(&store->manifest, &at->about))
        return tenoni_because(TENONI_STORE_FULL);
    tenoni_result result = tenoni_cipher_write(store->folder, at->file, store->secret, &at->about, number,
                                               (const uint8_t *)value, strlen(value));
    if (tenoni_done(result))
        result = tenoni_folder_sync(store->folder);
    if (!tenoni_done(result) || !store->counted)
        return result;
    return tenoni_manifest_next(store->folder, store->tpm, store->sealed, store->secret, &store->manifest, &at->about,
                                true);
}

/* Only a value that was read may be replaced: one that cannot be read may be all that its owner has. */
static tenoni_result replace(tenoni_store *store, const place *at, const char *value)
{
    tenoni_plain before;
    tenoni_result result = end_what_was_cut(store);
    if (!tenoni_done(result))
        return result;
    result = read_value(store, at, &before);
    uint64_t number = store->counted ? store->manifest.number + 1 : before.number + 1;
    if (tenoni_done(result) || tenoni_nothing(result)) {
        tenoni_plain_free(&before);
        return write_value(store, at, number, value);
    }
    return tenoni_store_is_lost(result) ? tenoni_because(TENONI_VALUE_KEPT) : result;
}

tenoni_result tenoni_item_store(const tenoni_folder *folder, const char *service, const char *key, const char *value)
{
    place at;
    tenoni_store store;
    tenoni_result result = find_place(service, key, &at);
    if (!tenoni_done(result))
        return result;
    result = tenoni_store_make(folder, &store);
    if (tenoni_done(result))
        result = replace(&store, &at, value);
    tenoni_store_close(&store);
    return result;
}

static tenoni_result remove_file(const tenoni_folder *folder, const place *at)
{
    tenoni_result result = tenoni_file_remove(folder, at->file);
    return tenoni_done(result) ? tenoni_folder_sync(folder) : result;
}

/* The manifest first: what it does not name is gone, whatever becomes of the file. */
static tenoni_result remove_counted(tenoni_store *store, const place *at, tenoni_result found)
{
    tenoni_result result = tenoni_done(found) ? tenoni_store_open(store) : found;
    if (tenoni_done(result))
        result = end_what_was_cut(store);
    if (tenoni_done(result) && tenoni_manifest_number(&store->manifest, &at->about) != 0)
        result = tenoni_manifest_next(store->folder, store->tpm, store->sealed, store->secret, &store->manifest,
                                      &at->about, false);
    bool lost = tenoni_store_is_lost(result);
    if (!tenoni_done(result) && !lost)
        return result;
    result = remove_file(store->folder, at);
    return tenoni_done(result) && lost ? tenoni_store_put_aside(store->folder) : result;
}

/* Without a counter a value is its file, and the TPM need not be asked. */
tenoni_result tenoni_item_delete(const tenoni_folder *folder, const char *service, const char *key)
{
    place at;
    tenoni_store store;
    tenoni_result result = find_place(service, key, &at);
    if (!tenoni_done(result))
        return result;
    result = tenoni_store_find(folder, &store);
    if (tenoni_nothing(result) || (tenoni_done(result) && !store.counted))
        result = remove_file(folder, &at);
    else if (tenoni_done(result) || tenoni_store_is_lost(result))
        result = remove_counted(&store, &at, result);
    tenoni_store_close(&store);
    return result;
}
