/* SPDX-License-Identifier: Apache-2.0 */
#include "proof_rig.h"

static const uint8_t big[TENON_CERTIFICATE_MAX + 1];

static tenon_bytes some(size_t n) { return (tenon_bytes){big, n}; }

static tenon_evidence evidence_of(const proof_rig *built)
{
    tenon_evidence evidence = {.x5c_count = built->x5c_count};
    evidence.public_area = (tenon_bytes){built->public_area.bytes, built->public_area.n};
    evidence.certified = (tenon_bytes){built->certified.bytes, built->certified.n};
    evidence.signature = (tenon_bytes){built->signature.bytes, built->signature.n};
    for (size_t i = 0; i < built->x5c_count && i < TENON_CERTIFICATES_MAX; i++)
        evidence.x5c[i] = (tenon_bytes){built->x5c[i], built->x5c_n[i]};
    return evidence;
}

/* RFC 8949, 3, written down by hand. */
TEST(proof_bytes)
{
    static const char hex[] = "a2"
                              "63666d74"
                              "6374706d"
                              "6761747453746d74"
                              "a6"
                              "63616c67"
                              "26"
                              "63736967"
                              "4101"
                              "63766572"
                              "63322e30"
                              "63783563"
                              "82"
                              "4102"
                              "40"
                              "6770756241726561"
                              "420304"
                              "6863657274496e666f"
                              "43050607";
    static const uint8_t parts[] = {1, 2, 3, 4, 5, 6, 7};
    size_t expected_n, n;
    OWNED uint8_t *expected = test_hex_all(hex, &expected_n);
    uint8_t out[256];
    tenon_evidence evidence = {.signature = {parts, 1},
                               .x5c = {{parts + 1, 1}, {NULL, 0}},
                               .x5c_count = 2,
                               .public_area = {parts + 2, 2},
                               .certified = {parts + 4, 3}};
    CHECK_OK(tenon_proof_encode(out, sizeof out, &n, &evidence));
    CHECK_SAME(out, n, expected, expected_n);
}

OUTPUT(encode) { return tenon_proof_encode(out, n, written, input); }

static bool same(tenon_bytes a, tenon_bytes b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.bytes, b.bytes, a.n) == 0);
}

/* The rig's independent proof equals the core's, and the core reads it back. */
static void check_both_ways(rig_stage stage, void (*change)(proof_rig *))
{
    static proof_rig built;
    rig_build(&built, stage, change);
    tenon_evidence evidence = evidence_of(&built), back;
    test_output_rule("tenon_proof_encode", encode, &evidence, built.proof, built.proof_n);
    CHECK_OK(tenon_proof_decode(&back, built.proof, built.proof_n));
    CHECK(same(back.public_area, evidence.public_area) && same(back.certified, evidence.certified) &&
          same(back.signature, evidence.signature) && back.x5c_count == evidence.x5c_count);
    for (size_t i = 0; i < back.x5c_count; i++)
        CHECK(same(back.x5c[i], evidence.x5c[i]));
    CHECK(back.certified.bytes > built.proof && back.certified.bytes <= built.proof + built.proof_n);
}

static void with_chain(proof_rig *at)
{
    at->x5c_count = 3;
    for (size_t i = 0; i < at->x5c_count; i++)
        at->x5c_n[i] = 20 + 200 * i;
}

static void with_nothing(proof_rig *at) { at->public_area.n = at->certified.n = at->signature.n = 0; }

TEST(proof_both_ways)
{
    check_both_ways(RIG_AREA, NULL);
    check_both_ways(RIG_EVIDENCE, with_chain);
    check_both_ways(RIG_EVIDENCE, with_nothing);
}

