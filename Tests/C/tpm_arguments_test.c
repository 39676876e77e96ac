/* SPDX-License-Identifier: Apache-2.0 */
#include "tpm_rig.h"

/* Every function of tpm.h with invalid arguments. Nothing is sent, and outputs are NULL or 0. */

static void check_null_out_of_tpm(tpm_rig *rig)
{
    tenon_tpm_transport table = support_transport_table(rig->wire);
    tenon_tpm *tpm = rig->tpm;
    tenon_tpm_info info;
    uint32_t handles[4];
    size_t n;
    CHECK_STATUS(tenon_tpm_open(NULL, "device:/dev/null", 16, NULL), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_tpm_open(&tpm, NULL, 0, NULL), TENON_ERROR_NULL);
    CHECK(tpm == NULL);
    CHECK_STATUS(tenon_tpm_transport_open(NULL, "device:/dev/null", 16, 0), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_tpm_open_transport(NULL, &table, NULL), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_tpm_open_transport(&tpm, NULL, NULL), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_tpm_read_info(NULL, &info), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_tpm_read_info(rig->tpm, NULL), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_tpm_handles(NULL, handles, 4, &n), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_tpm_handles(rig->tpm, NULL, 4, &n), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_tpm_handles(rig->tpm, handles, 4, NULL), TENON_ERROR_NULL);
    tenon_tpm_free(NULL);
    tpm = NULL;
    tenon_tpm_free(&tpm);
}

static void check_null_out_of_key(tpm_rig *rig, tenon_tpm_key *key)
{
    tpm_pem pem = tpm_rig_export(key);
    tenon_tpm_key *out = key;
    tenon_key *view = NULL;
    tenon_public_key point;
    size_t n = 1;
    CHECK_STATUS(tenon_tpm_key_create(NULL, &out, NULL, 0), TENON_ERROR_NULL);
    CHECK(out == NULL);
    CHECK_STATUS(tenon_tpm_key_create(rig->tpm, NULL, NULL, 0), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_tpm_key_create(rig->tpm, &out, NULL, 1), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_tpm_key_load(NULL, &out, pem.text, pem.n, NULL, 0), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_tpm_key_load(rig->tpm, NULL, pem.text, pem.n, NULL, 0), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_tpm_key_load(rig->tpm, &out, NULL, 1, NULL, 0), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_tpm_key_load(rig->tpm, &out, pem.text, pem.n, NULL, 1), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_tpm_key_import(NULL, &out, pem.text, pem.n, NULL, 0), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_tpm_key_import(rig->tpm, NULL, pem.text, pem.n, NULL, 0), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_tpm_key_import(rig->tpm, &out, NULL, 1, NULL, 0), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_tpm_key_export(NULL, pem.text, sizeof pem.text, &n), TENON_ERROR_NULL);
    CHECK_NUMBER(n, 0);
    CHECK_CLEARS(tenon_tpm_key_public_key(NULL, &point), TENON_ERROR_NULL, &point);
    CHECK_STATUS(tenon_tpm_key_public_key(key, NULL), TENON_ERROR_NULL);
    CHECK_NUMBER(tenon_tpm_key_is_foreign(NULL), 0);
    CHECK_STATUS(tenon_tpm_key_open(NULL, &view, 0), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_tpm_key_open(key, NULL, 0), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_tpm_key_check(NULL), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_tpm_key_persist(NULL, NULL), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_tpm_key_evict(NULL), TENON_ERROR_NULL);
    tenon_tpm_key_free(NULL);
    out = NULL;
    tenon_tpm_key_free(&out);
}

OUTPUT(give_name) { return tenon_tpm_key_name(input, out, n, written); }

OUTPUT(give_parent) { return tenon_tpm_key_parent_name(input, out, n, written); }

OUTPUT(give_witness) { return tenon_tpm_key_witness(input, out, n, written); }

OUTPUT(give_pem) { return tenon_tpm_key_export(input, (char *)out, n, written); }

/* One command was sent in all, and not by these calls. */
TEST_KEY(tpm_arguments_null_and_outputs)
{
    CHECK_OK(tpm_rig_sign(key));
    support_transport_reset_counts(rig->wire);
    check_null_out_of_tpm(rig);
    check_null_out_of_key(rig, key);
    tpm_pem pem = tpm_rig_export(key);
    test_output_rule("name", give_name, key, NULL, TENON_NAME_SIZE);
    test_output_rule("parent_name", give_parent, key, NULL, TENON_NAME_SIZE);
    test_output_rule("witness", give_witness, key, NULL, TENON_NAME_SIZE);
    test_output_rule("export", give_pem, key, pem.text, pem.n);
    CHECK_NUMBER(support_transport_count(rig->wire, SUPPORT_ANY), 0);
}

