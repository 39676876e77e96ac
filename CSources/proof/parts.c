/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/secure.h"
#include "base/signature.h"
#include "crypto/attest.h"
#include "crypto/public_area.h"
#include "tenon/encoding.h"
#include "tenon/proof.h"

/* What the parts of a proof say, for whoever wants one of them alone. */

static tenon_status read_signature(tenon_signature *out, const tenon_bytes *bytes)
{
    tenoni_tpm_signature found;
    if (bytes->bytes == NULL && bytes->n != 0)
        return TENON_ERROR_NULL;
    if (!tenoni_tpm_signature_read(&found, bytes->bytes, bytes->n) || found.algorithm != TENONI_ALG_ECDSA ||
        found.hash != TENONI_ALG_SHA256)
        return TENON_ERROR_SIGNATURE_FORM;
    if (!tenoni_number_fits(found.r) || !tenoni_number_fits(found.s))
        return TENON_ERROR_SIGNATURE_RANGE;
    tenoni_number_pad(out->bytes, found.r);
    tenoni_number_pad(out->bytes + TENON_SCALAR_SIZE, found.s);
    return tenoni_signature_in_range(out) ? TENON_OK : TENON_ERROR_SIGNATURE_RANGE;
}

tenon_status tenon_evidence_signature(tenon_signature *out, const tenon_evidence *evidence)
{
    if (out == NULL)
        return TENON_ERROR_NULL;
    memset(out, 0, sizeof *out);
    if (evidence == NULL)
        return TENON_ERROR_NULL;
    tenon_status status = read_signature(out, &evidence->signature);
    if (status != TENON_OK)
        memset(out, 0, sizeof *out);
    return status;
}

tenon_status tenon_evidence_signature_der(uint8_t *out, size_t n, size_t *written, const tenon_evidence *evidence)
{
    tenon_signature signature;
    if (written != NULL)
        *written = 0;
    tenon_status status = tenon_evidence_signature(&signature, evidence);
    return status == TENON_OK ? tenon_signature_encode_der(out, n, written, &signature) : status;
}

tenon_status tenon_object_name(uint8_t *out, size_t n, size_t *written, const uint8_t *area, size_t area_n)
{
    uint8_t name[TENON_NAME_SIZE];
    if (written != NULL)
        *written = 0;
    if (area == NULL && area_n != 0)
        return TENON_ERROR_NULL;
    tenon_status status = tenoni_public_name(name, area, area_n);
    return status == TENON_OK ? tenoni_output_copy(out, n, written, name, sizeof name) : status;
}

tenon_status tenon_object_public_key(tenon_public_key *out, const uint8_t *area, size_t n)
{
    tenoni_public key;
    if (out == NULL)
        return TENON_ERROR_NULL;
    memset(out, 0, sizeof *out);
    if (area == NULL && n != 0)
        return TENON_ERROR_NULL;
    tenon_status status = tenoni_public_read(&key, area, n);
    return status == TENON_OK ? tenoni_public_point(out, &key) : status;
}
