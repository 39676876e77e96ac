/* SPDX-License-Identifier: Apache-2.0 */
#include "batch/signed2.h"

#include "base/signature.h"
#include "batch/request2.h"
#include "batch_rig.h"

/*
 * Each rule of tenon_signed2_read is broken. The whole list refuses the texts with that rule's code. Without that rule
 * they are taken, or a later rule refuses them: a rule that stood in for another would be seen.
 */

typedef struct {
    char input[TENON_SIGNATURE_INPUT_MAX + 64];
    size_t input_n;
    char signature[TENON_SIGNATURE_VALUE_MAX + 64];
    size_t signature_n;
} texts;

enum { MEMBERS = 5, INDEX = 2, STEPS = 3 };

static void make(batch_rig *rig, texts *t, uint32_t form)
{
    tenon_digest digest;
    tenon_signature signature;
    size_t index;
    tenon_request2 request = batch_rig_request(rig, form);
    request.content_encoding = TEXT("gzip");
    CHECK_OK(tenon_request2_input(t->input, sizeof t->input, &t->input_n, NULL, &request));
    CHECK_OK(tenon_request2_digest(&digest, &request));
    if (form == TENON_FORM_PLAIN) {
        CHECK_OK(tenon_key_sign_request2(rig->key, &signature, &request));
        CHECK_OK(tenon_signature2(t->signature, sizeof t->signature, &t->signature_n, &signature));
        return;
    }
    batch_rig_fill(rig, INDEX);
    CHECK_OK(tenon_batch_add(rig->batch, &index, &digest));
    while (index + 1 < MEMBERS) {
        batch_rig_digest(&digest, index + 1);
        CHECK_OK(tenon_batch_add(rig->batch, &index, &digest));
    }
    CHECK_OK(tenon_key_sign_batch(rig->key, rig->batch));
    CHECK_OK(tenon_batch_signature(rig->batch, t->signature, sizeof t->signature, &t->signature_n, INDEX));
}

static tenon_status read_without(const texts *t, const char *skipped, size_t *which)
{
    enum { RULES_MAX = 16 };
    tenoni_signed2_rule rules[RULES_MAX];
    tenon_signed2 signed2;
    size_t count = 0;
    for (size_t i = 0; i < tenoni_signed2_rules_count; i++)
        if (skipped == NULL || strcmp(tenon_status_name(tenoni_signed2_rules[i].code), skipped) != 0)
            rules[count++] = tenoni_signed2_rules[i];
    OWNED char *input = test_copy(t->input, t->input_n), *signature = test_copy(t->signature, t->signature_n);
    tenon_status status =
        tenoni_signed2_read(&signed2, tenoni_reader_over((const uint8_t *)input, t->input_n),
                            tenoni_reader_over((const uint8_t *)signature, t->signature_n), rules, count);
    for (*which = 0; *which < tenoni_signed2_rules_count; ++*which)
        if (tenoni_signed2_rules[*which].code == status)
            break;
    return status;
}

static void check_refused(const texts *t, tenon_status code)
{
    size_t rule, later;
    tenon_signed2 signed2;
    CHECK_CLEARS(tenon_signed2_read(&signed2, t->input, t->input_n, t->signature, t->signature_n), code, &signed2);
    CHECK_STATUS(read_without(t, NULL, &rule), code);
    tenon_status without = read_without(t, tenon_status_name(code), &later);
    CHECK(without == TENON_OK || later > rule);
}

/* Replaces the first occurrence: "from -> to". */
static void edit(char *text, size_t *n, const char *how)
{
    const char *arrow = strstr(how, " -> "), *to = arrow + strlen(" -> ");
    const size_t from_n = (size_t)(arrow - how), to_n = strlen(to);
    for (size_t i = 0; i + from_n <= *n; i++)
        if (memcmp(text + i, how, from_n) == 0) {
            memmove(text + i + to_n, text + i + from_n, *n - i - from_n);
            memcpy(text + i, to, to_n);
            *n = *n - from_n + to_n;
            return;
        }
    CHECK(from_n == 0);
}

