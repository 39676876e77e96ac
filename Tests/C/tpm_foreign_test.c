/* SPDX-License-Identifier: Apache-2.0 */
#include "tpm_rig.h"
#include "wire.h"

/* Keys and files of other tools. */

static const uint32_t elsewhere = 0x81000005;
static const uint8_t auth[] = {'a', 'u', 't', 'h'};

enum { ATTRIBUTES_AT = 4 };

/* TPM2_Create of a signing key with other attributes, by an empty auth value. */
static void create_with(support_swtpm *sw, uint32_t parent, uint32_t attributes, support_blob *out)
{
    support_answer answer;
    support_template_public(SUPPORT_SIGNING, &out->area);
    support_store32(out->area.bytes + ATTRIBUTES_AT, attributes);
    CHECK_NUMBER(
        support_run(sw, &answer, SUPPORT_CC_CREATE, "4e24b04", parent, 4u, 0u, out->area.bytes, out->area.n, 0u), 0);
    CHECK(support_get32(&answer) != 0);
    support_get_sized(&answer, out->secret, sizeof out->secret, &out->secret_n);
    support_get_sized(&answer, out->area.bytes, sizeof out->area.bytes, &out->area.n);
}

static void check_hardware(tpm_rig *rig, uint32_t attributes, int32_t expected)
{
    support_blob blob;
    OWNED_TPM_KEY key = NULL;
    test_about("attributes %08x", (unsigned)attributes);
    create_with(rig->sw, SUPPORT_HANDLE_SRK, attributes, &blob);
    tenoni_keyfile file = tpm_rig_keyfile(&blob, SUPPORT_HANDLE_SRK);
    tpm_pem pem = tpm_rig_write(&file);
    if (expected == 0)
        CHECK_STATUS(tpm_rig_load(rig, &key, &pem), TENON_ERROR_KEY_ATTRIBUTES);
    if (!CHECK_OK(tenon_tpm_key_import(rig->tpm, &key, pem.text, pem.n, NULL, 0)))
        return;
    OWNED_KEY view = tpm_rig_view(key, 0);
    CHECK_NUMBER(tenon_key_is_hardware(view), expected);
    CHECK_OK(tpm_rig_sign(key));
}

/* A key that may be duplicated may exist elsewhere in clear. */
TEST_RIG(tpm_foreign_key_that_is_not_hardware)
{
    CHECK_NUMBER(support_persist_srk(rig->sw, NULL, SUPPORT_SRK_H2), 0);
    check_hardware(rig, 0x00040472, 1);
    check_hardware(rig, 0x00060072, 1);
    check_hardware(rig, 0x00040460, 0);
    check_hardware(rig, 0x00060060, 0);
}

/* fixedTPM, fixedParent, sensitiveDataOrigin: each of them. No TPM makes a key that lacks the last alone. */
TEST(tpm_foreign_attributes_of_hardware)
{
    tenoni_public area;
    memset(&area, 0, sizeof area);
    area.attributes = 0x00040472;
    CHECK(tenoni_public_is_bound(&area));
    for (uint32_t bit = 0; bit < 32; bit++) {
        test_about("bit %u", (unsigned)bit);
        area.attributes = 0x00040472 ^ 1u << bit;
        CHECK(tenoni_public_is_bound(&area) == (bit != 1 && bit != 4 && bit != 5));
    }
}

/* A storage key that no template makes again, below the SRK. */
static void put_parent(support_swtpm *sw, support_public *area)
{
    uint32_t srk, handle;
    support_blob blob;
    CHECK_NUMBER(support_create_primary(sw, SUPPORT_RH_OWNER, NULL, SUPPORT_SRK_H2, &srk), 0);
    CHECK_NUMBER(support_create(sw, srk, SUPPORT_SRK_H2, NULL, &blob), 0);
    CHECK_NUMBER(support_load(sw, srk, &blob, &handle), 0);
    CHECK_NUMBER(support_evict(sw, NULL, handle, elsewhere), 0);
    CHECK_NUMBER(support_flush(sw, handle), 0);
    CHECK_NUMBER(support_flush(sw, srk), 0);
    CHECK_NUMBER(support_read_public(sw, elsewhere, area), 0);
}

/* ReadPublic's answer about somebody's P-256 storage key; an empty handle gives none. */
static size_t answer_with_another(void *context, uint8_t *answer, size_t n, size_t size)
{
    const support_public *other = context;
    size_t at = 10;
    if (n == at)
        return n;
    answer[at++] = (uint8_t)(other->n >> 8);
    answer[at++] = (uint8_t)other->n;
    memcpy(answer + at, other->bytes, other->n);
    at += other->n;
    for (int i = 0; i < 2; i++) {
        answer[at++] = 0;
        answer[at++] = (uint8_t)other->name_n;
        memcpy(answer + at, other->name, other->name_n);
        at += other->name_n;
    }
    support_store32(answer + 2, (uint32_t)at);
    return at;
}