TEST(proof_sizes)
{
    static uint8_t out[TENON_PROOF_MAX];
    tenon_evidence most = {.public_area = some(TENON_AREA_MAX),
                           .certified = some(TENON_AREA_MAX),
                           .signature = some(TENON_AREA_MAX),
                           .x5c_count = TENON_CERTIFICATES_MAX};
    tenon_evidence back;
    size_t n;
    for (size_t i = 0; i < 3; i++)
        most.x5c[i] = some(TENON_CERTIFICATE_MAX);
    CHECK_OK(tenon_proof_encode(out, sizeof out, &n, &most));
    CHECK(n > TENON_CERTIFICATES_TOTAL + 3 * TENON_AREA_MAX && n < TENON_PROOF_MAX);
    CHECK_OK(tenon_proof_decode(&back, out, n));
    tenon_bytes *const parts[] = {&most.public_area, &most.certified, &most.signature, &most.x5c[0], &most.x5c[3]};
    for (size_t i = 0; i < COUNT(parts); i++) {
        test_about("part %zu", i);
        parts[i]->bytes = big;
        parts[i]->n++;
        CHECK_STATUS(tenon_proof_encode(out, sizeof out, &n, &most), TENON_ERROR_TOO_LARGE);
        CHECK_NUMBER(n, 0);
        parts[i]->n--;
    }
    most.x5c_count++;
    CHECK_STATUS(tenon_proof_encode(out, sizeof out, &n, &most), TENON_ERROR_TOO_LARGE);
}

static void large_area(proof_rig *at) { support_bytes_pad(&at->public_area, TENON_AREA_MAX + 1 - at->public_area.n); }
static void large_certified(proof_rig *at) { support_bytes_pad(&at->certified, TENON_AREA_MAX + 1 - at->certified.n); }
static void large_signature(proof_rig *at) { support_bytes_pad(&at->signature, TENON_AREA_MAX + 1 - at->signature.n); }

static void large_certificate(proof_rig *at)
{
    at->x5c_count = 1;
    at->x5c_n[0] = TENON_CERTIFICATE_MAX + 1;
}

static void large_chain(proof_rig *at)
{
    at->x5c_count = 4;
    for (size_t i = 0; i < 4; i++)
        at->x5c_n[i] = i == 0 ? 1 : TENON_CERTIFICATE_MAX;
}

static void five_certificates(proof_rig *at) { at->x5c_count = 5; }

static void check_decodes(rig_stage stage, void (*change)(proof_rig *), tenon_status expected)
{
    static proof_rig built;
    tenon_evidence back;
    rig_build(&built, stage, change);
    CHECK_STATUS(CLEARED(tenon_proof_decode(&back, built.proof, built.proof_n), &back), expected);
}

static void other_version(proof_rig *at) { at->version = "2.1"; }
static void other_format(proof_rig *at) { at->format = "packed"; }
static void other_algorithm(proof_rig *at) { at->algorithm = 0x27; }

TEST(proof_decode_caps)
{
    static uint8_t huge[TENON_PROOF_MAX + 1];
    tenon_evidence back;
    check_decodes(RIG_EVIDENCE, large_area, TENON_ERROR_TOO_LARGE);
    check_decodes(RIG_EVIDENCE, large_certified, TENON_ERROR_TOO_LARGE);
    check_decodes(RIG_EVIDENCE, large_signature, TENON_ERROR_TOO_LARGE);
    check_decodes(RIG_EVIDENCE, large_certificate, TENON_ERROR_TOO_LARGE);
    check_decodes(RIG_EVIDENCE, large_chain, TENON_ERROR_TOO_LARGE);
    check_decodes(RIG_EVIDENCE, five_certificates, TENON_ERROR_CBOR_COUNT);
    check_decodes(RIG_EVIDENCE, other_version, TENON_ERROR_PROOF_FORM);
    check_decodes(RIG_EVIDENCE, other_format, TENON_ERROR_PROOF_FORM);
    check_decodes(RIG_EVIDENCE, other_algorithm, TENON_ERROR_PROOF_FORM);
    /* Deep nesting ends at the first item. */
    memset(huge, 0x81, sizeof huge);
    CHECK_STATUS(tenon_proof_decode(&back, huge, sizeof huge), TENON_ERROR_TOO_LARGE);
    CHECK_STATUS(tenon_proof_decode(&back, huge, sizeof huge - 1), TENON_ERROR_CBOR_TYPE);
    memset(huge, 0xa2, sizeof huge);
    CHECK_STATUS(tenon_proof_decode(&back, huge, TENON_PROOF_MAX), TENON_ERROR_CBOR_TYPE);
}

