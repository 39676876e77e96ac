/* SPDX-License-Identifier: Apache-2.0 */
#include "tpm_rig.h"

/*
 * Invalid answers at each command of each operation. The status says so; nothing crashes, hangs or leaks, no key is
 * reported as gone, and afterwards the key works.
 */
static tenon_status create(tpm_stage *at) { return tenon_tpm_key_create(at->rig.tpm, &at->key, NULL, 0); }

static tenon_status create_sealed(tpm_stage *at)
{
    tenon_status status = tenon_tpm_key_create(at->rig.tpm, &at->key, (const uint8_t *)"auth", 4);
    return status == TENON_OK ? tpm_rig_sign(at->key) : status;
}

static tenon_status load(tpm_stage *at) { return tpm_rig_load(&at->rig, &at->key, &at->pem); }

/* Nothing is sent before the first signature. */
static tenon_status sign_persistent(tpm_stage *at)
{
    tenon_status status = tpm_rig_load(&at->rig, &at->key, &at->persistent);
    return status == TENON_OK ? tpm_rig_sign(at->key) : status;
}

typedef struct {
    const char *name;
    tenon_status (*run)(tpm_stage *at);
    bool loaded;
} operation;

static const operation operations[] = {
    {"create", create, false},
    {"create with auth", create_sealed, false},
    {"load", load, false},
    {"sign persistent", sign_persistent, false},
    {"sign", tpm_stage_sign, true},
    {"persist", tpm_stage_persist, true},
    {"read_info", tpm_stage_info, false},
    {"list", tpm_stage_list, false},
};
enum { OPERATIONS = COUNT(operations), HEADER = 10, COMMANDS = 24 };

typedef struct {
    uint32_t code;
    size_t n;
} answer_kind;

static void begin(tpm_stage *at, const operation *what)
{
    tpm_rig_again(&at->rig, NULL);
    if (what->loaded) {
        CHECK_OK(load(at));
        CHECK_OK(tpm_rig_sign(at->key));
    }
    support_transport_reset_counts(at->rig.wire);
}

/* may_leak: the handle of what was made could not be read. */
static void finish(tpm_stage *at, bool may_leak)
{
    CHECK_NUMBER(support_transport_pending(at->rig.wire), 0);
    support_transport_forget_faults(at->rig.wire);
    tenon_tpm_key_free(&at->key);
    tenon_tpm_free(&at->rig.tpm);
    if (!may_leak) {
        CHECK_NUMBER(support_transient_count(at->rig.sw), 0);
        CHECK_NUMBER(support_session_count(at->rig.sw), 0);
    }
    support_flush_all(at->rig.sw);
    CHECK(support_persistent_count(at->rig.sw) <= 2);
}

static tpm_stage set(void)
{
    tpm_stage at = {.rig = tpm_rig_start(NULL)};
    at.pem = tpm_rig_make(&at.rig);
    CHECK_OK(load(&at));
    CHECK_OK(tenon_tpm_key_persist(at.key, NULL));
    at.persistent = tpm_rig_export(at.key);
    tenon_tpm_key_free(&at.key);
    return at;
}

static void end(tpm_stage *at)
{
    tpm_rig_again(&at->rig, NULL);
    CHECK_OK(tpm_rig_use(&at->rig, &at->pem));
    CHECK_OK(tpm_rig_use(&at->rig, &at->persistent));
    tpm_rig_stop(&at->rig);
}

/* The operation's answers without a lie. */
static size_t learn(tpm_stage *at, const operation *what, answer_kind *answers)
{
    begin(at, what);
    CHECK_OK(what->run(at));
    size_t n = support_transport_count(at->rig.wire, SUPPORT_ANY);
    CHECK(n >= 1 && n <= COMMANDS);
    for (size_t i = 0; i < n; i++) {
        support_record record;
        CHECK(support_transport_record(at->rig.wire, n - 1 - i, &record));
        answers[i] = (answer_kind){record.code, record.answer_n};
    }
    finish(at, false);
    return n;
}

