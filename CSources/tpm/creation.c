/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/secure.h"
#include "tpm/said.h"

/* Part 3, 18.3 TPM2_CertifyCreation: an AK says of itself how it was made. */

typedef struct {
    tenon_tpm_key *ak;
    tenoni_said said;
} job;

static bool is_equal(const tenoni_reader *found, const uint8_t *bytes, size_t n)
{
    return found->left == n && tenoni_equal(found->at, bytes, n);
}

/* Part 2, 10.12.7 TPMS_CREATION_INFO: of this AK, and of the data that we have. */
static tenon_status read_answer(job *work, tenoni_reader *answer)
{
    const tenon_tpm_key *ak = work->ak;
    tenoni_attest found;
    tenoni_reader name, hash;
    tenon_status status = tenoni_said_read(&work->said, &found, TENONI_ATTEST_CREATION, answer);
    if (status != TENON_OK)
        return status;
    if (!tenoni_read_sized(&found.attested, &name, sizeof ak->name) ||
        !tenoni_read_sized(&found.attested, &hash, sizeof ak->creation.hash) || found.attested.left != 0 ||
        found.extra_data.left != 0 || !is_equal(&name, ak->name, sizeof ak->name) ||
        !is_equal(&hash, ak->creation.hash, sizeof ak->creation.hash))
        return TENON_ERROR_TPM_ANSWER;
    return tenoni_said_verify(&work->said, ak);
}

static tenon_status attempt(job *work)
{
    const tenoni_creation *creation = &work->ak->creation;
    tenoni_call call;
    tenoni_reader answer;
    uint32_t handle;
    tenon_status status = tenoni_key_ready(work->ak, &handle);
    if (status != TENON_OK)
        return status;
    tenoni_call_begin(&call, TENONI_CC_CERTIFY_CREATION, TENONI_ROLE_AK);
    tenoni_call_object(&call, handle, work->ak->name);
    tenoni_call_object(&call, handle, work->ak->name);
    tenoni_write_u16(&call.parameters, 0); /* qualifyingData */
    tenoni_write_sized(&call.parameters, creation->hash, sizeof creation->hash);
    tenoni_write_u16(&call.parameters, TENONI_ALG_ECDSA); /* the AK's own, said again */
    tenoni_write_u16(&call.parameters, TENONI_ALG_SHA256);
    tenoni_write_bytes(&call.parameters, creation->ticket, creation->ticket_n);
    status = tenoni_call_send(work->ak->tpm, &call, NULL, &answer);
    if (status == TENON_OK)
        status = read_answer(work, &answer);
    tenoni_call_end(&call);
    return status;
}

/* Whatever else is wrong with what is at the handle: the ticket is the AK's, and it has no auth value. */
static tenon_status certify(tenon_tpm *tpm, void *context)
{
    job *work = context;
    (void)tpm;
    tenon_status status = attempt(work);
    int32_t category = tenon_status_category(status);
    if (category != TENON_CATEGORY_REJECTED && category != TENON_CATEGORY_AUTH && category != TENON_CATEGORY_ARGUMENT &&
        !tenoni_status_lost_object(status))
        return status;
    tenoni_key_forget(work->ak);
    return attempt(work);
}

tenon_status tenon_tpm_ak_creation(tenon_tpm_key *ak, tenon_tpm_creation *out)
{
    job work = {.ak = ak};
    if (out != NULL)
        memset(out, 0, sizeof *out);
    if (ak == NULL || out == NULL)
        return TENON_ERROR_NULL;
    if (!ak->attests)
        return TENON_ERROR_KEY_ATTRIBUTES;
    if (ak->creation.data_n == 0)
        return TENON_ERROR_NOT_MADE_HERE;
    tenon_status status = tenoni_tpm_do(ak->tpm, certify, &work);
    if (status != TENON_OK)
        return status;
    memcpy(out->data, ak->creation.data, ak->creation.data_n);
    out->data_n = ak->creation.data_n;
    memcpy(out->statement, work.said.statement, work.said.statement_n);
    out->statement_n = work.said.statement_n;
    memcpy(out->signature, work.said.signature, work.said.signature_n);
    out->signature_n = work.said.signature_n;
    return TENON_OK;
}
