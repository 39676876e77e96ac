/* SPDX-License-Identifier: Apache-2.0 */
#include "crypto/quirks.h"

#include <string.h>

#include "base/der.h"

bool tenoni_number_fits(tenoni_reader number)
{
    return number.left != 0 && number.left <= TENON_SCALAR_SIZE;
}

void tenoni_number_pad(uint8_t *out, size_t size, tenoni_reader number)
{
    size_t n = number.left < size ? number.left : size;
    memset(out, 0, size - n);
    if (n != 0)
        memcpy(out + size - n, number.at + number.left - n, n);
}

/* Such a TPM refuses the HMAC, as if the auth value were wrong. */
bool tenoni_quirk_salt_misread(tenon_status refusal)
{
    return tenon_status_category(refusal) == TENON_CATEGORY_AUTH;
}

/* TPM 2.0 Part 2, 6.5.2 and 6.6.3. */
enum { ACTIVATE_CREDENTIAL = 0x147, RC_FAILURE = 0x101, RC_INTEGRITY = 0x09f };

static const struct {
    uint32_t command;
    uint32_t answered;
    uint32_t meant;
} answers[] = {
    /* libtpms, of a secret that its RSA key cannot decrypt. A TPM that did fail says so after any command. */
    {ACTIVATE_CREDENTIAL, RC_FAILURE, RC_INTEGRITY},
};

uint32_t tenoni_quirk_answer(uint32_t command, uint32_t code)
{
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        if (answers[i].command == command && answers[i].answered == code)
            return answers[i].meant;
    return code;
}

/*
 * Nemec et al., The Return of Coppersmith's Attack (2017), 2.2: the weak primes are k M + (65537^a mod M), M a product
 * of the first primes. So their product is a power of 65537 modulo each of these, which one modulus of 2^27 is by
 * chance.
 */
static const uint8_t primes[] = {3,   5,   7,   11,  13,  17,  19,  23,  29,  31,  37,  41,  43,
                                 47,  53,  59,  61,  67,  71,  73,  79,  83,  89,  97,  101, 103,
                                 107, 109, 113, 127, 131, 137, 139, 149, 151, 157, 163, 167};

static uint32_t remainder_of(tenoni_reader number, uint32_t prime)
{
    uint32_t rest = 0;
    for (size_t i = 0; i < number.left; i++)
        rest = (rest << 8 | number.at[i]) % prime;
    return rest;
}

static bool is_power(uint32_t number, uint32_t prime)
{
    uint32_t power = 1;
    do {
        if (power == number)
            return true;
        power = power * (65537 % prime) % prime;
    } while (power != 1);
    return false;
}

bool tenoni_roca_matches(tenoni_reader modulus)
{
    for (size_t i = 0; i < sizeof primes / sizeof *primes; i++)
        if (!is_power(remainder_of(modulus, primes[i]), primes[i]))
            return false;
    return true;
}

#define TEXT(text)                                                                                                     \
    {                                                                                                                  \
        (const uint8_t *)(text), sizeof(text) - 1                                                                      \
    }

const tenon_ek_pattern tenoni_simulators[] = {
    {.maker = TEXT("id:00001014")},                                 /* libtpms */
    {.model = TEXT("swtpm")},       {.maker = TEXT("id:49424D00")}, /* IBM's software TPM */
    {.maker = TEXT("id:58595A20")},                                 /* XYZ, xCG: the TCG's reference code as it comes */
    {.maker = TEXT("id:58434720")}, {.maker = TEXT("id:78434720")},
};

const size_t tenoni_simulators_count = sizeof tenoni_simulators / sizeof *tenoni_simulators;

/* TCG PC Client, 7.3.2: a stored certificate may have a tag 1001, a type 00 (whole certificate) and its size before it.
 * *stored is then what that size takes in, and the reader stands behind it. */
static bool take_stored(tenoni_reader *reader, tenoni_reader *stored)
{
    const tenoni_reader whole = *reader;
    uint16_t tag, size;
    uint8_t type;
    if (!tenoni_read_u16(reader, &tag) || tag != 0x1001) {
        *reader = tenoni_reader_over(NULL, 0);
        *stored = whole;
        return true;
    }
    return tenoni_read_u8(reader, &type) && type == 0 && tenoni_read_u16(reader, &size) &&
           tenoni_read_part(reader, stored, size);
}

static bool is_padding(tenoni_reader rest)
{
    for (size_t i = 0; i < rest.left; i++)
        if (rest.at[i] != 0x00 && rest.at[i] != 0xff)
            return false;
    return true;
}

tenon_status tenon_certificate_trim(tenon_bytes *out, const uint8_t *bytes, size_t n)
{
    if (out == NULL)
        return TENON_ERROR_NULL;
    *out = (tenon_bytes){.bytes = NULL, .n = 0};
    if (bytes == NULL && n != 0)
        return TENON_ERROR_NULL;
    tenoni_reader behind = tenoni_reader_over(bytes, n), stored, content;
    if (!take_stored(&behind, &stored))
        return TENON_ERROR_CERTIFICATE_FORM;
    const tenoni_reader start = stored;
    if (tenoni_der_read(&stored, TENONI_DER_SEQUENCE, &content) != TENON_OK || !is_padding(stored) ||
        !is_padding(behind))
        return TENON_ERROR_CERTIFICATE_FORM;
    *out = (tenon_bytes){.bytes = start.at, .n = start.left - stored.left};
    return TENON_OK;
}
