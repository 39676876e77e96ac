/* SPDX-License-Identifier: Apache-2.0 */
#include "tpm_rig.h"
#include "wire.h"

/* TPM2_CertifyCreation: the statement about an AK for an attestation CA, read by hand as such a CA does. */

static void check_signature(const tpm_stage *at, const tenon_tpm_creation *found)
{
    const tenon_evidence evidence = {.signature = {found->signature, found->signature_n}};
    tenon_signature signature;
    tenon_public_key point;
    tenon_digest digest;
    CHECK_OK(tenon_evidence_signature(&signature, &evidence));
    CHECK_OK(tenon_tpm_key_public_key(at->ak, &point));
    CHECK_OK(tenon_sha256(&digest, found->statement, found->statement_n));
    CHECK_OK(tenon_p256_verify(&point, &digest, &signature));
}

/* Part 2, 10.12.12 and 10.12.7: magic, type, signer, no extra data, clock, firmware, then the Name and the digest. */
static void check_creation(const tpm_stage *at, const tenon_tpm_creation *found)
{
    enum { CLOCK_AND_FIRMWARE = 17 + 8 };
    static uint8_t bytes[TENON_AREA_MAX];
    support_answer reader = {.n = found->statement_n};
    uint8_t name[TENON_NAME_SIZE];
    tenon_digest digest;
    size_t n;
    memcpy(reader.bytes, found->statement, found->statement_n);
    CHECK_NUMBER(support_get32(&reader), 0xff544347);
    CHECK_NUMBER(support_get16(&reader), 0x801a);
    support_get_sized(&reader, bytes, sizeof bytes, &n);
    CHECK_NUMBER(support_get16(&reader), 0);
    support_get(&reader, bytes, CLOCK_AND_FIRMWARE);
    support_get_sized(&reader, bytes, sizeof bytes, &n);
    CHECK_NUMBER(n, sizeof name);
    CHECK_OK(tenon_tpm_key_name(at->ak, name, sizeof name, &n));
    CHECK_BYTES(bytes, name, sizeof name);
    support_get_sized(&reader, bytes, sizeof bytes, &n);
    CHECK_NUMBER(n, sizeof digest);
    CHECK_OK(tenon_sha256(&digest, found->data, found->data_n));
    CHECK_BYTES(bytes, digest.bytes, sizeof digest);
    CHECK(!reader.bad && reader.at == reader.n);
    check_signature(at, found);
}

/* Part 2, 15.1 TPMS_CREATION_DATA: the parent's Name stands in it. */
TEST_STAGE(tpm_creation_works)
{
    tenon_tpm_creation found;
    uint8_t parent[TENON_NAME_SIZE];
    size_t n;
    CHECK_OK(tenon_tpm_ak_creation(at->ak, &found));
    check_creation(at, &found);
    CHECK_NUMBER(support_transport_count(at->rig.wire, SUPPORT_CC_CERTIFY_CREATION), 1);
    CHECK_OK(tenon_tpm_key_parent_name(at->ak, parent, sizeof parent, &n));
    size_t parent_at = found.data_n - 2 - 2 * (2 + sizeof parent) + 2;
    CHECK(found.data_n > parent_at + sizeof parent);
    CHECK_BYTES(found.data + parent_at, parent, sizeof parent);
}

TEST_STAGE(tpm_creation_arguments)
{
    tenon_tpm_creation found;
    OWNED_TPM_KEY loaded = NULL;
    CHECK_STATUS(tenon_tpm_ak_creation(NULL, &found), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_tpm_ak_creation(at->ak, NULL), TENON_ERROR_NULL);
    CHECK_CLEARS(tenon_tpm_ak_creation(at->key, &found), TENON_ERROR_KEY_ATTRIBUTES, &found);
    tpm_pem pem = tpm_rig_export(at->ak);
    CHECK_OK(tenon_tpm_ak_load(at->rig.tpm, &loaded, pem.text, pem.n));
    support_transport_reset_counts(at->rig.wire);
    CHECK_STATUS(tenon_tpm_ak_creation(loaded, &found), TENON_ERROR_NOT_MADE_HERE);
    CHECK_NUMBER(support_transport_count(at->rig.wire, SUPPORT_ANY), 0);
}

