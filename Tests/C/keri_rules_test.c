/* SPDX-License-Identifier: Apache-2.0 */
#include "base/signature.h"
#include "keri/log.h"
#include "keri_rig.h"

/*
 * Each rule of tenon/keri.h is broken, with everything else good: the SAID is that of the broken event, and it is
 * signed. Left out, the rule no longer refuses, and at most a later one does.
 */

typedef enum { FIRST, SECOND, AFTER_EO, AFTER_END, AFTER_LAST } place;

typedef struct {
    tenon_status expected; /* TENON_OK: a good one */
    place place;
    const char *text;
    size_t signer;
    const char *edits[8]; /* "old -> new", one after the other; none: as it is */
} broken;

#define I KERI_INCEPTION
#define R KERI_ROTATION
#define X KERI_INTERACTION
#define SEAL "\"a\":[{\"i\":\"E1\",\"s\":\"0\",\"d\":\"E2\"}]"
#define SIXTEEN                                                                                                        \
    "\"1\":\"\",\"2\":\"\",\"3\":\"\",\"4\":\"\",\"5\":\"\",\"6\":\"\",\"7\":\"\",\"8\":\"\",\"9\":\"\","              \
    "\"10\":\"\",\"11\":\"\",\"12\":\"\",\"13\":\"\",\"14\":\"\",\"15\":\"\",\"16\":\"\""