TEST_RIG(tpm_arguments_too_large)
{
    static char text[TENON_TPM_KEY_MAX + 1];
    tenon_tpm_key *key;
    memset(text, '\n', sizeof text);
    CHECK_STATUS(tenon_tpm_key_load(rig->tpm, &key, text, sizeof text, NULL, 0), TENON_ERROR_TOO_LARGE);
    CHECK_STATUS(tenon_tpm_key_import(rig->tpm, &key, text, SIZE_MAX, NULL, 0), TENON_ERROR_TOO_LARGE);
    CHECK_STATUS(tenon_tpm_key_load(rig->tpm, &key, text, sizeof text - 1, NULL, 0), TENON_ERROR_PEM_FORM);
    CHECK_STATUS(tenon_tpm_key_load(rig->tpm, &key, NULL, 0, NULL, 0), TENON_ERROR_PEM_FORM);
    CHECK(key == NULL);
    CHECK_STATUS(tenon_tpm_key_create(rig->tpm, &key, (const uint8_t *)text, SIZE_MAX), TENON_ERROR_AUTH_VALUE);
    CHECK_NUMBER(support_transport_count(rig->wire, SUPPORT_ANY), 0);
}

TEST_KEY(tpm_arguments_flags)
{
    for (uint32_t bit = 0; bit < 32; bit++) {
        OWNED_KEY view = NULL;
        uint32_t flag = (uint32_t)1 << bit;
        bool known = flag == TENON_KEY_SIGNS_DIGESTS || flag == TENON_TPM_KEY_LOW_S || flag == TENON_TPM_KEY_VERIFIED;
        test_about("flag %x", (unsigned)flag);
        CHECK_STATUS(tenon_tpm_key_open(key, &view, flag), known ? TENON_OK : TENON_ERROR_FLAGS);
        CHECK((view != NULL) == known);
        CHECK_NUMBER(tenon_key_is_hardware(view), known);
    }
}

TEST_RIG(tpm_arguments_options)
{
    tenon_tpm_transport table = support_transport_table(rig->wire);
    tenon_tpm *tpm;
    const tenon_tpm_options wrong[] = {
        {.size = 0},
        {.size = sizeof wrong[0] - 1},
        {.size = sizeof wrong[0] + 8},
        {.size = sizeof wrong[0], .allow_simulator = 2},
        {.size = sizeof wrong[0], .session = 3},
    };
    for (size_t i = 0; i < COUNT(wrong); i++) {
        test_about("options %u", (unsigned)i);
        CHECK_STATUS(tenon_tpm_open_transport(&tpm, &table, &wrong[i]), TENON_ERROR_OPTIONS);
        CHECK_STATUS(tenon_tpm_open(&tpm, "device:/dev/null", 16, &wrong[i]), TENON_ERROR_OPTIONS);
        CHECK(tpm == NULL);
    }
    const tenon_tpm_options no_bytes[] = {{.size = sizeof no_bytes[0], .owner_auth_n = 1},
                                          {.size = sizeof no_bytes[0], .endorsement_auth_n = 1}};
    CHECK_STATUS(tenon_tpm_open_transport(&tpm, &table, &no_bytes[0]), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_tpm_open_transport(&tpm, &table, &no_bytes[1]), TENON_ERROR_NULL);
    table.size--;
    CHECK_STATUS(tenon_tpm_open_transport(&tpm, &table, NULL), TENON_ERROR_OPTIONS);
    table.size++;
    table.managed = 2;
    CHECK_STATUS(tenon_tpm_open_transport(&tpm, &table, NULL), TENON_ERROR_OPTIONS);
    table.managed = 0;
    table.exchange = NULL;
    CHECK_STATUS(tenon_tpm_open_transport(&tpm, &table, NULL), TENON_ERROR_OPTIONS);
    /* On failure close is not called; with neither reopen nor close it works. */
    CHECK_NUMBER(support_transport_closes(rig->wire), 0);
    table = support_transport_table(rig->wire);
    table.reopen = NULL;
    table.close = NULL;
    tenon_tpm_info info;
    CHECK_OK(tenon_tpm_open_transport(&tpm, &table, NULL));
    CHECK_OK(tenon_tpm_read_info(tpm, &info));
    tenon_tpm_free(&tpm);
    CHECK_NUMBER(support_transport_closes(rig->wire), 0);
}

TEST(tpm_arguments_sizes)
{
    CHECK_NUMBER(tenon_tpm_auth_max(), TENON_TPM_AUTH_MAX);
    CHECK_NUMBER(tenon_object_name_size(), TENON_NAME_SIZE);
    CHECK_NUMBER(tenon_tpm_key_max(), TENON_TPM_KEY_MAX);
    CHECK_NUMBER(tenon_tpm_buffer_size(), TENON_TPM_BUFFER_SIZE);
}
