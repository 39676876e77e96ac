/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "selftest.h"

static void shows_blob_after_clear(support_swtpm *tpm)
{
    support_blob blob;
    uint32_t parent, key;
    EQUAL(support_create_primary(tpm, SUPPORT_RH_OWNER, NULL, SUPPORT_SRK_H2, &parent), 0);
    EQUAL(support_create(tpm, parent, SUPPORT_SIGNING, NULL, &blob), 0);
    EQUAL(support_load(tpm, parent, &blob, &key), 0);
    EQUAL(support_transient_count(tpm), 2);
    EQUAL(support_flush_all(tpm), 0);
    EQUAL(support_clear_control(tpm, SUPPORT_RH_LOCKOUT, NULL, true), 0);
    EQUAL(support_clear(tpm, SUPPORT_RH_LOCKOUT, NULL), 0x120);
    EQUAL(support_clear_control(tpm, SUPPORT_RH_PLATFORM, NULL, false), 0);
    EQUAL(support_clear(tpm, SUPPORT_RH_LOCKOUT, NULL), 0);
    EQUAL(support_create_primary(tpm, SUPPORT_RH_OWNER, NULL, SUPPORT_SRK_H2, &parent), 0);
    EQUAL(support_load(tpm, parent, &blob, &key), 0x1DF);
    EQUAL(support_flush_all(tpm), 0);
    EQUAL(support_transient_count(tpm), 0);
}

static void shows_hierarchies(support_swtpm *tpm)
{
    support_public area;
    uint32_t handle;
    EQUAL(support_change_auth(tpm, SUPPORT_RH_OWNER, NULL, "secret"), 0);
    EQUAL(support_persist_srk(tpm, NULL, SUPPORT_SRK_H2), 0x9A2);
    EQUAL(support_persist_srk(tpm, "secret", SUPPORT_SRK_H2), 0);
    EQUAL(support_change_auth(tpm, SUPPORT_RH_OWNER, "secret", NULL), 0);
    EQUAL(support_change_auth(tpm, SUPPORT_RH_ENDORSEMENT, NULL, "e"), 0);
    EQUAL(support_create_primary(tpm, SUPPORT_RH_ENDORSEMENT, NULL, SUPPORT_EK_L2, &handle), 0x9A2);
    EQUAL(support_hierarchy_control(tpm, SUPPORT_RH_OWNER, false), 0);
    EQUAL(support_read_public(tpm, SUPPORT_HANDLE_SRK, &area), 0x18B);
    EQUAL(support_create_primary(tpm, SUPPORT_RH_OWNER, NULL, SUPPORT_SRK_H2, &handle), 0x185);
    HOLDS(support_swtpm_power_on(tpm));
    EQUAL(support_read_public(tpm, SUPPORT_HANDLE_SRK, &area), 0);
    EQUAL(area.name_n, 34);
    EQUAL(support_hierarchy_control(tpm, SUPPORT_RH_ENDORSEMENT, false), 0);
    EQUAL(support_create_primary(tpm, SUPPORT_RH_ENDORSEMENT, "e", SUPPORT_EK_L2, &handle), 0x185);
    EQUAL(support_hierarchy_control(tpm, SUPPORT_RH_ENDORSEMENT, true), 0);
    EQUAL(support_evict_srk(tpm, NULL), 0);
}

static void shows_templates(support_swtpm *tpm)
{
    support_public h2, provisioning, rsa, ours;
    uint32_t handle;
    size_t i;
    EQUAL(support_persist_srk(tpm, NULL, SUPPORT_SRK_H2), 0);
    EQUAL(support_read_public(tpm, SUPPORT_HANDLE_SRK, &h2), 0);
    EQUAL(support_persist_srk(tpm, NULL, SUPPORT_SRK_PROVISIONING), 0x14C);
    EQUAL(support_evict_srk(tpm, NULL), 0);
    EQUAL(support_persist_srk(tpm, NULL, SUPPORT_SRK_PROVISIONING), 0);
    EQUAL(support_read_public(tpm, SUPPORT_HANDLE_SRK, &provisioning), 0);
    HOLDS(memcmp(h2.name, provisioning.name, 34) != 0);
    EQUAL(support_evict_srk(tpm, NULL), 0);
    EQUAL(support_persist_srk(tpm, NULL, SUPPORT_SRK_RSA), 0);
    EQUAL(support_read_public(tpm, SUPPORT_HANDLE_SRK, &rsa), 0);
    EQUAL(rsa.bytes[1], 1);
    EQUAL(support_evict_srk(tpm, NULL), 0);
    for (i = SUPPORT_SRK_H2; i <= SUPPORT_SIGNING_RESTRICTED; i++) {
        EQUAL(support_create_primary(tpm, SUPPORT_RH_NULL, NULL, (support_template)i, &handle), 0);
        EQUAL(support_flush(tpm, handle), 0);
    }
    EQUAL(support_swap_persistent(tpm, NULL, 0x81080000), 0);
    EQUAL(support_read_public(tpm, 0x81080000, &ours), 0);
    EQUAL(support_swap_persistent(tpm, NULL, 0x81080000), 0);
    EQUAL(support_evict(tpm, NULL, 0x81080000, 0x81080000), 0);
    EQUAL(support_load_external(tpm, SUPPORT_RH_OWNER, &ours, &handle), 0);
    EQUAL(support_flush(tpm, handle), 0);
}

