/* SPDX-License-Identifier: Apache-2.0 */
#include "base/der.h"
#include "certificate_rig.h"
#include "proof/date.h"
#include "proof/name.h"

/* An authority, an issuer below it, and an AK of RFC 6979's key. */
static tenon_key *root_key, *issuer_key, *timid_key;
static tenon_public_key root_public, issuer_public;
static uint8_t area[88], root[TENON_CERTIFICATE_MAX], issuer[TENON_CERTIFICATE_MAX];
static size_t root_n, issuer_n;
static tenon_ek ek;
static tenon_ak_request request;
static tenon_authority_request authority;

enum { BOTH = TENON_KEY_SIGNS_DIGESTS | TENON_KEY_DETERMINISTIC };

static const char area_hex[] = "0023000b00050472000000100018000b000300100020"
                               "60fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb60020"
                               "7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299";

static tenon_key *import(uint8_t last, uint32_t flags, tenon_public_key *public_key)
{
    uint8_t scalar[32] = {0};
    tenon_key *key;
    scalar[31] = last;
    CHECK_OK(tenon_software_key_import(&key, scalar, sizeof scalar, flags));
    CHECK_OK(tenon_key_public_key(key, public_key));
    return key;
}

static int set_up(void)
{
    tenon_public_key timid_public;
    root_key = import(7, BOTH, &root_public);
    issuer_key = import(8, BOTH, &issuer_public);
    timid_key = import(8, 0, &timid_public);
    test_hex(area, sizeof area, area_hex);
    authority = (tenon_authority_request){.size = sizeof authority,
                                          .name = "R\xc3\xb6\xc3\xb6t",
                                          .name_n = 6,
                                          .serial = {0x80, 1},
                                          .not_before = 1700000000,
                                          .not_after = 2600000000};
    CHECK_OK(tenon_authority_certificate_issue(root, sizeof root, &root_n, root_key, &authority));
    authority.name = "Issuer";
    authority.serial[0] = 0;
    authority.key = &issuer_public;
    authority.issuer = (tenon_bytes){root, root_n};
    CHECK_OK(tenon_authority_certificate_issue(issuer, sizeof issuer, &issuer_n, root_key, &authority));
    ek = (tenon_ek){.maker = "id:54454E4F", .maker_n = 11, .model = "M", .model_n = 1, .version_n = 64};
    memset(ek.version, 'v', 64);
    request = (tenon_ak_request){.size = sizeof request,
                                 .ak = {area, sizeof area},
                                 .ek = &ek,
                                 .serial = {1, 2, 3},
                                 .not_before = 1799999700,
                                 .not_after = 1807776000};
    return 0;
}

static void tear_down(int *unused)
{
    tenon_key_free(&root_key);
    tenon_key_free(&issuer_key);
    tenon_key_free(&timid_key);
}

#define STAGE __attribute__((cleanup(tear_down))) int stage = set_up()

static tenon_status issue_ak(tenon_bytes *out)
{
    static uint8_t made[TENON_CERTIFICATE_MAX];
    memset(made, 0xa5, sizeof made);
    out->bytes = made;
    return tenon_ak_certificate_issue(made, sizeof made, &out->n, issuer_key, issuer, issuer_n, &request);
}

static tenon_status verify(tenoni_certificate *leaf, tenon_bytes ak, int64_t now)
{
    tenon_bytes chain[] = {ak, {issuer, issuer_n}}, roots[] = {{root, root_n}};
    return tenoni_chain_verify(leaf, chain, 2, roots, 1, now, tenoni_usage_ak, TENON_RULE_24_CHAIN);
}

