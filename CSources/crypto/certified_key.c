/* SPDX-License-Identifier: Apache-2.0 */
#include "crypto/certified_key.h"

#include "base/der.h"

size_t tenoni_key_field(tenoni_key_kind kind)
{
    switch (kind) {
    case TENONI_KEY_P256:
        return 32;
    case TENONI_KEY_P384:
        return 48;
    case TENONI_KEY_P521:
        return TENONI_FIELD_MAX;
    default:
        return 0;
    }
}

bool tenoni_ecdsa_signature_read(tenoni_reader signature, uint8_t *r, uint8_t *s, size_t n)
{
    tenoni_reader sequence;
    return tenoni_der_read(&signature, TENONI_DER_SEQUENCE, &sequence) == TENON_OK && signature.left == 0 &&
           tenoni_der_read_unsigned(&sequence, r, n) == TENON_OK &&
           tenoni_der_read_unsigned(&sequence, s, n) == TENON_OK && sequence.left == 0;
}

static bool has_point(const tenoni_certified_key *key)
{
    size_t field = tenoni_key_field(key->kind);
    return field != 0 && key->modulus_or_point.left == 1 + 2 * field;
}

tenon_status tenoni_certified_key_check(const tenoni_certified_key *key)
{
    return has_point(key) ? tenoni_curve_check(key) : TENON_ERROR_POINT_OFF_CURVE;
}

tenon_status tenoni_certified_key_verify(const tenoni_certified_key *key, bool with_rsa, tenoni_hash hash,
                                         tenoni_reader message, tenoni_reader signature)
{
    uint8_t r[TENONI_FIELD_MAX], s[TENONI_FIELD_MAX];
    tenoni_message_digest digest = {.hash = hash};
    size_t field = tenoni_key_field(key->kind);
    /* RFC 8017, 8.2.2, step 1: a signature is as long as its modulus. */
    bool fits = with_rsa ? key->kind == TENONI_KEY_RSA && signature.left == key->modulus_or_point.left
                         : has_point(key) && tenoni_ecdsa_signature_read(signature, r, s, field);
    if (!fits)
        return TENON_ERROR_SIGNATURE_INVALID;
    tenon_status status = tenoni_hash_parts(hash, digest.bytes, &(tenoni_part){message.at, message.left}, 1);
    if (status == TENON_OK)
        status = with_rsa ? tenoni_rsa_verify(key, &digest, signature) : tenoni_ecdsa_verify(key, &digest, r, s);
    return status == TENON_ERROR_POINT_OFF_CURVE ? TENON_ERROR_SIGNATURE_INVALID : status;
}