static const broken cases[] = {
    {TENON_OK, FIRST, I, 0, {NULL}},
    {TENON_OK, SECOND, R, 1, {NULL}},
    {TENON_OK, SECOND, X, 0, {NULL}},
    {TENON_OK, AFTER_EO, R, 1, {NULL}},
    {TENON_OK, FIRST, I, 0, {"\"a\":[] -> " SEAL, "\"a\":[] -> \"a\":[{\"d\":\"x\"},{\"d\":\"x\"}]"}},
    {TENON_OK, FIRST, I, 0, {"\"c\":[] -> \"c\":[\"EO\",\"DND\",\"RB\",\"NRB\"]"}},
    {TENON_OK, FIRST, I, 0, {"\"n\":[\"$b\"] -> \"n\":[\"$a\"]" /* allowed, though of no use */}},
    {TENON_OK, SECOND, X, 0, {"\"a\":[] -> \"a\":[{" SIXTEEN "}]"}},
    {TENON_OK, SECOND, R, 1, {"\"nt\":\"1\",\"n\":[\"$c\"] -> \"nt\":\"0\",\"n\":[]"}},
    {TENON_KERI_3_VERSION, FIRST, I, 0, {"KERI10 -> KERI11", "JSON -> CBOR", "$V_ -> _", "$V_ -> 00012F_"}},
    {TENON_KERI_3_VERSION, FIRST, I, 0, {"{\"v\" -> { \"v\""}},
    {TENON_KERI_3_VERSION,
     FIRST,
     I,
     0,
     {"{\"v\":\"KERI10JSON$V_\",\"t\":\"icp\" -> {\"t\":\"icp\",\"v\":\"KERI10JSON\""}},
    {TENON_KERI_4_STATED_SIZE, FIRST, I, 0, {"$V_ -> 000000_", "$V_ -> 000130_"}},
    {TENON_KERI_5_TYPE, FIRST, I, 0, {"icp -> dip", "\"t\":\"icp\" -> \"t\":\"\"", "\"t\":\"icp\" -> \"T\":\"icp\""}},
    {TENON_KERI_5_TYPE, SECOND, R, 1, {"rot -> drt"}},
    {TENON_KERI_6_NO_INCEPTION,
     FIRST,
     "{\"v\":\"KERI10JSON$V_\",\"t\":\"ixn\",\"d\":\"$D\",\"i\":\"$D\",\"s\":\"0\","
     "\"p\":\"\",\"a\":[]}",
     0,
     {NULL}},
    {TENON_KERI_7_INCEPTION_AGAIN, SECOND, I, 0, {NULL}},
    {TENON_KERI_7_INCEPTION_AGAIN, AFTER_END, I, 0, {NULL}},
    {TENON_KERI_8_FORM, FIRST, I, 0, {"\"s\":\"0\", -> " /* one is missing */}},
    {TENON_KERI_8_FORM, FIRST, I, 0, {"\"s\":\"0\", -> \"s\":\"0\",\"s\":\"0\"," /* one twice */}},
    {TENON_KERI_8_FORM, FIRST, I, 0, {"\"a\":[] -> \"a\":[],\"x\":\"\"" /* one more */}},
    {TENON_KERI_8_FORM,
     FIRST,
     I,
     0,
     {"\"kt\":\"1\",\"k\":[\"$0\"] -> \"k\":[\"$0\"],\"kt\":\"1\"" /* in another order */}},
    {TENON_KERI_8_FORM, FIRST, I, 0, {"\"b\":[] -> \"b\": []", "\"a\":[]} -> \"a\":[]} ", "\"a\":[]} -> \"a\":[]"}},
    {TENON_KERI_8_FORM, FIRST, I, 0, {"\"a\":[]} -> \"a\":[", "\"kt\":\"1\" -> \"kt\":1"}},
    {TENON_KERI_8_FORM, FIRST, I, 0, {"\"kt\":\"1\" -> \"kt\":[\"1\"]", "\"kt\":\"1\" -> \"kt\":\"\\u0031\""}},
    {TENON_KERI_8_FORM, FIRST, I, 0, {"\"c\":[] -> \"c\":[\"\x01\"]", "\"c\":[] -> \"c\":[\"\x7f\"]"}},
    {TENON_KERI_8_FORM, FIRST, I, 0, {"\"c\":[] -> \"c\":[\"\xc3\xa4\"]", "\"c\":[] -> \"c\":[\"EO\",]"}},
    {TENON_KERI_8_FORM, FIRST, I, 0, {"\"a\":[] -> \"a\":[\"x\"]", "\"a\":[] -> \"a\":[{}]"}},
    {TENON_KERI_8_FORM, FIRST, I, 0, {"\"a\":[] -> \"a\":[{\"d\":\"1\",\"d\":\"2\"}]"}},
    {TENON_KERI_8_FORM, FIRST, I, 0, {"\"a\":[] -> \"a\":[{\"d\":1}]", "\"a\":[] -> \"a\":[{\"d\":{\"e\":\"\"}}]"}},
    {TENON_KERI_8_FORM, FIRST, I, 0, {"\"a\":[] -> \"a\":[{" SIXTEEN ",\"17\":\"\"}]"}},
    {TENON_KERI_8_FORM, SECOND, R, 1, {"\"br\":[], -> ", "\"a\":[] -> \"c\":[],\"a\":[]"}},
    {TENON_KERI_8_FORM, SECOND, X, 0, {"\"a\":[] -> \"kt\":\"1\",\"a\":[]"}},
    {TENON_KERI_9_ENDED, AFTER_END, R, 1, {NULL}},
    {TENON_KERI_9_ENDED, AFTER_END, X, 0, {NULL}},
    {TENON_KERI_9_ENDED, AFTER_LAST, R, 1, {"\"s\":\"1\" -> \"s\":\"2\""}},
    {TENON_KERI_10_ROTATIONS_ONLY, AFTER_EO, X, 0, {NULL}},
    {TENON_KERI_11_SAID,
     FIRST,
     I,
     0,
     {"\"i\":\"$D\",\"s\" -> \"i\":\"E$D\",\"s\"" /* hashed with the identifier in it */}},
    {TENON_KERI_11_SAID, FIRST, I, 0, {"\"d\":\"$D\" -> \"d\":\"$a\"", "\"d\":\"$D\" -> \"d\":\"\""}},
    {TENON_KERI_11_SAID, SECOND, R, 1, {"\"d\":\"$D\" -> \"d\":\"$P\"", "\"d\":\"$D\" -> \"d\":\"I$D\""}},
    {TENON_KERI_12_SEQUENCE, FIRST, I, 0, {"\"s\":\"0\" -> \"s\":\"1\"", "\"s\":\"0\" -> \"s\":\"00\""}},
    {TENON_KERI_12_SEQUENCE, FIRST, I, 0, {"\"s\":\"0\" -> \"s\":\"\""}},
    {TENON_KERI_12_SEQUENCE, SECOND, R, 1, {"\"s\":\"1\" -> \"s\":\"0\"", "\"s\":\"1\" -> \"s\":\"2\""}},
    {TENON_KERI_12_SEQUENCE, SECOND, R, 1, {"\"s\":\"1\" -> \"s\":\"01\"", "\"s\":\"1\" -> \"s\":\"A\""}},
    {TENON_KERI_12_SEQUENCE, SECOND, R, 1, {"\"s\":\"1\" -> \"s\":\"10000000000000001\""}},
    {TENON_KERI_13_IDENTIFIER, SECOND, R, 1, {"\"i\":\"$I\" -> \"i\":\"$a\""}},
    {TENON_KERI_13_IDENTIFIER, SECOND, X, 0, {"\"i\":\"$I\" -> \"i\":\"\""}},
    {TENON_KERI_14_PRIOR, SECOND, R, 1, {"\"p\":\"$P\" -> \"p\":\"$a\""}},
    {TENON_KERI_14_PRIOR, SECOND, X, 0, {"\"p\":\"$P\" -> \"p\":\"\""}},
    {TENON_KERI_15_KEY, FIRST, I, 0, {"\"k\":[\"$0\"] -> \"k\":[]", "\"k\":[\"$0\"] -> \"k\":[\"$0\",\"$1\"]"}},
    {TENON_KERI_15_KEY, FIRST, I, 0, {"\"$0\" -> \"DAlFcPW6545a5BNP-yn9U_c0MwemXvzddylFa0KbDtANf123\""}},
    {TENON_KERI_15_KEY, FIRST, I, 0, {"\"$0\" -> \"1AAJAlFcPW6545a5BNP-yn9U_c0MwemXvzddylFa0KbDtANg\""}},
    {TENON_KERI_18_SIGNATURE, FIRST, I, 1, {NULL}},
    {TENON_KERI_18_SIGNATURE, SECOND, R, 0, {NULL}}, /* by the old key */
    {TENON_KERI_18_SIGNATURE, SECOND, X, 1, {NULL}}, /* by the next one */
    {TENON_KERI_19_SELF_CERTIFYING, FIRST, I, 0, {"\"i\":\"$D\" -> \"i\":\"$0\"", "\"i\":\"$D\" -> \"i\":\"\""}},
    {TENON_KERI_19_SELF_CERTIFYING, FIRST, I, 0, {"\"i\":\"$D\" -> \"i\":\"DCwA9jgwPz_kL1PI3zaKTqKL3-JHy1dHgUVPepkYMmP_\"" /* as long as a SAID, and hashed as it is */}},
    {TENON_KERI_20_WITNESSES, FIRST, I, 0, {"\"b\":[] -> \"b\":[\"$0\"]", "\"bt\":\"0\" -> \"bt\":\"1\""}},
    {TENON_KERI_20_WITNESSES, SECOND, R, 1, {"\"br\":[] -> \"br\":[\"$0\"]", "\"ba\":[] -> \"ba\":[\"$0\"]"}},
    {TENON_KERI_21_THRESHOLD, FIRST, I, 0, {"\"kt\":\"1\" -> \"kt\":\"0\"", "\"kt\":\"1\" -> \"kt\":\"2\""}},
    {TENON_KERI_21_THRESHOLD, FIRST, I, 0, {"\"nt\":\"1\" -> \"nt\":\"2\"", "\"n\":[\"$b\"] -> \"n\":[]"}},
    {TENON_KERI_21_THRESHOLD, SECOND, R, 1, {"\"nt\":\"1\" -> \"nt\":\"0\""}},
    {TENON_KERI_22_NEXT, FIRST, I, 0, {"\"n\":[\"$b\"] -> \"n\":[\"$b\",\"$c\"]"}},
    {TENON_KERI_22_NEXT, FIRST, I, 0, {"\"$b\" -> \"I012345678901234567890123456789012345678901234\""}},
    {TENON_KERI_22_NEXT, FIRST, I, 0, {"\"$b\" -> \"ICwA9jgwPz_kL1PI3zaKTqKL3-JHy1dHgUVPepkYMmP_\""}},
    {TENON_KERI_22_NEXT, FIRST, I, 0, {"\"$b\" -> \"E_wA9jgwPz_kL1PI3zaKTqKL3-JHy1dHgUVPepkYMmP_\""}},
    {TENON_KERI_23_TRAITS, FIRST, I, 0, {"\"c\":[] -> \"c\":[\"EO\",\"EO\"]", "\"c\":[] -> \"c\":[\"XX\"]"}},
    {TENON_KERI_23_TRAITS, FIRST, I, 0, {"\"c\":[] -> \"c\":[\"\"]", "\"c\":[] -> \"c\":[\"EO,\",\"DND\"]"}},
    {TENON_KERI_24_COMMITMENT, SECOND, R, 3, {"\"$1\" -> \"$3\""}},
    {TENON_KERI_24_COMMITMENT, SECOND, R, 0, {"\"$1\" -> \"$0\""}},
    {TENON_KERI_24_COMMITMENT, SECOND, R, 1, {"\"$1\" -> \"1AAIAx8UAUa_sbJR-E9N2-DUzc_Xev2YSpUg41eUAh-DErue\""}},
};

