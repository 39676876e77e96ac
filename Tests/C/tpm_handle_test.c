/* SPDX-License-Identifier: Apache-2.0 */
#include "tpm_rig.h"

/* Handles from a TPM: those of objects that it made for us, and of persistent objects. */

enum { HANDLE_AT = 10, MORE_AT = 10, COUNT_AT = 15, VALUES_AT = 19 };

static void store32(uint8_t *at, uint32_t value)
{
    at[0] = (uint8_t)(value >> 24);
    at[1] = (uint8_t)(value >> 16);
    at[2] = (uint8_t)(value >> 8);
    at[3] = (uint8_t)value;
}

static size_t set_handle(void *context, uint8_t *answer, size_t n, size_t size)
{
    if (n >= HANDLE_AT + 4)
        store32(answer + HANDLE_AT, *(const uint32_t *)context);
    return n;
}

static void watch_for_flush(support_transport *wire, uint32_t handle)
{
    uint8_t command[14] = {0x80, 0x01, 0, 0, 0, sizeof command, 0, 0, 0x01, 0x65};
    store32(command + 10, handle);
    support_transport_watch(wire, command, sizeof command);
}

static tenon_status create_and_sign(tpm_rig *rig, tenon_tpm_key **key)
{
    tenon_status status = tenon_tpm_key_create(rig->tpm, key, (const uint8_t *)"auth", 4);
    return status == TENON_OK ? tpm_rig_sign(*key) : status;
}

/* The new object stays in the TPM, because its handle is unknown; the object at the handle stays, because it is not
 * ours. */
static void try_handle(tpm_rig *rig, const tpm_pem *pem, uint32_t code, uint32_t handle)
{
    tenon_tpm_key *before, *key;
    test_about("command 0x%x, handle %08x", (unsigned)code, (unsigned)handle);
    tpm_rig_again(rig, NULL);
    CHECK_OK(tpm_rig_load(rig, &before, pem));
    CHECK_OK(tpm_rig_sign(before));
    support_edit(rig->wire, support_next(code), set_handle, &handle);
    watch_for_flush(rig->wire, handle);
    CHECK_STATUS(create_and_sign(rig, &key), TENON_ERROR_TPM_ANSWER);
    tenon_tpm_key_free(&key);
    CHECK_NUMBER(support_transport_pending(rig->wire), 0);
    CHECK_NUMBER(support_transport_watched(rig->wire), 0);
    CHECK_OK(tpm_rig_sign(before));
    CHECK_OK(create_and_sign(rig, &key));
    CHECK_OK(tpm_rig_sign(before));
    tenon_tpm_key_free(&before);
    CHECK_OK(tpm_rig_sign(key));
    tenon_tpm_key_free(&key);
    tenon_tpm_free(&rig->tpm);
    support_flush_all(rig->sw);
}

TEST_RIG(tpm_handle_of_another_kind)
{
    static const uint32_t no_object[] = {0, 0x02abcdef, 0x03abcdef, 0x81000001, 0x40000001, 0x01c00002, 0xffffffff};
    static const uint32_t no_session[] = {0, 0x80abcdef, 0x81000001, 0x03abcdef, 0x40000009, 0xffffffff};
    tpm_pem pem = tpm_rig_make(rig);
    for (size_t i = 0; i < COUNT(no_object); i++) {
        try_handle(rig, &pem, SUPPORT_CC_LOAD, no_object[i]);
        try_handle(rig, &pem, SUPPORT_CC_CREATE_PRIMARY, no_object[i]);
    }
    for (size_t i = 0; i < COUNT(no_session); i++)
        try_handle(rig, &pem, SUPPORT_CC_START_AUTH_SESSION, no_session[i]);
    tpm_rig_again(rig, NULL);
}

