/* SPDX-License-Identifier: Apache-2.0 */
#include "tenon/p256.h"

#include "base/signature.h"
#include "crypto/backend.h"
#include "crypto/point.h"

tenon_status tenoni_point_check(const tenon_public_key *key)
{
    tenon_status status = tenoni_point_in_range(key) ? TENON_OK : TENON_ERROR_POINT_RANGE;
    return status != TENON_OK ? status : tenoni_p256_check(key);
}

tenon_status tenon_p256_check(const tenon_public_key *key)
{
    return key == NULL ? TENON_ERROR_NULL : tenoni_point_check(key);
}

static tenon_status verifier_new(tenon_verifier **out, const tenon_public_key *key, bool prepared)
{
    if (out == NULL)
        return TENON_ERROR_NULL;
    *out = NULL;
    if (key == NULL)
        return TENON_ERROR_NULL;
    return tenoni_point_in_range(key) ? tenoni_verifier_new(out, key, prepared) : TENON_ERROR_POINT_RANGE;
}

tenon_status tenon_verifier_new(tenon_verifier **out, const tenon_public_key *key)
{
    return verifier_new(out, key, true);
}

void tenon_verifier_free(tenon_verifier **verifier)
{
    if (verifier == NULL || *verifier == NULL)
        return;
    tenoni_verifier_free(*verifier);
    *verifier = NULL;
}

tenon_status tenon_verifier_verify(const tenon_verifier *verifier, const tenon_digest *digest,
                                   const tenon_signature *signature)
{
    if (verifier == NULL || digest == NULL || signature == NULL)
        return TENON_ERROR_NULL;
    return tenoni_signature_in_range(signature) ? tenoni_verifier_verify(verifier, digest, signature)
                                                : TENON_ERROR_SIGNATURE_RANGE;
}

tenon_status tenon_p256_verify(const tenon_public_key *key, const tenon_digest *digest,
                               const tenon_signature *signature)
{
    tenon_verifier *verifier;
    if (key == NULL || digest == NULL || signature == NULL)
        return TENON_ERROR_NULL;
    tenon_status status = verifier_new(&verifier, key, false);
    if (status == TENON_OK)
        status = tenon_verifier_verify(verifier, digest, signature);
    tenon_verifier_free(&verifier);
    return status;
}
