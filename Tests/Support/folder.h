/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SUPPORT_FOLDER_H
#define SUPPORT_FOLDER_H

#include <stdbool.h>

/* Makes a folder below $TMPDIR or /tmp, with mode 0700, for support_folder_remove. Returns NULL on failure. */
char *support_folder_make(void);

/* Copies the regular files of one folder into another; a TPM's state contains no folders. */
bool support_folder_copy(const char *to, const char *from);

/* Removes the folder with its files, and frees its name. */
void support_folder_remove(char *folder);

#endif
