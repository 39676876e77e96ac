/* SPDX-License-Identifier: Apache-2.0 */
#include "crypto/structures.h"

#include <string.h>

#include "base/bytes.h"
#include "base/der.h"
#include "base/secure.h"
#include "crypto/quirks.h"
#include "tenon/digest.h"
#include "tenon/p256.h"

enum {
    BORN_HERE =
        TENONI_FIXED_TPM | TENONI_FIXED_PARENT | TENONI_SENSITIVE_DATA_ORIGIN | TENONI_USER_WITH_AUTH | TENONI_NO_DA
};

const tenoni_public tenoni_signing_template = {
    .name_algorithm = TENONI_ALG_SHA256,
    .attributes = BORN_HERE | TENONI_SIGN,
    .symmetric = TENONI_ALG_NULL,
    .scheme = TENONI_ALG_NULL,
};

const tenoni_public tenoni_guarded_template = {
    .name_algorithm = TENONI_ALG_SHA256,
    .attributes = (BORN_HERE & ~TENONI_NO_DA) | TENONI_SIGN,
    .symmetric = TENONI_ALG_NULL,
    .scheme = TENONI_ALG_NULL,
};

const tenoni_public tenoni_attestation_template = {
    .name_algorithm = TENONI_ALG_SHA256,
    .attributes = BORN_HERE | TENONI_RESTRICTED | TENONI_SIGN,
    .symmetric = TENONI_ALG_NULL,
    .scheme = TENONI_ALG_ECDSA,
    .scheme_hash = TENONI_ALG_SHA256,
};

#define STORAGE                                                                                                        \
    .name_algorithm = TENONI_ALG_SHA256, .attributes = BORN_HERE | TENONI_RESTRICTED | TENONI_DECRYPT,                 \
    .symmetric = TENONI_ALG_AES, .key_bits = 128, .mode = TENONI_ALG_CFB, .scheme = TENONI_ALG_NULL

/* TCG EK Credential Profile, template H-2, with the attributes of a storage key. */
const tenoni_public tenoni_storage_template = {STORAGE};

/* TCG TPM v2.0 Provisioning Guidance: the SRK. */
const tenoni_public tenoni_provisioned_template = {STORAGE, .x.n = TENON_SCALAR_SIZE, .y.n = TENON_SCALAR_SIZE};

static bool copy_sized(tenoni_reader *reader, uint8_t *out, size_t max, size_t *n)
{
    tenoni_reader content;
    if (!tenoni_read_sized(reader, &content, max))
        return false;
    *n = content.left;
    return tenoni_read_bytes(&content, out, content.left);
}

/* Part 2, 11.1.7 TPMT_SYM_DEF_OBJECT. */
static bool read_symmetric(tenoni_reader *reader, tenoni_public *key)
{
    if (!tenoni_read_u16(reader, &key->symmetric))
        return false;
    if (key->symmetric == TENONI_ALG_NULL)
        return true;
    return key->symmetric == TENONI_ALG_AES && tenoni_read_u16(reader, &key->key_bits) &&
           tenoni_read_u16(reader, &key->mode);
}

/* Part 2, 11.2.5.6 TPMT_ECC_SCHEME. */
static bool read_scheme(tenoni_reader *reader, tenoni_public *key)
{
    if (!tenoni_read_u16(reader, &key->scheme))
        return false;
    if (key->scheme == TENONI_ALG_NULL)
        return true;
    return key->scheme == TENONI_ALG_ECDSA && tenoni_read_u16(reader, &key->scheme_hash);
}

static bool read_exactly(tenoni_reader *reader, uint16_t expected)
{
    uint16_t found;
    return tenoni_read_u16(reader, &found) && found == expected;
}

/* Part 2, 12.2.4 TPMT_PUBLIC with 12.2.3.6 TPMS_ECC_PARMS and 11.2.5.2 TPMS_ECC_POINT. */
static bool read_area(tenoni_reader *reader, tenoni_public *key)
{
    return read_exactly(reader, TENONI_ALG_ECC) && tenoni_read_u16(reader, &key->name_algorithm) &&
           tenoni_read_u32(reader, &key->attributes) &&
           copy_sized(reader, key->policy, sizeof key->policy, &key->policy_n) && read_symmetric(reader, key) &&
           read_scheme(reader, key) && read_exactly(reader, TENONI_ECC_P256) &&
           read_exactly(reader, TENONI_ALG_NULL) /* kdf: no TPM has one */ &&
           copy_sized(reader, key->x.bytes, sizeof key->x.bytes, &key->x.n) &&
           copy_sized(reader, key->y.bytes, sizeof key->y.bytes, &key->y.n) && reader->left == 0;
}

