/* SPDX-License-Identifier: Apache-2.0 */
#include "tpm_rig.h"

/* A key that swtpm made with the signing template, under its transient H-2 primary. */
#define PUBLIC                                                                                                         \
    "0023000b0004047200000010001000030010002050bae9f80d81c52b525cdd83ee6457c2bad4e4c4c9962b61ffa08f39018332140020343d" \
    "06b189634d4952206d5ebd6ac2d9c1d3a2488873f0ab1444e465c135afbf"
#define PRIVATE                                                                                                        \
    "002068d5d7bb6046134804008429525696255f47c2bcf7fad1341f35dcfd933547f00010ab3ae490e78417e18b5ad44fdf66cd2227182cd3" \
    "a2894f48fa18d3a7f57d8dd139559c9275b66d54abf17b437711f6ad35ad8f0611a6bc22d192d9f2cc14ab73cd946da08cf20a3f7ac28b8b" \
    "e6fdcdc6f9f913086d1de4df559d"
#define TAIL "27cca36030e8bcb16095da090c42f700ff9313c0b0a705f0e7ec58c0c1327075"
#define PARENT "000b" TAIL
#define WITNESS "000b0646bc09ce34cb73fd82ecba5d0b3b8a288e0309b116a9d3c513207cdd013bc9"

#define BEGIN "-----BEGIN TSS2 PRIVATE KEY-----\n"
#define END "-----END TSS2 PRIVATE KEY-----\n"
#define BLOCK                                                                                                          \
    BEGIN "MIHwBgZngQUKAQOgAwEB/wIEQAAAAQRYAFYAIwALAAQEcgAAABAAEAADABAAIFC6\n"                                         \
          "6fgNgcUrUlzdg+5kV8K61OTEyZYrYf+gjzkBgzIUACA0PQaxiWNNSVIgbV69asLZ\n"                                         \
          "wdOiSIhz8KsURORlwTWvvwSBgAB+ACBo1de7YEYTSAQAhClSVpYlX0fCvPf60TQf\n"                                         \
          "Ndz9kzVH8AAQqzrkkOeEF+GLWtRP32bNIicYLNOiiU9I+hjTp/V9jdE5VZySdbZt\n"                                         \
          "VKvxe0N3EfatNa2PBhGmvCLRktnyzBSrc82UbaCM8go/esKLi+b9zcb5+RMIbR3k\n"                                         \
          "31Wd\n" END

static const char ours[] = "tenon-parent: " PARENT "\n"
                           "tenon-witness: " WITNESS "\n"
                           "tenon-handle: 81080000\n" BLOCK;

/* Written by `openssl genpkey -provider tpm2 -algorithm EC -pkeyopt group:P-256` (tpm2-openssl 1.1.1). */
static const char of_openssl[] = BEGIN "MIHwBgZngQUKAQOgAwEBAQIEQAAAAQRYAFYAIwALAAYAcgAAABAAEAADABAAIHgx\n"
                                       "fm+kX+Map9iVTW64OQVum4AIn6KWFXLv/IVagtqaACB5IHTahrRt4+eWdmbXLDNH\n"
                                       "e4tPhPQhpwwYXtBefwC/jASBgAB+ACBTGZeTm9Igf5/5TvmtgPDQKVzPT+xDJ1U4\n"
                                       "hstnu0INMAAQMwL7Mnft2yEPTnI84Z1DpzTRZSeVXOfdbWs+ultv1EkXIl2rloZe\n"
                                       "KZdOuK8khl+eQSZG/bPaXBgrd6fjKExXhD2/LUznZiAPJovoLNhmb1nuls3JIOvO\n"
                                       "L5P4\n" END;

/* Written by the same with -pkeyopt parent:0x81000001 -pkeyopt user-auth:abc. */
static const char of_openssl_with_parent[] = BEGIN "MIHxBgZngQUKAQOgAwEBAAIFAIEAAAEEWABWACMACwAGAHIAAAAQABAAAwAQACD1\n"
                                                   "43nflS6RPgQFLsno3QMah+fu/u2go+Zde81BmK/BSQAgxJkBzXSkEqiKp3HI3e+T\n"
                                                   "5/WE1oX1o7R+x4aJiAJDM2YEgYAAfgAgWTeidwyTHg65GQ6ENXXJonEcXFeRXUvM\n"
                                                   "JMWCnO3TgtoAEGlMiAvcp7IoCTstemGnhXo4QKosk5URG611MaRGlBszZpX+79gy\n"
                                                   "E03PkPS3YVqzeF5cjGo3PcWoSTAP2YODqYWIIgbOEhqOvKXV5WThnCBa5w7aA0Rk\n"
                                                   "I5UlNw==\n" END;

