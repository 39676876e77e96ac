/* SPDX-License-Identifier: Apache-2.0 */
#include "proof/credential.h"

#include "test.h"

enum { CASES = 9, LARGEST = TENON_CREDENTIAL_MAX };

typedef struct {
    tenon_ek ek;
    uint8_t name[TENON_NAME_SIZE], secret[TENONI_HASH_MAX];
    size_t secret_n;
    tenoni_credential_draw draw;
    tenoni_credential_part credential, encrypted;
} credential_case;

/* A field of any size up to the room that there is. */
static void take(uint8_t *out, size_t room, size_t *n, const char *value)
{
    if (CHECK(strlen(value) / 2 <= room))
        test_hex(out, *n = strlen(value) / 2, value);
}

/* The records of credential.txt's [credential], each of which ends with Encrypted. */
static void read_cases(credential_case *out)
{
    OWNED char *text = test_vectors("credential.txt");
    char *at = test_section(text, "[credential]"), *name, *value;
    size_t count = 0;
    credential_case c;
    const test_field fields[] = {{"Name", c.name, sizeof c.name},
                                 {"Draw", c.draw.secret, sizeof c.draw.secret},
                                 {"Salt", c.draw.salt, sizeof c.draw.salt}};
    while (test_section_line(&at, &name, &value) && count < CASES) {
        (void)test_take(fields, COUNT(fields), name, value);
        if (strcmp(name, "Kind") == 0)
            c = (credential_case){.ek = {.kind = (uint32_t)(value[0] - '0')}};
        else if (strcmp(name, "Key") == 0)
            take(c.ek.key, sizeof c.ek.key, &c.ek.key_n, value);
        else if (strcmp(name, "Secret") == 0)
            take(c.secret, sizeof c.secret, &c.secret_n, value);
        else if (strcmp(name, "Credential") == 0)
            take(c.credential.bytes, LARGEST, &c.credential.n, value);
        else if (strcmp(name, "Encrypted") == 0) {
            take(c.encrypted.bytes, LARGEST, &c.encrypted.n, value);
            out[count++] = c;
        }
    }
    CHECK_NUMBER(count, CASES);
}

/* A test with each of the cases. */
#define TEST_EACH_CASE(test_name)                                                                                      \
    static void test_name##_with(const credential_case *c);                                                            \
    TEST(test_name)                                                                                                    \
    {                                                                                                                  \
        credential_case cases[CASES];                                                                                  \
        read_cases(cases);                                                                                             \
        for (size_t i = 0; i < CASES; i++) {                                                                           \
            test_about("case %zu", i);                                                                                 \
            test_name##_with(&cases[i]);                                                                               \
        }                                                                                                              \
    }                                                                                                                  \
    static void test_name##_with(const credential_case *c)

TEST_EACH_CASE(credential_knows_its_vectors)
{
    tenoni_credential_part credential, encrypted;
    CHECK_OK(tenoni_credential_make(&credential, &encrypted, &c->ek, c->name, c->secret, c->secret_n, &c->draw));
    CHECK_SAME(credential.bytes, credential.n, c->credential.bytes, c->credential.n);
    CHECK_SAME(encrypted.bytes, encrypted.n, c->encrypted.bytes, c->encrypted.n);
}

TEST_EACH_CASE(credential_scalar_out_of_range_is_drawn_again)
{
    tenoni_credential_draw draw = c->draw;
    tenoni_credential_part credential, encrypted;
    memset(draw.secret, 0, sizeof draw.secret);
    CHECK_STATUS(tenoni_credential_make(&credential, &encrypted, &c->ek, c->name, c->secret, c->secret_n, &draw),
                 c->ek.kind == TENON_EK_RSA_2048 ? TENON_OK : TENON_ERROR_SCALAR_RANGE);
}

typedef struct {
    uint8_t credential[LARGEST], encrypted[LARGEST];
    size_t credential_n, encrypted_n;
} made;

static tenon_status make(made *out, const credential_case *c)
{
    memset(out, 0xa5, sizeof *out);
    return tenon_credential_make(out->credential, LARGEST, &out->credential_n, out->encrypted, LARGEST,
                                 &out->encrypted_n, &c->ek, c->name, sizeof c->name, c->secret, c->secret_n);
}

TEST_EACH_CASE(credential_is_another_each_time)
{
    made first, second;
    CHECK_OK(make(&first, c));
    CHECK_OK(make(&second, c));
    CHECK_NUMBER(first.credential_n, c->credential.n);
    CHECK_NUMBER(first.encrypted_n, c->encrypted.n);
    /* The sizes are in front and not random; 16 bytes of each part are. */
    CHECK(memcmp(first.credential + 4, second.credential + 4, 16) != 0);
    CHECK(memcmp(first.encrypted + 8, second.encrypted + 8, 16) != 0);
    CHECK_NUMBER(first.credential[first.credential_n], 0xa5);
    CHECK_NUMBER(first.encrypted[first.encrypted_n], 0xa5);
}

