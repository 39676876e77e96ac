/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EVENT_LOG_H
#define EVENT_LOG_H

#include <stdbool.h>

#include "tenon/tenon.h"

/* A log of KERI with its inception taken, and the rotation that follows: what a device makes and a verifier takes. */
typedef struct {
    tenon_public_key key, next;
    tenon_keri_state log;
    uint8_t rotation[TENON_KERI_ROTATION_MAX];
    size_t rotation_n;
    char attachment[TENON_KERI_ATTACHMENT_SIZE];
    size_t attachment_n;
    char key_text[TENON_KERI_KEY_SIZE]; /* of the rotation */
} event_log;

bool event_log_make(event_log *made, const uint8_t *scalar);

/* An inception but for its signature. */
bool event_log_begin(const event_log *of);

/* The rotation into the log; its key and its signature alone, which no verifier can do without. */
bool event_log_append(const event_log *of);
bool event_log_verify(const event_log *of);

#endif
