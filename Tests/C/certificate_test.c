/* SPDX-License-Identifier: Apache-2.0 */
#include "base/der.h"
#include "certificate_rig.h"
#include "proof/date.h"
#include "proof/name.h"

static tenoni_certificate read_named(const char *name)
{
    tenon_bytes der = certificate_named(name);
    tenoni_certificate certificate;
    CHECK_OK(tenoni_certificate_read(&certificate, der.bytes, der.n));
    return certificate;
}

TEST(certificate_fields)
{
    tenon_bytes der = certificate_named("ek-rsa");
    tenoni_certificate ek = read_named("ek-rsa"), ca = read_named("ca-rsa3072"), deep = read_named("ca-rsa2048");
    tenoni_reader text;
    CHECK(ek.signed_part.at == der.bytes + 4 && ek.signed_part.at[0] == 0x30);
    CHECK(ek.signature.at + ek.signature.left == der.bytes + der.n && ek.signature.left == 384);
    CHECK(ek.subject_empty && ek.subject.left == 2 && !ca.subject_empty);
    CHECK_SAME(ek.issuer.at, ek.issuer.left, ca.subject.at, ca.subject.left);
    CHECK_NUMBER(ek.not_before, 1577836800);
    CHECK_NUMBER(ek.not_after, TENONI_DATE_MAX);
    CHECK_NUMBER(ek.key.kind, TENONI_KEY_RSA);
    CHECK_NUMBER(ek.key.exponent, 65537);
    CHECK_NUMBER(ek.key.modulus_or_point.left, 256);
    CHECK_NUMBER(ek.key.spki.left, 294);
    CHECK(ek.signed_with_rsa && ek.hash == TENONI_SHA256 && ca.hash == TENONI_SHA384);
    CHECK(!ek.authority && !ek.has_path_length && ek.has_key_usage && ek.alternative_name_critical);
    CHECK_NUMBER(ek.key_usage, TENONI_USAGE_KEY_ENCIPHERMENT);
    CHECK_NUMBER(ca.key_usage, TENONI_USAGE_CERT_SIGN | TENONI_USAGE_CRL_SIGN);
    CHECK(ca.authority && !ca.has_path_length && deep.has_path_length && deep.path_length == 0);
    CHECK(ek.key_id.left == 0 && ca.key_id.left == 20 && deep.issuer_key_id.left == 20);
    CHECK_BYTES(deep.issuer_key_id.at, ca.key_id.at, 20);
    CHECK(tenoni_certificate_tpm_attribute(&ek, tenoni_tpm_maker, TENONI_TCG_OID_SIZE, &text) && text.left == 11);
    CHECK_BYTES(text.at, "id:54454E4F", 11);
    CHECK(!tenoni_certificate_tpm_attribute(&ca, tenoni_tpm_maker, TENONI_TCG_OID_SIZE, &text));
    CHECK(!tenoni_certificate_tpm_attribute(&ek, tenoni_usage_ek, TENONI_TCG_OID_SIZE, &text));
}

/* The alternative name of a TPM whose maker is this text. */
static bool has_maker(const void *text, size_t n)
{
    enum { DIRECTORY_NAME = TENONI_DER_CONTEXT_CONSTRUCTED + 4 };
    uint8_t bytes[128];
    tenoni_writer writer = tenoni_writer_over(bytes, sizeof bytes);
    size_t directory = tenoni_der_begin(&writer, DIRECTORY_NAME);
    size_t name = tenoni_der_begin(&writer, TENONI_DER_SEQUENCE);
    tenoni_attribute_write(&writer, tenoni_tpm_maker, sizeof tenoni_tpm_maker, text, n);
    tenoni_der_end(&writer, name);
    tenoni_der_end(&writer, directory);
    const tenoni_certificate certificate = {.alternative_name = tenoni_reader_over(bytes, writer.used)};
    tenoni_reader found;
    return tenoni_certificate_tpm_attribute(&certificate, tenoni_tpm_maker, sizeof tenoni_tpm_maker, &found);
}

TEST(certificate_names_of_a_tpm)
{
    uint8_t longest[65];
    memset(longest, 'x', sizeof longest);
    CHECK(has_maker(longest, 64) && !has_maker(longest, 65) && has_maker(longest, 1) && !has_maker(longest, 0));
    CHECK(has_maker(" ~", 2) && !has_maker("\x1f", 1) && !has_maker("\x7f", 1) && !has_maker("a\0", 2));
}

