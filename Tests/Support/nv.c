/* SPDX-License-Identifier: Apache-2.0 */
#include "admin.h"
#include "wire.h"

/* PPWRITE, WRITEDEFINE, PPREAD, OWNERREAD, AUTHREAD, NO_DA, PLATFORMCREATE: as manufacturers define EK certificates. */
#define EK_CERTIFICATE 0x42072001u

enum { ALG_SHA256 = 0xB, AT_ONCE = 1024 };

static uint32_t define(support_swtpm *tpm, uint32_t index, size_t n)
{
    return support_run(tpm, NULL, SUPPORT_CC_NV_DEFINE_SPACE, "4e0242402", SUPPORT_RH_PLATFORM, 14u, index, ALG_SHA256,
                       EK_CERTIFICATE, (uint32_t)n);
}

static uint32_t write_part(support_swtpm *tpm, uint32_t index, const uint8_t *bytes, size_t n, size_t offset)
{
    return support_run(tpm, NULL, SUPPORT_CC_NV_WRITE, "44eb2", SUPPORT_RH_PLATFORM, index, bytes, n, (uint32_t)offset);
}

uint32_t support_nv_write(support_swtpm *tpm, uint32_t index, const uint8_t *bytes, size_t n)
{
    uint32_t rc = define(tpm, index, n);
    size_t at = 0;
    while (rc == 0 && at < n) {
        size_t part = n - at < AT_ONCE ? n - at : AT_ONCE;
        rc = write_part(tpm, index, bytes + at, part, at);
        at += part;
    }
    return rc;
}

uint32_t support_nv_remove(support_swtpm *tpm, uint32_t index)
{
    return support_run(tpm, NULL, SUPPORT_CC_NV_UNDEFINE_SPACE, "44e", SUPPORT_RH_PLATFORM, index);
}
