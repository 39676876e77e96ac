/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "admin.h"
#include "wire.h"

/* Part 2: TPM_ALG_ID (table 9), TPM_ECC_CURVE (table 10). */
enum { ALG_RSA = 1, ALG_AES = 6, ALG_SHA256 = 0xB, ALG_NULL = 0x10, ALG_ECDSA = 0x18, ALG_ECC = 0x23, ALG_CFB = 0x43 };
enum { CURVE_P256 = 3 };

typedef struct {
    uint32_t type, attributes, scheme;
    bool storage;  /* AES-128-CFB */
    size_t unique; /* bytes of each coordinate */
} shape;

static const shape shapes[] = {
    [SUPPORT_SRK_H2] = {ALG_ECC, 0x00030472, ALG_NULL, true, 0},
    [SUPPORT_SRK_PROVISIONING] = {ALG_ECC, 0x00030472, ALG_NULL, true, 32},
    [SUPPORT_SRK_RSA] = {ALG_RSA, 0x00030472, ALG_NULL, true, 0},
    [SUPPORT_SIGNING] = {ALG_ECC, 0x00040472, ALG_NULL, false, 0},
    [SUPPORT_SIGNING_DA] = {ALG_ECC, 0x00040072, ALG_NULL, false, 0},
    [SUPPORT_SIGNING_FOREIGN] = {ALG_ECC, 0x00060072, ALG_NULL, false, 0},
    [SUPPORT_SIGNING_ECDSA] = {ALG_ECC, 0x00040472, ALG_ECDSA, false, 0},
    [SUPPORT_SIGNING_RESTRICTED] = {ALG_ECC, 0x00050472, ALG_ECDSA, false, 0},
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
    support_put16(&text, 0); /* no policy */
    put_parameters(&text, s);
    support_put_sized(&text, zeros, s->unique);
    if (s->type == ALG_ECC)
        support_put_sized(&text, zeros, s->unique);
    memset(out, 0, sizeof *out);
    memcpy(out->bytes, text.bytes, text.n);
    out->n = text.n;
}