enum { INPUT, SIGNATURE };

/* In a signature in a batch, or in that of a plain request. */
static void check_edits(const test_texts *edits, size_t count, uint32_t form)
{
    texts good, bad;
    OWNED_BATCH rig = batch_rig_begin();
    make(&rig, &good, form);
    for (size_t i = 0; i < count; i++)
        for (const char *const *how = edits[i].texts; *how != NULL; how++) {
            bad = good;
            test_about("%s", *how);
            if (edits[i].kind == INPUT)
                edit(bad.input, &bad.input_n, *how);
            else
                edit(bad.signature, &bad.signature_n, *how);
            check_refused(&bad, edits[i].status);
        }
}

TEST(signed2_input_is_the_template)
{
    static const test_texts edits[] = {
        {TENON_ERROR_SIGNATURE_INPUT, INPUT, {"tenon= -> Tenon=", "tenon= -> sig1=", "tenon= ->  tenon="}},
        {TENON_ERROR_SIGNATURE_INPUT, INPUT, {"\"@method\" \"@authority\" -> \"@authority\" \"@method\""}},
        {TENON_ERROR_SIGNATURE_INPUT, INPUT, {" \"@query\" -> ", "\"@query\" -> \"@target-uri\""}},
        {TENON_ERROR_SIGNATURE_INPUT, INPUT, {"\"content-digest\" -> \"content-digest\";req"}},
        {TENON_ERROR_SIGNATURE_INPUT,
         INPUT,
         {"\"content-type\" \"content-encoding\" -> \"content-encoding\" \"content-type\""}},
        {TENON_ERROR_SIGNATURE_INPUT, INPUT, {"\"content-type\" -> \"content-type\" \"content-type\""}},
        {TENON_ERROR_SIGNATURE_INPUT, INPUT, {" \"x-device-id\" -> "}},
        {TENON_ERROR_SIGNATURE_INPUT, INPUT, {"\"x-device-id\") -> \"x-device-id\" \"x-more\")"}},
        {TENON_ERROR_SIGNATURE_INPUT, INPUT, {" \"@path\" ->   \"@path\""}},
        {TENON_ERROR_SIGNATURE_INPUT,
         INPUT,
         {"created=1790000000;expires=1790000300 -> expires=1790000300;created=1790000000"}},
        {TENON_ERROR_SIGNATURE_INPUT, INPUT, {"created=1790000000 -> created=01790000000"}},
        {TENON_ERROR_SIGNATURE_INPUT, INPUT, {"created=1790000000 -> created=179000000"}},
        {TENON_ERROR_SIGNATURE_INPUT, INPUT, {"created=1790000000 -> created=1790000000000"}},
        {TENON_ERROR_SIGNATURE_INPUT, INPUT, {"created=1790000000 -> created=-1790000000"}},
        {TENON_ERROR_SIGNATURE_INPUT, INPUT, {"created=1790000000 -> created=179000000a", "d8f6c9a2 -> D8F6C9A2"}},
        {TENON_ERROR_SIGNATURE_INPUT, INPUT, {"-4c5e- -> -1c5e-", "d8f6c9a2 -> d8f6c9a", "ALSm0 -> ALSm1"}},
        {TENON_ERROR_SIGNATURE_INPUT, INPUT, {"ALSm0 -> ALSm", "f-ALSm0 -> f+ALSm0"}},
        {TENON_ERROR_SIGNATURE_INPUT, INPUT, {";tag= -> ;alg=\"ecdsa-p256-sha256\";tag="}},
        {TENON_ERROR_SIGNATURE_INPUT, INPUT, {"tag=\"tenon-batch\" -> tag=\"tenon-batch\";x"}},
        {TENON_ERROR_SIGNATURE_INPUT, INPUT, {"tag=\"tenon-batch\" -> tag=\"tenon-batches\""}},
        {TENON_ERROR_SIGNATURE_INPUT, INPUT, {"tag=\"tenon-batch\" -> tag=\"Tenon-batch\""}},
        {TENON_ERROR_SIGNATURE_INPUT, INPUT, {"tag=\"tenon-batch\" -> tag=\"tenon-batch\", sig2=()"}},
        {TENON_ERROR_SIGNATURE_INPUT, INPUT, {"tag=\"tenon-batch\" -> tag=\"tenon-batch"}},
        {TENON_ERROR_SIGNATURE_INPUT, INPUT, {";tag=\"tenon-batch\" -> "}},
        {TENON_ERROR_SIGNATURE_VALUE, INPUT, {"tag=\"tenon-batch\" -> tag=\"tenon\""}},
        {TENON_ERROR_VALIDITY, INPUT, {"expires=1790000300 -> expires=1790000301"}},
        {TENON_ERROR_VALIDITY, INPUT, {"expires=1790000300 -> expires=1790000000"}},
        {TENON_ERROR_VALIDITY, INPUT, {"expires=1790000300 -> expires=1789999999"}},
    };
    check_edits(edits, COUNT(edits), TENON_FORM_BATCH);
}