TEST_EACH_CASE(credential_sizes)
{
    uint8_t untouched[LARGEST];
    memset(untouched, 0xa5, sizeof untouched);
    for (size_t less = 0; less < 4; less++) {
        made out;
        memset(&out, 0xa5, sizeof out);
        size_t a = c->credential.n - (less & 1), b = c->encrypted.n - (less >> 1);
        CHECK_STATUS(tenon_credential_make(out.credential, a, &out.credential_n, out.encrypted, b, &out.encrypted_n,
                                           &c->ek, c->name, sizeof c->name, c->secret, c->secret_n),
                     less == 0 ? TENON_OK : TENON_ERROR_BUFFER_TOO_SMALL);
        CHECK_NUMBER(out.credential_n, c->credential.n);
        CHECK_NUMBER(out.encrypted_n, c->encrypted.n);
        CHECK(less == 0 ||
              (CHECK_BYTES(out.credential, untouched, LARGEST) && CHECK_BYTES(out.encrypted, untouched, LARGEST)));
    }
    size_t credential_n = 0, encrypted_n = 0;
    CHECK_STATUS(tenon_credential_make(NULL, 0, &credential_n, NULL, 0, &encrypted_n, &c->ek, c->name, sizeof c->name,
                                       c->secret, c->secret_n),
                 TENON_ERROR_BUFFER_TOO_SMALL);
    CHECK_NUMBER(credential_n, c->credential.n);
    CHECK_NUMBER(encrypted_n, c->encrypted.n);
    CHECK(c->credential.n <= TENON_CREDENTIAL_MAX && c->encrypted.n <= TENON_CREDENTIAL_MAX);
    CHECK_NUMBER(tenon_credential_max(), TENON_CREDENTIAL_MAX);
    CHECK_NUMBER(tenon_activation_secret_size(), 32);
}

static void check_refused(const credential_case *c, tenon_status why)
{
    made out;
    CHECK_STATUS(make(&out, c), why);
    CHECK_NUMBER(out.credential_n, 0);
    CHECK_NUMBER(out.encrypted_n, 0);
}

/* With this change, a good case is refused. */
#define REFUSED(change, why) (bad = *c, (void)(change), check_refused(&bad, why))

TEST_EACH_CASE(credential_refuses_keys_that_are_none)
{
    credential_case bad;
    REFUSED(bad.ek.key[bad.ek.key_n - 1] ^= 1, TENON_RULE_36_EK_KEY); /* even; or off the curve */
    REFUSED(memset(bad.ek.key, 0, bad.ek.key_n), TENON_RULE_36_EK_KEY);
    if (c->ek.kind == TENON_EK_RSA_2048)
        REFUSED(bad.ek.key[0] &= 0x7f, TENON_RULE_36_EK_KEY); /* 2047 bits */
    else
        REFUSED(memset(bad.ek.key, 0xff, bad.ek.key_n), TENON_RULE_36_EK_KEY); /* not below p */
}

TEST_EACH_CASE(credential_refuses_arguments)
{
    credential_case bad;
    size_t most = c->ek.kind == TENON_EK_P384 ? 48 : 32;
    REFUSED(bad.ek.key_n--, TENON_ERROR_OPTIONS);
    REFUSED(bad.ek.kind = bad.ek.kind % 3 + 1, TENON_ERROR_OPTIONS);
    REFUSED(bad.ek.kind = 0, TENON_ERROR_OPTIONS);
    REFUSED(bad.ek.kind = 4, TENON_ERROR_OPTIONS);
    REFUSED(bad.secret_n = 0, TENON_ERROR_EMPTY);
    if (most < sizeof bad.secret)
        REFUSED(bad.secret_n = most + 1, TENON_ERROR_TOO_LARGE);
    REFUSED(bad.name[1] = 0x0c, TENON_ERROR_OPTIONS);
    REFUSED(bad.name[0] = 1, TENON_ERROR_OPTIONS);
}

/* NULL in each place, and Names of another length. */
TEST(credential_refuses_null)
{
    credential_case cases[CASES];
    uint8_t a[LARGEST], b[LARGEST], name[50] = {0, 0x0b}, secret[64] = {1};
    size_t m, n;
    read_cases(cases);
    const tenon_ek *ek = &cases[0].ek;
    CHECK_STATUS(tenon_credential_make(NULL, 1, &m, b, LARGEST, &n, ek, name, 34, secret, 32), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_credential_make(a, LARGEST, NULL, b, LARGEST, &n, ek, name, 34, secret, 32), TENON_ERROR_NULL);
    CHECK_NUMBER(n, 0);
    CHECK_STATUS(tenon_credential_make(a, LARGEST, &m, NULL, 1, &n, ek, name, 34, secret, 32), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_credential_make(a, LARGEST, &m, b, LARGEST, NULL, ek, name, 34, secret, 32), TENON_ERROR_NULL);
    CHECK_NUMBER(m, 0);
    CHECK_STATUS(tenon_credential_make(a, LARGEST, &m, b, LARGEST, &n, NULL, name, 34, secret, 32), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_credential_make(a, LARGEST, &m, b, LARGEST, &n, ek, NULL, 34, secret, 32), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_credential_make(a, LARGEST, &m, b, LARGEST, &n, ek, NULL, 0, secret, 32), TENON_ERROR_OPTIONS);
    CHECK_STATUS(tenon_credential_make(a, LARGEST, &m, b, LARGEST, &n, ek, name, 34, NULL, 32), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_credential_make(a, LARGEST, &m, b, LARGEST, &n, ek, name, 34, NULL, 0), TENON_ERROR_EMPTY);
    for (size_t i = 0; i <= sizeof name; i++) {
        test_about("a Name of %zu bytes", i);
        CHECK_STATUS(tenon_credential_make(a, LARGEST, &m, b, LARGEST, &n, ek, name, i, secret, 32),
                     i == 34 ? TENON_OK : TENON_ERROR_OPTIONS);
    }
    CHECK_STATUS(tenon_credential_make(a, LARGEST, &m, b, LARGEST, &n, &cases[CASES - 1].ek, name, 34, secret, 49),
                 TENON_ERROR_TOO_LARGE);
}