TEST(issue_ak_verifies)
{
    tenon_bytes ak;
    tenoni_certificate leaf;
    tenoni_reader text;
    STAGE;
    CHECK_OK(issue_ak(&ak));
    CHECK(ak.n < 1024 && ak.bytes[ak.n] == 0xa5);
    CHECK_OK(verify(&leaf, ak, 1800000000));
    CHECK(leaf.subject_empty && leaf.alternative_name_critical && !leaf.authority);
    CHECK(tenoni_certificate_has_usage(&leaf, tenoni_usage_ak, TENONI_TCG_OID_SIZE));
    CHECK(!tenoni_certificate_has_usage(&leaf, tenoni_usage_ek, TENONI_TCG_OID_SIZE));
    CHECK_NUMBER(leaf.key_usage, TENONI_USAGE_DIGITAL_SIGNATURE);
    CHECK_BYTES(leaf.key.modulus_or_point.at + 1, area + 22, 32);
    CHECK_BYTES(leaf.key.modulus_or_point.at + 33, area + 56, 32);
    CHECK(tenoni_certificate_tpm_attribute(&leaf, tenoni_tpm_version, TENONI_TCG_OID_SIZE, &text) && text.left == 64);
    CHECK(tenoni_certificate_tpm_attribute(&leaf, tenoni_tpm_model, TENONI_TCG_OID_SIZE, &text) && text.left == 1);
    CHECK(leaf.key_id.left == 0 && leaf.issuer_key_id.left == 20);
    CHECK_OK(verify(&leaf, ak, request.not_before));
    CHECK_STATUS(verify(&leaf, ak, request.not_before - 1), TENON_RULE_24_CHAIN);
    CHECK_OK(verify(&leaf, ak, request.not_after));
    CHECK_STATUS(verify(&leaf, ak, request.not_after + 1), TENON_RULE_24_CHAIN);
    /* The same request and a deterministic key: the same bytes. */
    uint8_t first[1024];
    size_t n = ak.n;
    memcpy(first, ak.bytes, n);
    CHECK_OK(issue_ak(&ak));
    CHECK_SAME(ak.bytes, ak.n, first, n);
}

TEST(issue_authorities)
{
    tenoni_certificate above, below;
    tenon_digest digest;
    STAGE;
    CHECK_OK(tenoni_certificate_read(&above, root, root_n));
    CHECK_OK(tenoni_certificate_read(&below, issuer, issuer_n));
    CHECK(above.authority && above.has_path_length && above.path_length == 1);
    CHECK(below.authority && below.has_path_length && below.path_length == 0);
    CHECK_NUMBER(below.key_usage, TENONI_USAGE_CERT_SIGN | TENONI_USAGE_CRL_SIGN);
    CHECK(tenoni_certificate_has_usage(&below, tenoni_usage_ak, TENONI_TCG_OID_SIZE));
    CHECK(above.issuer_key_id.left == 0 && below.issuer_key_id.left == 20);
    CHECK_BYTES(below.issuer_key_id.at, above.key_id.at, 20);
    CHECK_OK(tenon_sha256(&digest, below.key.modulus_or_point.at, 65));
    CHECK_SAME(below.key_id.at, below.key_id.left, digest.bytes, 20);
    CHECK_NUMBER(below.not_after, 2600000000);
    CHECK_BYTES(above.subject.at + above.subject.left - 6, "R\xc3\xb6\xc3\xb6t", 6);
}

/* A call with too little room signs nothing and says how much is enough. */
TEST(issue_room)
{
    size_t needed, written;
    uint8_t out[TENON_CERTIFICATE_MAX];
    STAGE;
    CHECK_STATUS(tenon_ak_certificate_issue(NULL, 0, &needed, issuer_key, issuer, issuer_n, &request),
                 TENON_ERROR_BUFFER_TOO_SMALL);
    memset(out, 0xa5, sizeof out);
    CHECK_STATUS(tenon_ak_certificate_issue(out, needed - 1, &written, issuer_key, issuer, issuer_n, &request),
                 TENON_ERROR_BUFFER_TOO_SMALL);
    CHECK_NUMBER(written, needed);
    CHECK(out[0] == 0xa5 && out[needed - 2] == 0xa5);
    CHECK_OK(tenon_ak_certificate_issue(out, needed, &written, issuer_key, issuer, issuer_n, &request));
    CHECK(written <= needed && written + 6 >= needed && out[needed] == 0xa5);
    CHECK_STATUS(tenon_ak_certificate_issue(out, sizeof out, NULL, issuer_key, issuer, issuer_n, &request),
                 TENON_ERROR_NULL);
    CHECK_STATUS(tenon_ak_certificate_issue(NULL, 1, &written, issuer_key, issuer, issuer_n, &request),
                 TENON_ERROR_NULL);
}

