/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "admin.h"
#include "wire.h"

/* Part 2: TPM_ALG_ID (table 9), TPM_ECC_CURVE (table 10). */
enum { ALG_RSA = 1, ALG_AES = 6, ALG_SHA256 = 0xB, ALG_NULL = 0x10, ALG_ECDSA = 0x18, ALG_ECC = 0x23, ALG_CFB = 0x43 };
enum { CURVE_P256 = 3 };

/* PolicyA of the TCG EK Credential Profile: TPM2_PolicySecret(TPM_RH_ENDORSEMENT), with SHA-256. */
static const uint8_t policy_a[32] = {0x83, 0x71, 0x97, 0x67, 0x44, 0x84, 0xb3, 0xf8, 0x1a, 0x90, 0xcc,
                                     0x8d, 0x46, 0xa5, 0xd7, 0x24, 0xfd, 0x52, 0xd7, 0x6e, 0x06, 0x52,
                                     0x0b, 0x64, 0xf2, 0xa1, 0xda, 0x1b, 0x33, 0x14, 0x69, 0xaa};

typedef struct {
    uint32_t type, attributes, scheme;
    bool storage;  /* AES-128-CFB */
    bool policy;   /* PolicyA */
    size_t unique; /* bytes of each coordinate */
} shape;

static const shape shapes[] = {
    [SUPPORT_SRK_H2] = {ALG_ECC, 0x00030472, ALG_NULL, true, false, 0},
    [SUPPORT_SRK_PROVISIONING] = {ALG_ECC, 0x00030472, ALG_NULL, true, false, 32},
    [SUPPORT_SRK_RSA] = {ALG_RSA, 0x00030472, ALG_NULL, true, false, 0},
    [SUPPORT_EK_L2] = {ALG_ECC, 0x000300B2, ALG_NULL, true, true, 32},
    [SUPPORT_SIGNING] = {ALG_ECC, 0x00040472, ALG_NULL, false, false, 0},
    [SUPPORT_SIGNING_DA] = {ALG_ECC, 0x00040072, ALG_NULL, false, false, 0},
    [SUPPORT_SIGNING_FOREIGN] = {ALG_ECC, 0x00060072, ALG_NULL, false, false, 0},
    [SUPPORT_SIGNING_ECDSA] = {ALG_ECC, 0x00040472, ALG_ECDSA, false, false, 0},
    [SUPPORT_SIGNING_RESTRICTED] = {ALG_ECC, 0x00050472, ALG_ECDSA, false, false, 0},
};

static void put_parameters(support_command *out, const shape *s)
{
    support_put16(out, s->storage ? ALG_AES : ALG_NULL);
    if (s->storage) {
        support_put16(out, 128);
        support_put16(out, ALG_CFB);
    }
    support_put16(out, s->scheme);
    if (s->scheme != ALG_NULL)
        support_put16(out, ALG_SHA256);
    if (s->type == ALG_RSA) {
        support_put16(out, 2048);
        support_put32(out, 0);
    } else {
        support_put16(out, CURVE_P256);
        support_put16(out, ALG_NULL);
    }
}

void support_template_public(support_template which, support_public *out)
{
    static const uint8_t zeros[32] = {0};
    const shape *s = &shapes[which];
    support_command text;
    text.n = 0;
    text.sessions_at = 0;
    support_put16(&text, s->type);
    support_put16(&text, ALG_SHA256);
    support_put32(&text, s->attributes);
    support_put_sized(&text, policy_a, s->policy ? sizeof policy_a : 0);
    put_parameters(&text, s);
    support_put_sized(&text, zeros, s->unique);
    if (s->type == ALG_ECC)
        support_put_sized(&text, zeros, s->unique);
    memset(out, 0, sizeof *out);
    memcpy(out->bytes, text.bytes, text.n);
    out->n = text.n;
}