/* A log that stands where the case begins. */
static keri_rig begin(place at)
{
    static const char *const replacements[][2] = {{"\"c\":[]", "\"c\":[]"},
                                                  {"\"c\":[]", "\"c\":[]"},
                                                  {"\"c\":[]", "\"c\":[\"EO\"]"},
                                                  {"\"nt\":\"1\",\"n\":[\"$b\"]", "\"nt\":\"0\",\"n\":[]"},
                                                  {"\"c\":[]", "\"c\":[]"}};
    keri_event event;
    keri_rig rig = keri_begin();
    if (at == FIRST)
        return rig;
    keri_make_with(&rig, &event, KERI_INCEPTION, replacements[at][0], replacements[at][1], 0);
    CHECK_OK(keri_append(&rig, &event));
    if (at != AFTER_LAST)
        return rig;
    keri_make_with(&rig, &event, KERI_ROTATION, "\"nt\":\"1\",\"n\":[\"$c\"]", "\"nt\":\"0\",\"n\":[]", 1);
    CHECK_OK(keri_append(&rig, &event));
    return rig;
}

static void make(const keri_rig *rig, keri_event *event, const broken *of, const char *edit)
{
    char old[80];
    if (edit == NULL) {
        keri_make(rig, event, of->text, of->signer);
        return;
    }
    const char *arrow = strstr(edit, " -> ");
    snprintf(old, sizeof old, "%.*s", (int)(arrow - edit), edit);
    keri_make_with(rig, event, of->text, old, arrow + strlen(" -> "), of->signer);
}