/* An issuer with this key whose names and key id are so long that its certificates do not fit. */
static size_t large_issuer(uint8_t *out, size_t name_n, size_t id_n)
{
    enum { SPKI = TENON_SPKI_SIZE };
    static const uint8_t algorithm[] = {0x30, 10, 6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2};
    static uint8_t text[TENON_CERTIFICATE_MAX];
    uint8_t spki[SPKI];
    size_t n;
    tenoni_writer writer = tenoni_writer_over(out, TENON_CERTIFICATE_MAX);
    CHECK_OK(tenon_public_key_encode_spki(spki, sizeof spki, &n, &issuer_public));
    memset(text, 'n', sizeof text);
    size_t whole = tenoni_der_begin(&writer, 0x30), part = tenoni_der_begin(&writer, 0x30);
    tenoni_write_bytes(&writer, (const uint8_t[]){0xa0, 3, 2, 1, 2, 2, 1, 1}, 8);
    tenoni_write_bytes(&writer, algorithm, sizeof algorithm);
    size_t above = tenoni_der_begin(&writer, 0x30);
    tenoni_attribute_write(&writer, (const uint8_t[]){0x55, 4, 3}, 3, "R", 1);
    tenoni_der_end(&writer, above);
    size_t dates = tenoni_der_begin(&writer, 0x30);
    tenoni_date_write(&writer, 1700000000);
    tenoni_date_write(&writer, 2000000000);
    tenoni_der_end(&writer, dates);
    size_t name = tenoni_der_begin(&writer, 0x30);
    tenoni_attribute_write(&writer, (const uint8_t[]){0x55, 4, 3}, 3, text, name_n);
    tenoni_der_end(&writer, name);
    tenoni_write_bytes(&writer, spki, n);
    size_t field = tenoni_der_begin(&writer, 0xa3), list = tenoni_der_begin(&writer, 0x30);
    size_t basic = tenoni_der_begin(&writer, 0x30);
    tenoni_write_bytes(&writer, (const uint8_t[]){6, 3, 0x55, 0x1d, 19, 4, 5, 0x30, 3, 1, 1, 0xff}, 12);
    tenoni_der_end(&writer, basic);
    size_t extension = tenoni_der_begin(&writer, 0x30);
    tenoni_write_bytes(&writer, (const uint8_t[]){6, 3, 0x55, 0x1d, 14}, 5);
    size_t value = tenoni_der_begin(&writer, 4);
    tenoni_der_write(&writer, 4, text, id_n);
    tenoni_der_end(&writer, value);
    tenoni_der_end(&writer, extension);
    tenoni_der_end(&writer, list);
    tenoni_der_end(&writer, field);
    tenoni_der_end(&writer, part);
    tenoni_write_bytes(&writer, algorithm, sizeof algorithm);
    tenoni_der_write(&writer, 3, (const uint8_t[]){0, 0x30, 6, 2, 1, 1, 2, 1, 1}, 9);
    tenoni_der_end(&writer, whole);
    CHECK(!writer.overflowed);
    return writer.used;
}

