/* SPDX-License-Identifier: Apache-2.0 */
#include "attestation.h"

#include <string.h>

#include "evidence.h"
#include "owned.h"

/* Of nothing in particular, and the same in each run: clock, firmware, signer and qualified Name. */
static support_bytes certified_of(const support_bytes *area, const tenon_digest *nonce)
{
    support_attest attest = support_attest_of(area, nonce->bytes);
    const support_bytes other = {{0x00, 0x0b}, TENON_NAME_SIZE};
    memset(attest.clock, 0, sizeof attest.clock);
    attest.firmware = 0;
    attest.signer = attest.qualified = other;
    return support_attest_write(&attest);
}

static tenon_status make(attestation *out, const tenon_key *ak, const tenon_bytes *x5c, size_t count)
{
    TRY(tenon_key_public_key(ak, &out->ak_point));
    const support_area key_fields = support_area_of(out->key.bytes, SUPPORT_KEY_ATTRIBUTES, false),
                       ak_fields = support_area_of(out->ak_point.bytes, SUPPORT_AK_ATTRIBUTES, true);
    const support_bytes area = support_area_write(&key_fields), ak_area = support_area_write(&ak_fields),
                        certified = certified_of(&area, &out->nonce);
    memcpy(out->ak, ak_area.bytes, out->ak_n = ak_area.n);
    TRY(tenon_sha256(&out->digest, certified.bytes, certified.n));
    TRY(tenon_key_sign_digest(ak, &out->signature, &out->digest));
    const support_ecdsa ecdsa = support_ecdsa_of(out->signature.bytes);
    const support_bytes signature = support_ecdsa_write(&ecdsa);
    support_proof proof = support_proof_of(&area, &certified, &signature);
    for (proof.x5c_count = 0; proof.x5c_count < count; proof.x5c_count++) {
        proof.x5c[proof.x5c_count] = x5c[proof.x5c_count].bytes;
        proof.x5c_n[proof.x5c_count] = x5c[proof.x5c_count].n;
    }
    out->n = support_proof_write(out->proof, sizeof out->proof, &proof);
    return TENON_OK;
}

static tenon_status make_key(tenon_public_key *out)
{
    static const uint8_t scalar[TENON_SCALAR_SIZE] = {1, 2, 3};
    OWNED_KEY key = NULL;
    TRY(tenon_software_key_import(&key, scalar, sizeof scalar, 0));
    return tenon_key_public_key(key, out);
}

bool attestation_make(attestation *out, const uint8_t *ak_scalar, const tenon_bytes *x5c, size_t count)
{
    OWNED_KEY ak = NULL;
    const uint32_t flags = TENON_KEY_SIGNS_DIGESTS | TENON_KEY_DETERMINISTIC;
    memset(out, 0, sizeof *out);
    memset(&out->nonce, 0x5e, sizeof out->nonce);
    return tenon_software_key_import(&ak, ak_scalar, TENON_SCALAR_SIZE, flags) == TENON_OK &&
           make_key(&out->key) == TENON_OK && make(out, ak, x5c, count) == TENON_OK;
}
