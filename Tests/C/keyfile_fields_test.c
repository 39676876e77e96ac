/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tpm_rig.h"

/* The DER inside a key file, field by field. */

#define BEGIN "-----BEGIN TSS2 PRIVATE KEY-----\n"
#define END "-----END TSS2 PRIVATE KEY-----\n"

/* The fields of the DER in hexadecimal; NULL: as in a good file. */
typedef struct {
    const char *about;
    tenon_status expected;
    const char *type, *empty_auth, *optional, *parent, *public_area, *private_area, *after;
} der_case;

#define TYPE "06066781050a0103"
#define AUTH "a0030101ff"
#define OWNER "020440000001"
#define AREA "0403000155"
#define TWO_FIFTY_FIVE                                                                                                 \
    SIXTEEN SIXTEEN SIXTEEN SIXTEEN SIXTEEN SIXTEEN SIXTEEN SIXTEEN SIXTEEN SIXTEEN SIXTEEN SIXTEEN SIXTEEN SIXTEEN    \
        SIXTEEN "616161616161616161616161616161"
#define SIXTEEN "61616161616161616161616161616161"
#define FIELD TENON_ERROR_KEY_FIELD

static const der_case der_cases[] = {
    {.about = "good", .expected = TENON_OK},
    {.about = "emptyAuth absent", .expected = TENON_OK, .empty_auth = ""},
    {.about = "emptyAuth false", .expected = TENON_OK, .empty_auth = "a003010100"},
    {.about = "emptyAuth 01", .expected = TENON_OK, .empty_auth = "a003010101"},
    {.about = "description", .expected = TENON_OK, .optional = "a4070c056a756c6961"},
    {.about = "description empty", .expected = TENON_OK, .optional = "a4020c00"},
    {.about = "description 255", .expected = TENON_OK, .optional = "a48201020c81ff" TWO_FIFTY_FIVE},
    {.about = "description 256", .expected = FIELD, .optional = "a48201040c820100" TWO_FIFTY_FIVE "61"},
    {.about = "parent 81000001", .expected = TENON_OK, .parent = "02050081000001"},
    {.about = "parent 81ffffff", .expected = TENON_OK, .parent = "02050081ffffff"},

    {.about = "importable key", .expected = TENON_ERROR_KEY_TYPE, .type = "06066781050a0104"},
    {.about = "sealed data", .expected = TENON_ERROR_KEY_TYPE, .type = "06066781050a0105"},
    {.about = "a longer type", .expected = TENON_ERROR_KEY_TYPE, .type = "06076781050a010301"},
    {.about = "a shorter type", .expected = TENON_ERROR_KEY_TYPE, .type = "06056781050a01"},
    {.about = "an empty type", .expected = TENON_ERROR_KEY_TYPE, .type = "0600"},
    {.about = "no type", .expected = FIELD, .type = ""},

    {.about = "emptyAuth 02", .expected = FIELD, .empty_auth = "a003010102"},
    {.about = "emptyAuth fe", .expected = FIELD, .empty_auth = "a0030101fe"},
    {.about = "emptyAuth of no byte", .expected = FIELD, .empty_auth = "a0020100"},
    {.about = "emptyAuth of two bytes", .expected = FIELD, .empty_auth = "a0040102ffff"},
    {.about = "emptyAuth empty", .expected = FIELD, .empty_auth = "a000"},
    {.about = "emptyAuth with more", .expected = FIELD, .empty_auth = "a0060101ff0101ff"},
    {.about = "emptyAuth an INTEGER", .expected = FIELD, .empty_auth = "a0030201ff"},
    {.about = "emptyAuth IMPLICIT", .expected = FIELD, .empty_auth = "8001ff"},
    {.about = "emptyAuth bare", .expected = FIELD, .empty_auth = "0101ff"},
    {.about = "emptyAuth twice", .expected = FIELD, .empty_auth = "a0030101ffa0030101ff"},
    {.about = "emptyAuth runs over", .expected = TENON_ERROR_DER_TRUNCATED, .empty_auth = "a0030102ff"},

    {.about = "policy", .expected = FIELD, .optional = "a1023000"},
    {.about = "secret", .expected = FIELD, .optional = "a203040155"},
    {.about = "authPolicy", .expected = FIELD, .optional = "a3023000"},
    {.about = "rsaParent", .expected = FIELD, .optional = "a5030101ff"},
    {.about = "[6]", .expected = FIELD, .optional = "a6030101ff"},
    {.about = "description twice", .expected = FIELD, .optional = "a4030c0161a4030c0161"},
    {.about = "description first", .expected = FIELD, .empty_auth = "a4030c0161" AUTH},
    {.about = "description PrintableString", .expected = FIELD, .optional = "a403130161"},
    {.about = "description of nothing", .expected = FIELD, .optional = "a400"},
    {.about = "description with more", .expected = FIELD, .optional = "a4060c01610c0161"},

    {.about = "no parent", .expected = FIELD, .parent = ""},
    {.about = "parent negative", .expected = FIELD, .parent = "020481000001"},
    {.about = "parent not minimal", .expected = FIELD, .parent = "02050040000001"},
    {.about = "parent of 33 bits", .expected = FIELD, .parent = "02050140000001"},
    {.about = "parent empty", .expected = FIELD, .parent = "0200"},
    {.about = "parent 0", .expected = FIELD, .parent = "020100"},
    {.about = "parent endorsement", .expected = FIELD, .parent = "02044000000b"},
    {.about = "parent NULL hierarchy", .expected = FIELD, .parent = "020440000007"},
    {.about = "parent transient", .expected = FIELD, .parent = "02050080000000"},
    {.about = "parent 82000000", .expected = FIELD, .parent = "02050082000000"},
    {.about = "parent an OCTET STRING", .expected = FIELD, .parent = "040440000001"},

    {.about = "no public", .expected = FIELD, .public_area = "", .private_area = ""},
    {.about = "public a BIT STRING", .expected = FIELD, .public_area = "0303000155"},
    {.about = "public without size", .expected = TENON_ERROR_KEY_PUBLIC, .public_area = "0400"},
    {.about = "public with half a size", .expected = TENON_ERROR_KEY_PUBLIC, .public_area = "040100"},
    {.about = "public empty", .expected = TENON_ERROR_KEY_PUBLIC, .public_area = "04020000"},
    {.about = "public too short", .expected = TENON_ERROR_KEY_PUBLIC, .public_area = "0403000255"},
    {.about = "public too long", .expected = TENON_ERROR_KEY_PUBLIC, .public_area = "040400015555"},

    {.about = "no private", .expected = FIELD, .private_area = ""},
    {.about = "private a BIT STRING", .expected = FIELD, .private_area = "0303000155"},
    {.about = "private without size", .expected = TENON_ERROR_KEY_PRIVATE, .private_area = "0400"},
    {.about = "private empty", .expected = TENON_ERROR_KEY_PRIVATE, .private_area = "04020000"},
    {.about = "private too short", .expected = TENON_ERROR_KEY_PRIVATE, .private_area = "0403000255"},
    {.about = "private too long", .expected = TENON_ERROR_KEY_PRIVATE, .private_area = "040400015555"},
    {.about = "private runs over", .expected = TENON_ERROR_DER_TRUNCATED, .private_area = "0404000155"},
    {.about = "length not minimal", .expected = TENON_ERROR_DER_LENGTH, .private_area = "048103000155"},
    {.about = "length indefinite", .expected = TENON_ERROR_DER_LENGTH, .private_area = "04800001550000"},

    {.about = "a field behind", .expected = FIELD, .after = "0500"},
    {.about = "a byte behind", .expected = FIELD, .after = "00"},
};