static void shows_lockout(support_swtpm *tpm)
{
    uint8_t digest[32] = {0}, signature[64] = {0};
    support_blob blob;
    uint32_t parent, key, counter, most;
    EQUAL(support_create_primary(tpm, SUPPORT_RH_OWNER, NULL, SUPPORT_SRK_H2, &parent), 0);
    EQUAL(support_create(tpm, parent, SUPPORT_SIGNING_DA, "right", &blob), 0);
    EQUAL(support_load(tpm, parent, &blob, &key), 0);
    EQUAL(support_sign(tpm, key, "right", digest, signature), 0);
    EQUAL(support_lock_out(tpm, NULL, NULL), 0);
    EQUAL(support_sign(tpm, key, "right", digest, signature), 0x921);
    EQUAL(support_property(tpm, SUPPORT_PT_LOCKOUT_COUNTER, &counter), 0);
    EQUAL(support_property(tpm, SUPPORT_PT_MAX_AUTH_FAIL, &most), 0);
    EQUAL(most, 1);
    HOLDS(counter >= most);
    EQUAL(support_lockout_reset(tpm, NULL), 0);
    EQUAL(support_sign(tpm, key, "right", digest, signature), 0);
    EQUAL(support_flush_all(tpm), 0);
}

static void shows_slots(support_swtpm *tpm)
{
    uint8_t context[4096];
    size_t n;
    uint32_t handle;
    EQUAL(support_fill_transient(tpm), 0);
    EQUAL(support_transient_count(tpm), 3);
    EQUAL(support_create_primary(tpm, SUPPORT_RH_OWNER, NULL, SUPPORT_SRK_H2, &handle), 0x902);
    EQUAL(support_context_save(tpm, 0x80000000, context, sizeof context, &n), 0);
    EQUAL(support_flush(tpm, 0x80000000), 0);
    EQUAL(support_context_load(tpm, context, n, &handle), 0);
    EQUAL(support_fill_sessions(tpm), 0);
    EQUAL(support_session_count(tpm), 3);
    EQUAL(support_context_save(tpm, 0x02000000, context, sizeof context, &n), 0);
    EQUAL(support_session_count(tpm), 3);
    EQUAL(support_flush_all(tpm), 0);
    EQUAL(support_transient_count(tpm), 0);
    EQUAL(support_session_count(tpm), 0);
}

static void shows_nv(support_swtpm *tpm)
{
    uint8_t certificate[1500], found[2048];
    size_t i, n;
    for (i = 0; i < sizeof certificate; i++)
        certificate[i] = (uint8_t)(i * 7);
    EQUAL(support_nv_write(tpm, SUPPORT_NV_EK_P256, certificate, sizeof certificate), 0);
    EQUAL(support_nv_write(tpm, SUPPORT_NV_EK_P256, certificate, sizeof certificate), 0x14C);
    EQUAL(support_nv_read(tpm, SUPPORT_NV_EK_P256, found, sizeof found, &n), 0);
    EQUAL(n, sizeof certificate);
    HOLDS(memcmp(found, certificate, n) == 0);
    EQUAL(support_nv_remove(tpm, SUPPORT_NV_EK_P256), 0);
    EQUAL(support_nv_read(tpm, SUPPORT_NV_EK_P256, found, sizeof found, &n), 0x18B);
}

void shows_admin(void)
{
    support_swtpm *tpm = start(NULL);
    shows_blob_after_clear(tpm);
    shows_hierarchies(tpm);
    shows_templates(tpm);
    shows_lockout(tpm);
    shows_slots(tpm);
    shows_nv(tpm);
    support_swtpm_stop(tpm);
}

void shows_provisioned(const char *folder)
{
    char state[4096];
    uint8_t certificate[2048];
    size_t n, i;
    support_public names[2];
    snprintf(state, sizeof state, "%s/state", folder);
    for (i = 0; i < 2; i++) {
        support_swtpm *tpm = start(state);
        EQUAL(support_nv_read(tpm, SUPPORT_NV_EK_RSA, certificate, sizeof certificate, &n), 0);
        EQUAL(certificate[0], 0x30);
        EQUAL(support_nv_read(tpm, 0x01C00016, certificate, sizeof certificate, &n), 0);
        EQUAL(certificate[0], 0x30);
        EQUAL(support_persist_srk(tpm, NULL, SUPPORT_SRK_H2), 0);
        EQUAL(support_read_public(tpm, SUPPORT_HANDLE_SRK, &names[i]), 0);
        support_swtpm_stop(tpm);
    }
    HOLDS(memcmp(names[0].name, names[1].name, 34) == 0);
}