TEST(certificate_usages)
{
    tenoni_certificate both = read_named("ek-leaf-extended-usage-of-EKs-and-AKs"), none = read_named("root");
    CHECK(tenoni_certificate_has_usage(&both, tenoni_usage_ek, TENONI_TCG_OID_SIZE));
    CHECK(tenoni_certificate_has_usage(&both, tenoni_usage_ak, TENONI_TCG_OID_SIZE));
    CHECK(!tenoni_certificate_has_usage(&both, tenoni_usage_ek, TENONI_TCG_OID_SIZE - 1));
    CHECK(!tenoni_certificate_has_usage(&both, tenoni_tpm_maker, TENONI_TCG_OID_SIZE));
    CHECK(!tenoni_certificate_has_usage(&none, tenoni_usage_ak, TENONI_TCG_OID_SIZE));
}

TEST(certificate_path_lengths)
{
    tenoni_certificate none = read_named("root"), zero = read_named("root-flat"), one = read_named("ca-p384");
    CHECK(tenoni_certificate_may_sign(&none, 3));
    CHECK(tenoni_certificate_may_sign(&zero, 0) && !tenoni_certificate_may_sign(&zero, 1));
    CHECK(tenoni_certificate_may_sign(&one, 1) && !tenoni_certificate_may_sign(&one, 2));
}

/* Whatever byte of it is another: read or refused, nothing else; what is found lies in its bytes. */
static void check_inside(tenoni_reader part, const uint8_t *der, size_t n)
{
    CHECK(part.left == 0 || (part.at >= der && part.at + part.left <= der + n));
}

static void change(const char *name, size_t step)
{
    tenon_bytes der = certificate_named(name);
    OWNED uint8_t *copy = malloc(der.n);
    for (size_t i = 0; i < der.n; i += step)
        for (unsigned value = 0; value < 256; value += 15) {
            tenoni_certificate read;
            memcpy(copy, der.bytes, der.n);
            copy[i] = (uint8_t)(der.bytes[i] + value);
            test_about("%s, byte %zu", name, i);
            if (tenoni_certificate_read(&read, copy, der.n) != TENON_RULE_22_CERTIFICATE) {
                check_inside(read.signed_part, copy, der.n);
                check_inside(read.key.modulus_or_point, copy, der.n);
                check_inside(read.alternative_name, copy, der.n);
                check_inside(read.issuer_key_id, copy, der.n);
                check_inside(read.signature, copy, der.n);
            } else {
                CHECK_ZERO(&read, sizeof read);
            }
        }
}

TEST(certificate_changed_bytes)
{
    change("ek-ext-all-that-makers-write", 1);
    change("ek-rsa", test_rounds(1, 5));
    change("ca-rsa2048", test_rounds(1, 5));
}

/* A serial number of 21 bytes, behind the zero that its first bit asks for. */
TEST(certificate_serial_behind_a_zero)
{
    enum { SERIAL_AT = 15 };
    uint8_t copy[TENON_CERTIFICATE_MAX];
    tenon_bytes der = certificate_named("ek-form-a-serial-of-22-bytes");
    tenoni_certificate read;
    memcpy(copy, der.bytes, der.n);
    memcpy(copy + SERIAL_AT, (const uint8_t[]){0x00, 0x80}, 2);
    CHECK_STATUS(tenoni_certificate_read(&read, copy, der.n), TENON_RULE_22_CERTIFICATE);
}

/* What trim returns of it: the size, at this place; or that it refuses it. */
static void check_trimmed(const char *const *texts, size_t count, size_t start, size_t size)
{
    for (size_t i = 0; i < count; i++) {
        size_t n;
        OWNED uint8_t *bytes = test_hex_all(texts[i], &n);
        tenon_bytes found = {bytes, 1};
        test_about("%s", texts[i]);
        if (size != 0) {
            CHECK_OK(tenon_certificate_trim(&found, bytes, n));
            CHECK(found.bytes == bytes + start && found.n == size);
        } else {
            CHECK_CLEARS(tenon_certificate_trim(&found, bytes, n), TENON_ERROR_CERTIFICATE_FORM, &found);
        }
    }
}