/* What the rules say of it without the first one that refuses it. */
static tenon_status without(const keri_rig *rig, const keri_event *event, const char *attachment, size_t attachment_n,
                            tenon_status rule)
{
    enum { RULES = 24 };
    tenoni_log_rule rules[RULES];
    tenon_keri_state state = rig->state;
    size_t count = 0;
    if (!CHECK(tenoni_log_rules_count == RULES))
        return rule;
    for (size_t i = 0; i < RULES; i++)
        if (tenoni_log_rules[i].code != rule)
            rules[count++] = tenoni_log_rules[i];
    CHECK_NUMBER(count, RULES - 1);
    return tenoni_log_append(&state, tenoni_reader_over((const uint8_t *)event->text, event->n),
                             tenoni_reader_over((const uint8_t *)attachment, attachment_n), 0, rules, count);
}

static void check_refused(keri_rig *rig, const keri_event *event, const char *attachment, size_t attachment_n,
                          tenon_status expected)
{
    const tenon_keri_state before = rig->state;
    CHECK_STATUS(tenon_keri_append(&rig->state, (const uint8_t *)event->text, event->n, attachment, attachment_n, 0),
                 expected);
    if (expected == TENON_OK) {
        CHECK_BYTES(rig->state.said, event->text + 40, sizeof rig->state.said);
        CHECK_NUMBER(rig->state.flags & ~(uint32_t)TENON_KERI_ESTABLISHMENT_ONLY, 0);
        return;
    }
    CHECK_BYTES(&rig->state, &before, sizeof before);
    tenon_status later = without(rig, event, attachment, attachment_n, expected);
    CHECK(later == TENON_OK || later > expected);
}

