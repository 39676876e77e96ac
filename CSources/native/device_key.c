/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE /* st_mtim */
#include "native/device_key.h"

#include <string.h>

#include "base/secure.h"
#include "native/envelope.h"

enum { KEY_LETTER = 'k', MAPPING_LETTER = 'a' };

static void set_mark(uint64_t *mark, const struct stat *found)
{
    mark[0] = (uint64_t)found->st_dev;
    mark[1] = (uint64_t)found->st_ino;
    mark[2] = (uint64_t)found->st_size;
    mark[3] = (uint64_t)found->st_mtim.tv_sec * 1000000000u + (uint64_t)found->st_mtim.tv_nsec;
}

/* Whether what is loaded is what the file holds. Another process may have deleted the key and made a new one. */
static bool is_current(const tenoni_folder *folder, const tenoni_desk_key *place, const char *file, uint64_t *mark)
{
    struct stat found;
    if (!tenoni_done(tenoni_file_look(folder->files, file, &found))) {
        memset(mark, 0, sizeof place->mark);
        return false;
    }
    set_mark(mark, &found);
    return place->key != NULL && tenoni_equal(mark, place->mark, sizeof place->mark);
}

static void put_down(tenoni_desk_key *place, const char *file, const uint64_t *mark, tenon_tpm_key *key)
{
    tenoni_writer writer = tenoni_writer_over((uint8_t *)place->file, sizeof place->file);
    tenoni_write_bytes(&writer, file, strlen(file) + 1);
    memcpy(place->mark, mark, sizeof place->mark);
    place->key = key;
}

static tenoni_result load(const tenoni_folder *folder, const char *file, const char *id, tenon_tpm_key **out)
{
    tenoni_content pem;
    tenon_tpm *tpm;
    tenoni_result result = tenoni_envelope_find(folder, file, TENONI_ENVELOPE_KEY, id, &pem);
    if (tenoni_done(result))
        result = tenoni_desk_tpm(&tpm);
    if (!tenoni_done(result))
        return result;
    tenon_status status = tenon_tpm_key_load(tpm, out, (const char *)pem.bytes, pem.n, NULL, 0);
    /* What the desk holds, the TPM has accepted; on a bare one, loading alone does not ask it. */
    if (status == TENON_OK && !tenon_tpm_is_managed(tpm))
        status = tenon_tpm_key_check(*out);
    if (status != TENON_OK)
        tenon_tpm_key_free(out);
    return tenoni_of(status);
}

tenoni_result tenoni_device_key(const tenoni_folder *folder, const char *id, tenon_tpm_key **out)
{
    char file[TENONI_FILE_NAME_SIZE];
    uint64_t mark[4];
    *out = NULL;
    tenoni_result result = tenoni_file_name(file, KEY_LETTER, id);
    if (!tenoni_done(result))
        return result;
    tenoni_desk_key *place = tenoni_desk_place(file);
    if (!is_current(folder, place, file, mark)) {
        tenoni_desk_clear(place);
        result = load(folder, file, id, out);
        if (!tenoni_done(result))
            return result;
        put_down(place, file, mark, *out);
    }
    *out = place->key;
    return result;
}

/* The file and its copy are on the disk before anybody learns of the key. */
static tenoni_result make(const tenoni_folder *folder, const char *file, const char *id, tenon_tpm_key **out)
{
    tenon_tpm *tpm;
    char pem[TENON_TPM_KEY_MAX];
    size_t n;
    tenoni_result result = tenoni_desk_tpm(&tpm);
    if (tenoni_done(result))
        result = tenoni_of(tenon_tpm_key_create(tpm, out, NULL, 0));
    if (tenoni_done(result))
        result = tenoni_of(tenon_tpm_key_export(*out, pem, sizeof pem, &n));
    if (tenoni_done(result))
        result = tenoni_envelope_keep(folder, file, TENONI_ENVELOPE_KEY, id, (const uint8_t *)pem, n);
    if (!tenoni_done(result))
        tenon_tpm_key_free(out);
    return result;
}

tenoni_result tenoni_device_key_make(const tenoni_folder *folder, const char *id, tenon_tpm_key **out)
{
    char file[TENONI_FILE_NAME_SIZE];
    uint64_t mark[4];
    tenoni_content pem;
    *out = NULL;
    tenoni_result result = tenoni_file_name(file, KEY_LETTER, id);
    if (tenoni_done(result))
        result = tenoni_envelope_find(folder, file, TENONI_ENVELOPE_KEY, id, &pem);
    if (tenoni_done(result))
        return tenoni_device_key(folder, id, out);
    if (tenoni_nothing(result))
        result = make(folder, file, id, out);
    if (!tenoni_done(result))
        return result;
    tenoni_desk_key *place = tenoni_desk_place(file);
    (void)is_current(folder, place, file, mark);
    put_down(place, file, mark, *out);
    return result;
}

tenoni_result tenoni_device_key_look(const tenoni_folder *folder, const char *id)
{
    char file[TENONI_FILE_NAME_SIZE];
    tenoni_result result = tenoni_file_name(file, KEY_LETTER, id);
    return tenoni_done(result) ? tenoni_envelope_look(folder, file) : result;
}

/* The mapping first: without its key it says nothing. */
tenoni_result tenoni_device_key_delete(const tenoni_folder *folder, const char *id)
{
    char file[TENONI_FILE_NAME_SIZE];
    tenoni_result result = tenoni_file_name(file, MAPPING_LETTER, id);
    if (tenoni_done(result))
        result = tenoni_envelope_remove(folder, file);
    if (tenoni_done(result))
        result = tenoni_file_name(file, KEY_LETTER, id);
    if (!tenoni_done(result))
        return result;
    tenoni_desk_clear(tenoni_desk_place(file));
    return tenoni_envelope_remove(folder, file);
}