/* No prefix of the texts is taken, and nothing may stand behind them. */
TEST_BATCH(signed2_texts_are_whole)
{
    texts good, bad;
    make(rig, &good, TENON_FORM_BATCH);
    for (size_t n = 0; n < good.input_n; n++) {
        bad = good;
        bad.input_n = n;
        check_refused(&bad, TENON_ERROR_SIGNATURE_INPUT);
    }
    for (size_t n = 0; n < good.signature_n; n++) {
        bad = good;
        bad.signature_n = n;
        check_refused(&bad, TENON_ERROR_SIGNATURE_VALUE);
    }
    bad = good;
    bad.input[bad.input_n++] = ' ';
    check_refused(&bad, TENON_ERROR_SIGNATURE_INPUT);
    bad = good;
    bad.signature[bad.signature_n++] = ' ';
    check_refused(&bad, TENON_ERROR_SIGNATURE_VALUE);
}

/* ---- Signature: its bytes are changed, and written anew ---- */

static void write_value(texts *t, const uint8_t *bytes, size_t n)
{
    size_t text_n;
    memcpy(t->signature, "tenon=:", 7);
    CHECK_OK(tenon_base64_encode(t->signature + 7, sizeof t->signature - 8, &text_n, bytes, n));
    t->signature[7 + text_n] = ':';
    t->signature_n = 8 + text_n;
}

static size_t read_value(const texts *t, uint8_t *bytes, size_t room)
{
    size_t n;
    CHECK_OK(tenon_base64_decode(bytes, room, &n, t->signature + 7, t->signature_n - 8));
    return n;
}

/* n bytes from offset are these. */
typedef struct {
    const char *about;
    size_t length; /* of all, 0: as it was */
    size_t offset, n;
    uint8_t fill;
    tenon_status code;
} change;

static void check_changes(uint32_t form, const change *changes, size_t count)
{
    texts good, bad;
    OWNED_BATCH rig = batch_rig_begin();
    make(&rig, &good, form);
    for (size_t i = 0; i < count; i++) {
        uint8_t bytes[TENONI_MEMBER_MAX + 64] = {0};
        size_t n = read_value(&good, bytes, sizeof bytes);
        test_about("%s", changes[i].about);
        bad = good;
        memset(bytes + changes[i].offset, changes[i].fill, changes[i].n);
        write_value(&bad, bytes, changes[i].length == 0 ? n : changes[i].length);
        check_refused(&bad, changes[i].code);
    }
}

