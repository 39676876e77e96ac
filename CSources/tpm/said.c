/* SPDX-License-Identifier: Apache-2.0 */
#include "tpm/said.h"

#include <string.h>

#include "tenon/digest.h"
#include "tenon/p256.h"

static tenon_status read_signature(tenon_signature *out, const tenoni_said *said)
{
    const tenon_evidence evidence = {.signature = {said->signature, said->signature_n}};
    return tenon_evidence_signature(out, &evidence);
}

/* A TPMT_SIGNATURE begins with 00, and so is not taken for its DER form. */
tenon_status tenoni_said_read(tenoni_said *out, tenoni_attest *found, uint16_t type, tenoni_reader *answer)
{
    tenoni_reader statement;
    tenon_signature signature;
    if (!tenoni_read_sized(answer, &statement, sizeof out->statement) || answer->left > sizeof out->signature ||
        answer->left == 0 || answer->at[0] != 0)
        return TENON_ERROR_TPM_ANSWER;
    memcpy(out->statement, statement.at, statement.left);
    out->statement_n = statement.left;
    memcpy(out->signature, answer->at, answer->left);
    out->signature_n = answer->left;
    if (!tenoni_attest_read(found, out->statement, out->statement_n) || found->magic != TENONI_ATTEST_MAGIC ||
        found->type != type || read_signature(&signature, out) != TENON_OK)
        return TENON_ERROR_TPM_ANSWER;
    return TENON_OK;
}

tenon_status tenoni_said_verify(const tenoni_said *said, const tenon_tpm_key *ak)
{
    tenon_signature signature;
    tenon_digest digest;
    tenon_status status = read_signature(&signature, said);
    if (status == TENON_OK)
        status = tenon_sha256(&digest, said->statement, said->statement_n);
    return status == TENON_OK ? tenon_p256_verify(&ak->public_key, &digest, &signature) : status;
}