/* The offsets of the items of a valid proof, in order; strings include their bytes. */
static size_t find_heads(const proof_rig *built, size_t *heads)
{
    size_t count = 0;
    for (size_t at = 0; at < built->proof_n;) {
        uint8_t first = built->proof[at], size = first & 0x1f;
        size_t n = size < 24 ? size : built->proof[at + 1];
        heads[count++] = at;
        at += size < 24 ? 1 : 2;
        if (first >> 5 == 2 || first >> 5 == 3)
            at += n;
    }
    return count;
}

/* The proof with the head at one place replaced. */
static tenon_status decode_with(const proof_rig *built, size_t at, const uint8_t *head, size_t head_n)
{
    static uint8_t changed[1024];
    tenon_evidence back;
    size_t old = (built->proof[at] & 0x1f) < 24 ? 1 : 2, rest = built->proof_n - at - old;
    memcpy(changed, built->proof, at);
    memcpy(changed + at, head, head_n);
    memcpy(changed + at + head_n, built->proof + at + old, rest);
    return tenon_proof_decode(&back, changed, at + head_n + rest);
}

static void check_longer_heads(const proof_rig *built, size_t at)
{
    uint8_t first = built->proof[at], size = first & 0x1f, head[9] = {0};
    uint8_t number = size < 24 ? size : built->proof[at + 1];
    for (uint8_t width = 0; width < 4; width++) {
        size_t n = (size_t)1 << width;
        if (size == 24 && width == 0)
            continue;
        memset(head, 0, sizeof head);
        head[0] = (uint8_t)((first & 0xe0) | (24 + width));
        head[n] = number;
        CHECK_STATUS(decode_with(built, at, head, 1 + n), TENON_ERROR_CBOR_NOT_MINIMAL);
    }
}

static void check_other_heads(const proof_rig *built, size_t at)
{
    uint8_t first = built->proof[at], major = first >> 5;
    const uint8_t tagged[] = {0xc1, first}, indefinite = first | 0x1f;
    bool has_count = major == 4 || major == 5;
    for (uint8_t other = 0; other < 8; other++) {
        uint8_t head = (uint8_t)(other << 5) | (first & 0x17);
        if (other != major && !(major < 2 && other < 2))
            CHECK_STATUS(decode_with(built, at, &head, 1), TENON_ERROR_CBOR_TYPE);
    }
    for (uint8_t size = 28; size < 31; size++) {
        uint8_t head = (first & 0xe0) | size;
        CHECK_STATUS(decode_with(built, at, &head, 1), TENON_ERROR_CBOR_TYPE);
    }
    CHECK_STATUS(decode_with(built, at, tagged, sizeof tagged), TENON_ERROR_CBOR_TYPE);
    CHECK_STATUS(decode_with(built, at, &indefinite, 1), TENON_ERROR_CBOR_INDEFINITE);
    if (major >= 2) {
        uint8_t huge[9];
        memset(huge, 0xff, sizeof huge);
        huge[0] = (first & 0xe0) | 27;
        CHECK_STATUS(decode_with(built, at, huge, sizeof huge),
                     has_count ? TENON_ERROR_CBOR_COUNT : TENON_ERROR_CBOR_TRUNCATED);
    }
}

TEST(proof_every_head_has_one_form)
{
    static proof_rig built;
    size_t heads[64];
    rig_build(&built, RIG_EVIDENCE, with_chain);
    built.x5c_count = 1;
    rig_build(&built, RIG_AREA, NULL);
    size_t count = find_heads(&built, heads);
    CHECK_NUMBER(count, 2 + 2 * 7 + 1);
    for (size_t i = 0; i < count; i++) {
        test_about("item %zu", i);
        check_longer_heads(&built, heads[i]);
        check_other_heads(&built, heads[i]);
    }
}

