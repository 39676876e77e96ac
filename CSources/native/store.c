/* SPDX-License-Identifier: Apache-2.0 */
#include "native/store.h"

#include <string.h>

#include "base/secure.h"
#include "native/counter.h"
#include "native/envelope.h"
#include "native/settings.h"
#include "tenon/encoding.h"

static const char file_name[] = "store", begun_name[] = "begun";

tenoni_result tenoni_item_name(char *out, const tenon_digest *about)
{
    size_t written;
    out[0] = 'v';
    out[1] = '-';
    out[TENONI_ITEM_NAME_SIZE - 1] = 0;
    return tenoni_of(tenon_hex_encode(out + 2, TENONI_ITEM_NAME_SIZE - 3, &written, about->bytes, sizeof about->bytes));
}

bool tenoni_item_about(const char *name, tenon_digest *about)
{
    size_t written;
    return strlen(name) == TENONI_ITEM_NAME_SIZE - 1 && name[0] == 'v' && name[1] == '-' &&
           tenon_hex_decode(about->bytes, sizeof about->bytes, &written, name + 2, TENONI_ITEM_NAME_SIZE - 3) ==
               TENON_OK;
}

static bool is_no_item(void *context, const char *name)
{
    bool *found = context;
    tenon_digest about;
    *found = tenoni_item_about(name, &about);
    return !*found;
}

static tenoni_result look_for_items(const tenoni_folder *folder, bool *found)
{
    *found = false;
    return tenoni_folder_list(folder->files, is_no_item, found);
}

static tenoni_result read_sealed(const tenoni_folder *folder, const char *file, tenoni_sealed *out)
{
    tenoni_content content;
    tenoni_result result = tenoni_envelope_find(folder, file, TENONI_ENVELOPE_STORE, "", &content);
    if (tenoni_done(result) && !tenoni_sealed_read(out, content.bytes, content.n))
        return tenoni_because(TENONI_FILE_DAMAGED);
    return result;
}

tenoni_result tenoni_store_find(const tenoni_folder *folder, tenoni_store *out)
{
    *out = (tenoni_store){.folder = folder};
    tenoni_result result = read_sealed(folder, file_name, &out->found);
    out->counted = tenoni_done(result) && out->found.counter != 0;
    return result;
}

/* What is loaded stays, if it is what the file holds. */
static void take_sealed(tenoni_store *store)
{
    const tenoni_sealed *found = &store->found;
    store->sealed = tenoni_desk_sealed();
    bool same = store->sealed->known && store->sealed->counter == found->counter &&
                tenoni_equal(&store->sealed->file, &found->file, sizeof found->file);
    if (!same) {
        tenoni_sealed_clear(store->tpm, store->sealed);
        *store->sealed = *found;
    }
}

/* A refusal alone does not say that the TPM is another one: the witness of its seed does. */
static tenoni_result unseal(tenoni_store *store)
{
    tenon_status status = tenoni_sealed_open(store->tpm, store->sealed, store->secret);
    int32_t category = tenon_status_category(status);
    bool refused = status == TENON_ERROR_PARENT_MISSING || category == TENON_CATEGORY_REJECTED;
    if (refused && tenoni_sealed_is_of_another(store->tpm, store->sealed))
        return tenoni_because(TENONI_STORE_OF_ANOTHER_TPM);
    return tenoni_of(status);
}

tenoni_result tenoni_store_open(tenoni_store *store)
{
    tenoni_result result = tenoni_desk_tpm(&store->tpm);
    if (!tenoni_done(result))
        return result;
    take_sealed(store);
    result = unseal(store);
    if (!tenoni_done(result) || !store->counted)
        return result;
    return tenoni_manifest_read(store->folder, store->tpm, store->sealed, store->secret, &store->manifest);
}

void tenoni_store_close(tenoni_store *store)
{
    tenoni_manifest_free(&store->manifest);
    tenoni_wipe(store, sizeof *store);
}

static tenoni_result keep(const tenoni_store *store, const char *file, const tenoni_sealed *made)
{
    uint8_t bytes[TENONI_SEALED_MAX];
    tenoni_writer writer = tenoni_writer_over(bytes, sizeof bytes);
    tenoni_sealed_write(&writer, made);
    if (writer.overflowed)
        return tenoni_because(TENONI_BAD_ARGUMENT);
    return tenoni_envelope_keep(store->folder, file, TENONI_ENVELOPE_STORE, "", bytes, writer.used);
}

/* What a creation that was cut has noted. TENONI_NOTHING: there is no such note, or nobody can use it. */
static tenoni_result find_begun(tenoni_store *store, tenoni_sealed *out)
{
    tenoni_result result = read_sealed(store->folder, begun_name, out);
    store->sealed = out;
    if (tenoni_done(result))
        result = unseal(store);
    return tenoni_store_is_lost(result) ? tenoni_because(TENONI_NOTHING) : result;
}

static tenoni_result begin(tenoni_store *store, tenoni_sealed *made)
{
    tenoni_sealed_clear(store->tpm, made);
    tenon_status status = tenoni_random(store->secret, sizeof store->secret);
    return tenoni_of(status == TENON_OK ? tenoni_sealed_make(store->tpm, made, store->secret) : status);
}

