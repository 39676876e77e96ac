/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERI_RIG_H
#define KERI_RIG_H

#include "test.h"

/*
 * Events as a test wants them. A text holds in place of what depends on other things:
 *   $V the size, $D the SAID of this event, $I the identifier of the log, $P the SAID of the last event,
 *   $0 ... $9 the text of a key, $a ... $j the digest of the text of a key
 */
enum { KERI_KEYS = 4, KERI_TEXT_MAX = 4096 };

typedef struct {
    tenon_key *keys[KERI_KEYS];
    tenon_public_key public_keys[KERI_KEYS];
    tenon_keri_state state;
} keri_rig;

typedef struct {
    char text[KERI_TEXT_MAX];
    size_t n;
    char attachment[TENON_KERI_ATTACHMENT_SIZE];
} keri_event;

#define KERI_INCEPTION                                                                                                 \
    "{\"v\":\"KERI10JSON$V_\",\"t\":\"icp\",\"d\":\"$D\",\"i\":\"$D\",\"s\":\"0\",\"kt\":\"1\",\"k\":[\"$0\"],"        \
    "\"nt\":\"1\",\"n\":[\"$b\"],\"bt\":\"0\",\"b\":[],\"c\":[],\"a\":[]}"
#define KERI_ROTATION                                                                                                  \
    "{\"v\":\"KERI10JSON$V_\",\"t\":\"rot\",\"d\":\"$D\",\"i\":\"$I\",\"s\":\"1\",\"p\":\"$P\",\"kt\":\"1\","          \
    "\"k\":[\"$1\"],\"nt\":\"1\",\"n\":[\"$c\"],\"bt\":\"0\",\"br\":[],\"ba\":[],\"a\":[]}"
#define KERI_INTERACTION                                                                                               \
    "{\"v\":\"KERI10JSON$V_\",\"t\":\"ixn\",\"d\":\"$D\",\"i\":\"$I\",\"s\":\"1\",\"p\":\"$P\",\"a\":[]}"

/* Ends with its block, as OWNED_KERI. */
keri_rig keri_begin(void);
void keri_end(keri_rig *rig);
#define OWNED_KERI __attribute__((cleanup(keri_end))) keri_rig
#define TEST_KERI(test_name) TEST_WITH(test_name, keri_rig, rig, keri_begin(), keri_end)

/* Fills the text in and signs it with this key. */
void keri_make(const keri_rig *rig, keri_event *out, const char *text, size_t signer);

/* The same with one part of the text replaced, which must be in it. */
void keri_make_with(const keri_rig *rig, keri_event *out, const char *text, const char *old, const char *replacement,
                    size_t signer);

/* Into the rig's own log. */
tenon_status keri_append(keri_rig *rig, const keri_event *event);

#endif
