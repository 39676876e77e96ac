/* SPDX-License-Identifier: Apache-2.0 */
#include "evidence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tenon/tenon.h"

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "the evidence cannot be made: %s\n", what);
    exit(1);
}

void support_bytes_add(support_bytes *out, const void *bytes, size_t n)
{
    must(n <= sizeof out->bytes - out->n, "too many bytes");
    if (n != 0)
        memcpy(out->bytes + out->n, bytes, n);
    out->n += n;
}

void support_bytes_set(support_bytes *out, const void *bytes, size_t n)
{
    out->n = 0;
    support_bytes_add(out, bytes, n);
}

void support_bytes_pad(support_bytes *out, size_t n)
{
    must(n <= sizeof out->bytes - out->n, "too many bytes");
    memset(out->bytes + out->n, 0xa5, n);
    out->n += n;
}

void support_bytes_number(support_bytes *out, uint64_t number, size_t n)
{
    while (n-- > 0) {
        const uint8_t byte = (uint8_t)(number >> 8 * n);
        support_bytes_add(out, &byte, 1);
    }
}

static void add_part(support_bytes *out, const support_bytes *part) { support_bytes_add(out, part->bytes, part->n); }

void support_bytes_sized(support_bytes *out, const support_bytes *part)
{
    support_bytes_number(out, part->n, 2);
    add_part(out, part);
}

support_bytes support_object_name(const support_bytes *a, const support_bytes *b)
{
    support_bytes both = *a, name = {{0x00, 0x0b}, 2};
    tenon_digest digest;
    if (b != NULL)
        add_part(&both, b);
    must(tenon_sha256(&digest, both.bytes, both.n) == TENON_OK, "SHA-256");
    support_bytes_add(&name, digest.bytes, sizeof digest.bytes);
    return name;
}

support_area support_area_of(const uint8_t *point, uint32_t attributes, bool attests)
{
    /* No symmetric algorithm; no scheme, or ECDSA with SHA-256; NIST P-256; no KDF. */
    static const uint8_t key[] = {0x00, 0x10, 0x00, 0x10, 0x00, 0x03, 0x00, 0x10},
                         ak[] = {0x00, 0x10, 0x00, 0x18, 0x00, 0x0b, 0x00, 0x03, 0x00, 0x10};
    support_area area = {.type = 0x0023, .name_algorithm = 0x000b, .attributes = attributes};
    support_bytes_set(&area.parameters, attests ? ak : key, attests ? sizeof ak : sizeof key);
    support_bytes_set(&area.x, point, SUPPORT_P256_SIZE);
    support_bytes_set(&area.y, point + SUPPORT_P256_SIZE, SUPPORT_P256_SIZE);
    return area;
}

support_bytes support_area_write(const support_area *area)
{
    support_bytes out = {.n = 0};
    support_bytes_number(&out, area->type, 2);
    support_bytes_number(&out, area->name_algorithm, 2);
    support_bytes_number(&out, area->attributes, 4);
    support_bytes_sized(&out, &area->policy);
    add_part(&out, &area->parameters);
    support_bytes_sized(&out, &area->x);
    support_bytes_sized(&out, &area->y);
    add_part(&out, &area->tail);
    return out;
}

support_bytes support_qualified(const support_bytes *parent, const support_bytes *area)
{
    const support_bytes name = support_object_name(area, NULL);
    return support_object_name(parent, &name);
}

support_bytes support_qualified_ek(const support_bytes *ek_name)
{
    static const support_bytes endorsement = {{0x40, 0x00, 0x00, 0x0b}, 4};
    return support_object_name(&endorsement, ek_name);
}

support_attest support_attest_of(const support_bytes *area, const uint8_t *nonce)
{
    static const uint8_t clock[] = {1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 7, 0, 0, 0, 0};
    support_attest attest = {.magic = 0xff544347, .type = 0x8017, .safe = 1, .firmware = SUPPORT_FIRMWARE};
    support_bytes parent = {{0x00, 0x0b}, 2};
    support_bytes_pad(&parent, 32);
    memcpy(attest.clock, clock, sizeof clock);
    support_bytes_set(&attest.extra, nonce, SUPPORT_NONCE_SIZE);
    attest.name = attest.signer = support_object_name(area, NULL);
    attest.qualified = support_qualified(&parent, area);
    return attest;
}

