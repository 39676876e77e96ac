/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "tpm/key.h"
#include "tpm/parent.h"

/* An attestation key is a key of another template, in the place of the key that it is made beside. */

typedef struct {
    const tenon_tpm_key *beside;
    tenon_tpm_key *ak;
} job;

static tenon_status create(tenon_tpm *tpm, void *context)
{
    const job *work = context;
    tenoni_keyfile *file = &work->ak->file;
    tenoni_object parent;
    /* Where the key is searched, the AK is searched; and the parent is the same by its Name. */
    *file = work->beside->file;
    file->handle = 0;
    file->empty_auth = true;
    tenon_status status = tenoni_parent_find(tpm, file, &parent);
    if (status != TENON_OK)
        return status;
    return tenoni_key_make(work->ak, &parent, &tenoni_attestation_template, tenoni_public_check_attestation);
}

tenon_status tenon_tpm_ak_create(tenon_tpm_key *beside, tenon_tpm_key **out)
{
    job work = {.beside = beside};
    if (out != NULL)
        *out = NULL;
    if (beside == NULL || out == NULL)
        return TENON_ERROR_NULL;
    tenon_status status = tenoni_key_begin(beside->tpm, &work.ak, NULL, 0);
    if (work.ak == NULL)
        return status;
    if (status == TENON_OK)
        status = tenoni_tpm_do(beside->tpm, create, &work);
    return tenoni_key_finish(out, work.ak, status);
}

tenon_status tenon_tpm_ak_load(tenon_tpm *tpm, tenon_tpm_key **out, const char *pem, size_t pem_n)
{
    return tenoni_key_open(tpm, out, pem, pem_n, NULL, 0, tenoni_public_check_attestation);
}

tenon_status tenon_tpm_key_public_area(const tenon_tpm_key *key, uint8_t *out, size_t n, size_t *written)
{
    if (written != NULL)
        *written = 0;
    return key == NULL ? TENON_ERROR_NULL
                       : tenoni_output_copy(out, n, written, key->file.public_area, key->file.public_n);
}
