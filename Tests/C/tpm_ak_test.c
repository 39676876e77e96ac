/* SPDX-License-Identifier: Apache-2.0 */
#include "tpm_rig.h"

/* Attestation keys: their attributes, their place, and that none passes for a signing key. */

static tenon_status load_ak(tpm_rig *rig, tenon_tpm_key **ak, const tpm_pem *pem)
{
    tenon_tpm_key_free(ak);
    return tenon_tpm_ak_load(rig->tpm, ak, pem->text, pem->n);
}

/* The parent's Name and the witness are the key's, the Name is its own. */
static void check_names(const tenon_tpm_key *key, const tenon_tpm_key *ak)
{
    static tenon_status (*const names[])(const tenon_tpm_key *, uint8_t *, size_t, size_t *) = {
        tenon_tpm_key_parent_name, tenon_tpm_key_witness, tenon_tpm_key_name};
    uint8_t left[TENON_NAME_SIZE], right[TENON_NAME_SIZE];
    size_t n;
    for (size_t i = 0; i < COUNT(names); i++) {
        CHECK_OK(names[i](key, left, sizeof left, &n));
        CHECK_OK(names[i](ak, right, sizeof right, &n));
        CHECK((memcmp(left, right, sizeof left) == 0) == (names[i] != tenon_tpm_key_name));
    }
}

/* TPMT_PUBLIC: ECC, SHA-256, 00050472, no policy, no cipher, ECDSA with SHA-256, P-256, no kdf. */
TEST_STAGE(tpm_ak_public_area)
{
    static const uint8_t expected[] = {0x00, 0x23, 0x00, 0x0b, 0x00, 0x05, 0x04, 0x72, 0x00, 0x00, 0x00,
                                       0x10, 0x00, 0x18, 0x00, 0x0b, 0x00, 0x03, 0x00, 0x10, 0x00, 0x20};
    uint8_t area[TENON_AREA_MAX], name[TENON_NAME_SIZE], found[TENON_NAME_SIZE];
    tenon_public_key point, public_key;
    size_t n, name_n;
    CHECK_OK(tenon_tpm_key_public_area(at->ak, area, sizeof area, &n));
    CHECK_NUMBER(n, 88);
    CHECK_BYTES(area, expected, sizeof expected);
    CHECK_OK(tenon_object_name(name, sizeof name, &name_n, area, n));
    CHECK_OK(tenon_tpm_key_name(at->ak, found, sizeof found, &name_n));
    CHECK_BYTES(found, name, sizeof name);
    CHECK_OK(tenon_object_public_key(&point, area, n));
    CHECK_OK(tenon_tpm_key_public_key(at->ak, &public_key));
    CHECK_BYTES(public_key.bytes, point.bytes, sizeof point.bytes);
    check_names(at->key, at->ak);
    CHECK_NUMBER(tenon_tpm_key_is_foreign(at->ak), 0);
    CHECK_OK(tenon_tpm_key_public_area(at->key, area, sizeof area, &n));
    CHECK_NUMBER(n, 86);
}

OUTPUT(area_output) { return tenon_tpm_key_public_area(input, out, n, written); }

TEST_STAGE(tpm_ak_arguments)
{
    tenon_tpm_key *ak = at->key;
    size_t n = 1;
    CHECK_STATUS(tenon_tpm_ak_create(at->key, NULL), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_tpm_ak_load(at->rig.tpm, NULL, "", 0), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_tpm_key_public_area(NULL, NULL, 0, &n), TENON_ERROR_NULL);
    CHECK_NUMBER(n, 0);
    test_output_rule("tenon_tpm_key_public_area", area_output, at->ak, NULL, 88);
    CHECK_STATUS(tenon_tpm_ak_create(NULL, &ak), TENON_ERROR_NULL);
    CHECK(ak == NULL);
    ak = at->key;
    CHECK_STATUS(tenon_tpm_ak_load(NULL, &ak, "", 0), TENON_ERROR_NULL);
    CHECK(ak == NULL);
    CHECK_STATUS(tenon_tpm_ak_load(at->rig.tpm, &ak, "", 0), TENON_ERROR_PEM_FORM);
}

