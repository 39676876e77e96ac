/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_DEVICE_KEY_H
#define TENONI_DEVICE_KEY_H

#include "native/desk.h"
#include "native/folder.h"

/*
 * One signing key for each device id, in the TPM, as a file in the folder. It is made once and never replaced; nothing
 * but a request to delete it removes the file (decision: native-keys).
 */

/* The key, loaded. TENONI_NOTHING: there is none. It belongs to the desk. */
tenoni_result tenoni_device_key(const tenoni_folder *folder, const char *id, tenon_tpm_key **out);

/* The same, and makes it if there certainly is none. Needs the lock. */
tenoni_result tenoni_device_key_make(const tenoni_folder *folder, const char *id, tenon_tpm_key **out);

tenoni_result tenoni_device_key_look(const tenoni_folder *folder, const char *id);
tenoni_result tenoni_device_key_delete(const tenoni_folder *folder, const char *id);

#endif
