/* SPDX-License-Identifier: Apache-2.0 */
#include "crypto/p256.h"

#include <string.h>

#include "base/bytes.h"
#include "base/secure.h"
#include "base/signature.h"
#include "tenon/digest.h"
#include "tenon/encoding.h"
#include "tenon/p256.h"

tenon_status tenoni_point_check(const tenon_public_key *key)
{
    tenon_status status = tenoni_point_in_range(key) ? TENON_OK : TENON_ERROR_POINT_RANGE;
    return status != TENON_OK ? status : tenoni_p256_check(key);
}

tenon_status tenon_p256_check(const tenon_public_key *key)
{
    return key == NULL ? TENON_ERROR_NULL : tenoni_point_check(key);
}

static tenon_status verifier_new(tenon_verifier **out, const tenon_public_key *key, bool prepared)
{
    if (out == NULL)
        return TENON_ERROR_NULL;
    *out = NULL;
    if (key == NULL)
        return TENON_ERROR_NULL;
    return tenoni_point_in_range(key) ? tenoni_verifier_new(out, key, prepared) : TENON_ERROR_POINT_RANGE;
}

tenon_status tenon_verifier_new(tenon_verifier **out, const tenon_public_key *key)
{
    return verifier_new(out, key, true);
}

void tenon_verifier_free(tenon_verifier **verifier)
{
    if (verifier == NULL || *verifier == NULL)
        return;
    tenoni_verifier_free(*verifier);
    *verifier = NULL;
}

tenon_status tenon_verifier_verify(const tenon_verifier *verifier, const tenon_digest *digest,
                                   const tenon_signature *signature)
{
    if (verifier == NULL || digest == NULL || signature == NULL)
        return TENON_ERROR_NULL;
    return tenoni_signature_in_range(signature) ? tenoni_verifier_verify(verifier, digest, signature)
                                                : TENON_ERROR_SIGNATURE_RANGE;
}

tenon_status tenon_p256_verify(const tenon_public_key *key, const tenon_digest *digest,
                               const tenon_signature *signature)
{
    tenon_verifier *verifier;
    if (key == NULL || digest == NULL || signature == NULL)
        return TENON_ERROR_NULL;
    tenon_status status = verifier_new(&verifier, key, false);
    if (status == TENON_OK)
        status = tenon_verifier_verify(verifier, digest, signature);
    tenon_verifier_free(&verifier);
    return status;
}

/* SEC 1, 2.3.3. */
enum { UNCOMPRESSED = 0x04, EVEN = 0x02, ODD = 0x03 };

static const uint8_t point_head[TENON_POINT_SIZE - TENON_PUBLIC_KEY_SIZE] = {UNCOMPRESSED};

/* RFC 5480, 2: id-ecPublicKey with secp256r1, then the bit string's header. What is left are the 65 bytes of a point.
 */
static const uint8_t spki_head[TENON_SPKI_SIZE - TENON_PUBLIC_KEY_SIZE] = {
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01,        0x06,
    0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, UNCOMPRESSED};

bool tenoni_point_in_range(const tenon_public_key *key)
{
    return tenoni_field_in_range(key->bytes) && tenoni_field_in_range(key->bytes + TENON_SCALAR_SIZE);
}

static tenon_status encode(uint8_t *out, size_t n, size_t *written, const tenon_public_key *key, const uint8_t *head,
                           size_t head_n)
{
    if (written != NULL)
        *written = 0;
    if (key == NULL)
        return TENON_ERROR_NULL;
    tenon_status status = tenoni_output_fits(out, n, written, head_n + TENON_PUBLIC_KEY_SIZE);
    if (status == TENON_OK) {
        memcpy(out, head, head_n);
        memcpy(out + head_n, key->bytes, TENON_PUBLIC_KEY_SIZE);
    }
    return status;
}

static tenon_status decode(tenon_public_key *out, const uint8_t *bytes, size_t n, const uint8_t *head, size_t head_n,
                           tenon_status other_form)
{
    tenon_public_key key;
    if (out == NULL)
        return TENON_ERROR_NULL;
    memset(out, 0, sizeof *out);
    if (bytes == NULL && n != 0)
        return TENON_ERROR_NULL;
    if (n != head_n + TENON_PUBLIC_KEY_SIZE || !tenoni_equal(bytes, head, head_n))
        return other_form;
    memcpy(key.bytes, bytes + head_n, TENON_PUBLIC_KEY_SIZE);
    tenon_status status = tenoni_point_check(&key);
    if (status == TENON_OK)
        *out = key;
    return status;
}