/* Each function takes its own kind only, and an AK signs nothing of ours. */
TEST_STAGE(tpm_ak_is_no_signing_key)
{
    tenon_tpm_key *other = NULL;
    tenon_key *view = NULL;
    tpm_pem signing = tpm_rig_export(at->key), attesting = tpm_rig_export(at->ak);
    CHECK_STATUS(tenon_tpm_key_open(at->ak, &view, 0), TENON_ERROR_KEY_ATTRIBUTES);
    CHECK(view == NULL);
    CHECK_STATUS(tpm_rig_load(&at->rig, &other, &attesting), TENON_ERROR_KEY_ATTRIBUTES);
    CHECK(other == NULL);
    CHECK_STATUS(tenon_tpm_key_import(at->rig.tpm, &other, attesting.text, attesting.n, NULL, 0),
                 TENON_ERROR_KEY_ATTRIBUTES);
    CHECK_STATUS(load_ak(&at->rig, &other, &signing), TENON_ERROR_KEY_ATTRIBUTES);
    CHECK(other == NULL);
    CHECK_NUMBER(support_transport_count(at->rig.wire, SUPPORT_CC_SIGN), 0);
}

/* Any other attribute, with a good private area and Name, is no AK: bit after bit. */
TEST_STAGE(tpm_ak_attributes_are_exact)
{
    enum { ATTRIBUTES_AT = 4 };
    tenon_tpm_key *other = NULL;
    tpm_pem good = tpm_rig_export(at->ak);
    for (unsigned bit = 0; bit < 32; bit++) {
        tenoni_keyfile file;
        test_about("bit %u", bit);
        CHECK_OK(tenoni_keyfile_read(&file, good.text, good.n));
        file.public_area[ATTRIBUTES_AT + 3 - bit / 8] ^= (uint8_t)(1u << bit % 8);
        const tpm_pem pem = tpm_rig_write(&file);
        CHECK_STATUS(load_ak(&at->rig, &other, &pem), TENON_ERROR_KEY_ATTRIBUTES);
    }
}

/* In a fresh process; after a reset; when the SRK under which it was made is elsewhere. */
TEST_RIG(tpm_ak_loads_again)
{
    CHECK_NUMBER(support_persist_srk(rig->sw, NULL, SUPPORT_SRK_PROVISIONING), 0);
    tenon_tpm_key *key = tpm_rig_key(rig, NULL);
    OWNED_TPM_KEY ak = tpm_rig_ak(key);
    check_names(key, ak);
    tpm_pem pem = tpm_rig_export(ak);
    CHECK(strstr(pem.text, "tenon-witness: ") != NULL);
    tenon_tpm_key_free(&ak);
    tenon_tpm_key_free(&key);
    tpm_rig_again(rig, NULL);
    CHECK_OK(load_ak(rig, &ak, &pem));
    CHECK_NUMBER(support_transport_count(rig->wire, SUPPORT_ANY), 1);
    tpm_pem again = tpm_rig_export(ak);
    CHECK_SAME(again.text, again.n, pem.text, pem.n);
    tenon_tpm_key_free(&ak);
    CHECK_NUMBER(support_evict_srk(rig->sw, NULL), 0);
    CHECK_OK(load_ak(rig, &ak, &pem));
}

/* The AK has the key's parent: here the primary, although there is an SRK now. */
TEST_RIG(tpm_ak_under_the_parent_of_its_key)
{
    OWNED_TPM_KEY key = tpm_rig_key(rig, "auth");
    CHECK_NUMBER(support_persist_srk(rig->sw, NULL, SUPPORT_SRK_PROVISIONING), 0);
    OWNED_TPM_KEY ak = tpm_rig_ak(key);
    check_names(key, ak);
    tpm_pem pem = tpm_rig_export(ak);
    CHECK_OK(load_ak(rig, &ak, &pem));
}

/* A copy of the key in the TPM is not one of the AK; each has its own. */
TEST_KEY(tpm_ak_persists)
{
    uint32_t first, second;
    CHECK_OK(tenon_tpm_key_persist(key, &first));
    OWNED_TPM_KEY ak = tpm_rig_ak(key);
    CHECK_OK(tenon_tpm_key_persist(ak, &second));
    CHECK(first != second);
    tpm_pem pem = tpm_rig_export(ak);
    CHECK_OK(load_ak(rig, &ak, &pem));
    CHECK_OK(tenon_tpm_key_evict(ak));
    CHECK_OK(tenon_tpm_key_evict(key));
}

/* It lives and dies with the key. */
TEST_STAGE(tpm_ak_gone_with_its_key)
{
    tpm_pem pem = tpm_rig_export(at->ak);
    tenon_tpm_key_free(&at->key);
    CHECK_NUMBER(support_clear(at->rig.sw, SUPPORT_RH_LOCKOUT, NULL), 0);
    CHECK_STATUS(load_ak(&at->rig, &at->ak, &pem), TENON_ERROR_KEY_GONE);
    CHECK(at->ak == NULL);
}