TEST(keri_each_rule)
{
    for (size_t i = 0; i < COUNT(cases); i++)
        for (const char *const *edit = cases[i].edits; edit == cases[i].edits || *edit != NULL; edit++) {
            keri_event event;
            OWNED_KERI rig = begin(cases[i].place);
            make(&rig, &event, &cases[i], *edit);
            test_about("%zu: %.*s", i, (int)event.n, event.text);
            check_refused(&rig, &event, event.attachment, sizeof event.attachment, cases[i].expected);
        }
}

/* The rules that are about the attachment, and the size. */
TEST_KERI(keri_attachment_rules)
{
    static const char high[] = "-AABAABTMOphOswKmhbaiyFQMNl-IvRsLvymP_unzoA24jq00z";
    char long_one[] =
        "-AABAABTMOphOswKmhbaiyFQMNl-IvRsLvymP_unzoA24jq00zcp3cpwlmGrspliM6xvE49biUpuQfC55NVwNpoy5ZmzAAAAAAAA";
    keri_event event;
    keri_make(rig, &event, KERI_INCEPTION, 0);
    test_about("no attachment");
    check_refused(rig, &event, NULL, 0, TENON_KERI_2_UNSIGNED);
    test_about("cut");
    check_refused(rig, &event, event.attachment, sizeof event.attachment - 1, TENON_KERI_16_ATTACHMENT);
    check_refused(rig, &event, high, sizeof high - 1, TENON_KERI_16_ATTACHMENT);
    test_about("longer");
    check_refused(rig, &event, long_one, sizeof long_one - 1, TENON_KERI_16_ATTACHMENT);
    test_about("one signature, said to be two");
    event.attachment[3] = 'C';
    check_refused(rig, &event, event.attachment, sizeof event.attachment, TENON_KERI_16_ATTACHMENT);
    event.attachment[3] = 'B';
    test_about("of index 1");
    event.attachment[5] = 'B';
    check_refused(rig, &event, event.attachment, sizeof event.attachment, TENON_KERI_16_ATTACHMENT);
    event.attachment[5] = 'A';
    test_about("no event");
    event.n = 0;
    check_refused(rig, &event, event.attachment, sizeof event.attachment, TENON_KERI_1_SIZE);
}

/* n - s: the other signature over the same bytes, which a stranger can make. */
static void raise(char *attachment)
{
    uint8_t raw[66] = {0};
    tenon_signature signature;
    size_t n;
    CHECK_OK(tenon_keri_attachment_decode(&signature, attachment, TENON_KERI_ATTACHMENT_SIZE));
    tenoni_scalar_negate(signature.bytes + 32);
    CHECK(!tenon_signature_is_low_s(&signature));
    memcpy(raw + 2, &signature, sizeof signature);
    CHECK_OK(tenon_base64url_encode(attachment + 4, 88, &n, raw, sizeof raw));
}

