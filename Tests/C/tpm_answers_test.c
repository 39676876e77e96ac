/* SPDX-License-Identifier: Apache-2.0 */
#include "tpm_rig.h"

/* Well-formed answers with wrong contents. */

/* TPM2_Sign by password: header, parameterSize, sigAlg, hash, then r and s, each with its size before it. */
enum { HEADER = 10, SCHEME_AT = HEADER + 4, HASH_AT = SCHEME_AT + 2, R_AT = HASH_AT + 2, S_AT = R_AT + 2 + 32 };

static void store16(uint8_t *at, size_t value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

static void set_sizes(uint8_t *answer, size_t n)
{
    store16(answer + 2, 0);
    store16(answer + 4, n);
    store16(answer + HEADER, 0);
    store16(answer + HEADER + 2, n - HEADER - 4 - 5);
}

/* r or s with zeros before it, or without the ones that it begins with. */
typedef struct {
    size_t at;
    int longer;
    bool shortened;
} form;

static size_t reshape(void *context, uint8_t *answer, size_t n, size_t size)
{
    form *how = context;
    uint8_t *number = answer + how->at + 2;
    size_t behind = n - how->at - 2;
    if (how->longer > 0) {
        memmove(number + how->longer, number, behind);
        memset(number, 0, (size_t)how->longer);
        n += (size_t)how->longer;
        store16(answer + how->at, 32 + (size_t)how->longer);
    } else if (number[0] == 0) {
        size_t zeros = 0;
        while (zeros < 31 && number[zeros] == 0)
            zeros++;
        memmove(number, number + zeros, behind - zeros);
        n -= zeros;
        store16(answer + how->at, 32 - zeros);
        how->shortened = true;
    }
    set_sizes(answer, n);
    return n;
}

static tpm_stage set(void)
{
    tpm_stage at = {.rig = tpm_rig_start(NULL)};
    at.key = tpm_rig_key(&at.rig, NULL);
    CHECK_OK(tpm_rig_sign(at.key));
    return at;
}

static void end(tpm_stage *at)
{
    CHECK_NUMBER(support_transport_pending(at->rig.wire), 0);
    CHECK_OK(tpm_rig_sign(at->key));
    tpm_stage_stop(at);
}

#define STAGE __attribute__((cleanup(end))) tpm_stage at = set()

static void check_answer(tpm_stage *at) { CHECK_STATUS(tpm_rig_sign(at->key), TENON_ERROR_TPM_ANSWER); }

static void check_flipped(tpm_stage *at, int32_t place, uint8_t bits)
{
    support_flip(at->rig.wire, support_next(SUPPORT_CC_SIGN), place, bits);
    check_answer(at);
}

TEST(tpm_answers_number_too_long)
{
    STAGE;
    for (int longer = 1; longer <= 40; longer += 13)
        for (size_t place = R_AT; place <= S_AT; place += S_AT - R_AT) {
            form how = {place, longer, false};
            support_edit(at.rig.wire, support_next(SUPPORT_CC_SIGN), reshape, &how);
            check_answer(&at);
        }
}

/* One signature in 128 has a zero to leave out: the test continues until it met one. */
TEST(tpm_answers_number_without_its_zeros)
{
    STAGE;
    for (size_t place = R_AT; place <= S_AT; place += S_AT - R_AT) {
        form how = {place, 0, false};
        support_edit(at.rig.wire, support_times(SUPPORT_CC_SIGN, 1, SUPPORT_ALWAYS), reshape, &how);
        for (int i = 0; i < 20000 && !how.shortened; i++)
            if (!CHECK_OK(tpm_rig_sign(at.key)))
                break;
        CHECK(how.shortened);
        support_transport_forget_faults(at.rig.wire);
    }
}

TEST(tpm_answers_wrong_scheme)
{
    STAGE;
    for (int32_t i = SCHEME_AT; i < R_AT; i++)
        check_flipped(&at, i, 1);
}

/* parameterSize: too small, too large, 0. */
TEST(tpm_answers_wrong_parameter_size)
{
    STAGE;
    for (int32_t i = HEADER; i < SCHEME_AT; i++) {
        check_flipped(&at, i, 1);
        check_flipped(&at, i, 0x80);
    }
    /* And the bytes behind the parameters: a password's entry is five zeros. */
    for (int32_t i = 1; i <= 5; i++) {
        support_flip(at.rig.wire, support_next(SUPPORT_CC_SIGN), -i, 1);
        tenon_status status = tpm_rig_sign(at.key);
        CHECK(status == TENON_ERROR_TPM_ANSWER || (i == 3 && status == TENON_OK)); /* the attributes */
    }
}

/* With VERIFIED, a wrong signature is made again and not returned; without it, the caller must check. */
TEST(tpm_answers_wrong_signature)
{
    static const tenon_digest digest = {{9}};
    STAGE;
    OWNED_KEY view = NULL;
    tenon_signature signature;
    CHECK_OK(tenon_tpm_key_open(at.key, &view, TENON_KEY_SIGNS_DIGESTS | TENON_TPM_KEY_VERIFIED));
    for (int32_t i = R_AT + 2 + 7; i < R_AT + 2 + 32; i += 7) {
        support_flip(at.rig.wire, support_times(SUPPORT_CC_SIGN, 1, 2), i, 1);
        CHECK_CLEARS(tenon_key_sign_digest(view, &signature, &digest), TENON_ERROR_TPM_ANSWER, &signature);
        support_flip(at.rig.wire, support_next(SUPPORT_CC_SIGN), i, 1);
        CHECK_OK(tenon_key_sign_digest(view, &signature, &digest));
    }
    tenon_key_free(&view);
    CHECK_OK(tenon_tpm_key_open(at.key, &view, TENON_KEY_SIGNS_DIGESTS));
    support_flip(at.rig.wire, support_next(SUPPORT_CC_SIGN), R_AT + 2 + 7, 1);
    CHECK_OK(tenon_key_sign_digest(view, &signature, &digest));
}

/* Load's answer: header, handle, parameterSize, then the Name with its size. */
TEST_RIG(tpm_answers_wrong_name)
{
    tpm_pem pem = tpm_rig_make(rig);
    for (int32_t i = HEADER + 8; i < HEADER + 8 + 36; i += 5) {
        tpm_rig_again(rig, NULL);
        support_flip(rig->wire, support_next(SUPPORT_CC_LOAD), i, 1);
        CHECK_STATUS(tpm_rig_use(rig, &pem), TENON_ERROR_KEY_NAME);
        CHECK_NUMBER(support_transport_pending(rig->wire), 0);
        tpm_rig_check_clean(rig);
    }
    tpm_rig_again(rig, NULL);
    CHECK_OK(tpm_rig_use(rig, &pem));
}

/* An answer of the same command about another key, as it stood on the wire. */
static void replay(tpm_rig *rig, uint32_t code, support_when when, uint8_t *kept)
{
    support_record record;
    size_t age = 0;
    while (support_transport_record(rig->wire, age, &record) && record.code != code)
        age++;
    if (CHECK(record.code == code && record.answer_n <= TENON_TPM_BUFFER_SIZE)) {
        memcpy(kept, record.answer, record.answer_n);
        support_replace(rig->wire, when, kept, record.answer_n);
    }
}

/* The private half of one key and the public half of another are not a key: the TPM does not load them. */
TEST_RIG(tpm_answers_create_of_another_key)
{
    static uint8_t kept[TENON_TPM_BUFFER_SIZE];
    tenon_tpm_key *key;
    (void)tpm_rig_make(rig);
    replay(rig, SUPPORT_CC_CREATE, support_next(SUPPORT_CC_CREATE), kept);
    /* Replayed whole it is the other key, which is a good one of ours. */
    CHECK_OK(tenon_tpm_key_create(rig->tpm, &key, NULL, 0));
    CHECK_OK(tpm_rig_sign(key));
    tenon_tpm_key_free(&key);
    /* The last byte of outPublic is y's: header, parameterSize, outPrivate, outPublic. */
    size_t private_n = (size_t)kept[14] << 8 | kept[15];
    size_t public_at = 16 + private_n;
    size_t public_n = (size_t)kept[public_at] << 8 | kept[public_at + 1];
    support_flip(rig->wire, support_next(SUPPORT_CC_CREATE), (int32_t)(public_at + 1 + public_n), 1);
    CHECK_STATUS(tenon_tpm_key_create(rig->tpm, &key, NULL, 0), TENON_ERROR_POINT_OFF_CURVE);
    CHECK(key == NULL);
    /* Another key's private part. */
    support_flip(rig->wire, support_next(SUPPORT_CC_CREATE), 20, 1);
    CHECK_RC(tenon_tpm_key_create(rig->tpm, &key, NULL, 0), TENON_CATEGORY_REJECTED, 0x1DF);
    /* Attributes that were not asked for: userWithAuth clear. */
    support_flip(rig->wire, support_next(SUPPORT_CC_CREATE), (int32_t)(public_at + 2 + 7), 0x40);
    CHECK_STATUS(tenon_tpm_key_create(rig->tpm, &key, NULL, 0), TENON_ERROR_KEY_ATTRIBUTES);
}

TEST_RIG(tpm_answers_read_public_of_another_key)
{
    static uint8_t kept[TENON_TPM_BUFFER_SIZE];
    tenon_tpm_key *one = tpm_rig_key(rig, NULL);
    CHECK_OK(tenon_tpm_key_persist(one, NULL));
    CHECK_OK(tenon_tpm_key_check(one));
    tpm_pem pem = tpm_rig_export(one);
    tenon_tpm_key_free(&one);
    OWNED_TPM_KEY other = tpm_rig_key(rig, NULL);
    CHECK_OK(tenon_tpm_key_persist(other, NULL));
    replay(rig, SUPPORT_CC_READ_PUBLIC, support_next(SUPPORT_CC_READ_PUBLIC), kept);
    /* Not the key's: the blob is loaded instead. */
    OWNED_TPM_KEY key = tpm_rig_loaded(rig, &pem);
    CHECK_OK(tenon_tpm_key_check(key));
    CHECK_NUMBER(tenon_tpm_key_handle(key), 0);
    CHECK_OK(tpm_rig_sign(key));
    CHECK_NUMBER(support_transport_pending(rig->wire), 0);
}

/* The same handles repeatedly, or handles out of order: a lying TPM must not cause an endless loop. */
static size_t same_handles(void *context, uint8_t *answer, size_t n, size_t size)
{
    uint32_t count = *(const uint32_t *)context;
    if (19 + 4 * count > size)
        return n;
    answer[17] = (uint8_t)(count >> 8);
    answer[18] = (uint8_t)count;
    for (uint32_t i = 0; i < count; i++)
        memcpy(answer + 19 + 4 * i, "\x81\x08\x00\x00", 4);
    store16(answer + 4, 19 + 4 * count);
    return 19 + 4 * count;
}

TEST(tpm_answers_endless_handles)
{
    STAGE;
    uint32_t handles[8], count = 64;
    size_t n;
    support_edit(at.rig.wire, support_times(SUPPORT_CC_GET_CAPABILITY, 1, 200), same_handles, &count);
    CHECK_STATUS(tenon_tpm_handles(at.rig.tpm, handles, 8, &n), TENON_ERROR_TPM_ANSWER);
    support_transport_forget_faults(at.rig.wire);
    count = 1;
    support_edit(at.rig.wire, support_times(SUPPORT_CC_GET_CAPABILITY, 1, 200), same_handles, &count);
    tenon_status status = tenon_tpm_key_persist(at.key, NULL);
    CHECK(status != TENON_OK);
    CHECK(support_transport_count(at.rig.wire, SUPPORT_CC_GET_CAPABILITY) < 10);
    support_transport_forget_faults(at.rig.wire);
}

/* Another program makes an object persistent between the two walks: there is no room for its handle, and nothing is
 * written out of bounds. */
static size_t one_more(void *context, uint8_t *answer, size_t n, size_t size)
{
    answer[18] = (uint8_t)(answer[18] + 1);
    memcpy(answer + n, "\x81\x80\x00\x01", 4);
    store16(answer + 4, n + 4);
    return n + 4;
}

TEST(tpm_answers_one_handle_more_the_second_time)
{
    STAGE;
    uint32_t handles[2] = {0, 0xa5a5a5a5};
    size_t n;
    CHECK_OK(tenon_tpm_key_persist(at.key, NULL));
    support_edit(at.rig.wire, support_nth(SUPPORT_CC_GET_CAPABILITY, 2), one_more, NULL);
    tenon_status status = tenon_tpm_handles(at.rig.tpm, handles, 1, &n);
    CHECK_NUMBER(handles[1], 0xa5a5a5a5);
    CHECK(status == TENON_OK ? n <= 1 : status == TENON_ERROR_BUFFER_TOO_SMALL);
    CHECK_OK(tenon_tpm_handles(at.rig.tpm, handles, 1, &n));
    CHECK_NUMBER(n, 1);
}
