/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_FOLDER_H
#define TENONI_FOLDER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "native/result.h"

/*
 * The folder `native` in the state folder, opened anew for each piece of work, so that a volume that was mounted in
 * between is seen. Both must belong to this user, nobody else may write to them, and neither may be a link.
 */
typedef struct {
    int state; /* the state folder */
    int files; /* the folder in it; -1 if it does not exist */
    int lock;  /* -1: not held */
} tenoni_folder;

/*
 * TENONI_NOTHING: there is no state folder. make: both are made. A folder that is not open needs no close; after any
 * other result close it.
 */
tenoni_result tenoni_folder_open(tenoni_folder *out, bool make);
void tenoni_folder_close(tenoni_folder *folder);

/* Keeps other processes out until the folder is closed. A child of a fork does not hold it. */
tenoni_result tenoni_folder_lock(tenoni_folder *folder);

/* What is at this name: TENONI_NOTHING only if the folder says so. */
tenoni_result tenoni_file_look(int folder, const char *name, struct stat *out);

/* Reads a whole file of at most max bytes; *out is to be freed. A larger one is TENONI_FILE_DAMAGED. */
tenoni_result tenoni_file_read(int folder, const char *name, size_t max, uint8_t **out, size_t *n);

/* Writes beside it, syncs, renames. The name is on the disk after tenoni_folder_sync. Needs the lock. */
tenoni_result tenoni_file_write(const tenoni_folder *folder, const char *name, const uint8_t *bytes, size_t n);

/* Removes it, if it is there. */
tenoni_result tenoni_file_remove(const tenoni_folder *folder, const char *name);
tenoni_result tenoni_file_rename(const tenoni_folder *folder, const char *from, const char *to);
tenoni_result tenoni_folder_sync(const tenoni_folder *folder);

/* Calls see for each name, until it returns false. */
typedef bool tenoni_see(void *context, const char *name);
tenoni_result tenoni_folder_list(int folder, tenoni_see *see, void *context);

#endif