/* Every issued certificate is complete, however large its issuer's names are. */
TEST(issue_does_not_cut)
{
    static const size_t ids[] = {1, 1000, 1800, 2900};
    uint8_t above[TENON_CERTIFICATE_MAX], out[TENON_CERTIFICATE_MAX];
    size_t fitting = 0, cases = 0, step = test_rounds(13, 61);
    STAGE;
    for (size_t i = 0; i < COUNT(ids); i++)
        for (size_t name = 3000 - ids[i]; name + ids[i] < 3780; name += step, cases++) {
            tenoni_certificate made;
            size_t above_n = large_issuer(above, name, ids[i]), n;
            test_about("a name of %zu bytes, a key id of %zu", name, ids[i]);
            CHECK_OK(tenoni_certificate_read(&made, above, above_n));
            tenon_status status = tenon_ak_certificate_issue(out, sizeof out, &n, issuer_key, above, above_n, &request);
            CHECK(status == TENON_ERROR_TOO_LARGE ? n == 0 : status == TENON_OK);
            if (status == TENON_OK && ++fitting != 0)
                CHECK_OK(tenoni_certificate_read(&made, out, n));
        }
    CHECK(fitting > 10 && cases > fitting + 10);
}

static tenon_status issue_by(const tenon_key *key, const void *above, size_t above_n, const tenon_ak_request *of)
{
    uint8_t out[TENON_CERTIFICATE_MAX];
    size_t n = 9;
    tenon_status status = tenon_ak_certificate_issue(out, sizeof out, &n, key, above, above_n, of);
    CHECK((status == TENON_OK) == (n != 0));
    return status;
}

static void ak_fails(tenon_status expected)
{
    tenon_bytes ak;
    CHECK_STATUS(issue_ak(&ak), expected);
    CHECK_NUMBER(ak.n, 0);
}

/* With one thing changed, a good request is refused. */
#define AK_FAILS(change, expected) (request = good, (void)(change), ak_fails(expected))

TEST(issue_ak_arguments)
{
    static const char *const bad_texts[] = {"", "a\n", "\x7f", "\xc3\xa9"};
    STAGE;
    const tenon_ak_request good = request;
    AK_FAILS(request.size++, TENON_ERROR_OPTIONS);
    AK_FAILS(request.ek = NULL, TENON_ERROR_NULL);
    AK_FAILS(memset(request.serial, 0, sizeof request.serial), TENON_ERROR_OPTIONS);
    AK_FAILS(request.not_after = request.not_before - 1, TENON_ERROR_OPTIONS);
    AK_FAILS(request.not_after = INT64_C(253402300800), TENON_ERROR_OPTIONS);
    AK_FAILS(request.not_before = INT64_MIN, TENON_ERROR_OPTIONS);
    for (size_t i = 0; i < COUNT(bad_texts); i++) {
        test_about("text %zu", i);
        AK_FAILS(memcpy(ek.model, bad_texts[i], ek.model_n = strlen(bad_texts[i])), TENON_ERROR_OPTIONS);
    }
    AK_FAILS(ek.model_n = 65, TENON_ERROR_OPTIONS);
    AK_FAILS(ek.model_n = SIZE_MAX, TENON_ERROR_OPTIONS);
    ek.model_n = 1;
    ek.model[0] = 'M';
    area[7] &= 0xfe; /* not restricted any more: Part 2, 8.3 */
    area[5] = 0x04;
    AK_FAILS(0, TENON_RULE_29_AK);
}

TEST(issue_ak_issuers)
{
    tenon_bytes ak, rsa = certificate_named("ca-rsa3072");
    STAGE;
    CHECK_STATUS(issue_by(timid_key, issuer, issuer_n, &request), TENON_ERROR_DIGEST_NOT_ALLOWED);
    CHECK_STATUS(issue_by(root_key, issuer, issuer_n, &request), TENON_ERROR_CERTIFICATE_FORM);
    CHECK_STATUS(issue_by(issuer_key, issuer, issuer_n - 1, &request), TENON_ERROR_CERTIFICATE_FORM);
    CHECK_STATUS(issue_by(issuer_key, NULL, 0, &request), TENON_ERROR_CERTIFICATE_FORM);
    CHECK_STATUS(issue_by(NULL, issuer, issuer_n, &request), TENON_ERROR_NULL);
    CHECK_STATUS(issue_by(issuer_key, NULL, 1, &request), TENON_ERROR_NULL);
    CHECK_STATUS(issue_by(issuer_key, issuer, issuer_n, NULL), TENON_ERROR_NULL);
    /* An AK's certificate cannot issue, and RSA keys are not accepted. */
    CHECK_OK(issue_ak(&ak));
    CHECK_STATUS(issue_by(issuer_key, ak.bytes, ak.n, &request), TENON_ERROR_CERTIFICATE_FORM);
    CHECK_STATUS(issue_by(issuer_key, rsa.bytes, rsa.n, &request), TENON_ERROR_CERTIFICATE_FORM);
}

