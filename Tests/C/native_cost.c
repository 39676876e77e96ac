/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crypto/gcm.h"
#include "folder.h"
#include "native/desk.h"
#include "native/folder.h"
#include "native/item.h"
#include "native/worker.h"
#include "tenon/native/native.h"
#include "test_transport.h"

/*
 * native_cost: the TPM commands of each callback, by their names, and with a word the calls whose instructions
 * callgrind counts: native_cost load N, native_cost gcm N.
 */

enum { VALUE = 256 };

static const struct {
    uint32_t code;
    const char *name;
} names[] = {{0x131, "CreatePrimary"}, {0x153, "Create"},       {0x157, "Load"},         {0x15d, "Sign"},
             {0x15e, "Unseal"},        {0x165, "FlushContext"}, {0x173, "ReadPublic"},   {0x176, "StartAuthSession"},
             {0x148, "Certify"},       {0x14e, "NV_Read"},      {0x134, "NV_Increment"}, {0x12a, "NV_DefineSpace"}};

typedef struct {
    support_swtpm *sw;
    support_transport *wire;
    char *folder;
} world;

static world begin(void)
{
    world at = {.sw = support_swtpm_start(NULL), .folder = support_folder_make()};
    if (at.sw == NULL || at.folder == NULL)
        exit(2);
    at.wire = support_transport_new(at.sw);
    tenon_tpm_transport table = support_transport_table(at.wire);
    const tenon_native_options options = {.size = sizeof options, .state_dir = at.folder};
    tenoni_desk_use(&table);
    if (tenon_native_configure(&options) != 0)
        exit(2);
    return at;
}

static void end(world *at)
{
    tenoni_worker_end();
    tenoni_desk_forget(true);
    support_transport_free(at->wire);
    support_swtpm_stop(at->sw);
}

static void show(const world *at, const char *what)
{
    printf("%-28s %2u ", what, support_transport_count(at->wire, SUPPORT_ANY));
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        uint32_t count = support_transport_count(at->wire, names[i].code);
        if (count != 0)
            printf(" %s %u", names[i].name, count);
    }
    puts("");
    support_transport_reset_counts(at->wire);
}

#define SHOWN(at, what, call)                                                                                          \
    do {                                                                                                               \
        call;                                                                                                          \
        show(at, what);                                                                                                \
    } while (0)

static void show_all(const world *at)
{
    static const uint8_t data[32] = {1};
    SHOWN(at, "generate_key, a new key", free(synheart_native_generate_key("dev_1")));
    SHOWN(at, "generate_key, a known key", free(synheart_native_generate_key("dev_1")));
    SHOWN(at, "sign_bytes, first", free(synheart_native_sign_bytes("dev_1", data, sizeof data)));
    SHOWN(at, "sign_bytes, warm", free(synheart_native_sign_bytes("dev_1", data, sizeof data)));
    SHOWN(at, "key_exists", (void)synheart_native_key_exists("dev_1"));
    SHOWN(at, "secure_store, a new store", (void)synheart_native_secure_store("s", "k", "v"));
    SHOWN(at, "secure_store, warm", (void)synheart_native_secure_store("s", "k", "v"));
    SHOWN(at, "secure_load, warm", free(synheart_native_secure_load("s", "k")));
    tenoni_desk_forget(true);
    support_transport_reset_counts(at->wire);
    SHOWN(at, "secure_load, a new process", free(synheart_native_secure_load("s", "k")));
    SHOWN(at, "sign_bytes, a new process", free(synheart_native_sign_bytes("dev_1", data, sizeof data)));
    SHOWN(at, "secure_delete", (void)synheart_native_secure_delete("s", "k"));
    SHOWN(at, "delete_key", (void)synheart_native_delete_key("dev_1"));
}

/* What the worker does for one secure_store. No call's time is over here, however slow the tool is. */
static bool keep(const char *value)
{
    tenoni_folder folder;
    bool done = tenoni_done(tenoni_folder_open(&folder, true)) && tenoni_done(tenoni_folder_lock(&folder)) &&
                tenoni_done(tenoni_item_store(&folder, "s", "k", value));
    tenoni_folder_close(&folder);
    return done;
}

/* What the worker does for one secure_load; here on this thread, where callgrind counts. */
bool native_cost_load(void);
bool native_cost_gcm(void);

__attribute__((noinline)) bool native_cost_load(void)
{
    tenoni_folder folder;
    char *value = NULL;
    bool done = tenoni_done(tenoni_folder_open(&folder, false)) && tenoni_done(tenoni_folder_lock(&folder)) &&
                tenoni_done(tenoni_item_load(&folder, "s", "k", &value));
    tenoni_folder_close(&folder);
    free(value);
    return done;
}

__attribute__((noinline)) bool native_cost_gcm(void)
{
    static const uint8_t key[TENONI_GCM_KEY_SIZE] = {1}, nonce[TENONI_GCM_NONCE_SIZE] = {2}, text[VALUE] = {3};
    uint8_t out[VALUE], tag[TENONI_GCM_TAG_SIZE];
    return tenoni_gcm_encrypt(out, tag, key, nonce, (tenoni_part){nonce, sizeof nonce}, text, sizeof text) == TENON_OK;
}

static int repeat(bool (*function)(void), int times)
{
    for (int i = 0; i < times; i++)
        if (!function())
            return 1;
    return 0;
}

int main(int count, char **words)
{
    char value[VALUE + 1] = {0};
    int result = 0;
    world at = begin();
    if (count == 1)
        show_all(&at);
    else {
        memset(value, 'v', VALUE);
        result = !keep(value) || !native_cost_load();
        result = result || repeat(strcmp(words[1], "load") == 0 ? native_cost_load : native_cost_gcm, atoi(words[2]));
    }
    end(&at);
    return result;
}
