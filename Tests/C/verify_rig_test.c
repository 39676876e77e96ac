/* SPDX-License-Identifier: Apache-2.0 */
#include "verify_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const uint8_t rig_ak_scalar[TENON_SCALAR_SIZE] = {0xa1, 1, 2, 3};
const uint8_t rig_key_scalar[TENON_SCALAR_SIZE] = {0xb2, 4, 5, 6};
const uint8_t rig_other_scalar[TENON_SCALAR_SIZE] = {0xc3, 7, 8, 9};

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "the rig itself is broken: %s\n", what);
    exit(1);
}

void rig_add(rig_bytes *out, const void *bytes, size_t n)
{
    must(out->n + n <= sizeof out->bytes, "too many bytes");
    if (n != 0)
        memcpy(out->bytes + out->n, bytes, n);
    out->n += n;
}

void rig_set(rig_bytes *out, const void *bytes, size_t n)
{
    out->n = 0;
    rig_add(out, bytes, n);
}

void rig_hex(rig_bytes *out, const char *hex)
{
    size_t n;
    uint8_t *bytes = test_hex_all(hex, &n);
    rig_set(out, bytes, n);
    free(bytes);
}

void rig_pad(rig_bytes *out, size_t n)
{
    const uint8_t byte = 0xa5;
    while (n-- > 0)
        rig_add(out, &byte, 1);
}

static void add_number(rig_bytes *out, uint64_t number, size_t n)
{
    while (n-- > 0) {
        uint8_t byte = (uint8_t)(number >> 8 * n);
        rig_add(out, &byte, 1);
    }
}

static void add_sized(rig_bytes *out, const rig_bytes *part)
{
    add_number(out, part->n, 2);
    rig_add(out, part->bytes, part->n);
}

static void add_part(rig_bytes *out, const rig_bytes *part)
{
    rig_add(out, part->bytes, part->n);
}

void rig_write_area(rig_bytes *out, const rig_area *area)
{
    out->n = 0;
    add_number(out, area->type, 2);
    add_number(out, area->name_algorithm, 2);
    add_number(out, area->attributes, 4);
    add_sized(out, &area->policy);
    add_part(out, &area->parameters);
    add_sized(out, &area->x);
    add_sized(out, &area->y);
    add_part(out, &area->tail);
}

static void write_attest(rig_bytes *out, const rig_attest *attest)
{
    out->n = 0;
    add_number(out, attest->magic, 4);
    add_number(out, attest->type, 2);
    add_sized(out, &attest->signer);
    add_sized(out, &attest->extra);
    add_number(out, 0x0102030405060708, 8); /* clock, resetCount, restartCount */
    add_number(out, 7, 4);
    add_number(out, 0, 4);
    add_number(out, attest->safe, 1);
    add_number(out, attest->firmware, 8);
    add_sized(out, &attest->name);
    add_sized(out, &attest->qualified);
    add_part(out, &attest->tail);
}

void rig_name(rig_bytes *out, const rig_bytes *a, const rig_bytes *b)
{
    rig_bytes both = *a;
    tenon_digest digest;
    if (b != NULL)
        add_part(&both, b);
    must(tenon_sha256(&digest, both.bytes, both.n) == TENON_OK, "SHA-256");
    rig_hex(out, "000b");
    rig_add(out, digest.bytes, sizeof digest.bytes);
}

static tenon_key *open_key(const uint8_t *scalar)
{
    tenon_key *key;
    uint32_t flags = TENON_KEY_SIGNS_DIGESTS | TENON_KEY_DETERMINISTIC;
    must(tenon_software_key_import(&key, scalar, TENON_SCALAR_SIZE, flags) == TENON_OK, "software key");
    return key;
}

tenon_public_key rig_public(const uint8_t *scalar)
{
    tenon_public_key out;
    tenon_key *key = open_key(scalar);
    must(tenon_key_public_key(key, &out) == TENON_OK, "public key");
    tenon_key_free(&key);
    return out;
}

tenon_signature rig_sign(const uint8_t *scalar, const void *bytes, size_t n)
{
    tenon_signature out;
    tenon_digest digest;
    tenon_key *key = open_key(scalar);
    must(tenon_sha256(&digest, bytes, n) == TENON_OK, "SHA-256");
    must(tenon_key_sign_digest(key, &out, &digest) == TENON_OK, "signing");
    tenon_key_free(&key);
    return out;
}