static void authority_fails(const tenon_authority_request *wrong, tenon_status expected)
{
    uint8_t out[TENON_CERTIFICATE_MAX];
    size_t n = 9;
    CHECK_STATUS(tenon_authority_certificate_issue(out, sizeof out, &n, root_key, wrong), expected);
    CHECK_NUMBER(n, 0);
}

#define AUTHORITY_FAILS(change, expected) (wrong = authority, (void)(change), authority_fails(&wrong, expected))

TEST(issue_authority_arguments)
{
    STAGE;
    tenon_authority_request wrong;
    tenon_public_key off = issuer_public;
    off.bytes[63] ^= 1;
    AUTHORITY_FAILS(wrong.size = 0, TENON_ERROR_OPTIONS);
    AUTHORITY_FAILS(wrong.name = NULL, TENON_ERROR_NULL);
    AUTHORITY_FAILS(wrong.key = NULL, TENON_ERROR_OPTIONS);
    AUTHORITY_FAILS(wrong.key = &off, TENON_ERROR_POINT_OFF_CURVE);
    AUTHORITY_FAILS((wrong.issuer = (tenon_bytes){NULL, 1}), TENON_ERROR_NULL);
    /* Self-signed, with another's key; the issuer's name. */
    AUTHORITY_FAILS((wrong.issuer = (tenon_bytes){NULL, 0}), TENON_ERROR_OPTIONS);
    AUTHORITY_FAILS(wrong.name = "R\xc3\xb6\xc3\xb6t", TENON_ERROR_OPTIONS);
    AUTHORITY_FAILS(memset(wrong.serial, 0, sizeof wrong.serial), TENON_ERROR_OPTIONS);
    authority_fails(NULL, TENON_ERROR_NULL);
    /* The issuer's own path length is 0: no issuer is allowed below it. */
    uint8_t out[TENON_CERTIFICATE_MAX];
    size_t n;
    wrong = authority;
    wrong.name = "Third";
    wrong.name_n = 5;
    wrong.issuer = (tenon_bytes){issuer, issuer_n};
    CHECK_STATUS(tenon_authority_certificate_issue(out, sizeof out, &n, issuer_key, &wrong),
                 TENON_ERROR_CERTIFICATE_FORM);
}

static tenon_status issue_named(int unused, const char *name)
{
    uint8_t out[TENON_CERTIFICATE_MAX];
    size_t n;
    authority.name = name;
    authority.name_n = strlen(name);
    return tenon_authority_certificate_issue(out, sizeof out, &n, root_key, &authority);
}

TEST(issue_names_are_utf8)
{
    static const test_texts rows[] = {
        {TENON_OK,
         0,
         {"a", "~ ", "\xc2\x80", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xef\xbf\xbd", "\xf0\x90\x80\x80",
          "\xf4\x8f\xbf\xbf"}},
        {TENON_OK, 0, {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}},
        {TENON_ERROR_OPTIONS, 0, {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"}},
        {TENON_ERROR_OPTIONS,
         0,
         {"", "\n", "\x7f", "\xc1\xbf", "\xc3", "\xc3z", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xe2\x82", "\xe2\x82z",
          "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf0\x9f\x94", "\x80", "\xff"}},
    };
    STAGE;
    test_each_text(rows, COUNT(rows), issue_named);
}
