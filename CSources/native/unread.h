/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_UNREAD_H
#define TENONI_UNREAD_H

#include <stdbool.h>

#include "native/result.h"

/*
 * The values that this process asked for in vain. A runtime may take NULL for "no value exists" and write a new
 * value at once, when what was wrong is over: that is refused until the value was read, or was absent, or was deleted
 * (decision: native-three-outcomes).
 */

/* How a load or a deletion of the value ended. */
void tenoni_unread_note(const char *service, const char *key, tenoni_result result);

/* Whether the value may not be replaced. */
bool tenoni_unread_blocks(const char *service, const char *key);

/* For tests: forgets all, as a fresh process would. */
void tenoni_unread_forget(void);

#endif