static size_t put_hex(uint8_t *out, const char *hex, const char *usual)
{
    const char *digits = hex != NULL ? hex : usual;
    test_hex(out, strlen(digits) / 2, digits);
    return strlen(digits) / 2;
}

/* The sequence of a case, with the shortest form of each length, as DER needs. */
static size_t put_der(uint8_t *out, const der_case *c)
{
    uint8_t fields[1400];
    size_t n = put_hex(fields, c->type, TYPE), head = 0;
    n += put_hex(fields + n, c->empty_auth, AUTH);
    n += put_hex(fields + n, c->optional, "");
    n += put_hex(fields + n, c->parent, OWNER);
    n += put_hex(fields + n, c->public_area, AREA);
    n += put_hex(fields + n, c->private_area, AREA);
    n += put_hex(fields + n, c->after, "");
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

TEST(keyfile_fields)
{
    for (size_t i = 0; i < COUNT(der_cases); i++) {
        uint8_t der[1100];
        tenoni_keyfile file;
        test_about("%s", der_cases[i].about);
        CHECK_STATUS(read_der(&file, der, put_der(der, &der_cases[i])), der_cases[i].expected);
    }
}

/* The values of the accepted cases; a description leaves no trace. */
TEST(keyfile_values)
{
    static const struct {
        size_t at;
        bool empty_auth;
        uint32_t parent;
    } expected[] = {{0, true, 0x40000001}, {1, false, 0x40000001}, {2, false, 0x40000001}, {3, true, 0x40000001},
                    {4, true, 0x40000001}, {8, true, 0x81000001},  {9, true, 0x81ffffff}};
    for (size_t i = 0; i < COUNT(expected); i++) {
        uint8_t der[1100];
        tenoni_keyfile file;
        test_about("%s", der_cases[expected[i].at].about);
        CHECK_OK(read_der(&file, der, put_der(der, &der_cases[expected[i].at])));
        CHECK(file.empty_auth == expected[i].empty_auth);
        CHECK_NUMBER(file.parent, expected[i].parent);
        CHECK(file.public_n == 1 && file.public_area[0] == 0x55 && file.private_n == 1 && file.private_area[0] == 0x55);
    }
}

TEST(keyfile_der_ends)
{
    uint8_t der[1100];
    tenoni_keyfile file;
    size_t n = put_der(der, &der_cases[0]);
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

static tenon_status read_areas(size_t public_n, size_t private_n)
{
    char public_hex[4096], private_hex[4096];
    uint8_t der[2048];
    tenoni_keyfile file;
    int head = snprintf(public_hex, sizeof public_hex, "0482%04zx%04zx", public_n + 2, public_n);
    memset(public_hex + head, '5', 2 * public_n);
    public_hex[(size_t)head + 2 * public_n] = '\0';
    head = snprintf(private_hex, sizeof private_hex, "0482%04zx%04zx", private_n + 2, private_n);
    memset(private_hex + head, '5', 2 * private_n);
    private_hex[(size_t)head + 2 * private_n] = '\0';
    size_t n = put_der(der, &(der_case){.public_area = public_hex, .private_area = private_hex});
    return read_der(&file, der, n);
}

TEST(keyfile_areas_too_large)
{
    CHECK_OK(read_areas(256, 512));
    CHECK_STATUS(read_areas(257, 512), TENON_ERROR_KEY_PUBLIC);
    CHECK_STATUS(read_areas(256, 513), TENON_ERROR_KEY_PRIVATE);
    CHECK_STATUS(read_areas(1000, 256), TENON_ERROR_KEY_PUBLIC);
    CHECK_STATUS(read_areas(256, 1000), TENON_ERROR_KEY_PRIVATE);
}