static bool makes_object(uint32_t code)
{
    return code == SUPPORT_CC_CREATE_PRIMARY || code == SUPPORT_CC_LOAD || code == SUPPORT_CC_START_AUTH_SESSION;
}

typedef struct {
    const operation *what;
    uint32_t nth;
    answer_kind answer;
} place;

/* A wrong header is noticed, whatever follows it. Only the answer to a flush does not matter. */
static void try_header(tpm_stage *at, const place *where, const char *how,
                       void (*lie)(tpm_stage *, support_when, size_t), size_t value)
{
    test_about("%s, answer %u (0x%x): %s %zu", where->what->name, (unsigned)where->nth, (unsigned)where->answer.code,
               how, value);
    begin(at, where->what);
    lie(at, support_nth(SUPPORT_ANY, where->nth), value);
    tenon_status status = where->what->run(at);
    if (where->answer.code != SUPPORT_CC_FLUSH_CONTEXT)
        CHECK_STATUS(status, TENON_ERROR_TPM_ANSWER);
    finish(at, makes_object(where->answer.code));
}

static void truncate_to(tpm_stage *at, support_when when, size_t n) { support_truncate(at->rig.wire, when, n); }
static void extend_by(tpm_stage *at, support_when when, size_t n) { support_extend(at->rig.wire, when, n); }
static void say_size(tpm_stage *at, support_when when, size_t n) { support_resize(at->rig.wire, when, (uint32_t)n); }

static void flip_tag(tpm_stage *at, support_when when, size_t n)
{
    support_flip(at->rig.wire, when, (int32_t)(n / 256), (uint8_t)n);
}

static void say_length(tpm_stage *at, support_when when, size_t n) { support_lie(at->rig.wire, when, n); }

/* The header and the transport agree on more than the buffer holds. */
static void say_both(tpm_stage *at, support_when when, size_t n)
{
    support_resize(at->rig.wire, when, (uint32_t)n);
    support_lie(at->rig.wire, when, n);
}

static void lie_in_the_header(tpm_stage *at, const place *where)
{
    size_t n = where->answer.n;
    size_t step = test_rounds(37, 150);
    if (where->nth % test_rounds(1, 3) != 0)
        return;
    for (size_t i = 0; i < n; i += i < HEADER + 4 && step < 100 ? 3 : step)
        try_header(at, where, "truncated to", truncate_to, i);
    try_header(at, where, "truncated to", truncate_to, n - 1);
    try_header(at, where, "extended by", extend_by, 1);
    try_header(at, where, "extended by", extend_by, 4096);
    try_header(at, where, "size", say_size, 0);
    try_header(at, where, "size", say_size, n - 1);
    try_header(at, where, "size", say_size, n + 1);
    try_header(at, where, "size", say_size, 0xffffffff);
    try_header(at, where, "tag flipped", flip_tag, 256 + 3);
    try_header(at, where, "tag flipped", flip_tag, 0x80);
    try_header(at, where, "length", say_length, 0);
    try_header(at, where, "length", say_length, 4097);
    try_header(at, where, "length", say_length, SIZE_MAX);
    try_header(at, where, "size and length", say_both, 4097);
    try_header(at, where, "size and length", say_both, 0x7fffffff);
}

static void for_each_answer(void (*lie)(tpm_stage *at, const place *where))
{
    tpm_stage at = set();
    for (size_t i = 0; i < OPERATIONS; i++) {
        answer_kind answers[COMMANDS];
        size_t n = learn(&at, &operations[i], answers);
        for (size_t j = 0; j < n && j < COMMANDS; j++) {
            place where = {&operations[i], (uint32_t)j + 1, answers[j]};
            lie(&at, &where);
        }
    }
    end(&at);
}

TEST(tpm_lies_in_the_header) { for_each_answer(lie_in_the_header); }

static void check_known(tenon_status status)
{
    int32_t category = tenon_status_category(status);
    CHECK(category != TENON_CATEGORY_GONE && category != TENON_CATEGORY_ARGUMENT &&
          category != TENON_CATEGORY_PERMISSION);
}