tenon_status tenoni_public_read(tenoni_public *out, const uint8_t *area, size_t n)
{
    tenoni_reader reader = tenoni_reader_over(area, n);
    memset(out, 0, sizeof *out);
    if (read_area(&reader, out))
        return TENON_OK;
    memset(out, 0, sizeof *out);
    return TENON_ERROR_KEY_PUBLIC;
}

void tenoni_public_write(tenoni_writer *writer, const tenoni_public *key)
{
    tenoni_write_u16(writer, TENONI_ALG_ECC);
    tenoni_write_u16(writer, key->name_algorithm);
    tenoni_write_u32(writer, key->attributes);
    tenoni_write_sized(writer, key->policy, key->policy_n);
    tenoni_write_u16(writer, key->symmetric);
    if (key->symmetric != TENONI_ALG_NULL) {
        tenoni_write_u16(writer, key->key_bits);
        tenoni_write_u16(writer, key->mode);
    }
    tenoni_write_u16(writer, key->scheme);
    if (key->scheme != TENONI_ALG_NULL)
        tenoni_write_u16(writer, key->scheme_hash);
    tenoni_write_u16(writer, TENONI_ECC_P256);
    tenoni_write_u16(writer, TENONI_ALG_NULL);
    tenoni_write_sized(writer, key->x.bytes, key->x.n);
    tenoni_write_sized(writer, key->y.bytes, key->y.n);
}

tenon_status tenoni_public_point(tenon_public_key *out, const tenoni_public *key)
{
    memset(out, 0, sizeof *out);
    if (key->x.n == 0 || key->y.n == 0)
        return TENON_ERROR_KEY_PUBLIC;
    tenoni_number_pad(out->bytes, TENON_SCALAR_SIZE, tenoni_reader_over(key->x.bytes, key->x.n));
    tenoni_number_pad(out->bytes + TENON_SCALAR_SIZE, TENON_SCALAR_SIZE, tenoni_reader_over(key->y.bytes, key->y.n));
    tenon_status status = tenon_p256_check(out);
    if (status != TENON_OK)
        memset(out, 0, sizeof *out);
    return status;
}

tenon_status tenoni_public_name(uint8_t *out, const uint8_t *area, size_t n)
{
    static const uint8_t algorithm[] = {TENONI_ALG_SHA256 >> 8, TENONI_ALG_SHA256 & 0xff};
    tenon_digest digest;
    memset(out, 0, TENON_NAME_SIZE);
    /* Part 2, 12.2.4: every public area begins with type and nameAlg. */
    if (n < 2 + sizeof algorithm || !tenoni_equal(area + 2, algorithm, sizeof algorithm))
        return TENON_ERROR_KEY_PUBLIC;
    tenon_status status = tenon_sha256(&digest, area, n);
    if (status != TENON_OK)
        return status;
    memcpy(out, algorithm, sizeof algorithm);
    memcpy(out + sizeof algorithm, digest.bytes, sizeof digest.bytes);
    return TENON_OK;
}

/* With a template whose unique is empty. Compared as bytes, so that no field can be forgotten. */
static bool fits(const tenoni_public *key, const tenoni_public *template)
{
    uint8_t found[TENONI_PUBLIC_MAX], expected[TENONI_PUBLIC_MAX];
    tenoni_writer left = tenoni_writer_over(found, sizeof found);
    tenoni_writer right = tenoni_writer_over(expected, sizeof expected);
    tenoni_public copy = *key;
    copy.x.n = copy.y.n = 0;
    tenoni_public_write(&left, &copy);
    tenoni_public_write(&right, template);
    return left.used == right.used && tenoni_equal(found, expected, right.used);
}

bool tenoni_public_is_storage(const tenoni_public *key)
{
    return fits(key, &tenoni_storage_template);
}

tenon_status tenoni_public_check_own(const tenoni_public *key)
{
    bool ours = fits(key, &tenoni_signing_template) || fits(key, &tenoni_guarded_template);
    return ours ? TENON_OK : TENON_ERROR_KEY_ATTRIBUTES;
}

