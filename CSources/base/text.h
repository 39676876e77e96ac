/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_TEXT_H
#define TENONI_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "tenon/status.h"

/* The forms of the texts of a request, each with its own code. NULL with a length is TENON_ERROR_NULL. */
tenon_status tenoni_method_check(const char *method, size_t n);
tenon_status tenoni_path_check(const char *path, size_t n);
tenon_status tenoni_timestamp_check(const char *timestamp, size_t n);
tenon_status tenoni_nonce_check(const char *nonce, size_t n);
tenon_status tenoni_app_id_check(const char *app_id, size_t n);
tenon_status tenoni_device_id_check(const char *device_id, size_t n);

/* Whether these bytes are UTF-8 as RFC 3629 has it: no overlong form, no surrogate, nothing above 10FFFF. */
bool tenoni_is_utf8(const uint8_t *text, size_t n);

#endif
