/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/secure.h"
#include "tenon/quote.h"
#include "tpm/attest.h"

/* Part 3, 18.4 TPM2_Quote: an AK states what the PCRs are. */

typedef struct {
    tenon_tpm_key *ak;
    const uint8_t *qualifying;
    size_t qualifying_n;
    uint32_t pcrs;
    tenoni_attestation attestation;
} quote_job;

/* A TPM leaves PCRs out of its statement that it does not keep with SHA-256. */
static tenon_status read_quoted(quote_job *work, tenoni_reader *answer)
{
    tenoni_attest found;
    tenoni_quoted info;
    tenon_status status = tenoni_attestation_read(&work->attestation, &found, TENONI_ATTEST_QUOTE, answer);
    if (status != TENON_OK)
        return status;
    if (!tenoni_quoted_read(&info, found.attested) || found.extra_data.left != work->qualifying_n ||
        !tenoni_equal(found.extra_data.at, work->qualifying, work->qualifying_n))
        return TENON_ERROR_TPM_ANSWER;
    if (info.banks != 1 || info.bank != TENONI_ALG_SHA256 || info.pcrs != work->pcrs)
        return TENON_ERROR_PCRS_MISSING;
    return tenoni_attestation_verify(&work->attestation, work->ak);
}

static tenon_status attempt(quote_job *work)
{
    tenoni_call call;
    tenoni_reader answer;
    uint32_t handle;
    tenon_status status = tenoni_key_ready(work->ak, &handle);
    if (status != TENON_OK)
        return status;
    tenoni_call_begin(&call, TENONI_CC_QUOTE, TENONI_ROLE_AK);
    tenoni_call_object(&call, handle, work->ak->name);
    tenoni_write_sized(&call.parameters, work->qualifying, work->qualifying_n);
    tenoni_write_u16(&call.parameters, TENONI_ALG_ECDSA); /* the AK's own scheme, which the command repeats */
    tenoni_write_u16(&call.parameters, TENONI_ALG_SHA256);
    tenoni_pcrs_write(&call.parameters, work->pcrs);
    status = tenoni_call_send(work->ak->tpm, &call, NULL, &answer);
    if (status == TENON_OK)
        status = read_quoted(work, &answer);
    tenoni_call_end(&call);
    return status;
}

static tenon_status quote(tenon_tpm *tpm, void *context)
{
    quote_job *work = context;
    (void)tpm;
    tenon_status status = attempt(work);
    return tenoni_attestation_again(work->ak, status) ? attempt(work) : status;
}

tenon_status tenon_tpm_ak_quote(tenon_tpm_key *ak, uint8_t *out, size_t n, size_t *written, const uint8_t *qualifying,
                                size_t qualifying_n, uint32_t pcrs)
{
    quote_job work = {.ak = ak, .qualifying = qualifying, .qualifying_n = qualifying_n, .pcrs = pcrs};
    const tenoni_attestation *made = &work.attestation;
    if (written != NULL)
        *written = 0;
    if (ak == NULL || written == NULL || (out == NULL && n != 0) || (qualifying == NULL && qualifying_n != 0))
        return TENON_ERROR_NULL;
    if (qualifying_n > TENONI_QUALIFYING_MAX)
        return TENON_ERROR_TOO_LARGE;
    if (!ak->attests)
        return TENON_ERROR_KEY_ATTRIBUTES;
    if (pcrs == 0 || pcrs >> TENON_PCRS_MAX != 0)
        return TENON_ERROR_OPTIONS;
    tenon_status status = tenoni_tpm_do(ak->tpm, quote, &work);
    if (status != TENON_OK)
        return status;
    return tenon_quote_encode(out, n, written, made->statement, made->statement_n, made->signature, made->signature_n);
}
