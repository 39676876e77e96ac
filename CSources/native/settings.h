/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_SETTINGS_H
#define TENONI_SETTINGS_H

#include <stdbool.h>

#include "native/result.h"
#include "tenon/native/native.h"

/* Where the library works. It is fixed by the first use. */
typedef struct {
    char *state_dir; /* absolute */
    char *tpm;
    bool allow_simulator;
    bool counter;
} tenoni_settings;

/* NULL: no memory, or nobody knows the home folder of this user. */
const tenoni_settings *tenoni_settings_use(void);

/* false: an option is wrong, or others are in use already. */
bool tenoni_settings_take(const tenon_native_options *options);

/* For tests: forgets them. */
void tenoni_settings_forget(void);

#endif
