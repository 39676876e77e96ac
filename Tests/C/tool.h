/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOL_H
#define TOOL_H

#include <stdio.h>
#include <stdlib.h>

#include "owned.h"
#include "tenon/tpm/tpm.h"

/* Functions for Tenon's programs for scripts. They end with 0, with the category of a status, or with one of these. */
enum { TOOL_USAGE = 64, TOOL_FILES = 65 };

typedef struct {
    uint8_t bytes[8192];
    size_t n;
} content;

/* A file that cannot be read or written whole ends the program. */
static inline content read_file(const char *name)
{
    content file;
    FILE *in = fopen(name, "rb");
    file.n = in != NULL ? fread(file.bytes, 1, sizeof file.bytes, in) : 0;
    if (in == NULL || file.n == sizeof file.bytes || ferror(in)) {
        perror(name);
        exit(TOOL_FILES);
    }
    fclose(in);
    return file;
}

static inline tenon_status write_file(const char *name, const void *bytes, size_t n)
{
    FILE *out = fopen(name, "wb");
    if (out == NULL || fwrite(bytes, 1, n, out) != n || fclose(out) != 0) {
        perror(name);
        exit(TOOL_FILES);
    }
    return TENON_OK;
}

#endif
