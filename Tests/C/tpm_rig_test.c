/* SPDX-License-Identifier: Apache-2.0 */
#include "tpm_rig.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void open_handle(tpm_rig *rig, const tenon_tpm_options *options)
{
    tenon_tpm_transport table = support_transport_table(rig->wire);
    if (!CHECK_STATUS(tenon_tpm_open_transport(&rig->tpm, &table, options), TENON_OK))
        exit(2);
}

tpm_rig tpm_rig_start(const tenon_tpm_options *options)
{
    tpm_rig rig = {.sw = support_swtpm_start(NULL)};
    if (rig.sw == NULL)
        exit(2);
    rig.wire = support_transport_new(rig.sw);
    open_handle(&rig, options);
    return rig;
}

void tpm_rig_check_clean(tpm_rig *rig)
{
    tenon_tpm_free(&rig->tpm);
    CHECK_NUMBER(support_transient_count(rig->sw), 0);
    CHECK_NUMBER(support_session_count(rig->sw), 0);
    CHECK_NUMBER(support_transport_overlaps(rig->wire), 0);
}

void tpm_rig_again(tpm_rig *rig, const tenon_tpm_options *options)
{
    tenon_tpm_free(&rig->tpm);
    support_transport_free(rig->wire);
    rig->wire = support_transport_new(rig->sw);
    open_handle(rig, options);
}

void tpm_rig_stop(tpm_rig *rig)
{
    tpm_rig_check_clean(rig);
    support_transport_free(rig->wire);
    support_swtpm_stop(rig->sw);
}

tenon_status tpm_rig_sign_flags(tenon_tpm_key *key, uint32_t flags)
{
    static atomic_uint number;
    uint32_t text = atomic_fetch_add(&number, 1);
    tenon_key *view = NULL;
    tenon_digest digest;
    tenon_signature signature;
    tenon_public_key point;
    CHECK_STATUS(tenon_sha256(&digest, (const uint8_t *)&text, sizeof text), TENON_OK);
    tenon_status status = tenon_tpm_key_open(key, &view, TENON_KEY_SIGNS_DIGESTS | flags);
    if (status != TENON_OK)
        return status;
    memset(&signature, 0xa5, sizeof signature);
    status = tenon_key_sign_digest(view, &signature, &digest);
    if (status == TENON_OK) {
        CHECK_STATUS(tenon_tpm_key_public_key(key, &point), TENON_OK);
        status = tenon_p256_verify(&point, &digest, &signature);
    } else {
        CHECK_ZERO(&signature, sizeof signature);
    }
    tenon_key_free(&view);
    return status;
}

tenon_status tpm_rig_sign(tenon_tpm_key *key)
{
    return tpm_rig_sign_flags(key, 0);
}

tpm_pem tpm_rig_export(const tenon_tpm_key *key)
{
    tpm_pem pem;
    memset(&pem, 0, sizeof pem);
    CHECK_STATUS(tenon_tpm_key_export(key, pem.text, sizeof pem.text, &pem.n), TENON_OK);
    return pem;
}

tpm_pem tpm_rig_make(tpm_rig *rig)
{
    tenon_tpm_key *key;
    if (!CHECK_STATUS(tenon_tpm_key_create(rig->tpm, &key, NULL, 0), TENON_OK))
        exit(2);
    tpm_pem pem = tpm_rig_export(key);
    tenon_tpm_key_free(&key);
    return pem;
}

tenon_status tpm_rig_load(tpm_rig *rig, tenon_tpm_key **key, const tpm_pem *pem)
{
    return tenon_tpm_key_load(rig->tpm, key, pem->text, pem->n, NULL, 0);
}

tenon_status tpm_rig_use(tpm_rig *rig, const tpm_pem *pem)
{
    tenon_tpm_key *key;
    tenon_status status = tpm_rig_load(rig, &key, pem);
    CHECK((status == TENON_OK) == (key != NULL));
    if (status == TENON_OK)
        status = tpm_rig_sign(key);
    tenon_tpm_key_free(&key);
    return status;
}

bool tpm_rig_category(const char *file, int line, const char *call, tenon_status found, int32_t category)
{
    if (tenon_status_category(found) == category)
        return true;
    test_fail(file, line, "%s is %s (0x%08" PRIx32 "), expected category %" PRId32, call, tenon_status_name(found),
              (uint32_t)found, category);
    return false;
}

TEST(tpm_rig_works)
{
    tpm_rig rig = tpm_rig_start(NULL);
    tpm_pem pem = tpm_rig_make(&rig);
    CHECK_STATUS(tpm_rig_use(&rig, &pem), TENON_OK);
    tpm_rig_again(&rig, NULL);
    CHECK_STATUS(tpm_rig_use(&rig, &pem), TENON_OK);
    CHECK_NUMBER(support_transport_count(rig.wire, SUPPORT_CC_SIGN), 1);
    tpm_rig_stop(&rig);
}

void tpm_rig_end_child(int code)
{
    char text[16];
    snprintf(text, sizeof text, "exit %d", code);
    execl("/bin/sh", "sh", "-c", text, (char *)NULL);
    _exit(127);
}
