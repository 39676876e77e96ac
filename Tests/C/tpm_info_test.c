/* SPDX-License-Identifier: Apache-2.0 */
#include "tpm_rig.h"
#include "wire.h"

/* A TPM's report about itself: each property in its own place. */

/* Part 3, 30.2 TPM2_GetCapability: moreData, capability, count, values. */
enum { CAPABILITY_AT = 11, COUNT_AT = 15, VALUES_AT = 19, CAP_TPM_PROPERTIES = 6 };

typedef struct {
    uint32_t property, value;
} told;

static size_t tell(void *context, uint8_t *answer, size_t n, size_t size)
{
    if (n < VALUES_AT || support_fetch32(answer + CAPABILITY_AT) != CAP_TPM_PROPERTIES)
        return n;
    for (uint32_t i = 0; i < support_fetch32(answer + COUNT_AT); i++) {
        uint8_t *at = answer + VALUES_AT + 8 * i;
        uint32_t value = 0xa5a5a5a5;
        for (const told *each = context; each->property != 0; each++)
            if (each->property == support_fetch32(at))
                value = each->value;
        support_store32(at + 4, value);
    }
    return n;
}

static void check_info(told *all, const tenon_tpm_info *expected)
{
    OWNED_RIG rig = tpm_rig_start(NULL);
    tenon_tpm_info found;
    memset(&found, 0xff, sizeof found);
    support_edit(rig.wire, support_times(SUPPORT_CC_GET_CAPABILITY, 1, SUPPORT_ALWAYS), tell, all);
    CHECK_OK(tenon_tpm_read_info(rig.tpm, &found));
    CHECK(strcmp(found.maker, expected->maker) == 0 && strcmp(found.model, expected->model) == 0);
    CHECK_BYTES(found.firmware, expected->firmware,
                sizeof found - offsetof(tenon_tpm_info, firmware) - sizeof found.ek_certificates);
    CHECK_NUMBER(found.ek_certificates, 0);
}

/* Part 2, 6.13 TPM_PT, 8.6 TPMA_PERMANENT and 8.7 TPMA_STARTUP_CLEAR. */
TEST(tpm_info_each_property)
{
    told one[] = {
        {0x102, 159},        {0x105, 0x41424344}, {0x106, 0x4d6f6465}, {0x107, 0x6c206f66}, {0x108, 0x20612074},
        {0x109, 0x6573742e}, {0x10b, 0x00010002}, {0x10c, 0x00030004}, {0x200, 0x202},      {0x201, 4},
        {0x20e, 5},          {0x20f, 31},         {0x210, 600},        {0x211, 86400},      {0, 0}};
    check_info(one, &(tenon_tpm_info){.maker = "ABCD",
                                      .model = "Model of a test.",
                                      .firmware = {0x00010002, 0x00030004},
                                      .revision = 159,
                                      .endorsement_auth_set = 1,
                                      .in_lockout = 1,
                                      .endorsement_enabled = 1,
                                      .lockout_counter = 5,
                                      .lockout_max = 31,
                                      .lockout_interval = 600,
                                      .lockout_recovery = 86400});
    /* A maker and a model that are shorter; and the other bits. */
    told other[] = {{0x102, 138}, {0x105, 0x49465800}, {0x106, 0x534c4200}, {0x107, 0},     {0x108, 0},
                    {0x109, 0},   {0x10b, 7},          {0x10c, 0},          {0x200, 0x105}, {0x201, 2},
                    {0x20e, 0},   {0x20f, 3},          {0x210, 1},          {0x211, 2},     {0, 0}};
    check_info(other, &(tenon_tpm_info){.maker = "IFX",
                                        .model = "SLB",
                                        .firmware = {7, 0},
                                        .revision = 138,
                                        .owner_auth_set = 1,
                                        .lockout_auth_set = 1,
                                        .clear_disabled = 1,
                                        .storage_enabled = 1,
                                        .lockout_max = 3,
                                        .lockout_interval = 1,
                                        .lockout_recovery = 2});
}
