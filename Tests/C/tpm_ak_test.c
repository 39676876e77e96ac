/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "tpm/keyfile.h"
#include "tpm_rig.h"

/* Attestation keys: what they are, where they lie, and that nobody takes one for a signing key. */

static tenon_status make_both(tpm_rig *rig, tenon_tpm_key **key, tenon_tpm_key **ak)
{
    *ak = NULL;
    tenon_status status = tenon_tpm_key_create(rig->tpm, key, NULL, 0);
    return status == TENON_OK ? tenon_tpm_ak_create(*key, ak) : status;
}

static tenon_status load_ak(tpm_rig *rig, tenon_tpm_key **ak, const tpm_pem *pem)
{
    return tenon_tpm_ak_load(rig->tpm, ak, pem->text, pem->n);
}

static void check_names(const tenon_tpm_key *key, const tenon_tpm_key *ak)
{
    uint8_t left[TENON_NAME_SIZE], right[TENON_NAME_SIZE];
    size_t n;
    CHECK_STATUS(tenon_tpm_key_parent_name(key, left, sizeof left, &n), TENON_OK);
    CHECK_STATUS(tenon_tpm_key_parent_name(ak, right, sizeof right, &n), TENON_OK);
    CHECK_BYTES(right, left, sizeof left);
    CHECK_STATUS(tenon_tpm_key_witness(key, left, sizeof left, &n), TENON_OK);
    CHECK_STATUS(tenon_tpm_key_witness(ak, right, sizeof right, &n), TENON_OK);
    CHECK_BYTES(right, left, sizeof left);
    CHECK_STATUS(tenon_tpm_key_name(key, left, sizeof left, &n), TENON_OK);
    CHECK_STATUS(tenon_tpm_key_name(ak, right, sizeof right, &n), TENON_OK);
    CHECK(memcmp(left, right, sizeof left) != 0);
}

/* TPMT_PUBLIC: ECC, SHA-256, 00050472, no policy, no cipher, ECDSA with SHA-256, P-256, no kdf. */
TEST(tpm_ak_public_area)
{
    static const uint8_t expected[] = {0x00, 0x23, 0x00, 0x0b, 0x00, 0x05, 0x04, 0x72, 0x00, 0x00, 0x00,
                                       0x10, 0x00, 0x18, 0x00, 0x0b, 0x00, 0x03, 0x00, 0x10, 0x00, 0x20};
    tpm_rig rig = tpm_rig_start(NULL);
    tenon_tpm_key *key, *ak;
    uint8_t area[TENON_AREA_MAX], name[TENON_NAME_SIZE], found[TENON_NAME_SIZE];
    tenon_public_key point, public_key;
    size_t n, name_n;
    if (CHECK_STATUS(make_both(&rig, &key, &ak), TENON_OK)) {
        CHECK_STATUS(tenon_tpm_key_public_area(ak, area, sizeof area, &n), TENON_OK);
        CHECK_NUMBER(n, 88);
        CHECK_BYTES(area, expected, sizeof expected);
        CHECK_STATUS(tenon_object_name(name, sizeof name, &name_n, area, n), TENON_OK);
        CHECK_STATUS(tenon_tpm_key_name(ak, found, sizeof found, &name_n), TENON_OK);
        CHECK_BYTES(found, name, sizeof name);
        CHECK_STATUS(tenon_object_public_key(&point, area, n), TENON_OK);
        CHECK_STATUS(tenon_tpm_key_public_key(ak, &public_key), TENON_OK);
        CHECK_BYTES(public_key.bytes, point.bytes, sizeof point.bytes);
        check_names(key, ak);
        CHECK_NUMBER(tenon_tpm_key_is_foreign(ak), 0);
        CHECK_STATUS(tenon_tpm_key_public_area(key, area, sizeof area, &n), TENON_OK);
        CHECK_NUMBER(n, 86);
    }
    tenon_tpm_key_free(&ak);
    tenon_tpm_key_free(&key);
    tpm_rig_stop(&rig);
}

static tenon_status area_output(const void *key, uint8_t *out, size_t n, size_t *written)
{
    return tenon_tpm_key_public_area(key, out, n, written);
}