TEST(signed2_value_in_a_batch)
{
    static const change changes[] = {
        {"31 bytes of a step", TENONI_MEMBER_MIN + 31, 0, 0, 0, TENON_ERROR_SIGNATURE_VALUE},
        {"a plain signature", TENON_SIGNATURE_SIZE, 0, 0, 0, TENON_ERROR_SIGNATURE_VALUE},
        {"without an index", TENON_SIGNATURE_SIZE + 2, 0, 0, 0, TENON_ERROR_SIGNATURE_VALUE},
        {"11 steps", TENONI_MEMBER_MIN + 11 * 32, 0, 0, 0, TENON_ERROR_SIGNATURE_VALUE},
        {"size 0", 0, 64, 2, 0x00, TENON_ERROR_BATCH_SIZE},
        {"size 257 and index 257", 0, 64, 4, 0x01, TENON_ERROR_BATCH_INDEX},
        {"size 1028", 0, 64, 2, 0x04, TENON_ERROR_BATCH_SIZE},
        {"size 65535", 0, 64, 2, 0xff, TENON_ERROR_BATCH_SIZE},
        {"index is the size", 0, 67, 1, MEMBERS, TENON_ERROR_BATCH_INDEX},
        {"index 65535", 0, 66, 2, 0xff, TENON_ERROR_BATCH_INDEX},
        {"the last index, which has one step", 0, 67, 1, MEMBERS - 1, TENON_ERROR_BATCH_PATH},
        {"a step less", TENONI_MEMBER_MIN + (STEPS - 1) * 32, 0, 0, 0, TENON_ERROR_BATCH_PATH},
        {"a step more", TENONI_MEMBER_MIN + (STEPS + 1) * 32, 0, 0, 0, TENON_ERROR_BATCH_PATH},
        {"no step", TENONI_MEMBER_MIN, 0, 0, 0, TENON_ERROR_BATCH_PATH},
        {"r is 0", 0, 0, 32, 0x00, TENON_ERROR_SIGNATURE_RANGE},
        {"r is above n", 0, 0, 32, 0xff, TENON_ERROR_SIGNATURE_RANGE},
        {"s is 0", 0, 32, 32, 0x00, TENON_ERROR_SIGNATURE_RANGE},
        {"s is above n", 0, 32, 32, 0xff, TENON_ERROR_SIGNATURE_RANGE},
    };
    check_changes(TENON_FORM_BATCH, changes, COUNT(changes));
}

TEST(signed2_value_of_a_plain_request)
{
    static const change changes[] = {
        {"63 bytes", 63, 0, 0, 0, TENON_ERROR_SIGNATURE_VALUE},
        {"65 bytes", 65, 0, 0, 0, TENON_ERROR_SIGNATURE_VALUE},
        {"a batch of one", TENONI_MEMBER_MIN, 0, 0, 0, TENON_ERROR_SIGNATURE_VALUE},
        {"r is 0", 0, 0, 32, 0x00, TENON_ERROR_SIGNATURE_RANGE},
        {"s is above n", 0, 32, 32, 0xff, TENON_ERROR_SIGNATURE_RANGE},
    };
    check_changes(TENON_FORM_PLAIN, changes, COUNT(changes));
}

/* In a batch there is one signature for one statement; a plain signature is taken as the TPM made it. */
TEST_BATCH(signed2_high_s)
{
    static const uint32_t forms[] = {TENON_FORM_PLAIN, TENON_FORM_BATCH};
    static const uint8_t middle[] = {0x7f, 0xff, 0xff, 0xff, 0x80, 0x00, 0x00, 0x00, 0x7f, 0xff, 0xff,
                                     0xff, 0xff, 0xff, 0xff, 0xff, 0xde, 0x73, 0x7d, 0x56, 0xd3, 0x8b,
                                     0xcf, 0x42, 0x79, 0xdc, 0xe5, 0x61, 0x7e, 0x31, 0x92, 0xa9};
    texts good, bad;
    for (size_t i = 0; i < COUNT(forms); i++) {
        uint8_t bytes[TENONI_MEMBER_MAX];
        tenon_signed2 signed2;
        make(rig, &good, forms[i]);
        size_t n = read_value(&good, bytes, sizeof bytes);
        bad = good;
        if (!tenoni_scalar_is_high(bytes + 32))
            tenoni_scalar_negate(bytes + 32);
        write_value(&bad, bytes, n);
        if (forms[i] == TENON_FORM_BATCH) {
            check_refused(&bad, TENON_ERROR_SIGNATURE_HIGH);
            /* The smallest high s, (n + 1) / 2, and the greatest low one. */
            memcpy(bytes + 32, middle, sizeof middle);
            write_value(&bad, bytes, n);
            check_refused(&bad, TENON_ERROR_SIGNATURE_HIGH);
            bytes[63]--;
            write_value(&bad, bytes, n);
            CHECK_OK(tenon_signed2_read(&signed2, bad.input, bad.input_n, bad.signature, bad.signature_n));
        } else
            CHECK_OK(tenon_signed2_read(&signed2, bad.input, bad.input_n, bad.signature, bad.signature_n));
    }
}

