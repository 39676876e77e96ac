/* SPDX-License-Identifier: Apache-2.0 */
#include "proof_rig.h"

/*
 * For each rule, proofs that break only this rule. Each must be refused with the rule's code. With the rule left out,
 * it must be accepted, or refused by a later rule, and no other proof's verdict may change.
 */

/* ---- Rows that need more than one field ---- */

#define CHANGE(name) static void name(proof_rig *at)

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
CHANGE(one_certificate)
{
    at->x5c_count = 1;
    at->x5c_n[0] = 100;
}
CHANGE(der_byte_inside)
{
    rig_der(at);
    support_bytes_pad(&at->signature, 1);
    at->signature.bytes[1]++;
}
CHANGE(der_long_length)
{
    rig_der(at);
    const support_bytes whole = at->signature;
    rig_hex(&at->signature, "3081");
    support_bytes_add(&at->signature, whole.bytes + 1, whole.n - 1);
}
CHANGE(area_of_another_key)
{
    at->submitted = rig_public(rig_other_scalar);
    const support_area area = support_area_of(at->submitted.bytes, SUPPORT_KEY_ATTRIBUTES, false);
    at->public_area = support_area_write(&area);
}
CHANGE(no_parent) { at->attest.qualified = at->attest.name; }
CHANGE(off_curve)
{
    at->area.x.bytes[31] ^= 1;
    at->submitted.bytes[31] ^= 1;
}
CHANGE(x_is_not_below_p)
{
    memset(at->area.x.bytes, 0xff, TENON_SCALAR_SIZE);
    memset(at->submitted.bytes, 0xff, TENON_SCALAR_SIZE);
}
CHANGE(point_is_zero)
{
    memset(&at->submitted, 0, sizeof at->submitted);
    at->area = support_area_of(at->submitted.bytes, SUPPORT_KEY_ATTRIBUTES, false);
}
CHANGE(submitted_another) { at->submitted = rig_public(rig_other_scalar); }
CHANGE(certified_by_itself)
{
    at->submitted = rig_public(rig_ak_scalar);
    at->area = support_area_of(at->submitted.bytes, SUPPORT_KEY_ATTRIBUTES, false);
}
/* It signs any data, including this statement about a software key. */
CHANGE(ak_of_an_unrestricted_key)
{
    at->ak_area = support_area_of(rig_public(rig_ak_scalar).bytes, SUPPORT_KEY_ATTRIBUTES, false);
}
CHANGE(storage_key)
{
    at->area.attributes = 0x00030472;
    rig_hex(&at->area.parameters, "000600800043001000030010");
}
CHANGE(signed_by_another) { memcpy(at->ak_scalar, rig_other_scalar, sizeof at->ak_scalar); }
CHANGE(signed_by_the_key) { memcpy(at->ak_scalar, rig_key_scalar, sizeof at->ak_scalar); }
CHANGE(signature_of_something_else)
{
    at->ecdsa = support_ecdsa_of(rig_sign(at->ak_scalar, "something else", 14).bytes);
}
CHANGE(firmware_demanded)
{
    rig_sign_under_ek(at);
    at->firmware_min = 1;
}
/* QN(EK) with SHA-384 was computed apart from this program: SHA-384 of 4000000b and the Name. */
CHANGE(firmware_is_older_under_an_ek_of_sha384)
{
    const support_bytes area = support_area_write(&at->ak_area);
    support_bytes qualified;
    rig_hex(&at->ek_name, "000c000102030405060708090a0b0c0d0e0f"
                          "101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f");
    rig_hex(&qualified, "000c53946bfdcd5a1de46ffa8b72775ae21121321b3048c0e049"
                        "3924137647d540e58f99b2ca9ba4d26bd57b8145e6d80240");
    at->attest.signer = support_qualified(&qualified, &area);
    at->firmware_min = SUPPORT_FIRMWARE + 1;
}

/* ---- The rows ---- */

typedef struct {
    tenon_status rule, code; /* TENON_OK: a good one */
    rig_stage stage;
    const char *name;
    void (*first)(proof_rig *);
    enum { NOTHING, IS, PLUS, XOR, SHORT_TEXT, HEX, PADDED, LED } edit;
    size_t at, size; /* of the field */
    uint64_t number;
    const char *text;
} rule_case;

