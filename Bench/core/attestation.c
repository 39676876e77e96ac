/* SPDX-License-Identifier: Apache-2.0 */
#include "attestation.h"

#include <string.h>

/* TPMT_PUBLIC (TPM 2.0 Part 2, 12.2.4) before x, of a signing key and of an AK. */
static const uint8_t key_head[] = {0x00, 0x23, 0x00, 0x0b, 0x00, 0x04, 0x04, 0x72, 0x00, 0x00,
                                   0x00, 0x10, 0x00, 0x10, 0x00, 0x03, 0x00, 0x10, 0x00, 0x20};
static const uint8_t ak_head[] = {0x00, 0x23, 0x00, 0x0b, 0x00, 0x05, 0x04, 0x72, 0x00, 0x00, 0x00,
                                  0x10, 0x00, 0x18, 0x00, 0x0b, 0x00, 0x03, 0x00, 0x10, 0x00, 0x20};

typedef struct {
    uint8_t bytes[TENON_AREA_MAX];
    size_t n;
} part;

static void add(part *to, const void *bytes, size_t n)
{
    memcpy(to->bytes + to->n, bytes, n);
    to->n += n;
}

/* Two bytes of size before them. */
static void add_sized(part *to, const void *bytes, size_t n)
{
    const uint8_t size[] = {(uint8_t)(n >> 8), (uint8_t)n};
    add(to, size, sizeof size);
    add(to, bytes, n);
}

static part area_of(const uint8_t *head, size_t n, const tenon_public_key *point)
{
    part area = {.n = 0};
    add(&area, head, n);
    add(&area, point->bytes, TENON_SCALAR_SIZE);
    add_sized(&area, point->bytes + TENON_SCALAR_SIZE, TENON_SCALAR_SIZE);
    return area;
}

/* TPMS_ATTEST of TPM2_Certify (Part 2, 10.12.12): signer and qualified Name are of nothing in particular. */
static part certified_of(const attestation *of, const uint8_t *name)
{
    static const uint8_t head[] = {0xff, 0x54, 0x43, 0x47, 0x80, 0x17}, clock[16 + 1 + 8] = {[16] = 1},
                         other[TENON_NAME_SIZE] = {0x00, 0x0b};
    part certified = {.n = 0};
    add(&certified, head, sizeof head);
    add_sized(&certified, other, sizeof other);
    add_sized(&certified, of->nonce.bytes, sizeof of->nonce.bytes);
    add(&certified, clock, sizeof clock);
    add_sized(&certified, name, TENON_NAME_SIZE);
    add_sized(&certified, other, sizeof other);
    return certified;
}

/* TPMT_SIGNATURE (Part 2, 11.3.4). */
static part signature_of(const attestation *of)
{
    static const uint8_t head[] = {0x00, 0x18, 0x00, 0x0b}; /* ECDSA, SHA-256 */
    part out = {.n = 0};
    add(&out, head, sizeof head);
    add_sized(&out, of->signature.bytes, TENON_SCALAR_SIZE);
    add_sized(&out, of->signature.bytes + TENON_SCALAR_SIZE, TENON_SCALAR_SIZE);
    return out;
}

static tenon_status make(attestation *out, const tenon_key *ak, const tenon_bytes *x5c, size_t count)
{
    uint8_t name[TENON_NAME_SIZE];
    size_t n;
    tenon_status status = tenon_key_public_key(ak, &out->ak_point);
    if (status != TENON_OK)
        return status;
    const part area = area_of(key_head, sizeof key_head, &out->key),
               ak_area = area_of(ak_head, sizeof ak_head, &out->ak_point);
    memcpy(out->ak, ak_area.bytes, out->ak_n = ak_area.n);
    status = tenon_object_name(name, sizeof name, &n, area.bytes, area.n);
    const part certified = certified_of(out, name);
    if (status == TENON_OK)
        status = tenon_sha256(&out->digest, certified.bytes, certified.n);
    if (status == TENON_OK)
        status = tenon_key_sign_digest(ak, &out->signature, &out->digest);
    const part signature = signature_of(out);
    tenon_evidence evidence = {.public_area = {area.bytes, area.n},
                               .certified = {certified.bytes, certified.n},
                               .signature = {signature.bytes, signature.n},
                               .x5c_count = count};
    for (size_t i = 0; i < count && i < TENON_CERTIFICATES_MAX; i++)
        evidence.x5c[i] = x5c[i];
    return status == TENON_OK ? tenon_proof_encode(out->proof, sizeof out->proof, &out->n, &evidence) : status;
}

static tenon_status make_key(tenon_public_key *out)
{
    static const uint8_t scalar[TENON_SCALAR_SIZE] = {1, 2, 3};
    tenon_key *key = NULL;
    tenon_status status = tenon_software_key_import(&key, scalar, sizeof scalar, 0);
    if (status == TENON_OK)
        status = tenon_key_public_key(key, out);
    tenon_key_free(&key);
    return status;
}

bool attestation_make(attestation *out, const uint8_t *ak_scalar, const tenon_bytes *x5c, size_t count)
{
    tenon_key *ak = NULL;
    memset(out, 0, sizeof *out);
    memset(&out->nonce, 0x5e, sizeof out->nonce);
    tenon_status status =
        tenon_software_key_import(&ak, ak_scalar, TENON_SCALAR_SIZE, TENON_KEY_SIGNS_DIGESTS | TENON_KEY_DETERMINISTIC);
    if (status == TENON_OK)
        status = make_key(&out->key);
    if (status == TENON_OK)
        status = make(out, ak, x5c, count);
    tenon_key_free(&ak);
    return status == TENON_OK;
}
