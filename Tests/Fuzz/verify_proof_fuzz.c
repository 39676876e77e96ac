/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"
#include "tenon/tenon.h"

/*
 * Input: a proof. Its nonce is 5E 32 times, its AK the software key below, and the submitted key the one in its public
 * area. What fails at the signature alone is signed with the AK and tried again, so that what is accepted is more than
 * the seeds.
 */
static const uint8_t ak_scalar[TENON_SCALAR_SIZE] = {0xa1, 1, 2, 3};

enum { AK_HEAD = 22, NONCE = 0x5e };

static tenon_key *ak_key(void)
{
    static tenon_key *key;
    uint32_t flags = TENON_KEY_SIGNS_DIGESTS | TENON_KEY_DETERMINISTIC;
    if (key == NULL)
        MUST(tenon_software_key_import(&key, ak_scalar, sizeof ak_scalar, flags) == TENON_OK);
    return key;
}

/* Part 2, 12.2.4: ECC, SHA-256, 00050472, no policy, no symmetric, ECDSA with SHA-256, P-256, no kdf, x and y. */
static size_t write_ak(uint8_t *out)
{
    static const uint8_t head[AK_HEAD] = {0x00, 0x23, 0x00, 0x0b, 0x00, 0x05, 0x04, 0x72, 0x00, 0x00, 0x00,
                                          0x10, 0x00, 0x18, 0x00, 0x0b, 0x00, 0x03, 0x00, 0x10, 0x00, 0x20};
    tenon_public_key point;
    MUST(tenon_key_public_key(ak_key(), &point) == TENON_OK);
    memcpy(out, head, AK_HEAD);
    memcpy(out + AK_HEAD, point.bytes, 32);
    memcpy(out + AK_HEAD + 32, head + AK_HEAD - 2, 2);
    memcpy(out + AK_HEAD + 34, point.bytes + 32, 32);
    return AK_HEAD + 66;
}

static tenon_status verify(const uint8_t *proof, size_t n, const tenon_public_key *key)
{
    uint8_t area[TENON_AREA_MAX];
    tenon_digest nonce;
    tenon_report report;
    tenon_policy policy = {.size = sizeof policy, .trust = TENON_TRUST_AK, .ak = {area, write_ak(area)}};
    memset(&nonce, NONCE, sizeof nonce);
    memset(&report, FUZZ_FILL, sizeof report);
    tenon_status status = tenon_proof_verify(&report, proof, n, &nonce, key, &policy);
    int32_t category = tenon_status_category(status);
    MUST(status == TENON_OK || category == TENON_CATEGORY_FORMAT || category == TENON_CATEGORY_REJECTED);
    MUST(report.verdict == status && report.count > 0 && report.count <= TENON_REPORT_MAX);
    for (size_t i = 0; i + 1 < report.count; i++)
        MUST(report.checks[i].held != 0);
    MUST((report.checks[report.count - 1].held == 0) == (status != TENON_OK));
    return status;
}

static bool begins(const tenon_bytes *part, size_t at, const void *bytes, size_t n)
{
    return part->n >= at + n && memcmp(part->bytes + at, bytes, n) == 0;
}

/* An independent check of the verdict, at the only places where the fields of an accepted proof can be. */
static void must_be_good(const tenon_evidence *evidence)
{
    static const uint8_t area_head[] = {0x00, 0x23, 0x00, 0x0b, 0x00, 0x04};
    static const uint8_t magic_and_type[] = {0xff, 0x54, 0x43, 0x47, 0x80, 0x17};
    const tenon_bytes *area = &evidence->public_area, *certified = &evidence->certified;
    uint8_t extra[34] = {0, 32}, name[2 + TENON_NAME_SIZE] = {0, TENON_NAME_SIZE};
    size_t n, signer;
    memset(extra + 2, NONCE, 32);
    MUST(tenon_object_name(name + 2, TENON_NAME_SIZE, &n, area->bytes, area->n) == TENON_OK);
    MUST(begins(area, 0, area_head, sizeof area_head));
    MUST((area->bytes[6] & ~4) == 0 && area->bytes[7] == 0x72 && area->bytes[8] == 0 && area->bytes[9] == 0);
    MUST(begins(certified, 0, magic_and_type, sizeof magic_and_type));
    signer = (size_t)(certified->bytes[6] << 8 | certified->bytes[7]);
    MUST(begins(certified, 8 + signer, extra, sizeof extra));
    MUST(certified->n == 8 + signer + sizeof extra + 17 + 8 + 2 * sizeof name);
    MUST(begins(certified, certified->n - 2 * sizeof name, name, sizeof name));
    MUST(!begins(certified, certified->n - sizeof name, name, sizeof name));
    MUST(evidence->x5c_count == 0);
}

static void sign_and_verify(tenon_evidence evidence, const tenon_public_key *key)
{
    uint8_t der[TENON_SIGNATURE_DER_MAX];
    static uint8_t proof[TENON_PROOF_MAX];
    tenon_signature signature;
    tenon_digest digest;
    size_t n;
    MUST(tenon_sha256(&digest, evidence.certified.bytes, evidence.certified.n) == TENON_OK);
    MUST(tenon_key_sign_digest(ak_key(), &signature, &digest) == TENON_OK);
    MUST(tenon_signature_encode_der(der, sizeof der, &n, &signature) == TENON_OK);
    evidence.signature = (tenon_bytes){der, n};
    MUST(tenon_proof_encode(proof, sizeof proof, &n, &evidence) == TENON_OK);
    MUST(verify(proof, n, key) == TENON_OK);
    must_be_good(&evidence);
}

FUZZ_TARGET(data, n)
{
    tenon_evidence evidence;
    tenon_public_key key;
    bool decodes = tenon_proof_decode(&evidence, data, n) == TENON_OK;
    /* A point on no curve stays all zeros. */
    (void)!tenon_object_public_key(&key, evidence.public_area.bytes, evidence.public_area.n);
    tenon_status status = verify(data, n, &key);
    MUST(decodes || status != TENON_OK);
    if (status == TENON_OK)
        must_be_good(&evidence);
    else if (status == TENON_RULE_32_SIGNATURE)
        sign_and_verify(evidence, &key);
}