#define FIELD(field) .at = offsetof(proof_rig, field), .size = sizeof(((proof_rig *)NULL)->field)

/* A number's value, a sum, and bits that differ; a string; bytes as hexadecimal, with more behind, with a zero before.
 */
#define IS(field, value) .edit = IS, FIELD(field), .number = value
#define PLUS(field, value) .edit = PLUS, FIELD(field), .number = (uint64_t)(int64_t)(value)
#define XOR(field, value) .edit = XOR, FIELD(field), .number = value
#define TEXT(field, value) .edit = SHORT_TEXT, FIELD(field), .text = value
#define HEX(field, value) .edit = HEX, FIELD(field), .text = value
#define PADDED(field, value) .edit = PADDED, FIELD(field), .number = value
#define LED(field) .edit = LED, FIELD(field)
#define BY(function) .first = function

#define GOOD(stage, name, ...)                                                                                         \
    {                                                                                                                  \
        TENON_OK, TENON_OK, RIG_##stage, name, __VA_ARGS__                                                             \
    }
#define ROW(rule, stage, name, ...)                                                                                    \
    {                                                                                                                  \
        TENON_RULE_##rule, TENON_RULE_##rule, RIG_##stage, name, __VA_ARGS__                                           \
    }
#define ROW_CODE(rule, code, stage, name, ...)                                                                         \
    {                                                                                                                  \
        TENON_RULE_##rule, TENON_ERROR_##code, RIG_##stage, name, __VA_ARGS__                                          \
    }

#define ZEROS "0000000000000000000000000000000000000000000000000000000000000000"
#define A5_31 "a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5"