TEST(proof_keys_are_these_in_this_order)
{
    static const char *const keys[] = {"alg", "sig", "ver", "x5c", "pubArea", "certInfo"};
    static proof_rig built;
    tenon_evidence back;
    rig_build(&built, RIG_AREA, NULL);
    for (size_t i = 0; i < COUNT(keys); i++)
        for (size_t j = 0; j < COUNT(keys); j++) {
            static uint8_t changed[RIG_PROOF_MAX];
            size_t n = strlen(keys[i]), at = 0;
            if (i == j || strlen(keys[j]) != n)
                continue;
            memcpy(changed, built.proof, built.proof_n);
            while (memcmp(changed + at, keys[i], n) != 0)
                at++;
            memcpy(changed + at, keys[j], n);
            test_about("%s for %s", keys[j], keys[i]);
            CHECK_STATUS(tenon_proof_decode(&back, changed, built.proof_n), TENON_ERROR_CBOR_KEY);
        }
}

/* Complete proofs, written by hand. Each has one fault. */
#define HEAD "a263666d746374706d6761747453746d74"
#define STMT "a663616c672663736967406376657263322e3063783563806770756241726561406863657274496e666f40"
static const struct {
    const char *hex;
    tenon_status expected;
} wholes[] = {
    {HEAD STMT, TENON_OK},
    {HEAD STMT "00", TENON_ERROR_CBOR_TRAILING},
    {"", TENON_ERROR_CBOR_TRUNCATED},
    {"a26761747453746d74" STMT "63666d746374706d", TENON_ERROR_CBOR_KEY},                       /* attStmt first */
    {"a363666d746374706d6761747453746d74" STMT "68617574684461746140", TENON_ERROR_CBOR_COUNT}, /* authData */
    {"a2"
     "63666d746374706d"
     "63666d746374706d",
     TENON_ERROR_CBOR_KEY}, /* fmt twice */
    {"a163666d746374706d", TENON_ERROR_CBOR_COUNT},
    {HEAD "a0", TENON_ERROR_CBOR_COUNT},
    {HEAD "a563616c672663736967406376657263322e306770756241726561406863657274496e666f40", TENON_ERROR_CBOR_COUNT},
    {HEAD "a763616c6726637369674063736967406376657263322e3063783563806770756241726561406863657274496e666f40",
     TENON_ERROR_CBOR_COUNT},
    {HEAD "a663616c672663736967406376657263322e3063783563606770756241726561406863657274496e666f40",
     TENON_ERROR_CBOR_TYPE}, /* x5c is an empty text */
    {HEAD "a663616c672663736967406376657263322e306378356381606770756241726561406863657274496e666f40",
     TENON_ERROR_CBOR_TYPE}, /* a certificate that is text */
    {HEAD "a663616c672663736967606376657263322e3063783563806770756241726561406863657274496e666f40",
     TENON_ERROR_CBOR_TYPE}, /* sig is text */
    {HEAD "a663616c672663736967406376657243322e3063783563806770756241726561406863657274496e666f40",
     TENON_ERROR_CBOR_TYPE}, /* ver is bytes */
    {HEAD "a663616c673806"
          "63736967406376657263322e3063783563806770756241726561406863657274496e666f40",
     TENON_ERROR_CBOR_NOT_MINIMAL},
    {HEAD "a663616c67390100"
          "63736967406376657263322e3063783563806770756241726561406863657274496e666f40",
     TENON_ERROR_PROOF_FORM}, /* RS256 */
    {HEAD "a663616c673822"
          "63736967406376657263322e3063783563806770756241726561406863657274496e666f40",
     TENON_ERROR_PROOF_FORM}, /* ES384 */
};

TEST(proof_wholes)
{
    for (size_t i = 0; i < COUNT(wholes); i++) {
        size_t n;
        OWNED uint8_t *bytes = test_hex_all(wholes[i].hex, &n);
        tenon_evidence back;
        test_about("%s", wholes[i].hex);
        CHECK_STATUS(tenon_proof_decode(&back, bytes, n), wholes[i].expected);
    }
}

