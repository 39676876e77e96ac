/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "native/attestation.h"
#include "native/envelope.h"
#include "native/last.h"
#include "native/settings.h"
#include "native/store.h"
#include "native/worker.h"

/* What lies in the folder, and what a runtime would be told, as JSON. */

enum { REPORT_MS = 30000 };

typedef struct {
    const tenoni_folder *folder;
    tenoni_text text;
    size_t keys;
    size_t values;
} report;

static void add_outcome(tenoni_text *text, tenoni_result result)
{
    static const char *const words[] = {"\"unavailable\"", "\"absent\"", "\"found\""};
    tenoni_text_add(text, words[tenoni_outcome(result) + 1]);
    char *error = tenoni_outcome(result) == TENON_NATIVE_UNAVAILABLE ? tenoni_result_json(result) : NULL;
    if (error != NULL) {
        tenoni_text_add(text, ",\"error\":");
        tenoni_text_add(text, error);
    }
    free(error);
}

/* A member that is an object: its state, and the error that explains it. */
static void add_part(tenoni_text *text, const char *name, tenoni_result result)
{
    tenoni_text_add(text, name);
    tenoni_text_add(text, "{\"state\":");
    add_outcome(text, result);
    tenoni_text_add(text, "}");
}

/* The id in a key's file or in its copy; to be freed. */
static char *id_of(const tenoni_folder *folder, const char *file)
{
    uint8_t *bytes;
    size_t n;
    tenoni_reader name;
    char *id = NULL;
    if (!tenoni_done(tenoni_file_read(folder->files, file, TENONI_ENVELOPE_MAX, &bytes, &n)))
        return NULL;
    if (tenoni_done(tenoni_envelope_name(bytes, n, TENONI_ENVELOPE_KEY, &name)))
        id = calloc(1, name.left + 1);
    if (id != NULL)
        memcpy(id, name.at, name.left);
    size_t length;
    if (id != NULL && !tenoni_utf8(id, TENON_NATIVE_ID_MAX, false, &length)) {
        free(id);
        id = NULL;
    }
    free(bytes);
    return id;
}

static void add_key(report *to, const char *file)
{
    tenon_tpm_key *key;
    char *id = id_of(to->folder, file);
    tenoni_result result = id == NULL ? tenoni_because(TENONI_FILE_DAMAGED) : tenoni_device_key(to->folder, id, &key);
    tenoni_text_add(&to->text, to->keys++ == 0 ? "{\"file\":" : ",{\"file\":");
    tenoni_text_quote(&to->text, file);
    if (id != NULL) {
        tenoni_text_add(&to->text, ",\"device_id\":");
        tenoni_text_quote(&to->text, id);
    }
    tenoni_text_add(&to->text, ",\"state\":");
    add_outcome(&to->text, result);
    tenoni_text_add(&to->text, "}");
    free(id);
}

static bool add_file(void *context, const char *name)
{
    report *to = context;
    tenon_digest about;
    if (strlen(name) == TENONI_FILE_NAME_SIZE - 1 && name[0] == 'k' && name[1] == '-')
        add_key(to, name);
    else if (tenoni_item_about(name, &about))
        to->values++;
    return true;
}

static void add_store(report *to)
{
    tenoni_store store;
    tenoni_result result = tenoni_store_find(to->folder, &store);
    if (tenoni_done(result))
        result = tenoni_store_open(&store);
    if (tenoni_nothing(result) && to->values != 0)
        result = tenoni_because(TENONI_STORE_KEY_MISSING);
    tenoni_text_add(&to->text, ",\"store\":{\"values\":");
    tenoni_text_number(&to->text, to->values);
    tenoni_text_add(&to->text, ",\"counter\":");
    tenoni_text_add(&to->text, store.counted ? "true" : "false");
    tenoni_text_add(&to->text, ",\"state\":");
    add_outcome(&to->text, result);
    tenoni_text_add(&to->text, "}");
    tenoni_store_close(&store);
}

static void add_attesters(report *to)
{
    size_t count;
    tenoni_result result = tenoni_attesters(to->folder, &count);
    tenoni_text_add(&to->text, ",\"attestation_certificates\":");
    tenoni_text_number(&to->text, tenoni_done(result) ? count : 0);
}

static void add_content(report *to)
{
    tenoni_text_add(&to->text, ",\"keys\":[");
    (void)tenoni_folder_list(to->folder->files, add_file, to);
    tenoni_text_add(&to->text, "]");
    add_store(to);
    add_attesters(to);
}

static tenoni_result run_report(tenoni_work *work)
{
    const tenoni_settings *settings = tenoni_settings_use();
    tenoni_folder folder;
    tenon_tpm *tpm;
    report to = {.folder = &folder};
    tenoni_text_add(&to.text, "{\"version\":1,\"state_dir\":");
    tenoni_text_quote(&to.text, settings == NULL ? "" : settings->state_dir);
    add_part(&to.text, ",\"tpm\":", tenoni_desk_tpm(&tpm));
    tenoni_result result = tenoni_folder_open(&folder, false);
    if (tenoni_done(result))
        result = tenoni_folder_lock(&folder);
    add_part(&to.text, ",\"folder\":", result);
    if (tenoni_done(result))
        add_content(&to);
    tenoni_folder_close(&folder);
    tenoni_text_add(&to.text, "}");
    work->answer = tenoni_text_take(&to.text);
    return tenoni_because(work->answer == NULL ? TENONI_NO_MEMORY : TENONI_DONE);
}

char *tenon_native_report(void)
{
    char *answer = NULL;
    tenoni_work *work = tenoni_work_new(run_report, NULL, NULL, NULL);
    tenoni_last(work == NULL ? tenoni_because(TENONI_NO_MEMORY) : tenoni_work_do(work, REPORT_MS, &answer));
    return answer;
}
