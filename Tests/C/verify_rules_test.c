/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "rules_rig.h"
#include "verify_rig.h"

/*
 * For each rule proofs that break this rule and no other. Each has to be refused with the rule's code; with the rule
 * left out it has to be accepted, or refused by a later rule, and no other proof may fare otherwise than before.
 */

#define CHANGE(name) static void name(rig *at)

CHANGE(nothing)
{
    (void)at;
}

/* 1: what would be right but for its size. */
CHANGE(certified_too_large)
{
    rig_pad(&at->attest.signer, 100);
}
CHANGE(area_too_large)
{
    rig_pad(&at->area.policy, 200);
}
CHANGE(signature_too_large)
{
    at->r.n = at->s.n = 0;
    rig_pad(&at->r, 150);
    rig_pad(&at->s, 150);
}
CHANGE(one_certificate_too_large)
{
    at->x5c_count = 1;
    at->x5c_n[0] = TENON_CERTIFICATE_MAX + 1;
}
CHANGE(certificates_too_large)
{
    at->x5c_count = TENON_CERTIFICATES_MAX;
    for (size_t i = 0; i < TENON_CERTIFICATES_MAX; i++)
        at->x5c_n[i] = i == 0 ? 1 : TENON_CERTIFICATE_MAX;
}
CHANGE(proof_too_large)
{
    at->proof_n = TENON_PROOF_MAX + 1;
}

/* 2: the rest of them is in cbor_test.c. */
CHANGE(byte_behind)
{
    at->proof_n++;
}
CHANGE(byte_missing)
{
    at->proof_n--;
}
CHANGE(five_certificates)
{
    at->x5c_count = TENON_CERTIFICATES_MAX + 1;
}
CHANGE(other_key)
{
    at->proof[1 + 1] = 'x';
}

/* 3 */
CHANGE(other_format)
{
    at->format = "tpn";
}
CHANGE(longer_format)
{
    at->format = "tpm2";
}
CHANGE(other_version)
{
    at->version = "1.0";
}
CHANGE(empty_version)
{
    at->version = "";
}
CHANGE(eddsa)
{
    at->algorithm = 0x27;
}
CHANGE(positive_algorithm)
{
    at->algorithm = 0x06;
}

/* 23 */
CHANGE(area_byte_behind)
{
    rig_pad(&at->area.tail, 1);
}
CHANGE(certified_byte_behind)
{
    rig_pad(&at->attest.tail, 1);
}
CHANGE(signature_byte_behind)
{
    rig_pad(&at->signature_tail, 1);
}
CHANGE(area_empty)
{
    at->public_area.n = 0;
}
CHANGE(area_cut)
{
    at->public_area.n--;
}
CHANGE(certified_empty)
{
    at->certified.n = 0;
}
CHANGE(certified_cut)
{
    at->certified.n--;
}
CHANGE(signature_empty)
{
    at->signature.n = 0;
}
CHANGE(signature_cut)
{
    at->signature.n--;
}
CHANGE(signature_algorithm_only)
{
    at->signature.n = 2;
}
CHANGE(clock_neither_safe_nor_unsafe)
{
    at->attest.safe = 2;
}

CHANGE(der)
{
    tenon_signature signature;
    rig_bytes *out = &at->signature;
    memcpy(signature.bytes, at->r.bytes, TENON_SCALAR_SIZE);
    memcpy(signature.bytes + TENON_SCALAR_SIZE, at->s.bytes, TENON_SCALAR_SIZE);
    CHECK_STATUS(tenon_signature_encode_der(out->bytes, sizeof out->bytes, &out->n, &signature), TENON_OK);
}
CHANGE(der_byte_behind)
{
    der(at);
    rig_pad(&at->signature, 1);
}
CHANGE(der_byte_inside)
{
    der(at);
    rig_pad(&at->signature, 1);
    at->signature.bytes[1]++;
}
CHANGE(der_cut)
{
    der(at);
    at->signature.n--;
}
CHANGE(der_long_length)
{
    rig_bytes whole;
    der(at);
    whole = at->signature;
    rig_hex(&at->signature, "3081");
    rig_add(&at->signature, whole.bytes + 1, whole.n - 1);
}
CHANGE(der_negative)
{
    rig_hex(&at->signature, "3006020180020101");
}

