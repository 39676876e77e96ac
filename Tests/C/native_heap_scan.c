/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1 /* asprintf, explicit_bzero */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "folder.h"
#include "native/desk.h"
#include "native/folder.h"
#include "native/store.h"
#include "native/worker.h"
#include "scan.h"
#include "tenon/native/native.h"
#include "tenon/tenon.h"
#include "test_transport.h"

/* native_heap_scan: of a runtime's value, and of the key of all values, nothing is left in the process. */

static char given[SCAN_SIZE + 1];

/* The text that a runtime keeps: it is in this form nowhere else in the program. */
__attribute__((noinline)) static void reveal(char *out)
{
    scan_reveal((uint8_t *)out);
    for (size_t i = 0; i < SCAN_SIZE; i++)
        out[i] = (char)('0' + (out[i] & 0x1f));
    out[SCAN_SIZE] = 0;
}

__attribute__((noinline)) static bool keep(void) { return synheart_native_secure_store("s", "k", given) == 0; }

__attribute__((noinline)) static bool load(void)
{
    char *found = synheart_native_secure_load("s", "k");
    bool good = found != NULL;
    if (good)
        explicit_bzero(found, strlen(found));
    free(found);
    return good;
}

/* Between two calls nobody uses the desk. */
__attribute__((noinline)) static bool reveal_key(void)
{
    tenoni_folder folder;
    tenoni_store store;
    bool good = tenoni_done(tenoni_folder_open(&folder, false)) && tenoni_done(tenoni_store_find(&folder, &store)) &&
                tenoni_done(tenoni_store_open(&store));
    if (good) {
        memcpy(given, store.secret, SCAN_SIZE);
        tenoni_store_close(&store);
    }
    tenoni_folder_close(&folder);
    return good;
}

int main(void)
{
    support_swtpm *sw = support_swtpm_start(NULL);
    char *folder = support_folder_make();
    if (sw == NULL || folder == NULL)
        return 2;
    support_transport *wire = support_transport_new(sw);
    tenon_tpm_transport table = support_transport_table(wire);
    const tenon_native_options options = {.size = sizeof options, .state_dir = folder};
    tenoni_desk_use(&table);
    bool good = tenon_native_configure(&options) == 0;
    reveal(given);
    good = good && scan_given("a value that is stored", keep, given);
    reveal(given);
    good = scan_given("a value that is loaded", load, given) && good;
    good = reveal_key() && scan_given("the key of the values", load, given) && good;
    tenoni_worker_end();
    tenoni_desk_forget(true);
    support_transport_free(wire);
    support_swtpm_stop(sw);
    char *files;
    if (asprintf(&files, "%s/native", folder) > 0)
        support_folder_remove(files);
    support_folder_remove(folder);
    return good ? 0 : 1;
}
