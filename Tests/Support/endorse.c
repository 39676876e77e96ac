/* SPDX-License-Identifier: Apache-2.0 */
#include "endorse.h"

#include <string.h>

#include "wire.h"

/* Part 2: TPM_ALG_ID (table 9), TPM_ECC_CURVE (table 10), TPM_CC (table 12), TPM_SE (table 24). */
enum {
    ALG_RSA = 0x01,
    ALG_AES = 0x06,
    ALG_SHA256 = 0x0B,
    ALG_SHA384 = 0x0C,
    ALG_NULL = 0x10,
    ALG_ECC = 0x23,
    ALG_CFB = 0x43,
    CURVE_P256 = 3,
    CURVE_P384 = 4,
    CC_POLICY_OR = 0x171,
    SE_POLICY = 1
};

/* The policies of the TCG EK Credential Profile: A is PolicySecret(endorsement), B is PolicyOR(A, C), C an NV index. */
typedef struct {
    uint32_t hash;
    size_t n;
    uint8_t a[48], b[48], c[48];
} policies;

static const policies with_sha256 = {
    ALG_SHA256,
    32,
    {0x83, 0x71, 0x97, 0x67, 0x44, 0x84, 0xb3, 0xf8, 0x1a, 0x90, 0xcc, 0x8d, 0x46, 0xa5, 0xd7, 0x24,
     0xfd, 0x52, 0xd7, 0x6e, 0x06, 0x52, 0x0b, 0x64, 0xf2, 0xa1, 0xda, 0x1b, 0x33, 0x14, 0x69, 0xaa},
    {0xca, 0x3d, 0x0a, 0x99, 0xa2, 0xb9, 0x39, 0x06, 0xf7, 0xa3, 0x34, 0x24, 0x14, 0xef, 0xcf, 0xb3,
     0xa3, 0x85, 0xd4, 0x4c, 0xd1, 0xfd, 0x45, 0x90, 0x89, 0xd1, 0x9b, 0x50, 0x71, 0xc0, 0xb7, 0xa0},
    {0x37, 0x67, 0xe2, 0xed, 0xd4, 0x3f, 0xf4, 0x5a, 0x3a, 0x7e, 0x1e, 0xae, 0xfc, 0xef, 0x78, 0x64,
     0x3d, 0xca, 0x96, 0x46, 0x32, 0xe7, 0xaa, 0xd8, 0x2c, 0x67, 0x3a, 0x30, 0xd8, 0x63, 0x3f, 0xde}};

static const policies with_sha384 = {
    ALG_SHA384,
    48,
    {0x8b, 0xbf, 0x22, 0x66, 0x53, 0x7c, 0x17, 0x1c, 0xb5, 0x6e, 0x40, 0x3c, 0x4d, 0xc1, 0xd4, 0xb6,
     0x4f, 0x43, 0x26, 0x11, 0xdc, 0x38, 0x6e, 0x6f, 0x53, 0x20, 0x50, 0xc3, 0x27, 0x8c, 0x93, 0x0e,
     0x14, 0x3e, 0x8b, 0xb1, 0x13, 0x38, 0x24, 0xcc, 0xb4, 0x31, 0x05, 0x38, 0x71, 0xc6, 0xdb, 0x53},
    {0xb2, 0x6e, 0x7d, 0x28, 0xd1, 0x1a, 0x50, 0xbc, 0x53, 0xd8, 0x82, 0xbc, 0xf5, 0xfd, 0x3a, 0x1a,
     0x07, 0x41, 0x48, 0xbb, 0x35, 0xd3, 0xb4, 0xe4, 0xcb, 0x1c, 0x0a, 0xd9, 0xbd, 0xe4, 0x19, 0xca,
     0xcb, 0x47, 0xba, 0x09, 0x69, 0x96, 0x46, 0x15, 0x0f, 0x9f, 0xc0, 0x00, 0xf3, 0xf8, 0x0e, 0x12},
    {0xd6, 0x03, 0x2c, 0xe6, 0x1f, 0x2f, 0xb3, 0xc2, 0x40, 0xeb, 0x3c, 0xf6, 0xa3, 0x32, 0x37, 0xef,
     0x2b, 0x6a, 0x16, 0xf4, 0x29, 0x3c, 0x22, 0xb4, 0x55, 0xe2, 0x61, 0xcf, 0xfd, 0x21, 0x7a, 0xd5,
     0xb4, 0x94, 0x7c, 0x2d, 0x73, 0xe6, 0x30, 0x05, 0xee, 0xd2, 0xdc, 0x2b, 0x35, 0x93, 0xd1, 0x65}};

typedef struct {
    uint32_t type, curve, key_bits;
    bool high; /* PolicyB, userWithAuth, unique empty */
    size_t size;
    const policies *policy;
} shape;

static const shape shapes[SUPPORT_EKS] = {
    [SUPPORT_EK_RSA_L1] = {ALG_RSA, 0, 128, false, 256, &with_sha256},
    [SUPPORT_EK_P256_L2] = {ALG_ECC, CURVE_P256, 128, false, 32, &with_sha256},
    [SUPPORT_EK_RSA_H1] = {ALG_RSA, 0, 128, true, 256, &with_sha256},
    [SUPPORT_EK_P256_H2] = {ALG_ECC, CURVE_P256, 128, true, 32, &with_sha256},
    [SUPPORT_EK_P384_H3] = {ALG_ECC, CURVE_P384, 256, true, 48, &with_sha384},
};