support_bytes support_attest_write(const support_attest *attest)
{
    support_bytes out = {.n = 0};
    support_bytes_number(&out, attest->magic, 4);
    support_bytes_number(&out, attest->type, 2);
    support_bytes_sized(&out, &attest->signer);
    support_bytes_sized(&out, &attest->extra);
    support_bytes_add(&out, attest->clock, sizeof attest->clock);
    support_bytes_number(&out, attest->safe, 1);
    support_bytes_number(&out, attest->firmware, 8);
    support_bytes_sized(&out, &attest->name);
    support_bytes_sized(&out, &attest->qualified);
    add_part(&out, &attest->tail);
    return out;
}

support_ecdsa support_ecdsa_of(const uint8_t *raw)
{
    support_ecdsa signature = {.head = {{0x00, 0x18, 0x00, 0x0b}, 4}};
    support_bytes_set(&signature.r, raw, SUPPORT_P256_SIZE);
    support_bytes_set(&signature.s, raw + SUPPORT_P256_SIZE, SUPPORT_P256_SIZE);
    return signature;
}

support_bytes support_ecdsa_write(const support_ecdsa *signature)
{
    support_bytes out = signature->head;
    support_bytes_sized(&out, &signature->r);
    support_bytes_sized(&out, &signature->s);
    add_part(&out, &signature->tail);
    return out;
}

/* ---- RFC 8949 ---- */

typedef struct {
    uint8_t *bytes;
    size_t n, size;
} cbor;

static void put(cbor *out, const void *bytes, size_t n)
{
    must(n <= out->size - out->n, "the proof is too large");
    if (n != 0)
        memcpy(out->bytes + out->n, bytes, n);
    out->n += n;
}

/* 3: the shortest head. */
static void put_head(cbor *out, unsigned major, size_t n)
{
    uint8_t head[3] = {(uint8_t)(major << 5 | (n < 24 ? n : n < 256 ? 24 : 25))};
    head[1] = (uint8_t)(n < 256 ? n : n >> 8);
    head[2] = (uint8_t)n;
    put(out, head, n < 24 ? 1 : n < 256 ? 2 : 3);
}

static void put_text(cbor *out, const char *text)
{
    put_head(out, 3, strlen(text));
    put(out, text, strlen(text));
}

static void put_bytes(cbor *out, const char *name, const support_bytes *part)
{
    put_text(out, name);
    put_head(out, 2, part->n);
    put(out, part->bytes, part->n);
}

support_proof support_proof_of(const support_bytes *area, const support_bytes *certified,
                               const support_bytes *signature)
{
    return (support_proof){.format = "tpm",
                           .version = "2.0",
                           .algorithm = 0x26, /* -7 */
                           .signature = signature,
                           .area = area,
                           .certified = certified};
}

size_t support_proof_write(uint8_t *bytes, size_t size, const support_proof *proof)
{
    cbor out = {bytes, 0, size};
    put_head(&out, 5, 2);
    put_text(&out, "fmt");
    put_text(&out, proof->format);
    put_text(&out, "attStmt");
    put_head(&out, 5, 6);
    put_text(&out, "alg");
    put(&out, &proof->algorithm, 1);
    put_bytes(&out, "sig", proof->signature);
    put_text(&out, "ver");
    put_text(&out, proof->version);
    put_text(&out, "x5c");
    put_head(&out, 4, proof->x5c_count);
    for (size_t i = 0; i < proof->x5c_count; i++) {
        put_head(&out, 2, proof->x5c_n[i]);
        put(&out, proof->x5c[i], proof->x5c_n[i]);
    }
    put_bytes(&out, "pubArea", proof->area);
    put_bytes(&out, "certInfo", proof->certified);
    return out.n;
}