/* A parent whose Name cannot be computed, because of another nameAlg: the key loads, without its parent's Name. */
TEST_RIG(tpm_foreign_parent_without_a_name)
{
    enum { NAME_ALGORITHM_AT = 10 + 2 + 3, TO_SHA384 = 0x0b ^ 0x0c };
    support_public parent;
    support_blob blob;
    OWNED_TPM_KEY key = NULL;
    uint8_t name[TENON_NAME_SIZE];
    size_t n;
    put_parent(rig->sw, &parent);
    CHECK_NUMBER(support_create(rig->sw, elsewhere, SUPPORT_SIGNING, "auth", &blob), 0);
    tenoni_keyfile file = tpm_rig_keyfile(&blob, elsewhere);
    tpm_pem pem = tpm_rig_write(&file);
    support_flip(rig->wire, support_next(SUPPORT_CC_READ_PUBLIC), NAME_ALGORITHM_AT, TO_SHA384);
    CHECK_OK(tenon_tpm_key_import(rig->tpm, &key, pem.text, pem.n, auth, sizeof auth));
    CHECK_NUMBER(support_transport_pending(rig->wire), 0);
    CHECK_OK(tenon_tpm_key_parent_name(key, name, sizeof name, &n));
    CHECK_NUMBER(n, 0);
    pem = tpm_rig_export(key);
    CHECK(strstr(pem.text, "tenon-parent: ") == NULL);
}

/* A file without the parent's Name: the parent that the key first loaded under is salted to, and no other. */
TEST_RIG(tpm_foreign_parent_is_kept)
{
    support_public parent, other;
    support_blob blob;
    tenon_tpm_key *key;
    uint8_t name[TENON_NAME_SIZE];
    uint32_t handle;
    size_t n;
    put_parent(rig->sw, &parent);
    CHECK_NUMBER(support_create_primary(rig->sw, SUPPORT_RH_OWNER, NULL, SUPPORT_SRK_PROVISIONING, &handle), 0);
    CHECK_NUMBER(support_read_public(rig->sw, handle, &other), 0);
    CHECK_NUMBER(support_flush(rig->sw, handle), 0);
    CHECK_NUMBER(support_create(rig->sw, elsewhere, SUPPORT_SIGNING, "auth", &blob), 0);
    tenoni_keyfile file = tpm_rig_keyfile(&blob, elsewhere);
    tpm_pem pem = tpm_rig_write(&file);
    CHECK_OK(tenon_tpm_key_import(rig->tpm, &key, pem.text, pem.n, auth, sizeof auth));
    CHECK_OK(tenon_tpm_key_parent_name(key, name, sizeof name, &n));
    CHECK_NUMBER(n, TENON_NAME_SIZE);
    CHECK_BYTES(name, parent.name, sizeof name);
    pem = tpm_rig_export(key);
    CHECK(strstr(pem.text, "tenon-parent: ") == pem.text);
    support_transport_reset_counts(rig->wire);
    support_edit(rig->wire, support_times(SUPPORT_CC_READ_PUBLIC, 1, SUPPORT_ALWAYS), answer_with_another, &other);
    CHECK_STATUS(tpm_rig_sign(key), TENON_ERROR_PARENT_MISSING);
    CHECK_NUMBER(support_transport_pending(rig->wire), 0);
    CHECK_NUMBER(support_transport_count(rig->wire, SUPPORT_CC_START_AUTH_SESSION), 0);
    CHECK_NUMBER(support_transport_count(rig->wire, SUPPORT_CC_SIGN), 0);
    support_transport_forget_faults(rig->wire);
    CHECK_OK(tpm_rig_sign(key));
    tenon_tpm_key_free(&key);
    /* And from the exported file on. */
    support_edit(rig->wire, support_times(SUPPORT_CC_READ_PUBLIC, 1, SUPPORT_ALWAYS), answer_with_another, &other);
    CHECK_STATUS(tenon_tpm_key_import(rig->tpm, &key, pem.text, pem.n, auth, sizeof auth), TENON_ERROR_PARENT_MISSING);
    support_transport_forget_faults(rig->wire);
}

/* The key itself at an administrator's handle, which only the administrator may remove. */
TEST_RIG(tpm_foreign_persistent_handle)
{
    static const uint32_t handles[] = {0x81000007, 0x8107ffff, 0x81090000};
    support_blob blob;
    tenon_tpm_key *key;
    uint32_t loaded;
    CHECK_NUMBER(support_persist_srk(rig->sw, NULL, SUPPORT_SRK_H2), 0);
    CHECK_NUMBER(support_create(rig->sw, SUPPORT_HANDLE_SRK, SUPPORT_SIGNING, NULL, &blob), 0);
    for (size_t i = 0; i < COUNT(handles); i++) {
        test_about("%08x", (unsigned)handles[i]);
        CHECK_NUMBER(support_load(rig->sw, SUPPORT_HANDLE_SRK, &blob, &loaded), 0);
        CHECK_NUMBER(support_evict(rig->sw, NULL, loaded, handles[i]), 0);
        CHECK_NUMBER(support_flush(rig->sw, loaded), 0);
        tenoni_keyfile file = tpm_rig_keyfile(&blob, SUPPORT_HANDLE_SRK);
        file.handle = handles[i];
        tpm_pem pem = tpm_rig_write(&file);
        CHECK_OK(tpm_rig_load(rig, &key, &pem));
        support_transport_reset_counts(rig->wire);
        CHECK_STATUS(tenon_tpm_key_evict(key), TENON_ERROR_NOT_PERSISTENT);
        CHECK_NUMBER(support_transport_count(rig->wire, SUPPORT_ANY), 0);
        CHECK_NUMBER(support_persistent_count(rig->sw), 2);
        CHECK_OK(tpm_rig_sign(key));
        CHECK_NUMBER(support_transport_count(rig->wire, SUPPORT_CC_LOAD), 0);
        tenon_tpm_key_free(&key);
        CHECK_NUMBER(support_evict(rig->sw, NULL, handles[i], handles[i]), 0);
    }
}
