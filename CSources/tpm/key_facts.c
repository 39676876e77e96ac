/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/secure.h"
#include "tpm/key.h"

/* What the caller may ask about a key: the answers need no TPM command. */

tenon_status tenon_tpm_key_public_key(const tenon_tpm_key *key, tenon_public_key *out)
{
    if (out != NULL)
        memset(out, 0, sizeof *out);
    if (key == NULL || out == NULL)
        return TENON_ERROR_NULL;
    *out = key->public_key;
    return TENON_OK;
}

uint32_t tenon_tpm_key_handle(const tenon_tpm_key *key)
{
    return key == NULL ? 0 : atomic_load(&key->copy);
}

int32_t tenon_tpm_key_is_foreign(const tenon_tpm_key *key)
{
    return key != NULL && key->foreign;
}

tenon_status tenon_tpm_key_name(const tenon_tpm_key *key, uint8_t *out, size_t n, size_t *written)
{
    if (written != NULL)
        *written = 0;
    return key == NULL ? TENON_ERROR_NULL : tenoni_output_copy(out, n, written, key->name, sizeof key->name);
}

tenon_status tenon_tpm_key_parent_name(const tenon_tpm_key *key, uint8_t *out, size_t n, size_t *written)
{
    if (written != NULL)
        *written = 0;
    if (key == NULL)
        return TENON_ERROR_NULL;
    size_t known = atomic_load(&key->parent_known) ? sizeof key->file.parent_name : 0;
    return tenoni_output_copy(out, n, written, key->file.parent_name, known);
}

tenon_status tenon_tpm_key_witness(const tenon_tpm_key *key, uint8_t *out, size_t n, size_t *written)
{
    if (written != NULL)
        *written = 0;
    return key == NULL ? TENON_ERROR_NULL : tenoni_output_copy(out, n, written, key->file.witness, key->file.witness_n);
}