tenon_status tenoni_public_check_attestation(const tenoni_public *key)
{
    return fits(key, &tenoni_attestation_template) ? TENON_OK : TENON_ERROR_KEY_ATTRIBUTES;
}

tenon_status tenoni_public_check_foreign(const tenoni_public *key)
{
    /* Ours, but for what another tool is free to choose. */
    tenoni_public expected = tenoni_signing_template;
    expected.attributes = (key->attributes & ~(uint32_t)TENONI_RESTRICTED) | TENONI_SIGN;
    if (key->scheme == TENONI_ALG_ECDSA) {
        expected.scheme = TENONI_ALG_ECDSA;
        expected.scheme_hash = TENONI_ALG_SHA256;
    }
    return fits(key, &expected) ? TENON_OK : TENON_ERROR_KEY_ATTRIBUTES;
}

bool tenoni_public_is_bound(const tenoni_public *key)
{
    uint32_t bound = TENONI_FIXED_TPM | TENONI_FIXED_PARENT | TENONI_SENSITIVE_DATA_ORIGIN;
    return (key->attributes & bound) == bound;
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
        !tenoni_read_u32(&reader, &out->attributes) || !tenoni_read_sized(&reader, &out->policy, UINT16_MAX))
        return false;
    if (out->type != TENONI_ALG_ECC)
        return true;
    return read_parameters(&reader, &out->parameters) && tenoni_read_sized(&reader, &out->x, UINT16_MAX) &&
           tenoni_read_sized(&reader, &out->y, UINT16_MAX) && reader.left == 0;
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
        !tenoni_read_sized(&reader, &out->signer, UINT16_MAX) ||
        !tenoni_read_sized(&reader, &out->extra_data, UINT16_MAX) || !read_clock(&reader, &out->clock_safe) ||
        !tenoni_read_u64(&reader, &out->firmware_version))
        return false;
    out->attested = reader;
    if (out->type != TENONI_ATTEST_CERTIFY)
        return true;
    return tenoni_read_sized(&reader, &out->name, UINT16_MAX) &&
           tenoni_read_sized(&reader, &out->qualified_name, UINT16_MAX) && reader.left == 0;
}

enum { PCR_SELECT_SIZE = 3 }; /* Part 2, 10.6.1: 24 PCRs, as each TPM for a PC has them */

/* Part 2, 10.6.2 TPMS_PCR_SELECTION: PCR 0 is the lowest bit of the first byte. */
static bool read_selection(tenoni_reader *reader, uint16_t *bank, uint32_t *pcrs)
{
    uint8_t n, select[PCR_SELECT_SIZE];
    if (!tenoni_read_u16(reader, bank) || !tenoni_read_u8(reader, &n) || n != sizeof select ||
        !tenoni_read_bytes(reader, select, sizeof select))
        return false;
    *pcrs = select[0] | (uint32_t)select[1] << 8 | (uint32_t)select[2] << 16;
    return true;
}

bool tenoni_quoted_read(tenoni_quoted *out, tenoni_reader attested)
{
    uint16_t bank;
    uint32_t pcrs;
    memset(out, 0, sizeof *out);
    if (!tenoni_read_u32(&attested, &out->banks))
        return false;
    for (uint32_t i = 0; i < out->banks; i++) {
        if (!read_selection(&attested, &bank, &pcrs))
            return false;
        if (i == 0) {
            out->bank = bank;
            out->pcrs = pcrs;
        }
    }
    return tenoni_read_sized(&attested, &out->digest, UINT16_MAX) && attested.left == 0;
}

/* Part 2, 10.9.7 TPML_PCR_SELECTION. */
void tenoni_pcrs_write(tenoni_writer *writer, uint32_t pcrs)
{
    tenoni_write_u32(writer, 1);
    tenoni_write_u16(writer, TENONI_ALG_SHA256);
    tenoni_write_u8(writer, PCR_SELECT_SIZE);
    for (size_t i = 0; i < PCR_SELECT_SIZE; i++)
        tenoni_write_u8(writer, (uint8_t)(pcrs >> 8 * i));
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
        /* The zero for the sign is not part of the number. */
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
    return tenoni_read_sized(&reader, &out->r, UINT16_MAX) && tenoni_read_sized(&reader, &out->s, UINT16_MAX) &&
           reader.left == 0;
}