tenon_status tenon_public_key_encode_point(uint8_t *out, size_t n, size_t *written, const tenon_public_key *key)
{
    return encode(out, n, written, key, point_head, sizeof point_head);
}

tenon_status tenon_public_key_decode_point(tenon_public_key *out, const uint8_t *point, size_t n)
{
    return decode(out, point, n, point_head, sizeof point_head, TENON_ERROR_POINT_FORM);
}

tenon_status tenon_public_key_encode_spki(uint8_t *out, size_t n, size_t *written, const tenon_public_key *key)
{
    return encode(out, n, written, key, spki_head, sizeof spki_head);
}

tenon_status tenon_public_key_decode_spki(tenon_public_key *out, const uint8_t *spki, size_t n)
{
    return decode(out, spki, n, spki_head, sizeof spki_head, TENON_ERROR_SPKI_FORM);
}

tenon_status tenon_public_key_encode_compressed(uint8_t *out, size_t n, size_t *written, const tenon_public_key *key)
{
    if (written != NULL)
        *written = 0;
    if (key == NULL)
        return TENON_ERROR_NULL;
    tenon_status status = tenoni_output_fits(out, n, written, TENON_COMPRESSED_SIZE);
    if (status == TENON_OK) {
        out[0] = (key->bytes[TENON_PUBLIC_KEY_SIZE - 1] & 1) != 0 ? ODD : EVEN;
        memcpy(out + 1, key->bytes, TENON_SCALAR_SIZE);
    }
    return status;
}

tenon_status tenon_public_key_decode_compressed(tenon_public_key *out, const uint8_t *point, size_t n)
{
    if (out == NULL)
        return TENON_ERROR_NULL;
    memset(out, 0, sizeof *out);
    if (point == NULL && n != 0)
        return TENON_ERROR_NULL;
    if (n != TENON_COMPRESSED_SIZE || (point[0] != EVEN && point[0] != ODD))
        return TENON_ERROR_POINT_FORM;
    if (!tenoni_field_in_range(point + 1))
        return TENON_ERROR_POINT_RANGE;
    tenon_public_key key;
    tenon_status status = tenoni_p256_decompress(&key, point + 1, point[0] == ODD);
    if (status == TENON_OK)
        *out = key;
    return status;
}

/* RFC 7638, 3: the required members in lexicographic order, without white space. */
tenon_status tenon_public_key_thumbprint(char *out, size_t n, size_t *written, const tenon_public_key *key)
{
    static const char head[] = "{\"crv\":\"P-256\",\"kty\":\"EC\",\"x\":\"";
    static const char middle[] = "\",\"y\":\"";
    static const char tail[] = "\"}";
    char x[TENON_THUMBPRINT_SIZE], y[TENON_THUMBPRINT_SIZE];
    uint8_t jwk[sizeof head + sizeof middle + sizeof tail + sizeof x + sizeof y];
    tenon_digest digest;
    size_t coordinate;
    if (written != NULL)
        *written = 0;
    if (key == NULL)
        return TENON_ERROR_NULL;
    tenon_status status = tenon_base64url_encode(x, sizeof x, &coordinate, key->bytes, TENON_SCALAR_SIZE);
    if (status == TENON_OK)
        status = tenon_base64url_encode(y, sizeof y, &coordinate, key->bytes + TENON_SCALAR_SIZE, TENON_SCALAR_SIZE);
    tenoni_writer writer = tenoni_writer_over(jwk, sizeof jwk);
    tenoni_write_bytes(&writer, head, sizeof head - 1);
    tenoni_write_bytes(&writer, x, sizeof x);
    tenoni_write_bytes(&writer, middle, sizeof middle - 1);
    tenoni_write_bytes(&writer, y, sizeof y);
    tenoni_write_bytes(&writer, tail, sizeof tail - 1);
    if (status == TENON_OK)
        status = tenon_sha256(&digest, jwk, writer.used);
    if (status == TENON_OK)
        status = tenon_base64url_encode(out, n, written, digest.bytes, sizeof digest.bytes);
    return status;
}
