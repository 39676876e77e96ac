/* SPDX-License-Identifier: Apache-2.0 */
#include "event_log.h"

#include <string.h>

#include "owned.h"

static tenon_status sign(event_log *made, const tenon_key *key, const uint8_t *event, size_t n)
{
    tenon_signature signature;
    TRY(tenon_key_sign_event(key, &signature, event, n));
    TRY(tenon_signature_normalize(&signature));
    return tenon_keri_attachment_encode(made->attachment, sizeof made->attachment, &made->attachment_n, &signature);
}

static tenon_status make(event_log *made, const tenon_key *key, const tenon_key *next)
{
    uint8_t inception[TENON_KERI_INCEPTION_SIZE];
    size_t n;
    TRY(tenon_key_public_key(key, &made->key));
    TRY(tenon_key_public_key(next, &made->next));
    TRY(tenon_keri_inception(inception, sizeof inception, &n, &made->key, &made->next));
    TRY(sign(made, key, inception, n));
    TRY(tenon_keri_append(&made->log, inception, n, made->attachment, made->attachment_n, 0));
    TRY(tenon_keri_rotation(made->rotation, sizeof made->rotation, &made->rotation_n, &made->log, &made->next,
                            &made->key));
    TRY(tenon_keri_key_encode(made->key_text, sizeof made->key_text, &n, &made->next));
    return sign(made, next, made->rotation, made->rotation_n);
}

bool event_log_make(event_log *made, const uint8_t *scalar)
{
    OWNED_KEY key = NULL;
    OWNED_KEY next = NULL;
    uint8_t other[TENON_SCALAR_SIZE];
    memset(made, 0, sizeof *made);
    memcpy(other, scalar, sizeof other);
    other[sizeof other - 1] ^= 1;
    return tenon_software_key_import(&key, scalar, sizeof other, TENON_KEY_DETERMINISTIC) == TENON_OK &&
           tenon_software_key_import(&next, other, sizeof other, TENON_KEY_DETERMINISTIC) == TENON_OK &&
           make(made, key, next) == TENON_OK;
}

bool event_log_begin(const event_log *of)
{
    uint8_t inception[TENON_KERI_INCEPTION_SIZE];
    size_t n;
    return tenon_keri_inception(inception, sizeof inception, &n, &of->key, &of->next) == TENON_OK;
}

bool event_log_append(const event_log *of)
{
    tenon_keri_state log = of->log;
    return tenon_keri_append(&log, of->rotation, of->rotation_n, of->attachment, of->attachment_n, 0) == TENON_OK;
}

bool event_log_verify(const event_log *of)
{
    tenon_public_key key;
    tenon_signature signature;
    tenon_digest digest;
    return tenon_keri_key_decode(&key, of->key_text, sizeof of->key_text) == TENON_OK &&
           tenon_keri_attachment_decode(&signature, of->attachment, of->attachment_n) == TENON_OK &&
           tenon_sha256(&digest, of->rotation, of->rotation_n) == TENON_OK &&
           tenon_p256_verify(&key, &digest, &signature) == TENON_OK;
}
