/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_EVENT_H
#define TENONI_EVENT_H

#include <stdbool.h>

#include "base/bytes.h"
#include "tenon/status.h"

/* The fields of the three types of event, by what they hold. */
enum {
    TENONI_EVENT_SAID,           /* d */
    TENONI_EVENT_IDENTIFIER,     /* i */
    TENONI_EVENT_SEQUENCE,       /* s */
    TENONI_EVENT_PRIOR,          /* p */
    TENONI_EVENT_THRESHOLD,      /* kt */
    TENONI_EVENT_KEYS,           /* k */
    TENONI_EVENT_NEXT_THRESHOLD, /* nt */
    TENONI_EVENT_NEXT,           /* n */
    TENONI_EVENT_WITNESS_COUNT,  /* bt */
    TENONI_EVENT_WITNESSES,      /* b of an inception, br of a rotation */
    TENONI_EVENT_ADDED,          /* ba */
    TENONI_EVENT_TRAITS,         /* c */
    TENONI_EVENT_ANCHORS,        /* a */
    TENONI_EVENT_FIELDS
};

typedef enum {
    TENONI_EVENT_OTHER,
    TENONI_EVENT_INCEPTION,
    TENONI_EVENT_ROTATION,
    TENONI_EVENT_INTERACTION
} tenoni_event_type;

/* An event as far as it could be read. The rest is empty, and nothing in it was judged. */
typedef struct {
    bool has_version;
    uint32_t stated_size;
    tenoni_event_type type;
    bool has_form;                             /* all fields of its type, and nothing else */
    tenoni_reader fields[TENONI_EVENT_FIELDS]; /* within quotes, or within brackets */
} tenoni_event;

void tenoni_event_read(tenoni_event *out, tenoni_reader event);

enum { TENONI_EVENT_SIZE_AT = 16, TENONI_EVENT_SIZE_DIGITS = 6 };

/*
 * The SAID of an event of n bytes: its digest with the true size in the version, and with # in place of the 44
 * characters at each of these offsets, which ascend and lie within the event.
 */
tenon_status tenoni_event_said(char *out, const uint8_t *event, size_t n, const size_t *offsets, size_t count);

#endif
