/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_KEYFILE_H
#define TENONI_KEYFILE_H

#include <stdbool.h>

#include "crypto/structures.h"
#include "tenon/status.h"
#include "tenon/tpm/tpm.h"

/*
 * A key as a file: the PEM block TSS2 PRIVATE KEY, which other tools read and write, too, and before it, one on each
 * line, the facts with which Tenon finds the key again.
 *
 *   tenon-parent: 68 hex digits     the parent's Name
 *   tenon-witness: 68 hex digits    the seed witness
 *   tenon-handle: 81080000          a persistent copy
 *
 * Facts are in lower case, each at most once and in any order; they are written in this one. Apart from empty lines,
 * nothing else may stand before the block, and only one line feed after it.
 */

enum {
    TENONI_PRIVATE_MAX = 512,
    TENONI_PARENT_OWNER = 0x40000001 /* Part 2, 7.4 TPM_RH_OWNER: its transient H-2 primary */
};

typedef struct {
    bool empty_auth;
    uint32_t parent;                          /* TENONI_PARENT_OWNER or a persistent handle */
    uint8_t public_area[TENONI_PUBLIC_MAX];   /* TPMT_PUBLIC, without the size of TPM2B_PUBLIC; not looked into */
    size_t public_n;                          /* at least 1 */
    uint8_t private_area[TENONI_PRIVATE_MAX]; /* the bytes of TPM2B_PRIVATE, without its size */
    size_t private_n;                         /* at least 1 */
    uint8_t parent_name[TENON_NAME_SIZE];
    size_t parent_name_n; /* TENON_NAME_SIZE, or 0: unknown */
    uint8_t witness[TENON_NAME_SIZE];
    size_t witness_n; /* the same */
    uint32_t handle;  /* 0x81xxxxxx, or 0: no persistent copy */
} tenoni_keyfile;

/*
 * Reads a file of Tenon or of another tool, of at most TENON_TPM_KEY_MAX characters. An absent emptyAuth means false; a
 * description is ignored; policy, secret, authPolicy and rsaParent are TENON_ERROR_KEY_FIELD. On failure *out is all
 * zeros.
 */
tenon_status tenoni_keyfile_read(tenoni_keyfile *out, const char *pem, size_t n);

/*
 * Writes exactly the five fields that all tools know, and the known facts. The reader gives back exactly what was
 * written; values that it would refuse are refused here, with the same code.
 */
tenon_status tenoni_keyfile_write(char *out, size_t n, size_t *written, const tenoni_keyfile *file);

#endif
