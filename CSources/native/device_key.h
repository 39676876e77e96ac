/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_DEVICE_KEY_H
#define TENONI_DEVICE_KEY_H

#include "native/desk.h"
#include "native/folder.h"

/*
 * One signing key for each device id, in the TPM, as a file in the folder. It is made once and never replaced; nothing
 * but a request to delete it removes the file (decision: native-keys).
 */

/* Loads the key. TENONI_NOTHING if the device id has no key. The desk owns the key. */
tenoni_result tenoni_device_key(const tenoni_folder *folder, const char *id, tenon_tpm_key **out);

/* The same, and makes the key if it is certain that the device id has no key. Needs the lock. */
tenoni_result tenoni_device_key_make(const tenoni_folder *folder, const char *id, tenon_tpm_key **out);

tenoni_result tenoni_device_key_look(const tenoni_folder *folder, const char *id);
tenoni_result tenoni_device_key_delete(const tenoni_folder *folder, const char *id);

#endif