TEST_BATCH(signed2_base64_is_strict)
{
    static const test_texts edits[] = {
        {TENON_ERROR_SIGNATURE_VALUE, SIGNATURE, {"tenon=: -> tenon=:=", "tenon=: -> tenon=: "}},
        {TENON_ERROR_SIGNATURE_VALUE, SIGNATURE, {"tenon=: -> tenon:=", "tenon=: -> tenon=:-", "==: -> A=:"}},
        {TENON_ERROR_SIGNATURE_VALUE, SIGNATURE, {"==: -> =:", "==: -> :", "==: -> ==:;a"}},
    };
    texts good, bad;
    check_edits(edits, COUNT(edits), TENON_FORM_PLAIN);
    make(rig, &good, TENON_FORM_PLAIN);
    /* The 86th character has four bits that belong to no byte. */
    bad = good;
    bad.signature[7 + 85] ^= 1;
    check_refused(&bad, TENON_ERROR_SIGNATURE_VALUE);
}

/* ---- From there to the signature ---- */

typedef enum { SIZE_IS_OTHER, INDEX_IS_OTHER, STEPS_SWAPPED, ONE_BIT, NODE_AS_LEAF, OTHER_REQUEST, OTHER_KEYID } lie;

static tenon_status judge(const batch_rig *rig, const tenon_signed2 *good, const tenon_digest *digest, lie what)
{
    tenon_signed2 bad = *good;
    tenon_digest other = *digest;
    tenon_root root;
    const tenon_digest step = bad.path[0];
    switch (what) {
    case SIZE_IS_OTHER:
        bad.size = 6;
        break;
    case INDEX_IS_OTHER:
        bad.index = 3;
        break;
    case STEPS_SWAPPED:
        bad.path[0] = bad.path[1];
        bad.path[1] = step;
        break;
    case ONE_BIT:
        bad.path[2].bytes[31] ^= 1;
        break;
    case NODE_AS_LEAF: /* the subtree of four, shown as a leaf of a tree of two */
        bad.size = 2;
        bad.index = 0;
        other = bad.path[1];
        bad.path[0] = bad.path[2];
        break;
    case OTHER_REQUEST:
        other.bytes[0] ^= 1;
        break;
    case OTHER_KEYID:
        bad.thumbprint.bytes[0] ^= 1;
        break;
    }
    tenon_status status = tenon_signed2_root(&bad, &root, &other);
    return status == TENON_OK ? tenon_root_verify(rig->verifier, &root) : status;
}

TEST_BATCH(signed2_lies_do_not_verify)
{
    texts t;
    tenon_signed2 good;
    tenon_digest digest;
    tenon_root root;
    make(rig, &t, TENON_FORM_BATCH);
    tenon_request2 request = batch_rig_request(rig, TENON_FORM_BATCH);
    request.content_encoding = TEXT("gzip");
    CHECK_OK(tenon_request2_digest(&digest, &request));
    CHECK_OK(tenon_signed2_read(&good, t.input, t.input_n, t.signature, t.signature_n));
    CHECK_OK(tenon_signed2_root(&good, &root, &digest));
    CHECK_OK(tenon_root_verify(rig->verifier, &root));
    for (lie what = SIZE_IS_OTHER; what <= OTHER_KEYID; what++) {
        test_about("lie %d", what);
        CHECK_STATUS(judge(rig, &good, &digest, what), TENON_ERROR_SIGNATURE_INVALID);
    }
    root.size = 0;
    CHECK_STATUS(tenon_root_verify(rig->verifier, &root), TENON_ERROR_SIGNATURE_INVALID);
}