TEST(proof_cut_anywhere_is_truncated)
{
    static proof_rig built;
    rig_build(&built, RIG_EVIDENCE, with_chain);
    for (size_t n = 0; n < built.proof_n; n++) {
        tenon_evidence back;
        OWNED uint8_t *cut = test_copy(built.proof, n);
        test_about("%zu bytes", n);
        CHECK_STATUS(tenon_proof_decode(&back, n == 0 ? NULL : cut, n), TENON_ERROR_CBOR_TRUNCATED);
    }
}

static tenon_status signature_of(const char *hex, tenon_signature *out)
{
    size_t n;
    OWNED uint8_t *bytes = test_hex_all(hex, &n);
    tenon_evidence evidence = {.signature = {bytes, n}};
    test_about("%s", hex);
    return CLEARED(tenon_evidence_signature(out, &evidence), out);
}

#define N "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"

static void check_signatures(const char *const *forms, size_t count, tenon_status expected)
{
    tenon_signature signature;
    for (size_t i = 0; i < count; i++) {
        test_about("%s", forms[i]);
        CHECK_STATUS(signature_of(forms[i], &signature), expected);
    }
}

TEST(proof_signature_forms)
{
    static const char *const malformed[] = {"",
                                            "00",
                                            "0018",
                                            "0018000b",
                                            "0018000b000101000202",
                                            "0018000b0001010002020300",
                                            "0018000400010100020203",
                                            "0014000b00010100020203",
                                            "001a000b00010100020203",
                                            "0010",
                                            "30070201010202020300",
                                            "30810702010102020203",
                                            "30070201010202007f",
                                            "30060201ff020101"};
    static const char *const out_of_range[] = {"3006020101020100", "0018000b0000000101", ("0018000b0020" N "000101"),
                                               ("0018000b000101002100" N)};
    tenon_signature a, b;
    CHECK_OK(signature_of("0018000b00010100020203", &a));
    CHECK_OK(signature_of("300702010102020203", &b));
    CHECK_BYTES(&a, &b, sizeof a);
    CHECK(a.bytes[31] == 1 && a.bytes[62] == 2 && a.bytes[63] == 3);
    CHECK_OK(signature_of("3008020200ff02020203", &b));
    CHECK_NUMBER(b.bytes[31], 0xff);
    CHECK_OK(signature_of("3007020101020200ff", &a));
    check_signatures(malformed, COUNT(malformed), TENON_ERROR_SIGNATURE_FORM);
    check_signatures(out_of_range, COUNT(out_of_range), TENON_ERROR_SIGNATURE_RANGE);
}

OUTPUT(encode_der) { return tenon_evidence_signature_der(out, n, written, input); }

TEST(proof_signature_as_der)
{
    static proof_rig built;
    tenon_signature signature;
    uint8_t der[TENON_SIGNATURE_DER_MAX];
    size_t n;
    rig_build(&built, RIG_AREA, NULL);
    tenon_evidence evidence = evidence_of(&built);
    CHECK_OK(tenon_evidence_signature(&signature, &evidence));
    CHECK_BYTES(signature.bytes, built.ecdsa.r.bytes, 32);
    CHECK_BYTES(signature.bytes + 32, built.ecdsa.s.bytes, 32);
    CHECK_OK(tenon_signature_encode_der(der, sizeof der, &n, &signature));
    test_output_rule("tenon_evidence_signature_der", encode_der, &evidence, der, n);
    evidence.signature = (tenon_bytes){der, n};
    test_output_rule("tenon_evidence_signature_der of DER", encode_der, &evidence, der, n);
    evidence.signature.n--;
    CHECK_STATUS(tenon_evidence_signature_der(der, sizeof der, &n, &evidence), TENON_ERROR_SIGNATURE_FORM);
    CHECK_NUMBER(n, 0);
}

OUTPUT(encode_name)
{
    const support_bytes *area = input;
    return tenon_object_name(out, n, written, area->bytes, area->n);
}

