/* SPDX-License-Identifier: Apache-2.0 */
#include "certificate_rig.h"

static tenon_status verify(const certificate_case *one)
{
    tenoni_certificate leaf;
    return tenoni_chain_verify(&leaf, one->chain, one->count, one->roots, one->roots_count, one->now, tenoni_usage_ek,
                               TENON_RULE_24_CHAIN);
}

/* The rules of an EK come after those of its chain. */
static tenon_status of_chain(tenon_status result)
{
    if (result == TENON_RULE_33_EK_CHAIN)
        return TENON_RULE_24_CHAIN;
    return result == TENON_RULE_22_CERTIFICATE || result == TENON_RULE_23_CRITICAL ? result : TENON_OK;
}

static void check_case(const certificate_case *one)
{
    static size_t numbers[CERTIFICATE_RESULTS];
    if (certificate_case_is_due(one, numbers))
        CHECK_STATUS(verify(one), of_chain(one->result));
}

TEST(chain_cases) { certificate_each_case(check_case); }

TEST(chain_gives_the_leaf)
{
    certificate_case one = certificate_case_named("P-256 below P-384 below P-521");
    tenoni_certificate leaf, alone;
    CHECK_OK(tenoni_chain_verify(&leaf, one.chain, one.count, one.roots, one.roots_count, one.now, tenoni_usage_ek, 1));
    CHECK_OK(tenoni_certificate_read(&alone, one.chain[0].bytes, one.chain[0].n));
    CHECK(leaf.key.spki.at == alone.key.spki.at && leaf.key.kind == TENONI_KEY_P256 && !leaf.authority);
    CHECK_CLEARS(tenoni_chain_verify(&leaf, one.chain, 0, one.roots, 1, one.now, tenoni_usage_ek, 1),
                 TENON_RULE_22_CERTIFICATE, &leaf);
}

/* Of a certificate that is not the one in the chain any more: each bit of a byte in turn, and each length. */
static void change(certificate_case *one, size_t which, size_t step)
{
    tenon_bytes good = one->chain[which];
    for (size_t i = 0; i < good.n; i += step) {
        OWNED uint8_t *copy = test_copy(good.bytes, good.n);
        copy[i] ^= (uint8_t)(1 << i % 8);
        one->chain[which] = (tenon_bytes){copy, good.n};
        test_about("certificate %zu, byte %zu", which, i);
        tenon_status status = verify(one);
        CHECK(status == TENON_RULE_22_CERTIFICATE || status == TENON_RULE_23_CRITICAL || status == TENON_RULE_24_CHAIN);
    }
    one->chain[which] = good;
}

static void cut(certificate_case *one, size_t which)
{
    tenon_bytes good = one->chain[which];
    for (size_t n = 0; n < good.n; n++) {
        OWNED uint8_t *copy = test_copy(good.bytes, n);
        one->chain[which] = (tenon_bytes){copy, n};
        test_about("certificate %zu, %zu bytes", which, n);
        CHECK_STATUS(verify(one), TENON_RULE_22_CERTIFICATE);
    }
    one->chain[which] = good;
}

static void change_all(const char *name, size_t step)
{
    certificate_case one = certificate_case_named(name);
    CHECK_OK(verify(&one));
    for (size_t i = 0; i < one.count; i++) {
        change(&one, i, step);
        cut(&one, i);
    }
    test_about(NULL);
    CHECK_OK(verify(&one));
}

TEST(chain_covers_every_byte)
{
    change_all("RSA, the root in the chain", test_rounds(1, 97));
    change_all("P-384 below RSA with exponent 3 below P-256", test_rounds(3, 97));
    change_all("P-521, the root in the chain", test_rounds(23, 397));
}

TEST(chain_signature_is_over_its_own_bytes)
{
    certificate_case one = certificate_case_named("below the root");
    tenoni_certificate read;
    OWNED uint8_t *copy = test_copy(one.chain[0].bytes, one.chain[0].n);
    CHECK_OK(tenoni_certificate_read(&read, copy, one.chain[0].n));
    copy[one.chain[0].n - 1] ^= 1;
    one.chain[0].bytes = copy;
    CHECK_STATUS(verify(&one), TENON_RULE_24_CHAIN);
}

TEST(chain_hash_and_key_are_the_certificates)
{
    /* One message, signed by P-521 with SHA-512: another hash or another kind of signature is refused. */
    certificate_case one = certificate_case_named("P-256 below P-384 below P-521");
    tenoni_certificate certificate, issuer;
    CHECK_OK(tenoni_certificate_read(&certificate, one.chain[1].bytes, one.chain[1].n));
    CHECK_OK(tenoni_certificate_read(&issuer, one.roots[0].bytes, one.roots[0].n));
    tenoni_reader message = certificate.signed_part, signature = certificate.signature;
    CHECK_OK(tenoni_certified_key_verify(&issuer.key, false, TENONI_SHA512, message, signature));
    CHECK_STATUS(tenoni_certified_key_verify(&issuer.key, false, TENONI_SHA384, message, signature),
                 TENON_ERROR_SIGNATURE_INVALID);
    CHECK_STATUS(tenoni_certified_key_verify(&issuer.key, true, TENONI_SHA512, message, signature),
                 TENON_ERROR_SIGNATURE_INVALID);
    message.left--;
    CHECK_STATUS(tenoni_certified_key_verify(&issuer.key, false, TENONI_SHA512, message, signature),
                 TENON_ERROR_SIGNATURE_INVALID);
    issuer.key.kind = TENONI_KEY_RSA;
    CHECK_STATUS(tenoni_certified_key_check(&issuer.key), TENON_ERROR_POINT_OFF_CURVE);
}
