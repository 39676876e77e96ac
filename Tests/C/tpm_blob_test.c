/* SPDX-License-Identifier: Apache-2.0 */
#include "tpm_rig.h"

/* Damaged key files: they are refused, and the key is never reported as gone. */

typedef struct {
    tpm_rig rig;
    tenoni_keyfile file;
} stage;

static void try_damage(stage *at, const tenoni_keyfile *file)
{
    tpm_pem pem;
    tenon_tpm_key *key;
    memset(&pem, 0, sizeof pem);
    tenon_status status = tenoni_keyfile_write(pem.text, sizeof pem.text, &pem.n, file);
    if (status == TENON_OK)
        status = tpm_rig_load(&at->rig, &key, &pem);
    int32_t category = tenon_status_category(status);
    CHECK(category == TENON_CATEGORY_FORMAT || category == TENON_CATEGORY_REJECTED);
    if (status == TENON_OK)
        tenon_tpm_key_free(&key);
}

static stage set(void)
{
    stage at = {.rig = tpm_rig_start(NULL)};
    tpm_pem pem = tpm_rig_make(&at.rig);
    CHECK_OK(tenoni_keyfile_read(&at.file, pem.text, pem.n));
    return at;
}

static void end(stage *at)
{
    tpm_pem pem = tpm_rig_write(&at->file);
    CHECK_NUMBER(support_transport_reopens(at->rig.wire), 0);
    CHECK_OK(tpm_rig_use(&at->rig, &pem));
    tpm_rig_stop(&at->rig);
}

#define STAGE __attribute__((cleanup(end))) stage at = set()

TEST(tpm_blob_bit_in_the_public_area)
{
    STAGE;
    for (size_t i = 0; i < at.file.public_n; i++)
        for (uint32_t bit = 0; bit < 8; bit += 3) {
            tenoni_keyfile damaged = at.file;
            test_about("public byte %zu, bit %u", i, (unsigned)bit);
            damaged.public_area[i] ^= (uint8_t)(1 << (bit + i) % 8);
            try_damage(&at, &damaged);
        }
}

TEST(tpm_blob_bit_in_the_private_area)
{
    STAGE;
    for (size_t i = 0; i < at.file.private_n; i++) {
        tenoni_keyfile damaged = at.file;
        test_about("private byte %zu", i);
        damaged.private_area[i] ^= (uint8_t)(1 << i % 8);
        try_damage(&at, &damaged);
    }
}

TEST(tpm_blob_cut_short)
{
    STAGE;
    for (size_t i = 1; i < at.file.private_n; i++) {
        tenoni_keyfile damaged = at.file;
        test_about("private part of %zu bytes", i);
        damaged.private_n = i;
        try_damage(&at, &damaged);
    }
    for (size_t i = 1; i < at.file.public_n; i++) {
        tenoni_keyfile damaged = at.file;
        test_about("public part of %zu bytes", i);
        damaged.public_n = i;
        try_damage(&at, &damaged);
    }
}

/* Halves of two keys; and attributes of a valid key for another purpose. */
TEST(tpm_blob_mixed)
{
    STAGE;
    tpm_pem pem = tpm_rig_make(&at.rig);
    tenoni_keyfile other, mixed = at.file;
    CHECK_OK(tenoni_keyfile_read(&other, pem.text, pem.n));
    memcpy(mixed.private_area, other.private_area, sizeof mixed.private_area);
    mixed.private_n = other.private_n;
    try_damage(&at, &mixed);
}

/* Well-formed but wrong facts do not condemn the key: it is found by its parent, or its parent is missing. */
TEST(tpm_blob_wrong_facts)
{
    STAGE;
    tenoni_keyfile file = at.file;
    file.witness[5] ^= 1;
    tpm_pem pem = tpm_rig_write(&file);
    CHECK_OK(tpm_rig_use(&at.rig, &pem));
    file = at.file;
    file.parent_name[5] ^= 1;
    pem = tpm_rig_write(&file);
    CHECK_STATUS(tpm_rig_use(&at.rig, &pem), TENON_ERROR_PARENT_MISSING);
    /* Both: the blob itself says that the seed is the right one. */
    file.witness[5] ^= 1;
    pem = tpm_rig_write(&file);
    CHECK_OK(tpm_rig_use(&at.rig, &pem));
    file = at.file;
    file.handle = 0x81234567;
    pem = tpm_rig_write(&file);
    CHECK_OK(tpm_rig_use(&at.rig, &pem));
}
