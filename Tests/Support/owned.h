/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OWNED_H
#define OWNED_H

#include <stdlib.h>
#include <string.h>

#include "tenon/status.h"

/* An OWNED value is freed at the end of its block; NULL is allowed. */
#define OWNED __attribute__((cleanup(owned_free)))
static inline void owned_free(void *place)
{
    void *memory;
    memcpy(&memory, place, sizeof memory);
    free(memory);
}

#define OWNED_KEY __attribute__((cleanup(tenon_key_free))) tenon_key *
#define OWNED_VERIFIER __attribute__((cleanup(tenon_verifier_free))) tenon_verifier *
#define OWNED_TPM __attribute__((cleanup(tenon_tpm_free))) tenon_tpm *
#define OWNED_TPM_KEY __attribute__((cleanup(tenon_tpm_key_free))) tenon_tpm_key *

/* Continues if the call succeeds; otherwise returns its status. */
#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        const tenon_status status_ = (call);                                                                           \
        if (status_ != TENON_OK)                                                                                       \
            return status_;                                                                                            \
    } while (0)

#endif
