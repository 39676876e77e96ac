/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"
#include "tenon/encoding.h"

/* SP 800-186, 3.2.1.3: the order n, written independently. */
static const uint8_t order[TENON_SCALAR_SIZE] = {0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff,
                                                 0xff, 0xff, 0xff, 0xff, 0xff, 0xbc, 0xe6, 0xfa, 0xad, 0xa7, 0x17,
                                                 0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51};

static bool in_range(const uint8_t *scalar)
{
    return !fuzz_all(scalar, sizeof order, 0) && memcmp(scalar, order, sizeof order) < 0;
}

static bool both_in_range(const tenon_signature *signature)
{
    return in_range(signature->bytes) && in_range(signature->bytes + TENON_SCALAR_SIZE);
}

/* DER that decodes equals the encoder's form of the result: a signature has one DER form. */
static void decode_any(const uint8_t *der, size_t n)
{
    tenon_signature signature;
    memset(&signature, FUZZ_FILL, sizeof signature);
    if (fuzz_refused(tenon_signature_decode_der(&signature, der, n), &signature, sizeof signature))
        return;
    size_t written;
    OWNED uint8_t *again = fuzz_room(n);
    MUST(tenon_signature_encode_der(again, n, &written, &signature) == TENON_OK);
    MUST(written == n && memcmp(again, der, n) == 0);
    MUST(both_in_range(&signature));
}

static void normalize(tenon_signature signature)
{
    tenon_signature low = signature;
    int32_t was_low = tenon_signature_is_low_s(&signature);
    MUST(tenon_signature_normalize(&low) == TENON_OK);
    MUST(tenon_signature_is_low_s(&low) == 1);
    MUST((memcmp(&low, &signature, sizeof low) == 0) == (was_low == 1));
    MUST(memcmp(&low, &signature, TENON_SCALAR_SIZE) == 0);
}

/* A signature that encodes decodes to itself; one that does not has a range that normalize refuses, too. */
static void encode_any(tenon_signature signature)
{
    uint8_t der[TENON_SIGNATURE_DER_MAX];
    tenon_signature again;
    size_t n;
    memset(der, FUZZ_FILL, sizeof der);
    tenon_status status = tenon_signature_encode_der(der, sizeof der, &n, &signature);
    MUST((status == TENON_OK) == both_in_range(&signature));
    if (status == TENON_OK) {
        OWNED uint8_t *exact = fuzz_copy(der, n);
        MUST(tenon_signature_decode_der(&again, exact, n) == TENON_OK);
        MUST(memcmp(&again, &signature, sizeof again) == 0);
        MUST(tenon_signature_decode_der(&again, exact, n - 1) != TENON_OK);
        normalize(signature);
    } else {
        MUST(status == TENON_ERROR_SIGNATURE_RANGE);
        MUST(n == 0 && fuzz_all(der, sizeof der, FUZZ_FILL));
        MUST(tenon_signature_normalize(&signature) == TENON_ERROR_SIGNATURE_RANGE);
        MUST(fuzz_all(&signature, sizeof signature, 0));
    }
}

FUZZ_TARGET(data, n)
{
    tenon_signature signature = {{0}};
    decode_any(data, n);
    memcpy(&signature, data, n < sizeof signature ? n : sizeof signature);
    encode_any(signature);
}