TEST(certificate_trimmed)
{
    static const char *const two[] = {"3000", "300000", "3000ffffffff", "300000ff00ff"}, *const three[] = {"300100"},
                             *const four[] = {"30020500"};
    /* Behind the head of a file in NV: its tag, its type, and the size of what follows. */
    static const char *const behind[] = {"10010000023000", "10010000023000ffff", "100100000430000000ff"};
    static const char *const bad[] = {"3000ff01ff", "30003000", "30", "3003ffff", "ffffffff", "30800000", ""};
    /* Sizes beyond the end, or that end within it; a hash of a certificate. */
    static const char *const bad_behind[] = {"10",
                                             "10010000",
                                             "1001000000",
                                             "1001000004300000",
                                             "1001000003300001",
                                             "10010000013000",
                                             "10010000033000ff01",
                                             "1001000002300001",
                                             "10010100023000",
                                             "10020000023000"};
    check_trimmed(two, COUNT(two), 0, 2);
    check_trimmed(three, COUNT(three), 0, 3);
    check_trimmed(four, COUNT(four), 0, 4);
    check_trimmed(behind, COUNT(behind), 5, 2);
    check_trimmed(bad, COUNT(bad), 0, 0);
    check_trimmed(bad_behind, COUNT(bad_behind), 0, 0);
}

TEST(certificate_trimmed_whole)
{
    tenon_bytes der = certificate_named("ek-rsa"), found;
    uint8_t *room = calloc(1, der.n + 600);
    memcpy(room, (const uint8_t[]){0x10, 0x01, 0x00, (uint8_t)(der.n >> 8), (uint8_t)der.n}, 5);
    memcpy(room + 5, der.bytes, der.n);
    CHECK_OK(tenon_certificate_trim(&found, room, der.n + 600));
    CHECK(found.bytes == room + 5 && found.n == der.n);
    CHECK_STATUS(tenon_certificate_trim(NULL, room, 5), TENON_ERROR_NULL);
    CHECK_CLEARS(tenon_certificate_trim(&found, NULL, 5), TENON_ERROR_NULL, &found);
    free(room);
}

static void check_date(int64_t seconds, const char *text)
{
    uint8_t bytes[32];
    int64_t back = 0;
    tenoni_writer writer = tenoni_writer_over(bytes, sizeof bytes);
    tenoni_date_write(&writer, seconds);
    test_about("%s", text);
    CHECK_NUMBER(writer.used, 2 + strlen(text));
    CHECK(bytes[0] == (strlen(text) == 13 ? 0x17 : 0x18) && bytes[1] == strlen(text));
    CHECK_BYTES(bytes + 2, text, strlen(text));
    tenoni_reader reader = tenoni_reader_over(bytes, writer.used);
    CHECK(tenoni_date_read(&reader, &back) && reader.left == 0);
    CHECK_NUMBER(back, seconds);
}

TEST(certificate_dates)
{
    check_date(TENONI_DATE_MIN, "500101000000Z");
    check_date(-1, "691231235959Z");
    check_date(0, "700101000000Z");
    check_date(951782400, "000229000000Z");
    check_date(951868799, "000229235959Z");
    check_date(951868800, "000301000000Z");
    check_date(1800000000, "270115080000Z");
    check_date(2524607999, "491231235959Z");
    check_date(2524608000, "20500101000000Z");
    check_date(4107542400, "21000301000000Z");
    check_date(4107542399, "21000228235959Z");
    check_date(7263216000, "22000301000000Z");
    check_date(13574563200, "24000229000000Z");
    check_date(TENONI_DATE_MAX, "99991231235959Z");
    const int64_t step = INT64_C(86400) * (int64_t)test_rounds(29, 997) + 3607;
    for (int64_t seconds = TENONI_DATE_MIN; seconds < TENONI_DATE_MAX; seconds += step) {
        uint8_t bytes[32];
        int64_t back = 0;
        tenoni_writer writer = tenoni_writer_over(bytes, sizeof bytes);
        tenoni_date_write(&writer, seconds);
        tenoni_reader reader = tenoni_reader_over(bytes, writer.used);
        test_about(NULL);
        CHECK(tenoni_date_read(&reader, &back) && back == seconds);
    }
}
