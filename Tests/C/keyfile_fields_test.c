/* SPDX-License-Identifier: Apache-2.0 */
#include "tpm_rig.h"

/* The DER inside a key file, field by field. */

#define BEGIN "-----BEGIN TSS2 PRIVATE KEY-----\n"
#define END "-----END TSS2 PRIVATE KEY-----\n"

enum { TYPE, EMPTY_AUTH, OPTIONAL, PARENT, PUBLIC_AREA, PRIVATE_AREA, AFTER, FIELDS };

#define SIXTEEN "61616161616161616161616161616161"
#define TWO_FIFTY_FIVE                                                                                                 \
    SIXTEEN SIXTEEN SIXTEEN SIXTEEN SIXTEEN SIXTEEN SIXTEEN SIXTEEN SIXTEEN SIXTEEN SIXTEEN SIXTEEN SIXTEEN SIXTEEN    \
        SIXTEEN "616161616161616161616161616161"

/* The field that the row names, in hexadecimal behind the name of the case. */
static const test_texts rows[] = {
    {TENON_ERROR_KEY_TYPE, TYPE, {"importable key = 06066781050a0104", "sealed data = 06066781050a0105"}},
    {TENON_ERROR_KEY_TYPE, TYPE, {"a longer type = 06076781050a010301", "a shorter type = 06056781050a01"}},
    {TENON_ERROR_KEY_TYPE, TYPE, {"an empty type = 0600"}},
    {TENON_ERROR_KEY_FIELD, TYPE, {"no type = "}},
    {TENON_OK, EMPTY_AUTH, {"absent = ", "false = a003010100", "01 = a003010101"}},
    {TENON_ERROR_KEY_FIELD, EMPTY_AUTH, {"02 = a003010102", "fe = a0030101fe", "of no byte = a0020100"}},
    {TENON_ERROR_KEY_FIELD, EMPTY_AUTH, {"of two bytes = a0040102ffff", "empty = a000"}},
    {TENON_ERROR_KEY_FIELD, EMPTY_AUTH, {"with more = a0060101ff0101ff", "an INTEGER = a0030201ff"}},
    {TENON_ERROR_KEY_FIELD, EMPTY_AUTH, {"IMPLICIT = 8001ff", "bare = 0101ff", "twice = a0030101ffa0030101ff"}},
    {TENON_ERROR_KEY_FIELD, EMPTY_AUTH, {"description first = a4030c0161a0030101ff"}},
    {TENON_ERROR_DER_TRUNCATED, EMPTY_AUTH, {"runs over = a0030102ff"}},
    {TENON_OK, OPTIONAL, {"description = a4070c056a756c6961", "description empty = a4020c00"}},
    {TENON_OK, OPTIONAL, {"description 255 = a48201020c81ff" TWO_FIFTY_FIVE}},
    {TENON_ERROR_KEY_FIELD, OPTIONAL, {"description 256 = a48201040c820100" TWO_FIFTY_FIVE "61"}},
    {TENON_ERROR_KEY_FIELD, OPTIONAL, {"policy = a1023000", "secret = a203040155", "authPolicy = a3023000"}},
    {TENON_ERROR_KEY_FIELD, OPTIONAL, {"rsaParent = a5030101ff", "[6] = a6030101ff"}},
    {TENON_ERROR_KEY_FIELD, OPTIONAL, {"description twice = a4030c0161a4030c0161"}},
    {TENON_ERROR_KEY_FIELD, OPTIONAL, {"description PrintableString = a403130161", "description of nothing = a400"}},
    {TENON_ERROR_KEY_FIELD, OPTIONAL, {"description with more = a4060c01610c0161"}},
    {TENON_OK, PARENT, {"81000001 = 02050081000001", "81ffffff = 02050081ffffff"}},
    {TENON_ERROR_KEY_FIELD, PARENT, {"no parent = ", "negative = 020481000001", "not minimal = 02050040000001"}},
    {TENON_ERROR_KEY_FIELD, PARENT, {"of 33 bits = 02050140000001", "empty = 0200", "0 = 020100"}},
    {TENON_ERROR_KEY_FIELD, PARENT, {"endorsement = 02044000000b", "NULL hierarchy = 020440000007"}},
    {TENON_ERROR_KEY_FIELD, PARENT, {"transient = 02050080000000", "82000000 = 02050082000000"}},
    {TENON_ERROR_KEY_FIELD, PARENT, {"an OCTET STRING = 040440000001"}},
    {TENON_ERROR_KEY_FIELD, PUBLIC_AREA, {"a BIT STRING = 0303000155"}},
    {TENON_ERROR_KEY_PUBLIC, PUBLIC_AREA, {"without size = 0400", "with half a size = 040100", "empty = 04020000"}},
    {TENON_ERROR_KEY_PUBLIC, PUBLIC_AREA, {"too short = 0403000255", "too long = 040400015555"}},
    {TENON_ERROR_KEY_FIELD, PRIVATE_AREA, {"no private = ", "a BIT STRING = 0303000155"}},
    {TENON_ERROR_KEY_PRIVATE, PRIVATE_AREA, {"without size = 0400", "empty = 04020000", "too short = 0403000255"}},
    {TENON_ERROR_KEY_PRIVATE, PRIVATE_AREA, {"too long = 040400015555"}},
    {TENON_ERROR_DER_TRUNCATED, PRIVATE_AREA, {"runs over = 0404000155"}},
    {TENON_ERROR_DER_LENGTH, PRIVATE_AREA, {"length not minimal = 048103000155"}},
    {TENON_ERROR_DER_LENGTH, PRIVATE_AREA, {"length indefinite = 04800001550000"}},
    {TENON_ERROR_KEY_FIELD, AFTER, {"a field behind = 0500", "a byte behind = 00"}},
};

