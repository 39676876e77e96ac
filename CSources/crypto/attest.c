/* SPDX-License-Identifier: Apache-2.0 */
#include "crypto/attest.h"

#include <string.h>

#include "base/der.h"
#include "crypto/public_area.h"

/* A TPM2B. */
static bool read_sized(tenoni_reader *reader, tenoni_reader *out)
{
    uint16_t size;
    return tenoni_read_u16(reader, &size) && tenoni_read_part(reader, out, size);
}

static bool skip(tenoni_reader *reader, size_t n)
{
    tenoni_reader part;
    return tenoni_read_part(reader, &part, n);
}

/* An algorithm and, unless it is TPM_ALG_NULL, n bytes about it. */
static bool skip_algorithm(tenoni_reader *reader, size_t n)
{
    uint16_t algorithm;
    return tenoni_read_u16(reader, &algorithm) && (algorithm == TENONI_ALG_NULL || skip(reader, n));
}

/* Part 2, 12.2.3.6 TPMS_ECC_PARMS. */
static bool read_parameters(tenoni_reader *reader, tenoni_reader *out)
{
    const tenoni_reader start = *reader;
    if (!skip_algorithm(reader, 2 * sizeof(uint16_t)) || !skip_algorithm(reader, sizeof(uint16_t)) ||
        !skip(reader, sizeof(uint16_t)) || !skip_algorithm(reader, sizeof(uint16_t)))
        return false;
    *out = tenoni_reader_over(start.at, start.left - reader->left);
    return true;
}

bool tenoni_area_read(tenoni_area *out, const uint8_t *area, size_t n)
{
    tenoni_reader reader = tenoni_reader_over(area, n);
    memset(out, 0, sizeof *out);
    if (!tenoni_read_u16(&reader, &out->type) || !tenoni_read_u16(&reader, &out->name_algorithm) ||
        !tenoni_read_u32(&reader, &out->attributes) || !read_sized(&reader, &out->policy))
        return false;
    if (out->type != TENONI_ALG_ECC)
        return true;
    return read_parameters(&reader, &out->parameters) && read_sized(&reader, &out->x) && read_sized(&reader, &out->y) &&
           reader.left == 0;
}

/* Part 2, 10.11.1 TPMS_CLOCK_INFO: clock, resetCount, restartCount, safe. */
static bool read_clock(tenoni_reader *reader, uint8_t *safe)
{
    return skip(reader, sizeof(uint64_t) + 2 * sizeof(uint32_t)) && tenoni_read_u8(reader, safe) && *safe <= 1;
}

bool tenoni_attest_read(tenoni_attest *out, const uint8_t *attest, size_t n)
{
    tenoni_reader reader = tenoni_reader_over(attest, n);
    memset(out, 0, sizeof *out);
    if (!tenoni_read_u32(&reader, &out->magic) || !tenoni_read_u16(&reader, &out->type) ||
        !read_sized(&reader, &out->signer) || !read_sized(&reader, &out->extra_data) ||
        !read_clock(&reader, &out->clock_safe) || !tenoni_read_u64(&reader, &out->firmware_version))
        return false;
    out->attested = reader;
    if (out->type != TENONI_ATTEST_CERTIFY)
        return true;
    return read_sized(&reader, &out->name) && read_sized(&reader, &out->qualified_name) && reader.left == 0;
}

/* RFC 3279, 2.2.3. The range of r and s is another question than the form. */
static bool read_der(tenoni_reader *reader, tenoni_tpm_signature *out)
{
    tenoni_reader sequence;
    uint8_t number[TENON_SCALAR_SIZE];
    tenoni_reader *const numbers[] = {&out->r, &out->s};
    out->algorithm = TENONI_ALG_ECDSA;
    out->hash = TENONI_ALG_SHA256;
    if (tenoni_der_read(reader, TENONI_DER_SEQUENCE, &sequence) != TENON_OK || reader->left != 0)
        return false;
    for (size_t i = 0; i < 2; i++) {
        tenoni_reader integer = sequence;
        if (tenoni_der_read_unsigned(&sequence, number, sizeof number) != TENON_OK ||
            tenoni_der_read(&integer, TENONI_DER_INTEGER, numbers[i]) != TENON_OK)
            return false;
        /* The sign's zero is no part of the number. */
        if (numbers[i]->left > 1 && numbers[i]->at[0] == 0)
            *numbers[i] = tenoni_reader_over(numbers[i]->at + 1, numbers[i]->left - 1);
    }
    return sequence.left == 0;
}

bool tenoni_tpm_signature_read(tenoni_tpm_signature *out, const uint8_t *signature, size_t n)
{
    tenoni_reader reader = tenoni_reader_over(signature, n);
    memset(out, 0, sizeof *out);
    /* TPM_ALG_IDs begin with 00. */
    if (n != 0 && signature[0] == TENONI_DER_SEQUENCE)
        return read_der(&reader, out);
    if (!tenoni_read_u16(&reader, &out->algorithm) || !tenoni_read_u16(&reader, &out->hash))
        return false;
    if (out->algorithm != TENONI_ALG_ECDSA)
        return true;
    return read_sized(&reader, &out->r) && read_sized(&reader, &out->s) && reader.left == 0;
}

bool tenoni_number_fits(tenoni_reader number)
{
    return number.left != 0 && number.left <= TENON_SCALAR_SIZE;
}

void tenoni_number_pad(uint8_t *out, tenoni_reader number)
{
    size_t n = number.left < TENON_SCALAR_SIZE ? number.left : TENON_SCALAR_SIZE;
    memset(out, 0, TENON_SCALAR_SIZE - n);
    if (n != 0)
        memcpy(out + TENON_SCALAR_SIZE - n, number.at + number.left - n, n);
}