TEST(proof_object_name)
{
    static proof_rig built;
    uint8_t name[TENON_NAME_SIZE];
    size_t n;
    rig_build(&built, RIG_AREA, NULL);
    test_output_rule("tenon_object_name", encode_name, &built.public_area, built.attest.name.bytes, sizeof name);
    CHECK_STATUS(tenon_object_name(name, sizeof name, &n, built.public_area.bytes, 3), TENON_ERROR_KEY_PUBLIC);
    CHECK_STATUS(tenon_object_name(name, sizeof name, &n, NULL, 0), TENON_ERROR_KEY_PUBLIC);
    built.public_area.bytes[3] = 0x0c;
    CHECK_STATUS(tenon_object_name(name, sizeof name, &n, built.public_area.bytes, built.public_area.n),
                 TENON_ERROR_KEY_PUBLIC);
    CHECK_NUMBER(n, 0);
}

TEST(proof_object_public_key)
{
    static proof_rig built;
    tenon_public_key key;
    support_bytes area;
    rig_build(&built, RIG_AREA, NULL);
    CHECK_OK(tenon_object_public_key(&key, built.public_area.bytes, built.public_area.n));
    CHECK_BYTES(&key, &built.submitted, sizeof key);
    CHECK_CLEARS(tenon_object_public_key(&key, built.public_area.bytes, built.public_area.n - 1),
                 TENON_ERROR_KEY_PUBLIC, &key);
    built.area.x.bytes[31] ^= 1;
    area = support_area_write(&built.area);
    CHECK_CLEARS(tenon_object_public_key(&key, area.bytes, area.n), TENON_ERROR_POINT_OFF_CURVE, &key);
}

TEST(proof_null_arguments)
{
    static proof_rig built;
    uint8_t out[8];
    size_t n = 7;
    tenon_signature signature;
    tenon_public_key key;
    tenon_evidence back;
    rig_build(&built, RIG_AREA, NULL);
    tenon_evidence evidence = evidence_of(&built);
    CHECK_STATUS(tenon_proof_encode(out, sizeof out, &n, NULL), TENON_ERROR_NULL);
    CHECK_NUMBER(n, 0);
    CHECK_STATUS(tenon_proof_encode(out, sizeof out, NULL, &evidence), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_proof_encode(NULL, 1, &n, &evidence), TENON_ERROR_NULL);
    tenon_bytes *const parts[] = {&evidence.public_area, &evidence.certified, &evidence.signature, &evidence.x5c[0]};
    evidence.x5c_count = 1;
    for (size_t i = 0; i < COUNT(parts); i++) {
        tenon_bytes kept = *parts[i];
        *parts[i] = (tenon_bytes){NULL, 1};
        CHECK_STATUS(tenon_proof_encode(out, sizeof out, &n, &evidence), TENON_ERROR_NULL);
        *parts[i] = kept;
    }
    CHECK_STATUS(tenon_proof_decode(NULL, built.proof, built.proof_n), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_proof_decode(&back, NULL, 1), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_evidence_signature(NULL, &evidence), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_evidence_signature(&signature, NULL), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_evidence_signature_der(out, sizeof out, &n, NULL), TENON_ERROR_NULL);
    evidence.signature = (tenon_bytes){NULL, 1};
    CHECK_STATUS(tenon_evidence_signature(&signature, &evidence), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_object_name(out, sizeof out, &n, NULL, 1), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_object_public_key(NULL, out, sizeof out), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_object_public_key(&key, NULL, 1), TENON_ERROR_NULL);
}

TEST(proof_every_size_is_a_function)
{
    CHECK_NUMBER(tenon_proof_max(), TENON_PROOF_MAX);
    CHECK_NUMBER(tenon_area_max(), TENON_AREA_MAX);
    CHECK_NUMBER(tenon_certificate_max(), TENON_CERTIFICATE_MAX);
    CHECK_NUMBER(tenon_certificates_max(), TENON_CERTIFICATES_MAX);
    CHECK_NUMBER(tenon_certificates_total(), TENON_CERTIFICATES_TOTAL);
    CHECK_NUMBER(tenon_object_name_size(), TENON_NAME_SIZE);
}
