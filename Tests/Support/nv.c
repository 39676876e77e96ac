/* SPDX-License-Identifier: Apache-2.0 */
#include "admin.h"
#include "wire.h"

/* PPWRITE, WRITEDEFINE, PPREAD, OWNERREAD, AUTHREAD, NO_DA, PLATFORMCREATE: as manufacturers define EK certificates. */
#define EK_CERTIFICATE 0x42072001u

enum { ALG_SHA256 = 0xB, AT_ONCE = 1024 };

static uint32_t define(support_swtpm *tpm, uint32_t index, size_t n)
{
    support_command command;
    support_answer answer;
    support_command_begin(&command, SUPPORT_CC_NV_DEFINE_SPACE);
    support_put32(&command, SUPPORT_RH_PLATFORM);
    support_password(&command, NULL);
    support_put16(&command, 0);
    support_put16(&command, 14);
    support_put32(&command, index);
    support_put16(&command, ALG_SHA256);
    support_put32(&command, EK_CERTIFICATE);
    support_put16(&command, 0);
    support_put16(&command, (uint32_t)n);
    return support_command_run(tpm, &command, &answer);
}

static uint32_t write_part(support_swtpm *tpm, uint32_t index, const uint8_t *bytes, size_t n, size_t offset)
{
    support_command command;
    support_answer answer;
    support_command_begin(&command, SUPPORT_CC_NV_WRITE);
    support_put32(&command, SUPPORT_RH_PLATFORM);
    support_put32(&command, index);
    support_password(&command, NULL);
    support_put_sized(&command, bytes, n);
    support_put16(&command, (uint32_t)offset);
    return support_command_run(tpm, &command, &answer);
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
    support_command command;
    support_answer answer;
    support_command_begin(&command, SUPPORT_CC_NV_UNDEFINE_SPACE);
    support_put32(&command, SUPPORT_RH_PLATFORM);
    support_put32(&command, index);
    support_password(&command, NULL);
    return support_command_run(tpm, &command, &answer);
}