TEST(tpm_ak_arguments)
{
    tpm_rig rig = tpm_rig_start(NULL);
    tenon_tpm_key *key, *ak;
    size_t n = 1;
    CHECK_STATUS(make_both(&rig, &key, &ak), TENON_OK);
    CHECK_STATUS(tenon_tpm_ak_create(key, NULL), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_tpm_ak_load(rig.tpm, NULL, "", 0), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_tpm_key_public_area(NULL, NULL, 0, &n), TENON_ERROR_NULL);
    CHECK_NUMBER(n, 0);
    test_output_rule("tenon_tpm_key_public_area", area_output, ak, NULL, 88);
    tenon_tpm_key_free(&ak);
    ak = key;
    CHECK_STATUS(tenon_tpm_ak_create(NULL, &ak), TENON_ERROR_NULL);
    CHECK(ak == NULL);
    ak = key;
    CHECK_STATUS(tenon_tpm_ak_load(NULL, &ak, "", 0), TENON_ERROR_NULL);
    CHECK(ak == NULL);
    CHECK_STATUS(tenon_tpm_ak_load(rig.tpm, &ak, "", 0), TENON_ERROR_PEM_FORM);
    tenon_tpm_key_free(&key);
    tpm_rig_stop(&rig);
}

/* Each function takes its own kind only, and an AK signs nothing of ours. */
TEST(tpm_ak_is_no_signing_key)
{
    tpm_rig rig = tpm_rig_start(NULL);
    tenon_tpm_key *key, *ak, *other;
    tenon_key *view = NULL;
    CHECK_STATUS(make_both(&rig, &key, &ak), TENON_OK);
    tpm_pem signing = tpm_rig_export(key), attesting = tpm_rig_export(ak);
    CHECK_STATUS(tenon_tpm_key_open(ak, &view, 0), TENON_ERROR_KEY_ATTRIBUTES);
    CHECK(view == NULL);
    CHECK_STATUS(tpm_rig_load(&rig, &other, &attesting), TENON_ERROR_KEY_ATTRIBUTES);
    CHECK(other == NULL);
    CHECK_STATUS(tenon_tpm_key_import(rig.tpm, &other, attesting.text, attesting.n, NULL, 0),
                 TENON_ERROR_KEY_ATTRIBUTES);
    CHECK_STATUS(load_ak(&rig, &other, &signing), TENON_ERROR_KEY_ATTRIBUTES);
    CHECK(other == NULL);
    CHECK_NUMBER(support_transport_count(rig.wire, SUPPORT_CC_SIGN), 0);
    tenon_tpm_key_free(&ak);
    tenon_tpm_key_free(&key);
    tpm_rig_stop(&rig);
}

/* Any other attribute, with a good private area and Name, is no AK: bit after bit. */
TEST(tpm_ak_attributes_are_exact)
{
    enum { ATTRIBUTES_AT = 4 };
    tpm_rig rig = tpm_rig_start(NULL);
    tenon_tpm_key *key, *ak, *other;
    CHECK_STATUS(make_both(&rig, &key, &ak), TENON_OK);
    tpm_pem good = tpm_rig_export(ak);
    for (unsigned bit = 0; bit < 32; bit++) {
        tenoni_keyfile file;
        test_about("bit %u", bit);
        CHECK_STATUS(tenoni_keyfile_read(&file, good.text, good.n), TENON_OK);
        file.public_area[ATTRIBUTES_AT + 3 - bit / 8] ^= (uint8_t)(1u << bit % 8);
        const tpm_pem pem = tpm_rig_write(&file);
        CHECK_STATUS(tenon_tpm_ak_load(rig.tpm, &other, pem.text, pem.n), TENON_ERROR_KEY_ATTRIBUTES);
    }
    tenon_tpm_key_free(&ak);
    tenon_tpm_key_free(&key);
    tpm_rig_stop(&rig);
}