/* Written by tpm2_encodeobject (tpm2-tools 5.4) for a key under 0x81000001. */
static const char of_tools[] = BEGIN "MIHxBgZngQUKAQOgAwEBAAIFAIEAAAEEWABWACMACwAEBHIAAAAQABAAAwAQACD7\n"
                                     "briozGIor+lepG217psudmR+hWlbGVDOvCA5tMwMdgAgyf/1+FsU7db/Lr+pF2T/\n"
                                     "q0x1e2pDNvRTITII+fh3lngEgYAAfgAghy6FfO7yGFVsWLMj7jKe/PeozLJv3eik\n"
                                     "ygFwqCyhynIAEALVVFDxEQco1PTwXmeJAE92TVbj+wUnDY/MkBJuLMPFITn/kwY3\n"
                                     "CCssm764IhJSHGdtZ/wwIuU60K9xLEMIHbehMX/zly0HwLF8e+drf0wFCptRjbtq\n"
                                     "3t28tw==\n" END;

static const char of_openssl_public[] =
    "0023000b0006007200000010001000030010002078317e6fa45fe31aa7d8954d6eb839056e9b80089fa2961572effc855a82da9a0020792074"
    "da86b46de3e7967666d72c33477b8b4f84f421a70c185ed05e7f00bf8c";

static tenoni_keyfile own(void)
{
    tenoni_keyfile file = {.empty_auth = true,
                           .parent = TENONI_PARENT_OWNER,
                           .public_n = strlen(PUBLIC) / 2,
                           .private_n = strlen(PRIVATE) / 2,
                           .parent_name_n = TENON_NAME_SIZE,
                           .witness_n = TENON_NAME_SIZE,
                           .handle = 0x81080000};
    test_hex(file.public_area, file.public_n, PUBLIC);
    test_hex(file.private_area, file.private_n, PRIVATE);
    test_hex(file.parent_name, sizeof file.parent_name, PARENT);
    test_hex(file.witness, sizeof file.witness, WITNESS);
    return file;
}

static void check_equal(const tenoni_keyfile *found, const tenoni_keyfile *expected)
{
    CHECK(found->empty_auth == expected->empty_auth);
    CHECK_NUMBER(found->parent, expected->parent);
    CHECK_SAME(found->public_area, found->public_n, expected->public_area, expected->public_n);
    CHECK_SAME(found->private_area, found->private_n, expected->private_area, expected->private_n);
    CHECK_SAME(found->parent_name, found->parent_name_n, expected->parent_name, expected->parent_name_n);
    CHECK_SAME(found->witness, found->witness_n, expected->witness, expected->witness_n);
    CHECK_NUMBER(found->handle, expected->handle);
}

OUTPUT(write_own) { return tenoni_keyfile_write((char *)out, n, written, input); }

TEST(keyfile_is_written_as_it_is_read)
{
    tenoni_keyfile file = own(), found;
    test_output_rule("keyfile_write", write_own, &file, ours, strlen(ours));
    CHECK_OK(tpm_rig_read(&found, ours, strlen(ours)));
    check_equal(&found, &file);
}

TEST(keyfile_without_facts)
{
    tenoni_keyfile file = own(), found;
    char text[TENON_TPM_KEY_MAX];
    size_t n;
    file.parent_name_n = file.witness_n = file.handle = 0;
    file.empty_auth = false;
    file.parent = 0x81000001;
    CHECK_OK(tenoni_keyfile_write(text, sizeof text, &n, &file));
    CHECK_BYTES(text, BEGIN, strlen(BEGIN));
    CHECK_OK(tpm_rig_read(&found, text, n));
    check_equal(&found, &file);
}

