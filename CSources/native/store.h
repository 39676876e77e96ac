/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_STORE_H
#define TENONI_STORE_H

#include "native/desk.h"
#include "native/manifest.h"

/* The key of all values of a folder, and with a counter the manifest; open for one piece of work, under the lock. */
typedef struct {
    const tenoni_folder *folder;
    tenon_tpm *tpm;
    tenoni_sealed found;   /* what its file says */
    tenoni_sealed *sealed; /* the same, as it is loaded */
    uint8_t secret[TENONI_SECRET_SIZE];
    tenoni_manifest manifest; /* with a counter */
    bool counted;
} tenoni_store;

/* Reads its file, and asks no TPM. TENONI_NOTHING: there is no store. Close it after any result. */
tenoni_result tenoni_store_find(const tenoni_folder *folder, tenoni_store *out);

/* Opens one that was found. */
tenoni_result tenoni_store_open(tenoni_store *store);
void tenoni_store_close(tenoni_store *store);

/* Finds and opens it, and makes it if neither it nor any value exists. */
tenoni_result tenoni_store_make(const tenoni_folder *folder, tenoni_store *out);

/* What makes a store useless for good, as far as anybody can tell here. */
bool tenoni_store_is_lost(tenoni_result result);

/* Moves the files of a store that is lost aside, if no value is left. */
tenoni_result tenoni_store_put_aside(const tenoni_folder *folder);

/* A value's file has this name: a letter, and what the value is about in hex. */
enum { TENONI_ITEM_NAME_SIZE = 2 + 64 + 1 };
tenoni_result tenoni_item_name(char *out, const tenon_digest *about);

/* What the value of this file is about. false: it is not the name of a value's file. */
bool tenoni_item_about(const char *name, tenon_digest *about);

#endif