typedef struct {
    const char *hex[FIELDS];
} der_fields;

static const der_fields good = {{"06066781050a0103", "a0030101ff", "", "020440000001", "0403000155", "0403000155", ""}};

/* The sequence of these fields, with the shortest form of each length, as DER needs. */
static size_t put_der(uint8_t *out, const der_fields *of)
{
    uint8_t fields[1400];
    size_t n = 0, head = 0;
    for (size_t i = 0; i < FIELDS; n += strlen(of->hex[i++]) / 2)
        test_hex(fields + n, strlen(of->hex[i]) / 2, of->hex[i]);
    out[head++] = 0x30;
    if (n >= 0x80)
        out[head++] = n < 0x100 ? 0x81 : 0x82;
    if (n >= 0x100)
        out[head++] = (uint8_t)(n >> 8);
    out[head++] = (uint8_t)n;
    memcpy(out + head, fields, n);
    return head + n;
}

static size_t put_pem(char *out, size_t size, const uint8_t *der, size_t der_n)
{
    char base64[2048];
    size_t n;
    CHECK_OK(tenon_base64_encode(base64, sizeof base64, &n, der, der_n));
    size_t used = (size_t)snprintf(out, size, BEGIN);
    for (size_t at = 0; at < n; at += 64)
        used += (size_t)snprintf(out + used, size - used, "%.*s\n", (int)(n - at < 64 ? n - at : 64), base64 + at);
    return used + (size_t)snprintf(out + used, size - used, END);
}

static tenon_status read_der(tenoni_keyfile *file, const uint8_t *der, size_t n)
{
    char pem[4096];
    return tpm_rig_read(file, pem, put_pem(pem, sizeof pem, der, n));
}

static tenon_status read_fields(tenoni_keyfile *file, const der_fields *of)
{
    uint8_t der[2048];
    return read_der(file, der, put_der(der, of));
}

static tenon_status read_with(tenoni_keyfile *file, int replaced, const char *hex)
{
    der_fields fields = good;
    fields.hex[replaced] = hex;
    return read_fields(file, &fields);
}

static tenon_status read_field(int field, const char *text)
{
    tenoni_keyfile file;
    return read_with(&file, field, strstr(text, " = ") + strlen(" = "));
}

TEST(keyfile_fields)
{
    tenoni_keyfile file;
    test_each_text(rows, COUNT(rows), read_field);
    der_fields without_areas = good;
    without_areas.hex[PUBLIC_AREA] = without_areas.hex[PRIVATE_AREA] = "";
    CHECK_STATUS(read_fields(&file, &without_areas), TENON_ERROR_KEY_FIELD);
}

/* The values of the accepted cases; a description leaves no trace. */
TEST(keyfile_values)
{
    static const struct {
        int replaced;
        const char *hex;
        bool empty_auth;
        uint32_t parent;
    } accepted[] = {
        {AFTER, "", true, 0x40000001},
        {EMPTY_AUTH, "", false, 0x40000001},
        {EMPTY_AUTH, "a003010100", false, 0x40000001},
        {EMPTY_AUTH, "a003010101", true, 0x40000001},
        {OPTIONAL, "a4070c056a756c6961", true, 0x40000001},
        {PARENT, "02050081000001", true, 0x81000001},
        {PARENT, "02050081ffffff", true, 0x81ffffff},
    };
    for (size_t i = 0; i < COUNT(accepted); i++) {
        tenoni_keyfile file;
        test_about("%s", accepted[i].hex);
        CHECK_OK(read_with(&file, accepted[i].replaced, accepted[i].hex));
        CHECK(file.empty_auth == accepted[i].empty_auth);
        CHECK_NUMBER(file.parent, accepted[i].parent);
        CHECK(file.public_n == 1 && file.public_area[0] == 0x55 && file.private_n == 1 && file.private_area[0] == 0x55);
    }
}

TEST(keyfile_der_ends)
{
    uint8_t der[1100];
    tenoni_keyfile file;
    size_t n = put_der(der, &good);
    for (size_t i = 0; i < n; i++) {
        test_about("%zu bytes of DER", i);
        CHECK_STATUS(read_der(&file, der, i), TENON_ERROR_DER_TRUNCATED);
    }
    test_about(NULL);
    der[n] = 0;
    CHECK_STATUS(read_der(&file, der, n + 1), TENON_ERROR_DER_TRAILING);
    der[0] = 0x31;
    CHECK_STATUS(read_der(&file, der, n), TENON_ERROR_DER_TAG);
}

static void put_area(char *hex, size_t size, size_t n)
{
    const int head = snprintf(hex, size, "0482%04zx%04zx", n + 2, n);
    memset(hex + head, '5', 2 * n);
    hex[(size_t)head + 2 * n] = '\0';
}

static tenon_status read_areas(size_t public_n, size_t private_n)
{
    char public_hex[4096], private_hex[4096];
    tenoni_keyfile file;
    der_fields fields = good;
    put_area(public_hex, sizeof public_hex, public_n);
    put_area(private_hex, sizeof private_hex, private_n);
    fields.hex[PUBLIC_AREA] = public_hex;
    fields.hex[PRIVATE_AREA] = private_hex;
    return read_fields(&file, &fields);
}

TEST(keyfile_areas_too_large)
{
    CHECK_OK(read_areas(256, 512));
    CHECK_STATUS(read_areas(257, 512), TENON_ERROR_KEY_PUBLIC);
    CHECK_STATUS(read_areas(256, 513), TENON_ERROR_KEY_PRIVATE);
    CHECK_STATUS(read_areas(1000, 256), TENON_ERROR_KEY_PUBLIC);
    CHECK_STATUS(read_areas(256, 1000), TENON_ERROR_KEY_PRIVATE);
}