static void set_point(rig_area *area, const tenon_public_key *point)
{
    rig_set(&area->x, point->bytes, TENON_SCALAR_SIZE);
    rig_set(&area->y, point->bytes + TENON_SCALAR_SIZE, TENON_SCALAR_SIZE);
}

static void begin(rig *out)
{
    memset(out, 0, sizeof *out);
    tenon_public_key ak = rig_public(rig_ak_scalar);
    out->submitted = rig_public(rig_key_scalar);
    out->area = (rig_area){.type = 0x0023, .name_algorithm = 0x000b, .attributes = 0x00040472};
    rig_hex(&out->area.parameters, "0010001000030010");
    set_point(&out->area, &out->submitted);
    out->ak_area = (rig_area){.type = 0x0023, .name_algorithm = 0x000b, .attributes = 0x00050472};
    rig_hex(&out->ak_area.parameters, "00100018000b00030010");
    set_point(&out->ak_area, &ak);
    memcpy(out->ak_scalar, rig_ak_scalar, sizeof out->ak_scalar);
    memset(&out->nonce, 0x5e, sizeof out->nonce);
    out->trust = TENON_TRUST_AK;
    out->format = "tpm";
    out->version = "2.0";
    out->algorithm = 0x26; /* -7 */
}

static void begin_attest(rig *out)
{
    rig_bytes parent;
    rig_write_area(&out->public_area, &out->area);
    out->attest = (rig_attest){.magic = 0xff544347, .type = 0x8017, .safe = 1, .firmware = RIG_FIRMWARE};
    rig_set(&out->attest.extra, out->nonce.bytes, sizeof out->nonce.bytes);
    rig_name(&out->attest.signer, &out->public_area, NULL);
    rig_name(&out->attest.name, &out->public_area, NULL);
    rig_hex(&parent, "000b");
    rig_pad(&parent, 32);
    rig_name(&out->attest.qualified, &parent, &out->attest.name);
}

static void begin_signature(rig *out)
{
    tenon_signature signature = rig_sign(out->ak_scalar, out->certified.bytes, out->certified.n);
    rig_hex(&out->signature_head, "0018000b");
    rig_set(&out->r, signature.bytes, TENON_SCALAR_SIZE);
    rig_set(&out->s, signature.bytes + TENON_SCALAR_SIZE, TENON_SCALAR_SIZE);
}

static void write_signature(rig *out)
{
    out->signature = out->signature_head;
    add_sized(&out->signature, &out->r);
    add_sized(&out->signature, &out->s);
    add_part(&out->signature, &out->signature_tail);
}

static void put(rig *out, const void *bytes, size_t n)
{
    must(out->proof_n + n <= sizeof out->proof, "proof too large");
    if (n != 0)
        memcpy(out->proof + out->proof_n, bytes, n);
    out->proof_n += n;
}

/* RFC 8949, 3. */
static void put_head(rig *out, unsigned major, size_t n)
{
    uint8_t head[3] = {(uint8_t)(major << 5 | (n < 24 ? n : n < 256 ? 24 : 25))};
    size_t length = n < 24 ? 1 : n < 256 ? 2 : 3;
    head[1] = (uint8_t)(n < 256 ? n : n >> 8);
    head[2] = (uint8_t)n;
    put(out, head, length);
}

static void put_text(rig *out, const char *text)
{
    put_head(out, 3, strlen(text));
    put(out, text, strlen(text));
}

static void put_bytes(rig *out, const void *bytes, size_t n)
{
    put_head(out, 2, n);
    put(out, bytes, n);
}

static void write_proof(rig *out)
{
    out->proof_n = 0;
    put_head(out, 5, 2);
    put_text(out, "fmt");
    put_text(out, out->format);
    put_text(out, "attStmt");
    put_head(out, 5, 6);
    put_text(out, "alg");
    put(out, &out->algorithm, 1);
    put_text(out, "sig");
    put_bytes(out, out->signature.bytes, out->signature.n);
    put_text(out, "ver");
    put_text(out, out->version);
    put_text(out, "x5c");
    put_head(out, 4, out->x5c_count);
    for (size_t i = 0; i < out->x5c_count; i++)
        put_bytes(out, out->x5c[i], out->x5c_n[i]);
    put_text(out, "pubArea");
    put_bytes(out, out->public_area.bytes, out->public_area.n);
    put_text(out, "certInfo");
    put_bytes(out, out->certified.bytes, out->certified.n);
}