/* clang-format off */
static const rule_case rows[] = {
    GOOD(AREA, "nothing", BY(NULL)),
    GOOD(AREA, "scheme_ecdsa", HEX(area.parameters, "00100018000b00030010")),
    GOOD(EVIDENCE, "der", BY(rig_der)),
    GOOD(AREA, "this_parent", HEX(parent_qualified_name, "000b" A5_31 "a5")),
    GOOD(ATTEST, "firmware_is_known", BY(rig_sign_under_ek)),
    GOOD(ATTEST, "firmware_is_the_least", BY(rig_sign_under_ek), IS(firmware_min, SUPPORT_FIRMWARE)),
    /* These are unknown, so they are not judged, and the policy may not demand them. */
    GOOD(ATTEST, "firmware_of_another_signer", BY(rig_sign_under_ek), XOR(attest.signer.bytes[33], 1)),
    GOOD(ATTEST, "firmware_of_a_signer_without_a_name", BY(rig_sign_under_ek), IS(attest.signer.n, 0)),

    /* Values that would be right except for their size. */
    ROW(1_SIZE, ATTEST, "certified_too_large", PADDED(attest.signer, 100)),
    ROW(1_SIZE, AREA, "area_too_large", PADDED(area.policy, 200)),
    ROW(1_SIZE, SIGNATURE, "signature_too_large", PADDED(ecdsa.r, 250)),
    ROW(1_SIZE, EVIDENCE, "one_certificate_too_large", BY(one_certificate_too_large)),
    ROW(1_SIZE, EVIDENCE, "certificates_too_large", BY(certificates_too_large)),
    ROW(1_SIZE, PROOF, "proof_too_large", IS(proof_n, TENON_PROOF_MAX + 1)),

    /* The rest of them is in cbor_test.c. */
    ROW_CODE(2_CBOR, CBOR_TRAILING, PROOF, "byte_behind", PLUS(proof_n, 1)),
    ROW_CODE(2_CBOR, CBOR_TRUNCATED, PROOF, "byte_missing", PLUS(proof_n, -1)),
    ROW_CODE(2_CBOR, CBOR_COUNT, EVIDENCE, "five_certificates", IS(x5c_count, TENON_CERTIFICATES_MAX + 1)),
    ROW_CODE(2_CBOR, CBOR_KEY, PROOF, "other_key", IS(proof[2], 'x')),
    ROW_CODE(3_VERSION, PROOF_FORM, EVIDENCE, "other_format", TEXT(format, "tpn")),
    ROW_CODE(3_VERSION, PROOF_FORM, EVIDENCE, "longer_format", TEXT(format, "tpm2")),
    ROW_CODE(3_VERSION, PROOF_FORM, EVIDENCE, "other_version", TEXT(version, "1.0")),
    ROW_CODE(3_VERSION, PROOF_FORM, EVIDENCE, "empty_version", TEXT(version, "")),
    ROW_CODE(3_VERSION, PROOF_FORM, EVIDENCE, "eddsa", IS(algorithm, 0x27)),
    ROW_CODE(3_VERSION, PROOF_FORM, EVIDENCE, "positive_algorithm", IS(algorithm, 0x06)),

    ROW(4_TRAILING, AREA, "area_byte_behind", PADDED(area.tail, 1)),
    ROW(4_TRAILING, ATTEST, "certified_byte_behind", PADDED(attest.tail, 1)),
    ROW(4_TRAILING, SIGNATURE, "signature_byte_behind", PADDED(ecdsa.tail, 1)),
    ROW(4_TRAILING, EVIDENCE, "area_empty", IS(public_area.n, 0)),
    ROW(4_TRAILING, EVIDENCE, "area_cut", PLUS(public_area.n, -1)),
    ROW(4_TRAILING, EVIDENCE, "certified_empty", IS(certified.n, 0)),
    ROW(4_TRAILING, CERTIFIED, "certified_cut", PLUS(certified.n, -1)),
    ROW(4_TRAILING, EVIDENCE, "signature_empty", IS(signature.n, 0)),
    ROW(4_TRAILING, EVIDENCE, "signature_cut", PLUS(signature.n, -1)),
    ROW(4_TRAILING, EVIDENCE, "signature_algorithm_only", IS(signature.n, 2)),
    ROW(4_TRAILING, ATTEST, "clock_neither_safe_nor_unsafe", IS(attest.safe, 2)),
    ROW(4_TRAILING, EVIDENCE, "der_byte_behind", BY(rig_der), PADDED(signature, 1)),
    ROW(4_TRAILING, EVIDENCE, "der_byte_inside", BY(der_byte_inside)),
    ROW(4_TRAILING, EVIDENCE, "der_cut", BY(rig_der), PLUS(signature.n, -1)),
    ROW(4_TRAILING, EVIDENCE, "der_long_length", BY(der_long_length)),
    ROW(4_TRAILING, EVIDENCE, "der_negative", HEX(signature, "3006020180020101")),

    ROW(5_MAGIC, ATTEST, "magic_of_a_hash", IS(attest.magic, 0xff544348)),
    ROW(5_MAGIC, ATTEST, "magic_zero", IS(attest.magic, 0)),
    ROW(6_TYPE, ATTEST, "type_quote", IS(attest.type, 0x8018)),
    ROW(6_TYPE, ATTEST, "type_creation", IS(attest.type, 0x801a)),
    ROW(7_NONCE, ATTEST, "nonce_other", XOR(attest.extra.bytes[31], 1)),
    ROW(7_NONCE, ATTEST, "nonce_empty", IS(attest.extra.n, 0)),
    ROW(7_NONCE, ATTEST, "nonce_short", IS(attest.extra.n, 31)),
    ROW(7_NONCE, ATTEST, "nonce_long", PADDED(attest.extra, 1)),

    ROW(8_NAME_ALGORITHM, AREA, "name_algorithm_sha1", IS(area.name_algorithm, 0x0004)),
    ROW(8_NAME_ALGORITHM, AREA, "name_algorithm_sha384", IS(area.name_algorithm, 0x000c)),
    ROW(8_NAME_ALGORITHM, AREA, "name_algorithm_null", IS(area.name_algorithm, 0x0010)),
    ROW(9_NAME, ATTEST, "name_other", XOR(attest.name.bytes[33], 1)),
    ROW(9_NAME, ATTEST, "name_of_another_algorithm", IS(attest.name.bytes[1], 0x0c)),
    ROW(9_NAME, ATTEST, "name_empty", IS(attest.name.n, 0)),
    ROW(9_NAME, ATTEST, "name_is_a_handle", IS(attest.name.n, 4)),
    ROW(9_NAME, ATTEST, "name_long", PADDED(attest.name, 1)),
    ROW(9_NAME, EVIDENCE, "area_of_another_key", BY(area_of_another_key)),
    ROW(10_QUALIFIED_NAME, ATTEST, "no_parent", BY(no_parent)),
    ROW(10_QUALIFIED_NAME, ATTEST, "qualified_name_empty", IS(attest.qualified.n, 0)),
    ROW(10_QUALIFIED_NAME, ATTEST, "qualified_name_short", IS(attest.qualified.n, 33)),
    ROW(11_PARENT, ATTEST, "other_parent", HEX(parent_qualified_name, "000b" A5_31 "78")),

    /* Each bit by itself: below. */
    ROW(12_BORN_IN_TPM, AREA, "from_outside", IS(area.attributes, 0x00040040)),
    ROW(13_SIGNS_ONLY, AREA, "key_of_tpm2_openssl", IS(area.attributes, 0x00060072)),
    ROW(13_SIGNS_ONLY, AREA, "storage_key", BY(storage_key)),
    ROW(14_AUTHORISED_BY_USER, AREA, "policy_of_zeros", HEX(area.policy, ZEROS)),

    ROW(16_P256, AREA, "symmetric_aes", HEX(area.parameters, "000600800043001000030010")),
    ROW(16_P256, AREA, "scheme_ecdsa_sha1", HEX(area.parameters, "00100018000400030010")),
    ROW(16_P256, AREA, "scheme_schnorr", HEX(area.parameters, "0010001c000b00030010")),
    ROW(16_P256, AREA, "curve_p384", HEX(area.parameters, "0010001000040010")),
    ROW(16_P256, AREA, "curve_bn_p256", HEX(area.parameters, "0010001000100010")),
    ROW(16_P256, AREA, "kdf_some", HEX(area.parameters, "0010001000030020000b")),
    ROW(16_P256, AREA, "type_rsa", IS(area.type, 0x0001)),
    ROW(16_P256, AREA, "type_keyed_hash", IS(area.type, 0x0008)),
    ROW(17_COORDINATES, AREA, "x_of_33_bytes", LED(area.x)),
    ROW(17_COORDINATES, AREA, "y_of_33_bytes", LED(area.y)),
    ROW(17_COORDINATES, AREA, "x_empty", IS(area.x.n, 0)),
    ROW(18_ON_CURVE, AREA, "off_curve", BY(off_curve)),
    ROW(18_ON_CURVE, AREA, "x_is_not_below_p", BY(x_is_not_below_p)),
    ROW(18_ON_CURVE, AREA, "point_is_zero", BY(point_is_zero)),
    ROW(19_PUBLIC_KEY, AREA, "submitted_another", BY(submitted_another)),
    ROW(19_PUBLIC_KEY, AREA, "submitted_the_negative", XOR(submitted.bytes[63], 1)),

    ROW(20_ALGORITHM, SIGNATURE, "signed_sha1", HEX(ecdsa.head, "00180004")),
    ROW(20_ALGORITHM, SIGNATURE, "signed_sha384", HEX(ecdsa.head, "0018000c")),
    ROW(20_ALGORITHM, SIGNATURE, "signed_rsassa", HEX(ecdsa.head, "0014000b")),
    ROW(20_ALGORITHM, SIGNATURE, "signed_sm2", HEX(ecdsa.head, "001b000b")),
    ROW(20_ALGORITHM, EVIDENCE, "signed_null", HEX(signature, "00100000")),
    ROW(21_RANGE, SIGNATURE, "r_zero", HEX(ecdsa.r, ZEROS)),
    ROW(21_RANGE, SIGNATURE, "s_zero", HEX(ecdsa.s, ZEROS)),
    ROW(21_RANGE, SIGNATURE, "r_is_n", HEX(ecdsa.r, RIG_ORDER)),
    ROW(21_RANGE, SIGNATURE, "s_is_n", HEX(ecdsa.s, RIG_ORDER)),
    ROW(21_RANGE, SIGNATURE, "r_empty", IS(ecdsa.r.n, 0)),
    ROW(21_RANGE, SIGNATURE, "r_of_33_bytes", LED(ecdsa.r)),
    ROW(21_RANGE, SIGNATURE, "s_of_33_bytes", LED(ecdsa.s)),
    ROW(21_RANGE, EVIDENCE, "der_r_zero", HEX(signature, "3006020100020101")),
    ROW(21_RANGE, EVIDENCE, "der_s_is_n", HEX(signature, "3026020101022100" RIG_ORDER)),

    ROW(22_CERTIFICATE, EVIDENCE, "certificate_though_the_ak_is_known", BY(one_certificate)),
    ROW(22_CERTIFICATE, EVIDENCE, "certificate_that_is_empty", IS(x5c_count, 1)),

    ROW(29_AK, AREA, "ak_of_an_unrestricted_key", BY(ak_of_an_unrestricted_key)),
    ROW(29_AK, AREA, "ak_unrestricted", IS(ak_area.attributes, SUPPORT_KEY_ATTRIBUTES)),
    ROW(29_AK, AREA, "ak_from_outside", IS(ak_area.attributes, 0x00050040)),
    ROW(29_AK, AREA, "ak_with_policy", PADDED(ak_area.policy, 32)),
    ROW(29_AK, AREA, "ak_without_scheme", HEX(ak_area.parameters, "0010001000030010")),
    ROW(29_AK, AREA, "ak_with_sha1", HEX(ak_area.parameters, "00100018000400030010")),
    ROW(29_AK, AREA, "ak_of_another_name_algorithm", IS(ak_area.name_algorithm, 0x000c)),
    ROW(29_AK, EVIDENCE, "ak_byte_behind", PADDED(ak, 1)),
    ROW(29_AK, EVIDENCE, "ak_empty", IS(ak.n, 0)),
    ROW(29_AK, EVIDENCE, "ak_off_curve", XOR(ak.bytes[87], 1)),

    ROW(30_FIRMWARE, ATTEST, "firmware_is_older", BY(rig_sign_under_ek), IS(firmware_min, SUPPORT_FIRMWARE + 1)),
    ROW(30_FIRMWARE, ATTEST, "firmware_zero", BY(firmware_demanded), IS(attest.firmware, 0)),
    ROW(30_FIRMWARE, ATTEST, "firmware_is_older_under_an_ek_of_sha384", BY(firmware_is_older_under_an_ek_of_sha384)),
    ROW_CODE(30_FIRMWARE, OPTIONS, ATTEST, "firmware_demanded_of_another_signer",
             BY(firmware_demanded), XOR(attest.signer.bytes[33], 1)),
    ROW_CODE(30_FIRMWARE, OPTIONS, ATTEST, "firmware_demanded_of_a_signer_without_a_name",
             BY(firmware_demanded), IS(attest.signer.n, 0)),

    ROW(31_ANOTHER_KEY, AREA, "certified_by_itself", BY(certified_by_itself)),
    ROW(32_SIGNATURE, AREA, "signed_by_another", BY(signed_by_another)),
    ROW(32_SIGNATURE, AREA, "signed_by_the_key", BY(signed_by_the_key)),
    ROW(32_SIGNATURE, SIGNATURE, "signature_other", XOR(ecdsa.r.bytes[31], 1)),
    ROW(32_SIGNATURE, SIGNATURE, "signature_of_something_else", BY(signature_of_something_else)),
    ROW(32_SIGNATURE, EVIDENCE, "der_of_another", BY(rig_der), XOR(signature.bytes[10], 1)),
    /* No rule reads these, but they are signed. */
    ROW(32_SIGNATURE, EVIDENCE, "clock_other", XOR(certified.bytes[4 + 2 + 2 + 34 + 2 + 32], 1)),
};
/* clang-format on */

