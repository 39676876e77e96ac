/* SPDX-License-Identifier: Apache-2.0 */
#include "tenon/key.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/secure.h"
#include "base/signature.h"
#include "crypto/hash.h"
#include "crypto/p256.h"
#include "crypto/signing_key.h"
#include "tenon/digest.h"
#include "tenon/encoding.h"
#include "tenon/p256.h"

struct tenon_key {
    tenon_key_ops ops;
    void *context;
    tenon_public_key public_key;
};

static tenon_status check_ops(const tenon_key_ops *ops)
{
    if (ops->size != sizeof *ops || ops->sign == NULL || ops->public_key == NULL)
        return TENON_ERROR_KEY_OPS;
    return (ops->flags & ~(uint32_t)(TENON_KEY_HARDWARE | TENON_KEY_SIGNS_DIGESTS)) != 0 ? TENON_ERROR_FLAGS : TENON_OK;
}

tenon_status tenon_key_new(tenon_key **out, const tenon_key_ops *ops, void *context)
{
    if (out == NULL)
        return TENON_ERROR_NULL;
    *out = NULL;
    if (ops == NULL)
        return TENON_ERROR_NULL;
    tenon_status status = check_ops(ops);
    if (status != TENON_OK)
        return status;
    tenon_key *key = calloc(1, sizeof *key);
    if (key == NULL)
        return TENON_ERROR_MEMORY;
    key->ops = *ops;
    key->context = context;
    status = ops->public_key(context, &key->public_key);
    if (status == TENON_OK)
        status = tenoni_point_check(&key->public_key);
    if (status == TENON_OK)
        *out = key;
    else
        free(key);
    return status;
}

void tenon_key_free(tenon_key **key)
{
    if (key == NULL || *key == NULL)
        return;
    if ((*key)->ops.free != NULL)
        (*key)->ops.free((*key)->context);
    tenoni_wipe(*key, sizeof **key);
    free(*key);
    *key = NULL;
}

tenon_status tenon_key_public_key(const tenon_key *key, tenon_public_key *out)
{
    if (out != NULL)
        memset(out, 0, sizeof *out);
    if (key == NULL || out == NULL)
        return TENON_ERROR_NULL;
    *out = key->public_key;
    return TENON_OK;
}

int32_t tenon_key_is_hardware(const tenon_key *key)
{
    return key != NULL && (key->ops.flags & TENON_KEY_HARDWARE) != 0;
}

bool tenoni_key_is(const tenon_key *key, const tenon_public_key *public_key)
{
    return tenoni_equal(&key->public_key, public_key, sizeof *public_key);
}

/* The callback's signature is checked for its form. If the callback fails, nothing of its output remains. */
tenon_status tenoni_key_sign_own(const tenon_key *key, tenon_signature *out, const tenon_digest *digest)
{
    tenon_status status = key->ops.sign(key->context, out, digest);
    if (status == TENON_OK && !tenoni_signature_in_range(out))
        status = TENON_ERROR_SIGNATURE_RANGE;
    if (status != TENON_OK)
        memset(out, 0, sizeof *out);
    return status;
}

bool tenoni_key_signs_digests(const tenon_key *key)
{
    return (key->ops.flags & TENON_KEY_SIGNS_DIGESTS) != 0;
}

tenon_status tenon_key_sign_digest(const tenon_key *key, tenon_signature *out, const tenon_digest *digest)
{
    if (out != NULL)
        memset(out, 0, sizeof *out);
    if (key == NULL || out == NULL || digest == NULL)
        return TENON_ERROR_NULL;
    if (!tenoni_key_signs_digests(key))
        return TENON_ERROR_DIGEST_NOT_ALLOWED;
    return tenoni_key_sign_own(key, out, digest);
}

typedef struct {
    tenoni_signer *signer;
    tenon_public_key public_key;
    uint8_t scalar[TENON_SCALAR_SIZE]; /* for deterministic signing only, else zeros */
} software;

static tenon_status software_sign(void *context, tenon_signature *out, const tenon_digest *digest)
{
    const software *key = context;
    return tenoni_signer_sign(key->signer, out, digest);
}

static tenon_status software_sign_deterministic(void *context, tenon_signature *out, const tenon_digest *digest)
{
    const software *key = context;
    return tenoni_sign_deterministic(out, key->scalar, digest);
}

static tenon_status software_public_key(void *context, tenon_public_key *out)
{
    const software *key = context;
    *out = key->public_key;
    return TENON_OK;
}

static void software_free(void *context)
{
    software *key = context;
    if (key->signer != NULL)
        tenoni_signer_free(key->signer);
    tenoni_wipe(key, sizeof *key);
    free(key);
}

static tenon_status new_key(tenon_key **out, const uint8_t *scalar, uint32_t flags)
{
    bool deterministic = (flags & TENON_KEY_DETERMINISTIC) != 0;
    tenon_key_ops ops = {
        .size = sizeof ops,
        .flags = flags & TENON_KEY_SIGNS_DIGESTS,
        .sign = deterministic ? software_sign_deterministic : software_sign,
        .public_key = software_public_key,
        .free = software_free,
    };
    software *key = calloc(1, sizeof *key);
    if (key == NULL)
        return TENON_ERROR_MEMORY;
    if (deterministic)
        memcpy(key->scalar, scalar, sizeof key->scalar);
    tenon_status status = tenoni_signer_new(&key->signer, &key->public_key, scalar);
    if (status == TENON_OK)
        status = tenon_key_new(out, &ops, key);
    if (status != TENON_OK)
        software_free(key);
    return status;
}

static tenon_status check_flags(uint32_t flags)
{
    uint32_t known = TENON_KEY_SIGNS_DIGESTS | TENON_KEY_DETERMINISTIC;
    return (flags & ~known) != 0 ? TENON_ERROR_FLAGS : TENON_OK;
}

tenon_status tenon_software_key_generate(tenon_key **out, uint32_t flags)
{
    uint8_t scalar[TENON_SCALAR_SIZE];
    if (out == NULL)
        return TENON_ERROR_NULL;
    *out = NULL;
    tenon_status status = check_flags(flags);
    if (status != TENON_OK)
        return status;
    /* FIPS 186-5, A.2.2: try again until the number is in range. */
    do
        status = tenoni_random(scalar, sizeof scalar);
    while (status == TENON_OK && !tenoni_scalar_in_range(scalar));
    if (status == TENON_OK)
        status = new_key(out, scalar, flags);
    tenoni_wipe(scalar, sizeof scalar);
    return status;
}

tenon_status tenon_software_key_import(tenon_key **out, const uint8_t *scalar, size_t n, uint32_t flags)
{
    if (out == NULL)
        return TENON_ERROR_NULL;
    *out = NULL;
    if (scalar == NULL && n != 0)
        return TENON_ERROR_NULL;
    tenon_status status = check_flags(flags);
    if (status != TENON_OK)
        return status;
    if (n != TENON_SCALAR_SIZE || !tenoni_scalar_in_range(scalar))
        return TENON_ERROR_SCALAR_RANGE;
    return new_key(out, scalar, flags);
}
