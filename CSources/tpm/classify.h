/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_CLASSIFY_H
#define TENONI_CLASSIFY_H

#include <stdbool.h>
#include <stdint.h>

#include "tenon/status.h"

/* TPM 2.0 Part 2, 6.5.2: the commands that are sent. */
enum {
    TENONI_CC_ANY = 0,
    TENONI_CC_EVICT_CONTROL = 0x120,
    TENONI_CC_NV_UNDEFINE_SPACE = 0x122,
    TENONI_CC_NV_DEFINE_SPACE = 0x12a,
    TENONI_CC_CREATE_PRIMARY = 0x131,
    TENONI_CC_NV_INCREMENT = 0x134,
    TENONI_CC_CREATE = 0x153,
    TENONI_CC_LOAD = 0x157,
    TENONI_CC_ACTIVATE_CREDENTIAL = 0x147,
    TENONI_CC_CERTIFY = 0x148,
    TENONI_CC_CERTIFY_CREATION = 0x14a,
    TENONI_CC_NV_READ = 0x14e,
    TENONI_CC_POLICY_SECRET = 0x151,
    TENONI_CC_QUOTE = 0x158,
    TENONI_CC_SIGN = 0x15d,
    TENONI_CC_UNSEAL = 0x15e,
    TENONI_CC_FLUSH_CONTEXT = 0x165,
    TENONI_CC_NV_READ_PUBLIC = 0x169,
    TENONI_CC_POLICY_OR = 0x171,
    TENONI_CC_READ_PUBLIC = 0x173,
    TENONI_CC_START_AUTH_SESSION = 0x176,
    TENONI_CC_GET_CAPABILITY = 0x17a
};

/* Which key or hierarchy a command is about. */
typedef enum { TENONI_ROLE_ANY, TENONI_ROLE_KEY, TENONI_ROLE_PARENT, TENONI_ROLE_OWNER, TENONI_ROLE_AK } tenoni_role;

/* TPM 2.0 Part 2, 6.6.2 and 6.6.3: response codes without the number of the parameter, handle or session. */
enum {
    TENONI_RC_BAD_AUTH = 0x0a2,
    TENONI_RC_HANDLE = 0x08b,
    TENONI_RC_TYPE = 0x08a,
    TENONI_RC_LOCKOUT = 0x921,
    TENONI_RC_INTEGRITY = 0x09f,
    TENONI_RC_OBJECT_MEMORY = 0x902,
    TENONI_RC_SESSION_MEMORY = 0x903,
    TENONI_RC_REFERENCE_H0 = 0x910,
    TENONI_RC_REFERENCE_S0 = 0x918,
    TENONI_RC_NV_DEFINED = 0x14c
};

/* The response code as in those tables, without the layer and the number. */
uint32_t tenoni_rc_base(uint32_t rc);

/* The status of a refused command: its category, and the TPM's code. A refusal alone never says that a key is gone. */
tenon_status tenoni_classify(uint32_t command, tenoni_role role, uint32_t rc);

/* The TPM asks to send the same command again. */
bool tenoni_rc_is_retry(uint32_t rc);

/* Whether the status carries this code, as tenoni_rc_base gives it. */
bool tenoni_status_is(tenon_status status, uint32_t base);

/* The TPM has no room for another object or session. */
bool tenoni_status_lacks_room(tenon_status status);

/* A transient object, or a session, that the TPM no longer has. */
bool tenoni_status_lost_object(tenon_status status);
bool tenoni_status_lost_session(tenon_status status);

#endif