void support_ek_template(support_ek which, support_public *out)
{
    static const uint8_t zeros[256] = {0};
    const shape *s = &shapes[which];
    support_command text;
    text.n = 0;
    text.sessions_at = 0;
    support_put16(&text, s->type);
    support_put16(&text, s->policy->hash);
    support_put32(&text, s->high ? 0x000300F2 : 0x000300B2);
    support_put_sized(&text, s->high ? s->policy->b : s->policy->a, s->policy->n);
    support_put16(&text, ALG_AES);
    support_put16(&text, s->key_bits);
    support_put16(&text, ALG_CFB);
    support_put16(&text, ALG_NULL);
    if (s->type == ALG_RSA) {
        support_put16(&text, 2048);
        support_put32(&text, 0);
    } else {
        support_put16(&text, s->curve);
        support_put16(&text, ALG_NULL);
        support_put_sized(&text, zeros, s->high ? 0 : s->size);
    }
    support_put_sized(&text, zeros, s->high ? 0 : s->size);
    memset(out, 0, sizeof *out);
    memcpy(out->bytes, text.bytes, text.n);
    out->n = text.n;
}

uint32_t support_ek_create_by(support_swtpm *tpm, const support_public *template, uint32_t *handle,
                              support_public *area)
{
    support_answer answer;
    uint32_t rc = support_run(tpm, &answer, SUPPORT_CC_CREATE_PRIMARY, "4e24b04", SUPPORT_RH_ENDORSEMENT, 4u, 0u,
                              template->bytes, template->n, 0u);
    *handle = rc == 0 ? support_get32(&answer) : 0;
    return rc == 0 ? support_read_public(tpm, *handle, area) : rc;
}

uint32_t support_ek_create(support_swtpm *tpm, support_ek which, uint32_t *handle, support_public *area)
{
    support_public template;
    support_ek_template(which, &template);
    return support_ek_create_by(tpm, &template, handle, area);
}

/* Writes a TPM2B at the end of an area, padded on the left, and returns where it begins. */
static size_t take_last(const support_public *area, size_t start, size_t end, uint8_t *out, size_t size)
{
    size_t n = (size_t)area->bytes[start] << 8 | area->bytes[start + 1];
    memset(out, 0, size);
    if (n <= size && start + 2 + n <= end)
        memcpy(out + size - n, area->bytes + start + 2, n);
    return start + 2 + n;
}

size_t support_ek_key(support_ek which, const support_public *area, uint8_t *out)
{
    const shape *s = &shapes[which];
    /* type, nameAlg, attributes, policy; cipher, scheme; bits and exponent, or curve and kdf */
    size_t at = 2 + 2 + 4 + 2 + s->policy->n + 6 + 2 + (s->type == ALG_RSA ? 6 : 4);
    at = take_last(area, at, area->n, out, s->size);
    if (s->type == ALG_RSA)
        return s->size;
    take_last(area, at, area->n, out + s->size, s->size);
    return 2 * s->size;
}

uint32_t support_policy_session(support_swtpm *tpm, uint32_t hash, uint32_t *session)
{
    return support_session_start(tpm, SE_POLICY, hash, session);
}

static uint32_t policy_secret(support_swtpm *tpm, uint32_t session, const char *auth)
{
    /* nonceTPM, cpHashA, policyRef, expiration */
    return support_run(tpm, NULL, SUPPORT_CC_POLICY_SECRET, "44p0004", SUPPORT_RH_ENDORSEMENT, session, auth, 0u);
}

static uint32_t policy_or(support_swtpm *tpm, uint32_t session, const policies *policy)
{
    return support_run(tpm, NULL, CC_POLICY_OR, "44bb", session, 2u, policy->a, policy->n, policy->c, policy->n);
}

uint32_t support_ek_session(support_swtpm *tpm, support_ek which, const char *endorsement_auth, uint32_t *session)
{
    const shape *s = &shapes[which];
    uint32_t rc = support_policy_session(tpm, s->policy->hash, session);
    if (rc != 0)
        return rc;
    rc = policy_secret(tpm, *session, endorsement_auth);
    if (rc == 0 && s->high)
        rc = policy_or(tpm, *session, s->policy);
    if (rc != 0)
        support_flush(tpm, *session);
    return rc;
}

uint32_t support_activate_by(support_swtpm *tpm, support_ek which, uint32_t object, uint32_t object_session,
                             uint32_t ek, const uint8_t *credential, size_t credential_n, const uint8_t *encrypted,
                             size_t encrypted_n, uint8_t *secret, size_t size, size_t *written)
{
    support_answer answer;
    uint32_t session;
    uint32_t rc = support_ek_session(tpm, which, NULL, &session);
    *written = 0;
    if (rc != 0)
        return rc;
    uint32_t object_by = object_session == 0 ? SUPPORT_RS_PASSWORD : object_session;
    rc = support_run(tpm, &answer, SUPPORT_CC_ACTIVATE_CREDENTIAL, "44ssrr", object, ek, object_by, session, credential,
                     credential_n, encrypted, encrypted_n);
    if (rc != 0) {
        support_flush(tpm, session);
        return rc;
    }
    support_get32(&answer);
    support_get_sized(&answer, secret, size, written);
    return answer.bad ? SUPPORT_RC_NONE : 0;
}

uint32_t support_activate(support_swtpm *tpm, support_ek which, uint32_t object, uint32_t ek, const uint8_t *credential,
                          size_t credential_n, const uint8_t *encrypted, size_t encrypted_n, uint8_t *secret,
                          size_t size, size_t *written)
{
    return support_activate_by(tpm, which, object, 0, ek, credential, credential_n, encrypted, encrypted_n, secret,
                               size, written);
}
