/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_ITEM_H
#define TENONI_ITEM_H

#include "native/folder.h"
#include "tenon/types.h"

/* What a value is known by. */
tenoni_result tenoni_item_digest(const char *service, const char *key, tenon_digest *out);

/*
 * A value of the runtime under two names. All of these need the lock. TENONI_NOTHING: there certainly is no such value.
 */

/* *out is a text from malloc. */
tenoni_result tenoni_item_load(const tenoni_folder *folder, const char *service, const char *key, char **out);

/* TENONI_VALUE_KEPT: a value is there that cannot be read. */
tenoni_result tenoni_item_store(const tenoni_folder *folder, const char *service, const char *key, const char *value);

tenoni_result tenoni_item_delete(const tenoni_folder *folder, const char *service, const char *key);

#endif
