/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/scalar.h"
#include "base/secure.h"
#include "crypto/backend.h"
#include "tenon/p256.h"

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
