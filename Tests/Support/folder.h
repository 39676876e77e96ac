/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SUPPORT_FOLDER_H
#define SUPPORT_FOLDER_H

#include <stdbool.h>

/* A fresh folder below $TMPDIR or /tmp, of mode 0700, to be given to support_folder_remove. NULL on failure. */
char *support_folder_make(void);

/* The regular files of one folder into another; a TPM's state has no folders in it. */
bool support_folder_copy(const char *to, const char *from);

/* Removes the folder with its files, and frees its name. */
void support_folder_remove(char *folder);

#endif