/* The rule for each attribute of the key; noDA is free. All attributes of the AK belong to rule 29. */
static tenon_status rule_of_bit(unsigned bit)
{
    static const struct {
        uint32_t bits;
        tenon_status rule;
    } rules[] = {{1u << 10, TENON_OK},
                 {1u << 1 | 1u << 4 | 1u << 5, TENON_RULE_12_BORN_IN_TPM},
                 {1u << 2 | 1u << 11 | 1u << 16 | 1u << 17 | 1u << 18, TENON_RULE_13_SIGNS_ONLY},
                 {1u << 6 | 1u << 7, TENON_RULE_14_AUTHORISED_BY_USER}};
    for (size_t i = 0; i < COUNT(rules); i++)
        if ((rules[i].bits >> bit & 1) != 0)
            return rules[i].rule;
    return TENON_RULE_15_ATTRIBUTES;
}

enum { ROWS = COUNT(rows), BITS = 32, CASES = ROWS + 2 * BITS };

static rule_case cases[CASES];
static proof_rig built[CASES];
static const rule_case *current; /* what the next rig_build takes */

static void add_bits(void)
{
    static char names[2 * BITS][12];
    for (unsigned i = 0; i < 2 * BITS; i++) {
        const unsigned bit = i % BITS;
        const bool of_ak = i >= BITS;
        const tenon_status rule = of_ak && bit != 10 ? TENON_RULE_29_AK : rule_of_bit(bit);
        snprintf(names[i], sizeof names[i], "%sbit_%u", of_ak ? "ak_" : "", bit);
        cases[ROWS + i] = (rule_case){rule, rule, RIG_AREA, names[i], XOR(area.attributes, 1u << bit)};
        if (of_ak)
            cases[ROWS + i].at = offsetof(proof_rig, ak_area.attributes);
    }
}

