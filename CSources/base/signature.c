/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/der.h"
#include "base/scalar.h"
#include "base/signature.h"
#include "tenon/encoding.h"

bool tenoni_signature_in_range(const tenon_signature *signature)
{
    return tenoni_scalar_in_range(signature->bytes) && tenoni_scalar_in_range(signature->bytes + TENON_SCALAR_SIZE);
}

tenon_status tenon_signature_encode_der(uint8_t *out, size_t n, size_t *written, const tenon_signature *signature)
{
    if (written != NULL)
        *written = 0;
    if (signature == NULL)
        return TENON_ERROR_NULL;
    if (!tenoni_signature_in_range(signature))
        return TENON_ERROR_SIGNATURE_RANGE;
    uint8_t der[TENON_SIGNATURE_DER_MAX];
    tenoni_writer writer = tenoni_writer_over(der, sizeof der);
    tenoni_write_u8(&writer, TENONI_DER_SEQUENCE);
    tenoni_write_u8(&writer, 0);
    tenoni_der_write_unsigned(&writer, signature->bytes, TENON_SCALAR_SIZE);
    tenoni_der_write_unsigned(&writer, signature->bytes + TENON_SCALAR_SIZE, TENON_SCALAR_SIZE);
    der[1] = (uint8_t)(writer.used - 2);
    return tenoni_output_copy(out, n, written, der, writer.used);
}

tenon_status tenon_signature_decode_der(tenon_signature *out, const uint8_t *der, size_t n)
{
    if (out == NULL)
        return TENON_ERROR_NULL;
    memset(out, 0, sizeof *out);
    if (der == NULL && n != 0)
        return TENON_ERROR_NULL;
    tenoni_reader reader = tenoni_reader_over(der, n);
    tenoni_reader sequence;
    tenon_signature signature;
    tenon_status status = tenoni_der_read(&reader, TENONI_DER_SEQUENCE, &sequence);
    if (status == TENON_OK && reader.left != 0)
        status = TENON_ERROR_DER_TRAILING;
    if (status == TENON_OK)
        status = tenoni_der_read_unsigned(&sequence, signature.bytes, TENON_SCALAR_SIZE);
    if (status == TENON_OK)
        status = tenoni_der_read_unsigned(&sequence, signature.bytes + TENON_SCALAR_SIZE, TENON_SCALAR_SIZE);
    if (status == TENON_OK && sequence.left != 0)
        status = TENON_ERROR_DER_TRAILING;
    if (status == TENON_OK && !tenoni_signature_in_range(&signature))
        status = TENON_ERROR_SIGNATURE_RANGE;
    if (status == TENON_OK)
        *out = signature;
    return status;
}

tenon_status tenon_signature_normalize(tenon_signature *signature)
{
    if (signature == NULL)
        return TENON_ERROR_NULL;
    if (!tenoni_signature_in_range(signature)) {
        memset(signature, 0, sizeof *signature);
        return TENON_ERROR_SIGNATURE_RANGE;
    }
    if (tenoni_scalar_is_high(signature->bytes + TENON_SCALAR_SIZE))
        tenoni_scalar_negate(signature->bytes + TENON_SCALAR_SIZE);
    return TENON_OK;
}

int32_t tenon_signature_is_low_s(const tenon_signature *signature)
{
    return signature != NULL && !tenoni_scalar_is_high(signature->bytes + TENON_SCALAR_SIZE);
}
