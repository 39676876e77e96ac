/* SPDX-License-Identifier: Apache-2.0 */
#include "base/signature.h"

#include <stddef.h>
#include <string.h>

#include "base/der.h"
#include "tenon/encoding.h"

enum { SIZE = 32 };

static const uint8_t order[SIZE] = {0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff,
                                    0xff, 0xff, 0xff, 0xff, 0xff, 0xbc, 0xe6, 0xfa, 0xad, 0xa7, 0x17,
                                    0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51};

/* (n+1)/2: the smallest scalar that is high. */
static const uint8_t high[SIZE] = {0x7f, 0xff, 0xff, 0xff, 0x80, 0x00, 0x00, 0x00, 0x7f, 0xff, 0xff,
                                   0xff, 0xff, 0xff, 0xff, 0xff, 0xde, 0x73, 0x7d, 0x56, 0xd3, 0x8b,
                                   0xcf, 0x42, 0x79, 0xdc, 0xe5, 0x61, 0x7e, 0x31, 0x92, 0xa9};

static const uint8_t prime[SIZE] = {0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00,
                                    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff,
                                    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

/* difference = a - b modulo 2^256, or only the borrow when difference is NULL. */
static uint32_t subtract(uint8_t *difference, const uint8_t *a, const uint8_t *b)
{
    uint32_t borrow = 0;
    for (size_t i = SIZE; i-- > 0;) {
        uint32_t step = (uint32_t)a[i] - b[i] - borrow;
        borrow = step >> 31;
        if (difference != NULL)
            difference[i] = (uint8_t)step;
    }
    return borrow;
}

bool tenoni_scalar_in_range(const uint8_t *scalar)
{
    uint32_t bits = 0;
    for (size_t i = 0; i < SIZE; i++)
        bits |= scalar[i];
    uint32_t not_zero = (0u - bits) >> 31;
    return (not_zero & subtract(NULL, scalar, order)) == 1;
}

bool tenoni_field_in_range(const uint8_t *number)
{
    return subtract(NULL, number, prime) == 1;
}

bool tenoni_scalar_is_high(const uint8_t *scalar)
{
    return subtract(NULL, scalar, high) == 0;
}

void tenoni_scalar_negate(uint8_t *scalar)
{
    subtract(scalar, order, scalar);
}

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
