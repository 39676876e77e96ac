/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_RIG_H
#define NATIVE_RIG_H

#include "native/result.h"
#include "tenon/native/native.h"

#include "tpm_rig.h"

/* The runtime's library over a software TPM, in a folder of its own. */
typedef struct {
    support_swtpm *sw;
    support_transport *wire;
    char *folder;
    bool counter;
} native_rig;

native_rig native_rig_start(void);
native_rig native_rig_counted(void);           /* with a counter in the TPM */
native_rig native_rig_with(const char *value); /* which is stored as "k" of "s" */
native_rig native_rig_counted_with(const char *value);
void native_rig_stop(native_rig *rig);
#define OWNED_NATIVE __attribute__((cleanup(native_rig_stop))) native_rig
#define TEST_NATIVE(test_name) TEST_WITH(test_name, native_rig, rig, native_rig_start(), native_rig_stop)

/* As a fresh process would begin. */
void native_rig_again(native_rig *rig);

/*
 * Stores and loads as often as the library says that it is worth another try, up to a hundred times: on a slow machine,
 * a call's time may be over before its work is done.
 */
bool native_rig_stores(const char *service, const char *key, const char *value);
bool native_rig_loads(const char *service, const char *key, const char *expected);
bool native_rig_asks_again(int *tries);

/* Removes what lies in the folder, and what belongs to it in the TPM. */
void native_rig_empty(native_rig *rig);

/* Checks that the call gives nothing, and why; for "k" of "s", that the value cannot be read, or not be stored. */
#define CHECK_NONE(call, why) (native_rig_text(__FILE__, __LINE__, call, NULL), CHECK_CODE(why))
#define CHECK_NOT_LOADED(why) CHECK_NONE(synheart_native_secure_load("s", "k"), why)
#define CHECK_NOT_STORED(key, why) (CHECK(synheart_native_secure_store("s", key, "refused") != 0), CHECK_CODE(why))

/* Another TPM, as in another machine. */
void native_rig_exchange_tpm(native_rig *rig);

/* Checks that a call's text is this one; NULL: that there is none. Frees it. */
bool native_rig_text(const char *file, int line, char *found, const char *expected);
#define CHECK_TEXT(call, expected) native_rig_text(__FILE__, __LINE__, call, expected)

/* The last error of this thread begins with this code; NULL: there is none. */
bool native_rig_code(const char *file, int line, const char *code);
#define CHECK_CODE(code) native_rig_code(__FILE__, __LINE__, code)

/* The only file in `native` whose name begins so and has no ending, its copy's name, and the bytes that are in it now.
 */
typedef struct {
    char *path, *copy;
    uint8_t *bytes;
    size_t n;
} native_file;

native_file native_rig_open(const native_rig *rig, const char *begin);
void native_file_free(native_file *file);
#define OWNED_FILE __attribute__((cleanup(native_file_free))) native_file

/* A copy of the bytes of any file, to be freed. */
uint8_t *native_rig_bytes(const char *path, size_t *n);
void native_rig_write(const char *path, const void *bytes, size_t n);
size_t native_rig_count(const native_rig *rig, const char *begin);

/* The next calls that change the disk are counted; the one of this number fails with an error, or ends the process. */
typedef enum { NATIVE_COUNT, NATIVE_FAIL, NATIVE_KILL, NATIVE_KILL_AFTER } native_cut;
void native_cut_at(native_cut kind, int number, int error);
int native_cut_calls(void);

/*
 * Those of them that succeeded since then, a letter each: w writes, f syncs a file, d syncs a folder, r renames,
 * u removes, m makes a folder.
 */
const char *native_cut_trace(void);

#endif