/* An index is noted before the TPM gets it, so that none is left that nobody knows (decision: native-begun). */
static tenoni_result make_counter(const tenoni_store *store, tenoni_sealed *made)
{
    tenon_status status = TENON_OK;
    bool free = made->counter == 0;
    if (!free) {
        status = tenoni_counter_make(store->tpm, made, store->secret);
        free = tenoni_status_is(status, TENONI_RC_NV_DEFINED);
    }
    for (uint32_t index = TENONI_COUNTER_FIRST; free && index <= TENONI_COUNTER_LAST; index++) {
        made->counter = index;
        tenoni_result noted = keep(store, begun_name, made);
        if (!tenoni_done(noted))
            return noted;
        status = tenoni_counter_make(store->tpm, made, store->secret);
        free = tenoni_status_is(status, TENONI_RC_NV_DEFINED);
    }
    return tenoni_of(status);
}

/* The store is there when its file is; whatever else it needs is made before. */
static tenoni_result make_counted(tenoni_store *store, tenoni_sealed *made)
{
    tenoni_result result = make_counter(store, made);
    if (tenoni_done(result))
        result = tenoni_manifest_begin(store->folder, store->tpm, made, store->secret);
    if (tenoni_done(result))
        result = keep(store, file_name, made);
    if (tenoni_done(result))
        (void)tenoni_envelope_remove(store->folder, begun_name);
    return result;
}

/* A counter that was begun goes; if the TPM does not let it go now, the note stays for the next creation. */
static tenoni_result make_uncounted(tenoni_store *store, tenoni_sealed *made)
{
    if (made->counter != 0 && tenoni_counter_remove(store->tpm, made, store->secret) == TENON_OK)
        (void)tenoni_envelope_remove(store->folder, begun_name);
    made->counter = 0;
    return keep(store, file_name, made);
}

static tenoni_result make(tenoni_store *store, bool counted)
{
    tenoni_sealed made;
    memset(&made, 0, sizeof made);
    tenoni_result result = tenoni_desk_tpm(&store->tpm);
    if (!tenoni_done(result))
        return result;
    result = find_begun(store, &made);
    if (tenoni_nothing(result))
        result = begin(store, &made);
    if (tenoni_done(result))
        result = counted ? make_counted(store, &made) : make_uncounted(store, &made);
    tenoni_sealed_clear(store->tpm, &made);
    return result;
}

tenoni_result tenoni_store_make(const tenoni_folder *folder, tenoni_store *out)
{
    const tenoni_settings *settings = tenoni_settings_use();
    bool values;
    tenoni_result result = tenoni_store_find(folder, out);
    if (tenoni_done(result))
        result = tenoni_store_open(out);
    bool useless = result.cause == TENONI_STORE_OF_ANOTHER_TPM && !out->counted;
    if (!tenoni_nothing(result) && !useless)
        return result;
    tenoni_store_close(out);
    *out = (tenoni_store){.folder = folder};
    tenoni_result listed = look_for_items(folder, &values);
    if (!tenoni_done(listed))
        return listed;
    if (values)
        return useless ? result : tenoni_because(TENONI_STORE_KEY_MISSING);
    if (useless)
        result = tenoni_store_put_aside(folder);
    if (tenoni_done(result) || tenoni_nothing(result))
        result = make(out, settings->counter);
    if (!tenoni_done(result))
        return result;
    tenoni_store_close(out);
    result = tenoni_store_find(folder, out);
    return tenoni_done(result) ? tenoni_store_open(out) : result;
}

bool tenoni_store_is_lost(tenoni_result result)
{
    switch (result.cause) {
    case TENONI_STORE_OF_ANOTHER_TPM:
    case TENONI_FILE_DAMAGED:
    case TENONI_FILE_OF_ANOTHER:
    case TENONI_FILE_STALE:
    case TENONI_FILE_MISSING:
        return true;
    default:
        return false;
    }
}

/* The name of a file that was put aside: what it was, behind a random mark. */
enum { MARK = 16 };
typedef struct {
    char text[sizeof "aside-" + MARK + sizeof "manifest.copy"];
} aside_name;

static tenoni_result set_aside_name(aside_name *out, const uint8_t *random, const char *name)
{
    char mark[MARK];
    size_t written;
    tenon_status status = tenon_hex_encode(mark, sizeof mark, &written, random, MARK / 2);
    tenoni_writer writer = tenoni_writer_over((uint8_t *)out->text, sizeof out->text);
    tenoni_write_bytes(&writer, "aside-", sizeof "aside-" - 1);
    tenoni_write_bytes(&writer, mark, sizeof mark);
    tenoni_write_bytes(&writer, "-", 1);
    tenoni_write_bytes(&writer, name, strlen(name) + 1);
    return tenoni_of(status);
}

static tenoni_result move_aside(const tenoni_folder *folder, const char *name, const uint8_t *random)
{
    struct stat found;
    aside_name aside;
    tenoni_result result = tenoni_file_look(folder->files, name, &found);
    if (tenoni_nothing(result))
        return tenoni_because(TENONI_DONE);
    if (tenoni_done(result))
        result = set_aside_name(&aside, random, name);
    return tenoni_done(result) ? tenoni_file_rename(folder, name, aside.text) : result;
}

/* It can be looked at later: its TPM may come back. The copy goes first, as it would mend the file. */
tenoni_result tenoni_store_put_aside(const tenoni_folder *folder)
{
    static const char *const names[] = {"store.copy", "manifest.copy", "manifest", "store"};
    uint8_t random[MARK / 2];
    bool values;
    tenoni_result result = look_for_items(folder, &values);
    if (!tenoni_done(result) || values)
        return result;
    result = tenoni_of(tenoni_random(random, sizeof random));
    for (size_t i = 0; i < sizeof names / sizeof names[0] && tenoni_done(result); i++)
        result = move_aside(folder, names[i], random);
    return tenoni_done(result) ? tenoni_folder_sync(folder) : result;
}