/* The same at the handle of an existing object of another program. */
TEST_RIG(tpm_handle_of_somebody_else)
{
    tenon_tpm_key *key;
    uint32_t other;
    CHECK_NUMBER(support_create_primary(rig->sw, SUPPORT_RH_NULL, NULL, SUPPORT_SIGNING, &other), 0);
    support_edit(rig->wire, support_next(SUPPORT_CC_START_AUTH_SESSION), set_handle, &other);
    CHECK_STATUS(create_and_sign(rig, &key), TENON_ERROR_TPM_ANSWER);
    tenon_tpm_free(&rig->tpm);
    CHECK_NUMBER(support_transient_count(rig->sw), 1);
    CHECK_NUMBER(support_flush(rig->sw, other), 0);
    support_flush_all(rig->sw);
    tpm_rig_again(rig, NULL);
}

/* A list is cut after a few values, and says that there are more. A handle has 4 bytes, a property 8. */
typedef struct {
    uint32_t at_once;
} cut;

static size_t cut_list(void *context, uint8_t *answer, size_t n, size_t size)
{
    enum { CAPABILITY_AT = 14, HANDLES = 1 };
    const cut *how = context;
    size_t value_size = answer[CAPABILITY_AT] == HANDLES ? 4 : 8;
    if (n < VALUES_AT || answer[COUNT_AT + 3] <= how->at_once)
        return n;
    answer[MORE_AT] = 1;
    store32(answer + COUNT_AT, how->at_once);
    n = VALUES_AT + how->at_once * value_size;
    store32(answer + 2, (uint32_t)n);
    return n;
}

TEST_RIG(tpm_handle_list_in_pieces)
{
    enum { KEYS = 5 };
    tenon_tpm_key *key;
    uint32_t handles[KEYS], made;
    size_t n;
    cut two = {2};
    for (uint32_t i = 0; i < KEYS; i++) {
        CHECK_OK(tenon_tpm_key_create(rig->tpm, &key, NULL, 0));
        CHECK_OK(tenon_tpm_key_persist(key, &made));
        tenon_tpm_key_free(&key);
    }
    support_edit(rig->wire, support_times(SUPPORT_CC_GET_CAPABILITY, 1, SUPPORT_ALWAYS), cut_list, &two);
    CHECK_OK(tenon_tpm_handles(rig->tpm, handles, KEYS, &n));
    CHECK_NUMBER(n, KEYS);
    for (uint32_t i = 0; i < KEYS; i++)
        CHECK_NUMBER(handles[i], 0x81080000 + i);
    CHECK_STATUS(tenon_tpm_handles(rig->tpm, handles, KEYS - 1, &n), TENON_ERROR_BUFFER_TOO_SMALL);
    CHECK_NUMBER(n, KEYS);
    CHECK_NUMBER(support_transport_pending(rig->wire), 0);
}

TEST_RIG(tpm_handle_properties_in_pieces)
{
    tenon_tpm_info whole, pieces;
    cut one = {1};
    /* EK certificates of two kinds, which are asked for by their handles. */
    CHECK_NUMBER(support_nv_write(rig->sw, SUPPORT_NV_EK_RSA, (const uint8_t *)"a", 1), 0);
    CHECK_NUMBER(support_nv_write(rig->sw, SUPPORT_NV_EK_P256, (const uint8_t *)"b", 1), 0);
    CHECK_OK(tenon_tpm_read_info(rig->tpm, &whole));
    CHECK(whole.lockout_max != 0 && whole.revision != 0);
    CHECK_NUMBER(whole.ek_certificates, 3);
    support_transport_reset_counts(rig->wire);
    support_edit(rig->wire, support_times(SUPPORT_CC_GET_CAPABILITY, 1, SUPPORT_ALWAYS), cut_list, &one);
    CHECK_OK(tenon_tpm_read_info(rig->tpm, &pieces));
    CHECK_BYTES(&pieces, &whole, sizeof whole);
    CHECK(support_transport_count(rig->wire, SUPPORT_CC_GET_CAPABILITY) < 200);
}

/* This many handles from here on, and a hint of more; each call continues where the last one ended. */
typedef struct {
    uint32_t next, count;
} invented;

static size_t invent_handles(void *context, uint8_t *answer, size_t n, size_t size)
{
    invented *list = context;
    if (VALUES_AT + 4 * list->count > size)
        return n;
    answer[MORE_AT] = 1;
    store32(answer + COUNT_AT, list->count);
    for (size_t i = 0; i < list->count; i++)
        store32(answer + VALUES_AT + 4 * i, list->next++);
    store32(answer + 2, VALUES_AT + 4 * list->count);
    return VALUES_AT + 4 * list->count;
}

