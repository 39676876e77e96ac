/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/secure.h"
#include "tenon/encoding.h"
#include "tenon/p256.h"
#include "tpm/key.h"

/* A key of a TPM behind the seam of tenon/key.h. */
typedef struct {
    tenon_tpm_key *key;
    tenon_verifier *verifier; /* with TENON_TPM_KEY_VERIFIED */
    bool low_s;
} shared;

static tenon_status sign_verified(const shared *view, tenon_signature *out, const tenon_digest *digest)
{
    tenon_status status = tenoni_key_sign(view->key, out, digest);
    bool verify = status == TENON_OK && view->verifier != NULL;
    return verify ? tenon_verifier_verify(view->verifier, digest, out) : status;
}

static tenon_status shared_sign(void *context, tenon_signature *out, const tenon_digest *digest)
{
    const shared *view = context;
    tenon_status status = sign_verified(view, out, digest);
    /* Another object may have taken the key's place: then the key is put there again. */
    if (status == TENON_ERROR_SIGNATURE_INVALID) {
        status = tenon_tpm_key_check(view->key);
        if (status == TENON_OK)
            status = sign_verified(view, out, digest);
        if (status == TENON_ERROR_SIGNATURE_INVALID)
            status = TENON_ERROR_TPM_ANSWER;
    }
    if (status == TENON_OK && view->low_s)
        status = tenon_signature_normalize(out);
    return status;
}

static tenon_status shared_public_key(void *context, tenon_public_key *out)
{
    const shared *view = context;
    return tenon_tpm_key_public_key(view->key, out);
}

static void shared_free(void *context)
{
    shared *view = context;
    tenon_verifier_free(&view->verifier);
    tenon_tpm_key_free(&view->key);
    free(view);
}

static tenon_status new_view(shared **out, tenon_tpm_key *key, uint32_t flags)
{
    *out = calloc(1, sizeof **out);
    if (*out == NULL)
        return TENON_ERROR_MEMORY;
    (*out)->low_s = (flags & TENON_TPM_KEY_LOW_S) != 0;
    if ((flags & TENON_TPM_KEY_VERIFIED) == 0)
        return TENON_OK;
    return tenon_verifier_new(&(*out)->verifier, &key->public_key);
}

tenon_status tenon_tpm_key_open(tenon_tpm_key *tpm_key, tenon_key **out, uint32_t flags)
{
    const uint32_t known = TENON_KEY_SIGNS_DIGESTS | TENON_TPM_KEY_LOW_S | TENON_TPM_KEY_VERIFIED;
    tenon_key_ops ops = {
        .size = sizeof ops,
        .flags = flags & TENON_KEY_SIGNS_DIGESTS,
        .sign = shared_sign,
        .public_key = shared_public_key,
        .free = shared_free,
    };
    shared *view;
    if (out != NULL)
        *out = NULL;
    if (tpm_key == NULL || out == NULL)
        return TENON_ERROR_NULL;
    if ((flags & ~known) != 0)
        return TENON_ERROR_FLAGS;
    if (tpm_key->attests)
        return TENON_ERROR_KEY_ATTRIBUTES;
    if (tenoni_public_is_bound(&tpm_key->area))
        ops.flags |= TENON_KEY_HARDWARE;
    tenon_status status = new_view(&view, tpm_key, flags);
    if (view == NULL)
        return status;
    tenoni_key_keep(tpm_key);
    view->key = tpm_key;
    if (status == TENON_OK)
        status = tenon_key_new(out, &ops, view);
    if (status != TENON_OK)
        shared_free(view);
    return status;
}