TEST(keyfile_of_other_tools)
{
    tenoni_keyfile file;
    uint8_t expected[86];
    test_hex(expected, sizeof expected, of_openssl_public);
    CHECK_OK(tpm_rig_read(&file, of_openssl, strlen(of_openssl)));
    CHECK(file.empty_auth);
    CHECK_NUMBER(file.parent, 0x40000001);
    CHECK_NUMBER(file.private_n, 126);
    CHECK_SAME(file.public_area, file.public_n, expected, sizeof expected);
    CHECK(file.parent_name_n == 0 && file.witness_n == 0 && file.handle == 0);
    CHECK_OK(tpm_rig_read(&file, of_openssl_with_parent, strlen(of_openssl_with_parent)));
    CHECK(!file.empty_auth);
    CHECK_NUMBER(file.parent, 0x81000001);
    CHECK_OK(tpm_rig_read(&file, of_tools, strlen(of_tools)));
    CHECK(!file.empty_auth);
    CHECK_NUMBER(file.parent, 0x81000001);
    CHECK_NUMBER(file.private_n, 126);
}

#define THIRTY_TWO "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
#define GOOD BEGIN "MB0GBmeBBQoBA6ADAQH/AgRAAAABBAMAAVUEAwABVQ==\n" END
#define PARENT_FACT "tenon-parent: " PARENT "\n"
#define FACT TENON_ERROR_PEM_FACT
#define PEM TENON_ERROR_PEM_FORM

/* A file behind the name of the case. */
static const test_texts text_cases[] = {
    {TENON_OK, 0, {"good = " GOOD, "empty lines = \n\n" PARENT_FACT "\n" GOOD}},
    {TENON_OK, 0, {"another order = tenon-handle: 81ffffff\ntenon-witness: " WITNESS "\n" PARENT_FACT GOOD}},
    {TENON_OK,
     0,
     {"no line feed at the end = " BEGIN
      "MB0GBmeBBQoBA6ADAQH/AgRAAAABBAMAAVUEAwABVQ==\n-----END TSS2 PRIVATE KEY-----"}},
    {PEM, 0, {"nothing = ", "a line feed = \n", "facts alone = " PARENT_FACT, "a blank =  \n" GOOD}},
    {PEM, 0, {"a comment = # mine\n" GOOD, "another word = Tenon-parent: " PARENT "\n" GOOD}},
    {PEM, 0, {"half the word = tenon\n" GOOD, "blank before a fact =  " PARENT_FACT GOOD}},
    {PEM, 0, {"carriage returns = -----BEGIN TSS2 PRIVATE KEY-----\r\n"}},
    {PEM, 0, {"blank behind BEGIN = -----BEGIN TSS2 PRIVATE KEY----- \n"}},
    {PEM, 0, {"another block = -----BEGIN PRIVATE KEY-----\n", "BEGIN alone = " BEGIN}},
    {PEM, 0, {"no END = " BEGIN "MB0GBmeBBQoBA6ADAQH/AgRAAAABBAMAAVUEAwABVQ==\n"}},
    {PEM, 0, {"another END = " BEGIN "MB0GBmeBBQoBA6ADAQH/AgRAAAABBAMAAVUEAwABVQ==\n-----END PRIVATE KEY-----\n"}},
    {PEM, 0, {"two line feeds at the end = " GOOD "\n", "a blank at the end = " GOOD " ", "two blocks = " GOOD GOOD}},
    {PEM, 0, {"a fact behind the block = " GOOD PARENT_FACT}},
    {PEM, 0, {"an empty line inside = " BEGIN "\nMB0GBmeBBQoBA6ADAQH/AgRAAAABBAMAAVUEAwABVQ==\n" END}},
    {PEM, 0, {"an empty line at the end inside = " BEGIN "MB0GBmeBBQoBA6ADAQH/AgRAAAABBAMAAVUEAwABVQ==\n\n" END}},
    {PEM, 0, {"an empty line behind a whole one = " BEGIN THIRTY_TWO THIRTY_TWO "\n\n" END}},
    {PEM, 0, {"two short lines = " BEGIN "MB0G\nBmeBBQoBA6ADAQH/AgRAAAABBAMAAVUEAwABVQ==\n" END}},
    {PEM, 0, {"headers inside = " BEGIN "tenon-handle: 81080000\n\nMB0G\n" END}},
    {PEM, 0, {"a line of 65 = " BEGIN THIRTY_TWO THIRTY_TWO "A\n" END}},
    {TENON_ERROR_DER_TRUNCATED, 0, {"an empty block = " BEGIN END}},
    {TENON_ERROR_BASE64_ALPHABET, 0, {"a blank inside = " BEGIN "MB0GBmeBBQoBA6ADAQH/AgRAAAABBAMAAVUEAwAB Q==\n" END}},
    {TENON_ERROR_BASE64_LENGTH,
     0,
     {"a carriage return inside = " BEGIN "MB0GBmeBBQoBA6ADAQH/AgRAAAABBAMAAVUEAwABVQ==\r\n" END}},
    {TENON_ERROR_BASE64_PADDING, 0, {"no padding = " BEGIN "MB0GBmeBBQoBA6ADAQH/AgRAAAABBAMAAVUEAwABVQ\n" END}},
    {TENON_ERROR_BASE64_PADDING,
     0,
     {"padding in the middle = " BEGIN THIRTY_TWO "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==\nAAAA\n" END}},
    {TENON_ERROR_BASE64_STRAY_BITS, 0, {"stray bits = " BEGIN "MCAGBmeBBQoBA6ADAQH/AgRAAAABBAMAAVUEAwABVR==\n" END}},
    {FACT, 0, {"unknown fact = tenon-child: " PARENT "\n" GOOD, "no fact = tenon-\n" GOOD}},
    {FACT, 0, {"longer word = tenon-parents: " PARENT "\n" GOOD, "no colon = tenon-parent " PARENT "\n" GOOD}},
    {FACT, 0, {"no blank = tenon-parent:" PARENT "\n" GOOD, "two blanks = tenon-parent:  " PARENT "\n" GOOD}},
    {FACT, 0, {"blank at the end = tenon-parent: " PARENT " \n" GOOD}},
    {FACT, 0, {"carriage return = tenon-parent: " PARENT "\r\n" GOOD, "no Name = tenon-parent: \n" GOOD}},
    {FACT, 0, {"short Name = tenon-parent: 000b27cc\n" GOOD, "a digit less = tenon-handle: 8108000\n" GOOD}},
    {FACT, 0, {"a digit more = tenon-handle: 810800000\n" GOOD, "a byte more = tenon-parent: " PARENT "00\n" GOOD}},
    {FACT, 0, {"upper case = tenon-parent: 000B" TAIL "\n" GOOD}},
    {FACT, 0, {"no hexadecimal = tenon-parent: 000g" TAIL "\n" GOOD}},
    {FACT, 0, {"SHA-384's Name = tenon-parent: 000c" TAIL "\n" GOOD}},
    {FACT, 0, {"nobody's Name = tenon-witness: 010b" TAIL "\n" GOOD}},
    {FACT, 0, {"0x = tenon-handle: 0x81080000\n" GOOD, "0x in eight = tenon-handle: 0x810800\n" GOOD}},
    {FACT, 0, {"handle 0 = tenon-handle: 00000000\n" GOOD, "transient handle = tenon-handle: 80000000\n" GOOD}},
    {FACT, 0, {"hierarchy = tenon-handle: 40000001\n" GOOD, "parent twice = " PARENT_FACT PARENT_FACT GOOD}},
    {FACT, 0, {"witness twice = tenon-witness: " WITNESS "\ntenon-witness: " WITNESS "\n" GOOD}},
    {FACT, 0, {"handle twice = tenon-handle: 81080000\ntenon-handle: 81080000\n" GOOD}},
};