/* The ticket outlives what is loaded, a reset, and a session's kind; another key at the handle is noticed. */
TEST(tpm_creation_lost_objects)
{
    for (int i = 0; i < 2; i++) {
        OWNED_STAGE at = tpm_stage_start(i == 0 ? NULL : &tpm_encrypted, NULL);
        tenon_tpm_creation found;
        uint32_t handle;
        test_about("session %d", i);
        CHECK_NUMBER(support_flush_all(at.rig.sw), 0);
        CHECK_OK(tenon_tpm_ak_creation(at.ak, &found));
        support_transport_follow(at.rig.wire, true);
        CHECK(support_swtpm_power_on(at.rig.sw));
        CHECK_OK(tenon_tpm_ak_creation(at.ak, &found));
        check_creation(&at, &found);
        CHECK_OK(tenon_tpm_key_persist(at.ak, &handle));
        CHECK_NUMBER(support_swap_persistent(at.rig.sw, NULL, handle), 0);
        CHECK_OK(tenon_tpm_ak_creation(at.ak, &found));
        check_creation(&at, &found);
        CHECK_NUMBER(support_evict(at.rig.sw, NULL, handle, handle), 0);
    }
}

/* An answer about another object is not returned. */
TEST_STAGE(tpm_creation_answers_that_are_none)
{
    enum { NAME_AT = 16 + 4 + 2 + 36 + 2 + 17 + 8 + 2 + 20, HASH_AT = NAME_AT + 14 + 2 + 20 };
    tenon_tpm_creation found;
    support_record record;
    CHECK_OK(tenon_tpm_ak_creation(at->ak, &found));
    CHECK(support_transport_record(at->rig.wire, 0, &record));
    size_t whole = record.answer_n;
    for (size_t i = 13; i < whole; i++) {
        test_about("byte %u", (unsigned)i);
        support_flip(at->rig.wire, support_times(SUPPORT_CC_CERTIFY_CREATION, 1, 2), (int32_t)i, 1);
        tenon_status status = tenon_tpm_ak_creation(at->ak, &found);
        /* A password's entry echoes attributes, which do not matter. */
        if (i != whole - 3)
            CHECK(status == TENON_ERROR_TPM_ANSWER || status == TENON_ERROR_SIGNATURE_INVALID);
        if (i == NAME_AT || i == HASH_AT)
            CHECK_STATUS(status, TENON_ERROR_TPM_ANSWER);
        if (i != whole - 3)
            CHECK_ZERO(&found, sizeof found);
        support_transport_forget_faults(at->rig.wire);
    }
    for (size_t n = 10; n < whole; n++) {
        support_cut(at->rig.wire, SUPPORT_CC_CERTIFY_CREATION, n);
        CHECK_STATUS(tenon_tpm_ak_creation(at->ak, &found), TENON_ERROR_TPM_ANSWER);
    }
}

/* Where the ticket begins in the last answer to Create: its tag, and the owner's hierarchy. */
static size_t ticket_at(tpm_rig *rig)
{
    static const uint8_t head[] = {0x80, 0x21, 0x40, 0x00, 0x00, 0x01};
    support_record record = {.code = 0};
    for (size_t age = 0; record.code != SUPPORT_CC_CREATE && support_transport_record(rig->wire, age, &record); age++)
        continue;
    size_t at = record.answer_n - sizeof head;
    while (at > 0 && memcmp(record.answer + at, head, sizeof head) != 0)
        at--;
    CHECK(at != 0);
    return at;
}

/* Create's answer about an AK must be complete: the data's size, its digest's, the ticket's tag and size. */
TEST_STAGE(tpm_creation_of_a_create_that_lies)
{
    enum { HASH = 2 + 32, TAG_AND_HIERARCHY = 2 + 4 };
    tenon_tpm_creation found;
    OWNED_TPM_KEY ak = NULL;
    CHECK_OK(tenon_tpm_ak_creation(at->ak, &found));
    size_t ticket = ticket_at(&at->rig);
    tenon_tpm_key_free(&at->ak); /* its place is needed */
    const size_t places[] = {ticket - HASH - found.data_n - 1, ticket - HASH + 1, ticket + 1,
                             ticket + TAG_AND_HIERARCHY + 1};
    for (size_t i = 0; i < COUNT(places); i++) {
        test_about("place %u", (unsigned)i);
        support_flip(at->rig.wire, support_next(SUPPORT_CC_CREATE), (int32_t)places[i], 1);
        CHECK_STATUS(tenon_tpm_ak_create(at->key, &ak), TENON_ERROR_TPM_ANSWER);
        CHECK(ak == NULL);
        CHECK_NUMBER(support_transport_pending(at->rig.wire), 0);
    }
    /* The ticket is not valid for another digest. */
    support_flip(at->rig.wire, support_next(SUPPORT_CC_CREATE), (int32_t)(ticket - 1), 1);
    CHECK_OK(tenon_tpm_ak_create(at->key, &ak));
    CHECK_RC(tenon_tpm_ak_creation(ak, &found), TENON_CATEGORY_ARGUMENT, 0x4E0);
}