/* 7, 8 */
CHANGE(magic_of_a_hash)
{
    at->attest.magic = 0xff544348;
}
CHANGE(magic_zero)
{
    at->attest.magic = 0;
}
CHANGE(type_quote)
{
    at->attest.type = 0x8018;
}
CHANGE(type_creation)
{
    at->attest.type = 0x801a;
}

/* 9 */
CHANGE(nonce_other)
{
    at->attest.extra.bytes[31] ^= 1;
}
CHANGE(nonce_empty)
{
    at->attest.extra.n = 0;
}
CHANGE(nonce_short)
{
    at->attest.extra.n = 31;
}
CHANGE(nonce_long)
{
    rig_pad(&at->attest.extra, 1);
}

/* 11, 10 */
CHANGE(name_algorithm_sha1)
{
    at->area.name_algorithm = 0x0004;
}
CHANGE(name_algorithm_sha384)
{
    at->area.name_algorithm = 0x000c;
}
CHANGE(name_algorithm_null)
{
    at->area.name_algorithm = 0x0010;
}
CHANGE(name_other)
{
    at->attest.name.bytes[33] ^= 1;
}
CHANGE(name_of_another_algorithm)
{
    at->attest.name.bytes[1] = 0x0c;
}
CHANGE(name_empty)
{
    at->attest.name.n = 0;
}
CHANGE(name_is_a_handle)
{
    at->attest.name.n = 4;
}
CHANGE(name_long)
{
    rig_pad(&at->attest.name, 1);
}
CHANGE(area_of_another_key)
{
    tenon_public_key other = rig_public(rig_other_scalar);
    at->submitted = other;
    memcpy(at->public_area.bytes + at->public_area.n - 66, other.bytes, 32);
    memcpy(at->public_area.bytes + at->public_area.n - 32, other.bytes + 32, 32);
}

/* 12 */
CHANGE(no_parent)
{
    at->attest.qualified = at->attest.name;
}
CHANGE(qualified_name_empty)
{
    at->attest.qualified.n = 0;
}
CHANGE(qualified_name_short)
{
    at->attest.qualified.n = 33;
}
CHANGE(other_parent)
{
    rig_hex(&at->parent_qualified_name, "000b");
    rig_pad(&at->parent_qualified_name, 31);
    rig_add(&at->parent_qualified_name, "x", 1);
}
CHANGE(this_parent)
{
    rig_hex(&at->parent_qualified_name, "000b");
    rig_pad(&at->parent_qualified_name, 32);
}