/* In a fresh process; after a reset; when the SRK under which it was made is elsewhere. */
TEST(tpm_ak_loads_again)
{
    tpm_rig rig = tpm_rig_start(NULL);
    tenon_tpm_key *key, *ak;
    CHECK_NUMBER(support_persist_srk(rig.sw, NULL, SUPPORT_SRK_PROVISIONING), 0);
    CHECK_STATUS(make_both(&rig, &key, &ak), TENON_OK);
    check_names(key, ak);
    tpm_pem pem = tpm_rig_export(ak);
    CHECK(strstr(pem.text, "tenon-witness: ") != NULL);
    tenon_tpm_key_free(&ak);
    tenon_tpm_key_free(&key);
    tpm_rig_again(&rig, NULL);
    CHECK_STATUS(load_ak(&rig, &ak, &pem), TENON_OK);
    CHECK_NUMBER(support_transport_count(rig.wire, SUPPORT_ANY), 2);
    tpm_pem again = tpm_rig_export(ak);
    CHECK(again.n == pem.n && memcmp(again.text, pem.text, pem.n) == 0);
    tenon_tpm_key_free(&ak);
    CHECK_NUMBER(support_evict_srk(rig.sw, NULL), 0);
    CHECK_STATUS(load_ak(&rig, &ak, &pem), TENON_OK);
    tenon_tpm_key_free(&ak);
    tpm_rig_stop(&rig);
}

/* The AK is beside the key, wherever that is: here under the primary, though there is an SRK by now. */
TEST(tpm_ak_under_the_parent_of_its_key)
{
    tpm_rig rig = tpm_rig_start(NULL);
    tenon_tpm_key *key, *ak;
    CHECK_STATUS(tenon_tpm_key_create(rig.tpm, &key, (const uint8_t *)"auth", 4), TENON_OK);
    CHECK_NUMBER(support_persist_srk(rig.sw, NULL, SUPPORT_SRK_PROVISIONING), 0);
    CHECK_STATUS(tenon_tpm_ak_create(key, &ak), TENON_OK);
    check_names(key, ak);
    tpm_pem pem = tpm_rig_export(ak);
    tenon_tpm_key_free(&ak);
    CHECK_STATUS(load_ak(&rig, &ak, &pem), TENON_OK);
    tenon_tpm_key_free(&ak);
    tenon_tpm_key_free(&key);
    tpm_rig_stop(&rig);
}

/* A copy of the key in the TPM is not one of the AK; each has its own. */
TEST(tpm_ak_persists)
{
    tpm_rig rig = tpm_rig_start(NULL);
    tenon_tpm_key *key, *ak;
    uint32_t first, second;
    CHECK_STATUS(tenon_tpm_key_create(rig.tpm, &key, NULL, 0), TENON_OK);
    CHECK_STATUS(tenon_tpm_key_persist(key, &first), TENON_OK);
    CHECK_STATUS(tenon_tpm_ak_create(key, &ak), TENON_OK);
    CHECK_STATUS(tenon_tpm_key_persist(ak, &second), TENON_OK);
    CHECK(first != second);
    tpm_pem pem = tpm_rig_export(ak);
    tenon_tpm_key_free(&ak);
    CHECK_STATUS(load_ak(&rig, &ak, &pem), TENON_OK);
    CHECK_STATUS(tenon_tpm_key_evict(ak), TENON_OK);
    CHECK_STATUS(tenon_tpm_key_evict(key), TENON_OK);
    tenon_tpm_key_free(&ak);
    tenon_tpm_key_free(&key);
    tpm_rig_stop(&rig);
}

/* It lives and dies with the key. */
TEST(tpm_ak_gone_with_its_key)
{
    tpm_rig rig = tpm_rig_start(NULL);
    tenon_tpm_key *key, *ak;
    CHECK_STATUS(make_both(&rig, &key, &ak), TENON_OK);
    tpm_pem pem = tpm_rig_export(ak);
    tenon_tpm_key_free(&ak);
    tenon_tpm_key_free(&key);
    CHECK_NUMBER(support_clear(rig.sw, SUPPORT_RH_LOCKOUT, NULL), 0);
    CHECK_STATUS(load_ak(&rig, &ak, &pem), TENON_ERROR_KEY_GONE);
    CHECK(ak == NULL);
    tpm_rig_stop(&rig);
}