/* If the list is incomplete, its length is not reported. */
TEST_RIG(tpm_handle_list_fails_in_the_middle)
{
    uint32_t handles[128];
    invented list = {0x81000000, 64};
    size_t n = 99;
    support_edit(rig->wire, support_next(SUPPORT_CC_GET_CAPABILITY), invent_handles, &list);
    support_fail_code(rig->wire, support_nth(SUPPORT_CC_GET_CAPABILITY, 2), 0x101);
    CHECK_RC(tenon_tpm_handles(rig->tpm, handles, 128, &n), TENON_CATEGORY_UNAVAILABLE, 0x101);
    CHECK_NUMBER(n, 0);
    CHECK_NUMBER(support_transport_pending(rig->wire), 0);
}

/* Where one is asked for there is room for one. */
TEST_RIG(tpm_handle_more_than_was_asked)
{
    uint32_t handles[128];
    invented list = {0x81000000, 65}; /* 64 at most are asked for at once */
    size_t n = 99;
    support_edit(rig->wire, support_next(SUPPORT_CC_GET_CAPABILITY), invent_handles, &list);
    CHECK_STATUS(tenon_tpm_handles(rig->tpm, handles, 128, &n), TENON_ERROR_TPM_ANSWER);
    CHECK_NUMBER(n, 0);
    invented two = {0x81080000, 2};
    OWNED_TPM_KEY key = tpm_rig_key(rig, NULL);
    support_edit(rig->wire, support_next(SUPPORT_CC_GET_CAPABILITY), invent_handles, &two);
    CHECK_STATUS(tenon_tpm_key_persist(key, NULL), TENON_ERROR_TPM_ANSWER);
    CHECK_NUMBER(support_persistent_count(rig->sw), 0);
}

static size_t none_but_more(void *context, uint8_t *answer, size_t n, size_t size)
{
    answer[MORE_AT] = 1;
    store32(answer + COUNT_AT, 0);
    store32(answer + 2, VALUES_AT);
    return n < VALUES_AT ? n : VALUES_AT;
}

/* The first property repeatedly. */
static size_t same_property(void *context, uint8_t *answer, size_t n, size_t size)
{
    cut one = {1};
    n = cut_list(&one, answer, n, size);
    store32(answer + VALUES_AT, 0x100);
    return n;
}

/* More without any, and more behind the last handle that there is: it comes to an end. */
TEST_RIG(tpm_handle_list_never_ends)
{
    uint32_t handles[128];
    size_t n;
    tenon_tpm_info info;
    support_when always = support_times(SUPPORT_CC_GET_CAPABILITY, 1, 20);
    support_edit(rig->wire, always, none_but_more, NULL);
    CHECK_STATUS(tenon_tpm_handles(rig->tpm, handles, 128, &n), TENON_ERROR_TPM_ANSWER);
    CHECK_STATUS(tenon_tpm_read_info(rig->tpm, &info), TENON_ERROR_TPM_ANSWER);
    CHECK_NUMBER(support_transport_count(rig->wire, SUPPORT_ANY), 2);
    support_transport_forget_faults(rig->wire);
    support_edit(rig->wire, always, same_property, NULL);
    CHECK_STATUS(tenon_tpm_read_info(rig->tpm, &info), TENON_ERROR_TPM_ANSWER);
    support_transport_forget_faults(rig->wire);
    for (uint32_t count = 3; count <= 64; count += 61) {
        invented list = {0x82000000 - count, count};
        test_about("%u handles", (unsigned)count);
        support_transport_reset_counts(rig->wire);
        support_edit(rig->wire, support_next(SUPPORT_CC_GET_CAPABILITY), invent_handles, &list);
        CHECK_STATUS(tenon_tpm_handles(rig->tpm, NULL, 0, &n), TENON_ERROR_BUFFER_TOO_SMALL);
        CHECK_NUMBER(n, count);
        CHECK_NUMBER(support_transport_count(rig->wire, SUPPORT_ANY), 1);
    }
}