/* 13 to 16: every bit. The AK's, for 29. */
#define BIT(n)                                                                                                         \
    CHANGE(bit_##n)                                                                                                    \
    {                                                                                                                  \
        at->area.attributes ^= 1u << n;                                                                                \
    }                                                                                                                  \
    CHANGE(ak_bit_##n)                                                                                                 \
    {                                                                                                                  \
        at->ak_area.attributes ^= 1u << n;                                                                             \
    }
BIT(0)
BIT(1)
BIT(2)
BIT(3)
BIT(4)
BIT(5)
BIT(6)
BIT(7)
BIT(8)
BIT(9)
BIT(10)
BIT(11)
BIT(12)
BIT(13)
BIT(14)
BIT(15)
BIT(16)
BIT(17)
BIT(18)
BIT(19)
BIT(20)
BIT(21)
BIT(22)
BIT(23)
BIT(24)
BIT(25)
BIT(26)
BIT(27)
BIT(28)
BIT(29)
BIT(30)
BIT(31)

CHANGE(from_outside)
{
    at->area.attributes = 0x00040040;
}
CHANGE(policy_of_zeros)
{
    rig_hex(&at->area.policy, "0000000000000000000000000000000000000000000000000000000000000000");
}

/* 17 */
CHANGE(symmetric_aes)
{
    rig_hex(&at->area.parameters, "000600800043001000030010");
}
CHANGE(scheme_ecdsa)
{
    rig_hex(&at->area.parameters, "00100018000b00030010");
}
CHANGE(scheme_ecdsa_sha1)
{
    rig_hex(&at->area.parameters, "00100018000400030010");
}
CHANGE(scheme_schnorr)
{
    rig_hex(&at->area.parameters, "0010001c000b00030010");
}
CHANGE(curve_p384)
{
    rig_hex(&at->area.parameters, "0010001000040010");
}
CHANGE(curve_bn_p256)
{
    rig_hex(&at->area.parameters, "0010001000100010");
}
CHANGE(kdf_some)
{
    rig_hex(&at->area.parameters, "0010001000030020000b");
}
CHANGE(type_rsa)
{
    at->area.type = 0x0001;
}
CHANGE(type_keyed_hash)
{
    at->area.type = 0x0008;
}

/* 19, 18, 20 */
static void lead(rig_bytes *number)
{
    rig_bytes zero;
    rig_hex(&zero, "00");
    rig_add(&zero, number->bytes, number->n);
    *number = zero;
}
CHANGE(x_of_33_bytes)
{
    lead(&at->area.x);
}
CHANGE(y_of_33_bytes)
{
    lead(&at->area.y);
}
CHANGE(x_empty)
{
    at->area.x.n = 0;
}
CHANGE(off_curve)
{
    at->area.x.bytes[31] ^= 1;
    at->submitted.bytes[31] ^= 1;
}
CHANGE(x_is_not_below_p)
{
    memset(at->area.x.bytes, 0xff, 32);
    memset(at->submitted.bytes, 0xff, 32);
}
CHANGE(point_is_zero)
{
    memset(at->area.x.bytes, 0, 32);
    memset(at->area.y.bytes, 0, 32);
    memset(&at->submitted, 0, sizeof at->submitted);
}
CHANGE(submitted_another)
{
    at->submitted = rig_public(rig_other_scalar);
}
CHANGE(submitted_the_negative)
{
    at->submitted.bytes[63] ^= 1;
}

/* 21, 22 */
CHANGE(signed_sha1)
{
    rig_hex(&at->signature_head, "00180004");
}
CHANGE(signed_sha384)
{
    rig_hex(&at->signature_head, "0018000c");
}
CHANGE(signed_rsassa)
{
    rig_hex(&at->signature_head, "0014000b");
}
CHANGE(signed_sm2)
{
    rig_hex(&at->signature_head, "001b000b");
}
CHANGE(signed_null)
{
    rig_hex(&at->signature, "00100000");
}
#define ORDER "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"
CHANGE(r_zero)
{
    memset(at->r.bytes, 0, 32);
}
CHANGE(s_zero)
{
    memset(at->s.bytes, 0, 32);
}
CHANGE(r_is_n)
{
    rig_hex(&at->r, ORDER);
}
CHANGE(s_is_n)
{
    rig_hex(&at->s, ORDER);
}
CHANGE(r_empty)
{
    at->r.n = 0;
}
CHANGE(r_of_33_bytes)
{
    lead(&at->r);
}
CHANGE(s_of_33_bytes)
{
    lead(&at->s);
}
CHANGE(der_r_zero)
{
    rig_hex(&at->signature, "3006020100020101");
}
CHANGE(der_s_is_n)
{
    rig_hex(&at->signature, "3026020101022100" ORDER);
}

/* 24 */
CHANGE(certificate_though_the_ak_is_known)
{
    at->x5c_count = 1;
    at->x5c_n[0] = 100;
}
CHANGE(certificate_that_is_empty)
{
    at->x5c_count = 1;
}

/* 29 */
CHANGE(ak_with_policy)
{
    rig_pad(&at->ak_area.policy, 32);
}
CHANGE(ak_without_scheme)
{
    rig_hex(&at->ak_area.parameters, "0010001000030010");
}
CHANGE(ak_with_sha1)
{
    rig_hex(&at->ak_area.parameters, "00100018000400030010");
}
CHANGE(ak_of_another_name_algorithm)
{
    at->ak_area.name_algorithm = 0x000c;
}
CHANGE(ak_unrestricted)
{
    at->ak_area.attributes = 0x00040472;
}
CHANGE(ak_from_outside)
{
    at->ak_area.attributes = 0x00050040;
}
CHANGE(ak_byte_behind)
{
    rig_pad(&at->ak, 1);
}
CHANGE(ak_empty)
{
    at->ak.n = 0;
}
CHANGE(ak_off_curve)
{
    at->ak.bytes[at->ak.n - 1] ^= 1;
}

/* 34: the AK right under this EK. The signer stands in the statement, so it is the TPM that says so. */
static void sign_under(rig *at, const char *ek_name)
{
    rig_bytes hierarchy, qualified, area, name;
    rig_hex(&at->ek_name, ek_name);
    rig_hex(&hierarchy, "4000000b");
    rig_name(&qualified, &hierarchy, &at->ek_name);
    rig_write_area(&area, &at->ak_area);
    rig_name(&name, &area, NULL);
    rig_name(&at->attest.signer, &qualified, &name);
}
#define EK_NAME "000b" ORDER
#define QUALIFIED_SHA384                                                                                               \
    "53946bfdcd5a1de46ffa8b72775ae21121321b3048c0e049"                                                                 \
    "3924137647d540e58f99b2ca9ba4d26bd57b8145e6d80240"
CHANGE(firmware_is_known)
{
    sign_under(at, EK_NAME);
}
CHANGE(firmware_is_the_least)
{
    sign_under(at, EK_NAME);
    at->firmware_min = RIG_FIRMWARE;
}
CHANGE(firmware_is_older)
{
    sign_under(at, EK_NAME);
    at->firmware_min = RIG_FIRMWARE + 1;
}
CHANGE(firmware_zero)
{
    sign_under(at, EK_NAME);
    at->firmware_min = 1;
    at->attest.firmware = 0;
}
/* QN(EK) with SHA-384 was computed apart from this program: SHA-384 of 4000000b and the Name. */
CHANGE(firmware_is_older_under_an_ek_of_sha384)
{
    static const char ek_name[] =
        "000c000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f";
    rig_bytes qualified, area, name;
    rig_hex(&at->ek_name, ek_name);
    rig_hex(&qualified, "000c" QUALIFIED_SHA384);
    rig_write_area(&area, &at->ak_area);
    rig_name(&name, &area, NULL);
    rig_name(&at->attest.signer, &qualified, &name);
    at->firmware_min = RIG_FIRMWARE + 1;
}
/* Of these nothing is known, so nothing is judged; and nothing may be demanded. */
CHANGE(firmware_of_another_signer)
{
    sign_under(at, EK_NAME);
    at->attest.signer.bytes[33] ^= 1;
}
CHANGE(firmware_of_a_signer_without_a_name)
{
    sign_under(at, EK_NAME);
    at->attest.signer.n = 0;
}
CHANGE(firmware_demanded_of_another_signer)
{
    firmware_of_another_signer(at);
    at->firmware_min = 1;
}
CHANGE(firmware_demanded_of_a_signer_without_a_name)
{
    firmware_of_a_signer_without_a_name(at);
    at->firmware_min = 1;
}

/* 30, 23a */
CHANGE(certified_by_itself)
{
    at->area.x = at->ak_area.x;
    at->area.y = at->ak_area.y;
    at->submitted = rig_public(rig_ak_scalar);
}
CHANGE(signed_by_another)
{
    memcpy(at->ak_scalar, rig_other_scalar, sizeof at->ak_scalar);
}
CHANGE(signed_by_the_key)
{
    memcpy(at->ak_scalar, rig_key_scalar, sizeof at->ak_scalar);
}
CHANGE(signature_other)
{
    at->r.bytes[31] ^= 1;
}
CHANGE(signature_of_something_else)
{
    tenon_signature signature = rig_sign(at->ak_scalar, "something else", 14);
    rig_set(&at->r, signature.bytes, 32);
    rig_set(&at->s, signature.bytes + 32, 32);
}
CHANGE(der_of_another)
{
    at->r.bytes[5] ^= 1;
    der(at);
}
/* Not part of what any rule reads, but signed. */
CHANGE(clock_other)
{
    at->certified.bytes[4 + 2 + 2 + 34 + 2 + 32] ^= 1;
}

typedef struct {
    tenon_status rule;
    tenon_status code;
    rig_stage stage;
    void (*change)(rig *);
    const char *name;
} rule_case;

#define ROW(rule, stage, change)                                                                                       \
    {                                                                                                                  \
        TENON_RULE_##rule, TENON_RULE_##rule, RIG_##stage, change, #change                                             \
    }
#define ROW_CODE(rule, code, stage, change)                                                                            \
    {                                                                                                                  \
        TENON_RULE_##rule, TENON_ERROR_##code, RIG_##stage, change, #change                                            \
    }
#define GOOD(stage, change)                                                                                            \
    {                                                                                                                  \
        TENON_OK, TENON_OK, RIG_##stage, change, #change                                                               \
    }

#define OTHER(n) ROW(16_ATTRIBUTES, AREA, bit_##n),
#define AK(n) ROW(29_AK, AREA, ak_bit_##n),

static const rule_case cases[] = {
    GOOD(AREA, nothing),
    GOOD(AREA, bit_10),
    GOOD(AREA, ak_bit_10),
    GOOD(AREA, scheme_ecdsa),
    GOOD(EVIDENCE, der),
    GOOD(AREA, this_parent),
    GOOD(ATTEST, firmware_is_known),
    GOOD(ATTEST, firmware_is_the_least),
    GOOD(ATTEST, firmware_of_another_signer),
    GOOD(ATTEST, firmware_of_a_signer_without_a_name),

    ROW(1_SIZE, ATTEST, certified_too_large),
    ROW(1_SIZE, AREA, area_too_large),
    ROW(1_SIZE, SIGNATURE, signature_too_large),
    ROW(1_SIZE, EVIDENCE, one_certificate_too_large),
    ROW(1_SIZE, EVIDENCE, certificates_too_large),
    ROW(1_SIZE, PROOF, proof_too_large),
    ROW_CODE(2_CBOR, CBOR_TRAILING, PROOF, byte_behind),
    ROW_CODE(2_CBOR, CBOR_TRUNCATED, PROOF, byte_missing),
    ROW_CODE(2_CBOR, CBOR_COUNT, EVIDENCE, five_certificates),
    ROW_CODE(2_CBOR, CBOR_KEY, PROOF, other_key),
    ROW_CODE(3_VERSION, PROOF_FORM, EVIDENCE, other_format),
    ROW_CODE(3_VERSION, PROOF_FORM, EVIDENCE, longer_format),
    ROW_CODE(3_VERSION, PROOF_FORM, EVIDENCE, other_version),
    ROW_CODE(3_VERSION, PROOF_FORM, EVIDENCE, empty_version),
    ROW_CODE(3_VERSION, PROOF_FORM, EVIDENCE, eddsa),
    ROW_CODE(3_VERSION, PROOF_FORM, EVIDENCE, positive_algorithm),
    ROW(23_TRAILING, AREA, area_byte_behind),
    ROW(23_TRAILING, ATTEST, certified_byte_behind),
    ROW(23_TRAILING, SIGNATURE, signature_byte_behind),
    ROW(23_TRAILING, EVIDENCE, area_empty),
    ROW(23_TRAILING, EVIDENCE, area_cut),
    ROW(23_TRAILING, EVIDENCE, certified_empty),
    ROW(23_TRAILING, CERTIFIED, certified_cut),
    ROW(23_TRAILING, EVIDENCE, signature_empty),
    ROW(23_TRAILING, EVIDENCE, signature_cut),
    ROW(23_TRAILING, EVIDENCE, signature_algorithm_only),
    ROW(23_TRAILING, ATTEST, clock_neither_safe_nor_unsafe),
    ROW(23_TRAILING, EVIDENCE, der_byte_behind),
    ROW(23_TRAILING, EVIDENCE, der_byte_inside),
    ROW(23_TRAILING, EVIDENCE, der_cut),
    ROW(23_TRAILING, EVIDENCE, der_long_length),
    ROW(23_TRAILING, EVIDENCE, der_negative),
    ROW(7_MAGIC, ATTEST, magic_of_a_hash),
    ROW(7_MAGIC, ATTEST, magic_zero),
    ROW(8_TYPE, ATTEST, type_quote),
    ROW(8_TYPE, ATTEST, type_creation),
    ROW(9_NONCE, ATTEST, nonce_other),
    ROW(9_NONCE, ATTEST, nonce_empty),
    ROW(9_NONCE, ATTEST, nonce_short),
    ROW(9_NONCE, ATTEST, nonce_long),
    ROW(11_NAME_ALGORITHM, AREA, name_algorithm_sha1),
    ROW(11_NAME_ALGORITHM, AREA, name_algorithm_sha384),
    ROW(11_NAME_ALGORITHM, AREA, name_algorithm_null),
    ROW(10_NAME, ATTEST, name_other),
    ROW(10_NAME, ATTEST, name_of_another_algorithm),
    ROW(10_NAME, ATTEST, name_empty),
    ROW(10_NAME, ATTEST, name_is_a_handle),
    ROW(10_NAME, ATTEST, name_long),
    ROW(10_NAME, EVIDENCE, area_of_another_key),
    ROW(12_QUALIFIED_NAME, ATTEST, no_parent),
    ROW(12_QUALIFIED_NAME, ATTEST, qualified_name_empty),
    ROW(12_QUALIFIED_NAME, ATTEST, qualified_name_short),
    ROW(12A_PARENT, ATTEST, other_parent),
    ROW(13_BORN_IN_TPM, AREA, bit_1),
    ROW(13_BORN_IN_TPM, AREA, bit_4),
    ROW(13_BORN_IN_TPM, AREA, bit_5),
    ROW(13_BORN_IN_TPM, AREA, from_outside),
    ROW(14_SIGNS_ONLY, AREA, bit_2),
    ROW(14_SIGNS_ONLY, AREA, bit_11),
    ROW(14_SIGNS_ONLY, AREA, bit_16),
    ROW(14_SIGNS_ONLY, AREA, bit_17),
    ROW(14_SIGNS_ONLY, AREA, bit_18),
    ROW(15_AUTHORISED_BY_USER, AREA, bit_6),
    ROW(15_AUTHORISED_BY_USER, AREA, bit_7),
    ROW(15_AUTHORISED_BY_USER, AREA, policy_of_zeros),
    OTHER(0) OTHER(3) OTHER(8) OTHER(9) OTHER(12) OTHER(13) OTHER(14) OTHER(15) OTHER(19) OTHER(20) OTHER(21) OTHER(22)
        OTHER(23) OTHER(24) OTHER(25) OTHER(26) OTHER(27) OTHER(28) OTHER(29) OTHER(30) OTHER(31)
            ROW(17_P256, AREA, symmetric_aes),
    ROW(17_P256, AREA, scheme_ecdsa_sha1),
    ROW(17_P256, AREA, scheme_schnorr),
    ROW(17_P256, AREA, curve_p384),
    ROW(17_P256, AREA, curve_bn_p256),
    ROW(17_P256, AREA, kdf_some),
    ROW(17_P256, AREA, type_rsa),
    ROW(17_P256, AREA, type_keyed_hash),
    ROW(19_COORDINATES, AREA, x_of_33_bytes),
    ROW(19_COORDINATES, AREA, y_of_33_bytes),
    ROW(19_COORDINATES, AREA, x_empty),
    ROW(18_ON_CURVE, AREA, off_curve),
    ROW(18_ON_CURVE, AREA, x_is_not_below_p),
    ROW(18_ON_CURVE, AREA, point_is_zero),
    ROW(20_PUBLIC_KEY, AREA, submitted_another),
    ROW(20_PUBLIC_KEY, AREA, submitted_the_negative),
    ROW(21_ALGORITHM, SIGNATURE, signed_sha1),
    ROW(21_ALGORITHM, SIGNATURE, signed_sha384),
    ROW(21_ALGORITHM, SIGNATURE, signed_rsassa),
    ROW(21_ALGORITHM, SIGNATURE, signed_sm2),
    ROW(21_ALGORITHM, EVIDENCE, signed_null),
    ROW(22_RANGE, SIGNATURE, r_zero),
    ROW(22_RANGE, SIGNATURE, s_zero),
    ROW(22_RANGE, SIGNATURE, r_is_n),
    ROW(22_RANGE, SIGNATURE, s_is_n),
    ROW(22_RANGE, SIGNATURE, r_empty),
    ROW(22_RANGE, SIGNATURE, r_of_33_bytes),
    ROW(22_RANGE, SIGNATURE, s_of_33_bytes),
    ROW(22_RANGE, EVIDENCE, der_r_zero),
    ROW(22_RANGE, EVIDENCE, der_s_is_n),
    ROW(24_CERTIFICATE, EVIDENCE, certificate_though_the_ak_is_known),
    ROW(24_CERTIFICATE, EVIDENCE, certificate_that_is_empty),
    AK(0) AK(1) AK(2) AK(3) AK(4) AK(5) AK(6) AK(7) AK(8) AK(9) AK(11) AK(12) AK(13) AK(14) AK(15) AK(16) AK(17) AK(18)
        AK(19) AK(20) AK(21) AK(22) AK(23) AK(24) AK(25) AK(26) AK(27) AK(28) AK(29) AK(30) AK(31)
            ROW(29_AK, AREA, ak_unrestricted),
    ROW(29_AK, AREA, ak_from_outside),
    ROW(29_AK, AREA, ak_with_policy),
    ROW(29_AK, AREA, ak_without_scheme),
    ROW(29_AK, AREA, ak_with_sha1),
    ROW(29_AK, AREA, ak_of_another_name_algorithm),
    ROW(29_AK, EVIDENCE, ak_byte_behind),
    ROW(29_AK, EVIDENCE, ak_empty),
    ROW(29_AK, EVIDENCE, ak_off_curve),
    ROW(34_FIRMWARE, ATTEST, firmware_is_older),
    ROW(34_FIRMWARE, ATTEST, firmware_zero),
    ROW(34_FIRMWARE, ATTEST, firmware_is_older_under_an_ek_of_sha384),
    ROW_CODE(34_FIRMWARE, OPTIONS, ATTEST, firmware_demanded_of_another_signer),
    ROW_CODE(34_FIRMWARE, OPTIONS, ATTEST, firmware_demanded_of_a_signer_without_a_name),
    ROW(30_ANOTHER_KEY, AREA, certified_by_itself),
    ROW(23A_SIGNATURE, AREA, signed_by_another),
    ROW(23A_SIGNATURE, AREA, signed_by_the_key),
    ROW(23A_SIGNATURE, SIGNATURE, signature_other),
    ROW(23A_SIGNATURE, SIGNATURE, signature_of_something_else),
    ROW(23A_SIGNATURE, EVIDENCE, der_of_another),
    ROW(23A_SIGNATURE, EVIDENCE, clock_other),
};

enum { CASES = sizeof cases / sizeof *cases };

static rig built[CASES];

/* Once: signing takes longer than all the rest. */
static void build_all(void)
{
    if (built[0].proof_n != 0)
        return;
    for (size_t i = 0; i < CASES; i++)
        rig_build(&built[i], cases[i].stage, cases[i].change);
}

TEST(verify_each_case_gets_the_code_of_its_rule)
{
    build_all();
    for (size_t i = 0; i < CASES; i++) {
        tenon_report report;
        test_about("%s", cases[i].name);
        tenon_status found = rig_verify(&report, &built[i]);
        CHECK_STATUS(found, cases[i].code);
        CHECK_STATUS(report.verdict, found);
        tenon_status without = cases[i].rule == TENON_OK ? TENON_OK : rig_verify_without(&built[i], cases[i].rule);
        if (cases[i].rule != TENON_OK)
            CHECK(rig_place(without) > rig_place(found));
        rules_note(cases[i].rule, cases[i].code, cases[i].name, found, without);
    }
}

/* Rules 28, 25, 25a, 26 and 27 are about chains: verify_chain_test.c. */
TEST(verify_each_rule_has_a_case)
{
    for (size_t i = 0; i < tenoni_rules_count; i++) {
        size_t count = 0;
        for (size_t j = 0; j < CASES; j++)
            count += cases[j].rule == tenoni_rules[i].code;
        test_about("%s", tenon_status_name(tenoni_rules[i].code));
        CHECK((count != 0) == ((tenoni_rules[i].trust & TENON_TRUST_AK) != 0));
    }
}

TEST(verify_no_rule_does_the_work_of_another)
{
    build_all();
    size_t step = test_rounds(1, 9);
    for (size_t i = 0; i < tenoni_rules_count; i++)
        for (size_t j = i % step; j < CASES; j += step) {
            if (cases[j].rule == tenoni_rules[i].code)
                continue;
            test_about("%s without %s", cases[j].name, tenon_status_name(tenoni_rules[i].code));
            CHECK_STATUS(rig_verify_without(&built[j], tenoni_rules[i].code), cases[j].code);
        }
}