/* Where the lowest bytes of a number are, as this machine keeps them. */
static uint8_t *lowest(uint64_t *number, size_t size)
{
    const uint16_t first = 1;
    uint8_t *bytes = (uint8_t *)number;
    return *(const uint8_t *)&first == 1 ? bytes : bytes + sizeof *number - size;
}

static uint64_t load(const uint8_t *field, size_t size)
{
    uint64_t number = 0;
    memcpy(lowest(&number, size), field, size);
    return number;
}

static void apply(proof_rig *to)
{
    uint8_t *field = (uint8_t *)to + current->at;
    support_bytes *bytes = (support_bytes *)(void *)field, before;
    uint64_t number = current->number;
    if (current->first != NULL)
        current->first(to);
    switch (current->edit) {
    case NOTHING:
        break;
    case PLUS:
    case XOR:
        number = current->edit == PLUS ? load(field, current->size) + number : load(field, current->size) ^ number;
        memcpy(field, lowest(&number, current->size), current->size);
        break;
    case IS:
        memcpy(field, lowest(&number, current->size), current->size);
        break;
    case SHORT_TEXT:
        memcpy(field, &current->text, current->size);
        break;
    case HEX:
        rig_hex(bytes, current->text);
        break;
    case PADDED:
        support_bytes_pad(bytes, (size_t)number);
        break;
    case LED:
        before = *bytes;
        rig_hex(bytes, "00");
        support_bytes_add(bytes, before.bytes, before.n);
        break;
    }
}

/* Once: signing takes longer than all the rest. */
static void build_all(void)
{
    if (built[0].proof_n != 0)
        return;
    memcpy(cases, rows, sizeof rows);
    add_bits();
    for (size_t i = 0; i < CASES; i++) {
        current = &cases[i];
        rig_build(&built[i], current->stage, apply);
    }
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

/* Rules 24 to 28 are about chains: verify_chain_test.c. */
TEST(verify_each_rule_has_a_case)
{
    build_all();
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
    size_t step = test_rounds(1, 31);
    for (size_t i = 0; i < tenoni_rules_count; i++)
        for (size_t j = i % step; j < CASES; j += step) {
            if (cases[j].rule == tenoni_rules[i].code)
                continue;
            test_about("%s without %s", cases[j].name, tenon_status_name(tenoni_rules[i].code));
            CHECK_STATUS(rig_verify_without(&built[j], tenoni_rules[i].code), cases[j].code);
        }
}