TEST_KERI(keri_high_s_by_policy_only)
{
    keri_event event;
    keri_make(rig, &event, KERI_INCEPTION, 0);
    raise(event.attachment);
    check_refused(rig, &event, event.attachment, sizeof event.attachment, TENON_KERI_17_LOW_S);
    CHECK_OK(tenon_keri_append(&rig->state, (const uint8_t *)event.text, event.n, event.attachment,
                               sizeof event.attachment, TENON_KERI_ALLOW_HIGH_S));
}

/* The SAID of such an event is computed with its size, the signature over the zeros. */
TEST_KERI(keri_zero_size_by_policy_only)
{
    keri_event event;
    tenon_signature signature;
    size_t n;
    keri_make(rig, &event, KERI_INCEPTION, 0);
    memcpy(event.text + 16, "000000", 6);
    CHECK_OK(tenon_key_sign_event(rig->keys[0], &signature, (const uint8_t *)event.text, event.n));
    CHECK_OK(tenon_signature_normalize(&signature));
    CHECK_OK(tenon_keri_attachment_encode(event.attachment, sizeof event.attachment, &n, &signature));
    check_refused(rig, &event, event.attachment, sizeof event.attachment, TENON_KERI_4_STATED_SIZE);
    CHECK_OK(tenon_keri_append(&rig->state, (const uint8_t *)event.text, event.n, event.attachment,
                               sizeof event.attachment, TENON_KERI_ALLOW_ZERO_SIZE));
}

/* An event of the largest size is read, and one byte more is not. */
TEST(keri_largest_event)
{
    enum { MAX = TENON_KERI_EVENT_MAX };
    OWNED char *event = malloc(MAX + 1);
    char attachment[TENON_KERI_ATTACHMENT_SIZE] = {'-', 'A', 'A', 'B', 'A', 'A'};
    keri_event small;
    if (!CHECK(event != NULL))
        return;
    OWNED_KERI rig = keri_begin();
    keri_make(&rig, &small, KERI_INCEPTION, 0);
    memset(event, ' ', MAX + 1);
    memcpy(event, small.text, 24);
    memcpy(event + 16, "010000", 6);
    const uint8_t *bytes = (const uint8_t *)event;
    CHECK_STATUS(tenon_keri_append(&rig.state, bytes, MAX, attachment, sizeof attachment, 0), TENON_KERI_5_TYPE);
    CHECK_STATUS(tenon_keri_append(&rig.state, bytes, MAX + 1, attachment, sizeof attachment, 0), TENON_KERI_1_SIZE);
}

/* Each byte of a good event and of its attachment counts. */
TEST(keri_each_byte_counts)
{
    keri_event event;
    OWNED_KERI rig = begin(SECOND);
    keri_make(&rig, &event, KERI_ROTATION, 1);
    const size_t step = test_rounds(1, 29);
    for (size_t i = 0; i < event.n + sizeof event.attachment; i += step) {
        char *at = i < event.n ? event.text + i : event.attachment + (i - event.n);
        const char good = *at;
        *at ^= 1;
        test_about("byte %zu", i);
        CHECK(keri_append(&rig, &event) != TENON_OK);
        *at = good;
    }
    for (size_t n = 0; n < event.n; n++) {
        keri_event cut = event;
        cut.n = n;
        test_about("%zu bytes", n);
        CHECK(keri_append(&rig, &cut) != TENON_OK);
    }
    CHECK_OK(keri_append(&rig, &event));
    CHECK_STATUS(keri_append(&rig, &event), TENON_KERI_12_SEQUENCE); /* the same again */
}