static tenon_status read_case(int unused, const char *text)
{
    tenoni_keyfile file;
    text = strstr(text, " = ") + strlen(" = ");
    return tpm_rig_read(&file, text, strlen(text));
}

TEST(keyfile_texts) { test_each_text(text_cases, COUNT(text_cases), read_case); }

TEST(keyfile_arguments)
{
    tenoni_keyfile file;
    char text[TENON_TPM_KEY_MAX + 1];
    memset(text, '\n', sizeof text);
    CHECK_CLEARS(tenoni_keyfile_read(&file, NULL, 1), TENON_ERROR_NULL, &file);
    CHECK_STATUS(tenoni_keyfile_read(&file, NULL, 0), PEM);
    CHECK_STATUS(tpm_rig_read(&file, text, sizeof text), TENON_ERROR_TOO_LARGE);
    /* Empty lines that make a file of the greatest size. */
    memcpy(text + TENON_TPM_KEY_MAX - strlen(GOOD), GOOD, strlen(GOOD));
    CHECK_OK(tpm_rig_read(&file, text, TENON_TPM_KEY_MAX));
    text[TENON_TPM_KEY_MAX] = '\n';
    CHECK_STATUS(tpm_rig_read(&file, text, TENON_TPM_KEY_MAX + 1), TENON_ERROR_TOO_LARGE);
}

