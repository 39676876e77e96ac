/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_ENVELOPE_H
#define TENONI_ENVELOPE_H

#include "base/bytes.h"
#include "native/folder.h"

/*
 * A file that may never be lost: what it is, whom it is about, its content, and a SHA-256 over all of that. It lies in
 * the folder twice: under its name, and beside it with the ending .copy. Its content never changes.
 */

enum { TENONI_ENVELOPE_MAX = 8192 };

/* What an envelope may be. */
typedef enum { TENONI_ENVELOPE_KEY = 1, TENONI_ENVELOPE_MAPPING = 2, TENONI_ENVELOPE_STORE = 3 } tenoni_kind;

/* Reads one; content points into the bytes. TENONI_FILE_OF_ANOTHER: it is whole, and of another kind or name. */
tenoni_result tenoni_envelope_open(const uint8_t *bytes, size_t n, tenoni_kind kind, const char *name,
                                   tenoni_reader *content);

/* The name in one that is whole, for a list; it is not terminated. */
tenoni_result tenoni_envelope_name(const uint8_t *bytes, size_t n, tenoni_kind kind, tenoni_reader *name);

/* Writes the file and then its copy; both are on the disk when it returns. */
tenoni_result tenoni_envelope_keep(const tenoni_folder *folder, const char *file, tenoni_kind kind, const char *name,
                                   const uint8_t *content, size_t n);

/* Content that was read, at most max bytes. */
typedef struct {
    uint8_t bytes[TENONI_ENVELOPE_MAX];
    size_t n;
} tenoni_content;

/*
 * Reads the file, or its copy. TENONI_NOTHING: neither is there. Under the lock, one that is missing or damaged is
 * written again from the other.
 */
tenoni_result tenoni_envelope_find(const tenoni_folder *folder, const char *file, tenoni_kind kind, const char *name,
                                   tenoni_content *out);

/* Removes both, the copy first: as long as the file is there, it counts. */
tenoni_result tenoni_envelope_remove(const tenoni_folder *folder, const char *file);

/* Whether one of the two is there, readable or not. */
tenoni_result tenoni_envelope_look(const tenoni_folder *folder, const char *file);

/* A file's name: a letter, and the first 32 hex digits of SHA-256 over the name that it is for. */
enum { TENONI_FILE_NAME_SIZE = 2 + 32 + 1, TENONI_COPY_NAME_SIZE = TENONI_FILE_NAME_SIZE + 5 };
tenoni_result tenoni_file_name(char *out, char letter, const char *name);

#endif