static void finish_stage(rig *out, rig_stage stage)
{
    switch (stage) {
    case RIG_AREA:
        begin_attest(out);
        break;
    case RIG_ATTEST:
        write_attest(&out->certified, &out->attest);
        break;
    case RIG_CERTIFIED:
        begin_signature(out);
        break;
    case RIG_SIGNATURE:
        write_signature(out);
        rig_write_area(&out->ak, &out->ak_area);
        break;
    case RIG_EVIDENCE:
        write_proof(out);
        break;
    case RIG_PROOF:
        break;
    }
}

void rig_build(rig *out, rig_stage stage, void (*change)(rig *))
{
    begin(out);
    for (int at = RIG_AREA; at <= RIG_PROOF; at++) {
        if (change != NULL && at == (int)stage)
            change(out);
        finish_stage(out, (rig_stage)at);
    }
}

tenon_policy rig_policy(const rig *built)
{
    tenon_policy policy = {.size = sizeof policy, .trust = built->trust};
    if (built->trust == TENON_TRUST_AK)
        policy.ak = (tenon_bytes){built->ak.bytes, built->ak.n};
    policy.roots = built->roots;
    policy.roots_count = built->roots_count;
    policy.now = built->now;
    policy.flags = built->flags;
    policy.makers = built->makers;
    policy.makers_count = built->makers_count;
    policy.ek_name = (tenon_bytes){built->ek_name.bytes, built->ek_name.n};
    policy.firmware_min = built->firmware_min;
    policy.parent_qualified_name = (tenon_bytes){built->parent_qualified_name.bytes, built->parent_qualified_name.n};
    return policy;
}

tenon_status rig_verify(tenon_report *report, const rig *built)
{
    tenon_policy policy = rig_policy(built);
    return tenon_proof_verify(report, built->proof, built->proof_n, &built->nonce, &built->submitted, &policy);
}

tenon_status rig_verify_without(const rig *built, tenon_status rule)
{
    enum { MOST = 64 };
    tenoni_rule rules[MOST];
    size_t count = 0;
    tenon_policy policy = rig_policy(built);
    for (size_t i = 0; i < tenoni_rules_count; i++)
        if (tenoni_rules[i].code != rule)
            rules[count++] = tenoni_rules[i];
    must(count + 1 == tenoni_rules_count, "no such rule");
    return tenoni_proof_verify(NULL, built->proof, built->proof_n, &built->nonce, &built->submitted, &policy, rules,
                               count);
}

size_t rig_place(tenon_status status)
{
    tenon_status rule = status;
    size_t i = 0;
    if (status == TENON_ERROR_PROOF_FORM)
        rule = TENON_RULE_3_VERSION;
    else if (status == TENON_ERROR_OPTIONS) /* a firmware that this AK cannot say */
        rule = TENON_RULE_34_FIRMWARE;
    else if (tenon_status_category(status) == TENON_CATEGORY_FORMAT)
        rule = TENON_RULE_2_CBOR;
    while (i < tenoni_rules_count && tenoni_rules[i].code != rule)
        i++;
    if (i == tenoni_rules_count)
        CHECK_STATUS(status, TENON_OK);
    return i;
}

tenon_status rig_verify_good(void)
{
    static rig good;
    tenon_report report;
    if (good.proof_n == 0)
        rig_build(&good, RIG_AREA, NULL);
    tenon_status status = rig_verify(&report, &good);
    CHECK_STATUS(report.verdict, status);
    return status;
}

static void sign_by_another(rig *at)
{
    memcpy(at->ak_scalar, rig_other_scalar, sizeof at->ak_scalar);
}

tenon_status rig_verify_forged(void)
{
    static rig forged;
    if (forged.proof_n == 0)
        rig_build(&forged, RIG_AREA, sign_by_another);
    tenon_status status = rig_verify(NULL, &forged);
    CHECK(status != TENON_OK);
    return status == TENON_RULE_23A_SIGNATURE ? TENON_OK : status;
}