TEST(keyfile_truncated)
{
    size_t all = strlen(ours);
    for (size_t n = 0; n < all; n++) {
        tenoni_keyfile file;
        tenon_status status = tpm_rig_read(&file, ours, n);
        test_about("%zu characters", n);
        /* The last missing byte is only the line feed. */
        CHECK((status == TENON_OK) == (n == all - 1));
        CHECK(status == TENON_OK || tenon_status_category(status) == TENON_CATEGORY_FORMAT);
    }
}

/* A changed file that is still accepted has another key or fact in its only form. */
TEST(keyfile_flipped)
{
    char text[sizeof ours], again[TENON_TPM_KEY_MAX];
    size_t taken = 0;
    for (size_t i = 0; i < 8 * strlen(ours); i++) {
        tenoni_keyfile file;
        size_t n;
        memcpy(text, ours, sizeof text);
        text[i / 8] = (char)(text[i / 8] ^ 1 << i % 8);
        tenon_status status = tpm_rig_read(&file, text, strlen(ours));
        test_about("byte %zu, bit %zu", i / 8, i % 8);
        if (status != TENON_OK) {
            CHECK(tenon_status_category(status) == TENON_CATEGORY_FORMAT);
            continue;
        }
        taken++;
        CHECK_OK(tenoni_keyfile_write(again, sizeof again, &n, &file));
        CHECK_SAME(again, n, text, strlen(ours));
    }
    test_about(NULL);
    CHECK(taken > 100);
}

TEST(keyfile_sizes)
{
    static char text[4096];
    uint64_t state = 3;
    static const size_t areas[] = {1, 125, 126, 253, 254, 256};
    for (size_t i = 0; i < COUNT(areas); i++) {
        tenoni_keyfile file = own(), found;
        size_t n;
        file.public_n = areas[i];
        file.private_n = 2 * areas[i];
        test_random_fill(&state, file.public_area, file.public_n);
        test_random_fill(&state, file.private_area, file.private_n);
        test_about("%zu bytes", areas[i]);
        CHECK_OK(tenoni_keyfile_write(text, sizeof text, &n, &file));
        CHECK(n <= TENON_TPM_KEY_MAX);
        CHECK_OK(tpm_rig_read(&found, text, n));
        check_equal(&found, &file);
    }
}

static void check_refused(const tenoni_keyfile *file, tenon_status expected)
{
    char text[TENON_TPM_KEY_MAX];
    size_t n = 12345;
    CHECK_STATUS(tenoni_keyfile_write(text, sizeof text, &n, file), expected);
    CHECK_NUMBER(n, 0);
}

#define REFUSED(change, expected)                                                                                      \
    do {                                                                                                               \
        tenoni_keyfile file = own();                                                                                   \
        file.change;                                                                                                   \
        test_about("%s", #change);                                                                                     \
        check_refused(&file, expected);                                                                                \
    } while (0)

TEST(keyfile_writes_nothing_unreadable)
{
    REFUSED(parent = 0, TENON_ERROR_KEY_FIELD);
    REFUSED(parent = 0x80000000, TENON_ERROR_KEY_FIELD);
    REFUSED(parent = 0x40000007, TENON_ERROR_KEY_FIELD);
    REFUSED(public_n = 0, TENON_ERROR_KEY_PUBLIC);
    REFUSED(public_n = TENONI_PUBLIC_MAX + 1, TENON_ERROR_KEY_PUBLIC);
    REFUSED(private_n = 0, TENON_ERROR_KEY_PRIVATE);
    REFUSED(private_n = TENONI_PRIVATE_MAX + 1, TENON_ERROR_KEY_PRIVATE);
    REFUSED(parent_name_n = 33, TENON_ERROR_PEM_FACT);
    REFUSED(parent_name_n = 35, TENON_ERROR_PEM_FACT);
    REFUSED(parent_name[1] = 0x0c, TENON_ERROR_PEM_FACT);
    REFUSED(witness_n = 1, TENON_ERROR_PEM_FACT);
    REFUSED(witness[0] = 1, TENON_ERROR_PEM_FACT);
    REFUSED(handle = 0x80000001, TENON_ERROR_PEM_FACT);
}
