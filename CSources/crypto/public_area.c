/* SPDX-License-Identifier: Apache-2.0 */
#include "crypto/public_area.h"

#include <string.h>

#include "base/reader.h"
#include "base/secure.h"
#include "tenon/digest.h"
#include "tenon/p256.h"

/* Part 2, 8.3 TPMA_OBJECT. */
enum {
    FIXED_TPM = 1 << 1,
    FIXED_PARENT = 1 << 4,
    SENSITIVE_DATA_ORIGIN = 1 << 5,
    USER_WITH_AUTH = 1 << 6,
    NO_DA = 1 << 10,
    RESTRICTED = 1 << 16,
    DECRYPT = 1 << 17,
    SIGN = 1 << 18,
    BORN_HERE = FIXED_TPM | FIXED_PARENT | SENSITIVE_DATA_ORIGIN | USER_WITH_AUTH | NO_DA
};

const tenoni_public tenoni_signing_template = {
    .name_algorithm = TENONI_ALG_SHA256,
    .attributes = BORN_HERE | SIGN,
    .symmetric = TENONI_ALG_NULL,
    .scheme = TENONI_ALG_NULL,
};

const tenoni_public tenoni_attestation_template = {
    .name_algorithm = TENONI_ALG_SHA256,
    .attributes = BORN_HERE | RESTRICTED | SIGN,
    .symmetric = TENONI_ALG_NULL,
    .scheme = TENONI_ALG_ECDSA,
    .scheme_hash = TENONI_ALG_SHA256,
};

#define STORAGE                                                                                                        \
    .name_algorithm = TENONI_ALG_SHA256, .attributes = BORN_HERE | RESTRICTED | DECRYPT, .symmetric = TENONI_ALG_AES,  \
    .key_bits = 128, .mode = TENONI_ALG_CFB, .scheme = TENONI_ALG_NULL

/* TCG EK Credential Profile, template H-2, with the attributes of a storage key. */
const tenoni_public tenoni_storage_template = {STORAGE};

/* TCG TPM v2.0 Provisioning Guidance: the SRK. */
const tenoni_public tenoni_provisioned_template = {STORAGE, .x.n = TENON_SCALAR_SIZE, .y.n = TENON_SCALAR_SIZE};

/* A TPM2B of at most max bytes. */
static bool read_sized(tenoni_reader *reader, uint8_t *out, size_t max, size_t *n)
{
    uint16_t size;
    if (!tenoni_read_u16(reader, &size) || size > max || !tenoni_read_bytes(reader, out, size))
        return false;
    *n = size;
    return true;
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
           read_sized(reader, key->policy, sizeof key->policy, &key->policy_n) && read_symmetric(reader, key) &&
           read_scheme(reader, key) && read_exactly(reader, TENONI_CURVE_P256) &&
           read_exactly(reader, TENONI_ALG_NULL) /* kdf: no TPM has one */ &&
           read_sized(reader, key->x.bytes, sizeof key->x.bytes, &key->x.n) &&
           read_sized(reader, key->y.bytes, sizeof key->y.bytes, &key->y.n) && reader->left == 0;
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

static void write_sized(tenoni_writer *writer, const uint8_t *bytes, size_t n)
{
    tenoni_write_u16(writer, (uint16_t)n);
    tenoni_write_bytes(writer, bytes, n);
}

void tenoni_public_write(tenoni_writer *writer, const tenoni_public *key)
{
    tenoni_write_u16(writer, TENONI_ALG_ECC);
    tenoni_write_u16(writer, key->name_algorithm);
    tenoni_write_u32(writer, key->attributes);
    write_sized(writer, key->policy, key->policy_n);
    tenoni_write_u16(writer, key->symmetric);
    if (key->symmetric != TENONI_ALG_NULL) {
        tenoni_write_u16(writer, key->key_bits);
        tenoni_write_u16(writer, key->mode);
    }
    tenoni_write_u16(writer, key->scheme);
    if (key->scheme != TENONI_ALG_NULL)
        tenoni_write_u16(writer, key->scheme_hash);
    tenoni_write_u16(writer, TENONI_CURVE_P256);
    tenoni_write_u16(writer, TENONI_ALG_NULL);
    write_sized(writer, key->x.bytes, key->x.n);
    write_sized(writer, key->y.bytes, key->y.n);
}

tenon_status tenoni_public_point(tenon_public_key *out, const tenoni_public *key)
{
    memset(out, 0, sizeof *out);
    if (key->x.n == 0 || key->y.n == 0)
        return TENON_ERROR_KEY_PUBLIC;
    memcpy(out->bytes + TENON_SCALAR_SIZE - key->x.n, key->x.bytes, key->x.n);
    memcpy(out->bytes + TENON_PUBLIC_KEY_SIZE - key->y.n, key->y.bytes, key->y.n);
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
    return fits(key, &tenoni_signing_template) ? TENON_OK : TENON_ERROR_KEY_ATTRIBUTES;
}

tenon_status tenoni_public_check_attestation(const tenoni_public *key)
{
    return fits(key, &tenoni_attestation_template) ? TENON_OK : TENON_ERROR_KEY_ATTRIBUTES;
}

tenon_status tenoni_public_check_foreign(const tenoni_public *key)
{
    /* Ours, but for what another tool is free to choose. */
    tenoni_public expected = tenoni_signing_template;
    expected.attributes = (key->attributes & ~(uint32_t)RESTRICTED) | SIGN;
    if (key->scheme == TENONI_ALG_ECDSA) {
        expected.scheme = TENONI_ALG_ECDSA;
        expected.scheme_hash = TENONI_ALG_SHA256;
    }
    return fits(key, &expected) ? TENON_OK : TENON_ERROR_KEY_ATTRIBUTES;
}

bool tenoni_public_is_bound(const tenoni_public *key)
{
    uint32_t bound = FIXED_TPM | FIXED_PARENT | SENSITIVE_DATA_ORIGIN;
    return (key->attributes & bound) == bound;
}