/* Cut after any byte, with a matching size: the missing part is noticed where it is read. */
static void cut_off(tpm_stage *at, const place *where)
{
    size_t step = test_rounds(13, 61);
    for (size_t i = HEADER; i < where->answer.n; i += step) {
        support_when when = support_nth(SUPPORT_ANY, where->nth);
        test_about("%s, answer %u (0x%x): cut off at %zu", where->what->name, (unsigned)where->nth,
                   (unsigned)where->answer.code, i);
        begin(at, where->what);
        support_truncate(at->rig.wire, when, i);
        support_fix_size(at->rig.wire, when);
        check_known(where->what->run(at));
        finish(at, makes_object(where->answer.code) && i < HEADER + 4);
    }
}

TEST(tpm_lies_cut_off) { for_each_answer(cut_off); }

/* One changed bit anywhere behind the header, so that every inner size is too large or too small once. */
static void flip_bits(tpm_stage *at, const place *where)
{
    size_t step = test_rounds(11, 53);
    for (size_t i = HEADER; i < where->answer.n; i += i < HEADER + 10 ? 1 : step) {
        uint8_t bit = (uint8_t)(1 << (i + where->nth) % 8);
        test_about("%s, answer %u (0x%x): byte %zu ^ %02x", where->what->name, (unsigned)where->nth,
                   (unsigned)where->answer.code, i, bit);
        begin(at, where->what);
        support_flip(at->rig.wire, support_nth(SUPPORT_ANY, where->nth), (int32_t)i, bit);
        check_known(where->what->run(at));
        finish(at, makes_object(where->answer.code) && i < HEADER + 4);
    }
}

TEST(tpm_lies_one_bit) { for_each_answer(flip_bits); }

/* Success without the session area that the command had. */
static void strip(tpm_stage *at, const place *where)
{
    bool authorised = where->answer.code == SUPPORT_CC_SIGN || where->answer.code == SUPPORT_CC_CREATE ||
                      where->answer.code == SUPPORT_CC_LOAD || where->answer.code == SUPPORT_CC_CREATE_PRIMARY ||
                      where->answer.code == SUPPORT_CC_EVICT_CONTROL;
    if (!authorised)
        return;
    test_about("%s, answer %u (0x%x): stripped", where->what->name, (unsigned)where->nth, (unsigned)where->answer.code);
    begin(at, where->what);
    support_strip_sessions(at->rig.wire, support_nth(SUPPORT_ANY, where->nth));
    CHECK_STATUS(where->what->run(at), TENON_ERROR_TPM_ANSWER);
    finish(at, makes_object(where->answer.code));
}

TEST(tpm_lies_sessions_stripped) { for_each_answer(strip); }

/* Adds to a big-endian number of n bytes. */
static void add(uint8_t *number, size_t n, size_t more)
{
    for (size_t i = n; i-- > 0; more >>= 8) {
        more += number[i];
        number[i] = (uint8_t)more;
    }
}

/* Create's answer, with a public area that is larger than any that is kept. */
static size_t enlarge_area(void *context, uint8_t *answer, size_t n, size_t size)
{
    enum { MORE = 600, SIZE_AT = 2, PRIVATE_AT = HEADER + 4 };
    uint8_t *area = answer + PRIVATE_AT + 2 + (answer[PRIVATE_AT] << 8 | answer[PRIVATE_AT + 1]);
    memmove(area + 2 + MORE, area + 2, n - (size_t)(area + 2 - answer));
    add(area, 2, MORE);
    add(answer + HEADER, 4, MORE);
    add(answer + SIZE_AT, 4, MORE);
    return n + MORE;
}

TEST_RIG(tpm_lies_large_area)
{
    tenon_tpm_key *key;
    support_edit(rig->wire, support_next(SUPPORT_CC_CREATE), enlarge_area, NULL);
    CHECK_STATUS(tenon_tpm_key_create(rig->tpm, &key, NULL, 0), TENON_ERROR_TPM_ANSWER);
    CHECK_NUMBER(support_transport_pending(rig->wire), 0);
    CHECK(key == NULL);
}