/* A header of the content that was taken away or added, and texts that nobody signs. */
TEST_BATCH(signed2_digest_of_another_request)
{
    texts t;
    tenon_signed2 read;
    tenon_digest digest;
    make(rig, &t, TENON_FORM_PLAIN);
    CHECK_OK(tenon_signed2_read(&read, t.input, t.input_n, t.signature, t.signature_n));
    tenon_request2 request = batch_rig_request(rig, 0);
    CHECK_CLEARS(tenon_signed2_digest(&read, &digest, &request), TENON_ERROR_SIGNATURE_INPUT, &digest);
    request.content_encoding = TEXT("gzip");
    CHECK_OK(tenon_signed2_digest(&read, &digest, &request));
    request.path = TEXT("/a/../b");
    CHECK_CLEARS(tenon_signed2_digest(&read, &digest, &request), TENON_ERROR_PATH, &digest);
    request.path = TEXT("/");
    request.content_type = (tenon_text){NULL, 0};
    CHECK_CLEARS(tenon_signed2_digest(&read, &digest, &request), TENON_ERROR_SIGNATURE_INPUT, &digest);
    read.covers = TENON_COVERS_CONTENT_ENCODING;
    CHECK_OK(tenon_signed2_digest(&read, &digest, &request));
    read.form = 0;
    CHECK_CLEARS(tenon_signed2_digest(&read, &digest, &request), TENON_ERROR_SIGNATURE_INPUT, &digest);
    CHECK_STATUS(tenon_signed2_digest(&read, NULL, &request), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_signed2_digest(NULL, &digest, &request), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_signed2_digest(&read, &digest, NULL), TENON_ERROR_NULL);
}

/* A struct that did not come from the reader is not climbed with. */
TEST(signed2_root_of_nonsense)
{
    tenon_digest digest = {{0}};
    tenon_root root;
    tenon_signed2 signed2 = {.form = 0};
    CHECK_CLEARS(tenon_signed2_root(&signed2, &root, &digest), TENON_ERROR_FLAGS, &root);
    signed2 = (tenon_signed2){.form = TENON_FORM_PLAIN, .size = 1};
    CHECK_CLEARS(tenon_signed2_root(&signed2, &root, &digest), TENON_ERROR_BATCH_SIZE, &root);
    signed2.size = 0;
    signed2.form = TENON_FORM_BATCH;
    CHECK_CLEARS(tenon_signed2_root(&signed2, &root, &digest), TENON_ERROR_BATCH_SIZE, &root);
    signed2.size = TENON_BATCH_MAX + 1;
    CHECK_CLEARS(tenon_signed2_root(&signed2, &root, &digest), TENON_ERROR_BATCH_SIZE, &root);
    signed2.size = signed2.index = 2;
    CHECK_CLEARS(tenon_signed2_root(&signed2, &root, &digest), TENON_ERROR_BATCH_INDEX, &root);
}

TEST_BATCH(signed2_bad_arguments)
{
    tenon_signed2 signed2 = {.form = TENON_FORM_PLAIN};
    tenon_digest digest = {{0}};
    tenon_root root = {.size = 0};
    CHECK_STATUS(tenon_signed2_read(NULL, "", 0, "", 0), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_signed2_read(&signed2, NULL, 1, "", 0), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_signed2_read(&signed2, "", 0, NULL, 1), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_signed2_read(&signed2, NULL, 0, NULL, 0), TENON_ERROR_SIGNATURE_INPUT);
    CHECK_STATUS(tenon_signed2_root(&signed2, NULL, &digest), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_signed2_root(NULL, &root, &digest), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_signed2_root(&signed2, &root, NULL), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_root_verify(NULL, &root), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_root_verify(rig->verifier, NULL), TENON_ERROR_NULL);
}
