/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "tpm/classify.h"

/* The table of (command, code, which key), a row a line, written by hand and independently of the code under test. */
typedef struct {
    uint32_t rc;
    const char *code;
    uint32_t command;
    const char *after;
    tenoni_role role;
    int32_t category;
} row;

#define ANY 0, "any command", TENONI_ROLE_ANY
#define LOAD TENONI_CC_LOAD, "Load of the key", TENONI_ROLE_KEY
#define SIGN TENONI_CC_SIGN, "Sign", TENONI_ROLE_KEY
#define PRIMARY TENONI_CC_CREATE_PRIMARY, "CreatePrimary", TENONI_ROLE_OWNER
#define ACTIVATE TENONI_CC_ACTIVATE_CREDENTIAL, "ActivateCredential", TENONI_ROLE_AK

static const row rows[] = {
    {0x1DF, "INTEGRITY, parameter 1", LOAD, TENON_CATEGORY_REJECTED},
    {0x1DF, "INTEGRITY, parameter 1", TENONI_CC_LOAD, "Load of an AK", TENONI_ROLE_AK, TENON_CATEGORY_REJECTED},
    {0x1DF, "INTEGRITY, parameter 1", ACTIVATE, TENON_CATEGORY_REJECTED},
    {0x2E7, "ECC_POINT, public area", LOAD, TENON_CATEGORY_REJECTED},
    {0x1D5, "SIZE, private area", LOAD, TENON_CATEGORY_REJECTED},
    {0x1DA, "INSUFFICIENT, private area", LOAD, TENON_CATEGORY_REJECTED},
    {0x2D5, "SIZE, public area", LOAD, TENON_CATEGORY_REJECTED},
    {0x2E1, "RESERVED_BITS, public area", LOAD, TENON_CATEGORY_REJECTED},
    {0x2D6, "SYMMETRIC, public area", LOAD, TENON_CATEGORY_REJECTED},
    {0x2CA, "TYPE, public area", LOAD, TENON_CATEGORY_REJECTED},
    {0x2C3, "HASH, public area", LOAD, TENON_CATEGORY_REJECTED},
    {0x2D2, "SCHEME, public area", LOAD, TENON_CATEGORY_REJECTED},
    {0x2CC, "KDF, public area", LOAD, TENON_CATEGORY_REJECTED},
    {0x2E6, "CURVE, public area", LOAD, TENON_CATEGORY_REJECTED},
    {0x2DA, "INSUFFICIENT, public area", LOAD, TENON_CATEGORY_REJECTED},
    {0x18B, "HANDLE, handle 1", SIGN, TENON_CATEGORY_UNAVAILABLE},
    {0x18B, "HANDLE, handle 1", TENONI_CC_READ_PUBLIC, "ReadPublic of a parent", TENONI_ROLE_PARENT,
     TENON_CATEGORY_UNAVAILABLE},
    {0x910, "REFERENCE_H0", SIGN, TENON_CATEGORY_TRANSIENT},
    {0x916, "REFERENCE_H6", ANY, TENON_CATEGORY_TRANSIENT},
    {0x918, "REFERENCE_S0", SIGN, TENON_CATEGORY_TRANSIENT},
    {0x91E, "REFERENCE_S6", ANY, TENON_CATEGORY_TRANSIENT},
    {0x185, "HIERARCHY, handle 1", PRIMARY, TENON_CATEGORY_UNAVAILABLE},
    {0x9A2, "BAD_AUTH, session 1", SIGN, TENON_CATEGORY_AUTH},
    {0x9A2, "BAD_AUTH, session 1", PRIMARY, TENON_CATEGORY_AUTH},
    {0x98E, "AUTH_FAIL, session 1", SIGN, TENON_CATEGORY_AUTH},
    {0x98E, "AUTH_FAIL, session 1", LOAD, TENON_CATEGORY_AUTH},
    {0x9A2, "BAD_AUTH, session 1", LOAD, TENON_CATEGORY_AUTH},
    {0x921, "LOCKOUT", ANY, TENON_CATEGORY_AUTH},
    {0x126, "POLICY", ANY, TENON_CATEGORY_AUTH},
    {0x99D, "POLICY_FAIL, session 1", ANY, TENON_CATEGORY_AUTH},
    {0x12F, "AUTH_UNAVAILABLE", ACTIVATE, TENON_CATEGORY_REJECTED},
    {0x12F, "AUTH_UNAVAILABLE", SIGN, TENON_CATEGORY_AUTH},
    {0x902, "OBJECT_MEMORY", ANY, TENON_CATEGORY_TRANSIENT},
    {0x903, "SESSION_MEMORY", ANY, TENON_CATEGORY_TRANSIENT},
    {0x904, "MEMORY", ANY, TENON_CATEGORY_TRANSIENT},
    {0x905, "SESSION_HANDLES", ANY, TENON_CATEGORY_TRANSIENT},
    {0x901, "CONTEXT_GAP", ANY, TENON_CATEGORY_TRANSIENT},
    {0x908, "YIELDED", ANY, TENON_CATEGORY_TRANSIENT},
    {0x90A, "TESTING", ANY, TENON_CATEGORY_TRANSIENT},
    {0x922, "RETRY", ANY, TENON_CATEGORY_TRANSIENT},
    {0x909, "CANCELED", ANY, TENON_CATEGORY_TRANSIENT},
    {0x920, "NV_RATE", ANY, TENON_CATEGORY_TRANSIENT},
    {0x923, "NV_UNAVAILABLE", ANY, TENON_CATEGORY_TRANSIENT},
    {0x907, "LOCALITY", ANY, TENON_CATEGORY_UNAVAILABLE},
    {0x100, "INITIALIZE", ANY, TENON_CATEGORY_UNAVAILABLE},
    {0x101, "FAILURE", ANY, TENON_CATEGORY_UNAVAILABLE},
    {0x120, "DISABLED", ANY, TENON_CATEGORY_UNAVAILABLE},
    {0x12D, "UPGRADE", ANY, TENON_CATEGORY_UNAVAILABLE},
    {0x130, "REBOOT", ANY, TENON_CATEGORY_UNAVAILABLE},
    {0x14B, "NV_SPACE", TENONI_CC_EVICT_CONTROL, "EvictControl", TENONI_ROLE_OWNER, TENON_CATEGORY_UNAVAILABLE},
    {0x3E0, "TICKET, parameter 3", SIGN, TENON_CATEGORY_ARGUMENT},
    {0xB0143, "COMMAND_CODE of the resource manager", ANY, TENON_CATEGORY_UNAVAILABLE},
    {0x143, "COMMAND_CODE", ANY, TENON_CATEGORY_UNAVAILABLE},
    {0xB0922, "RETRY, kernel's manager", ANY, TENON_CATEGORY_TRANSIENT},
    {0xC0922, "RETRY, tabrmd", ANY, TENON_CATEGORY_TRANSIENT},
    {0xB0902, "OBJECT_MEMORY, kernel's manager", ANY, TENON_CATEGORY_TRANSIENT},
    {0xC0910, "REFERENCE_H0, tabrmd", ANY, TENON_CATEGORY_TRANSIENT},
    {0xB01DF, "INTEGRITY, kernel's manager", LOAD, TENON_CATEGORY_REJECTED},
    {0x500, "the vendor's", ANY, TENON_CATEGORY_UNAVAILABLE},
    {0x1C4, "VALUE, parameter 1", TENONI_CC_CREATE, "Create", TENONI_ROLE_PARENT, TENON_CATEGORY_INTERNAL},
};

enum { ROWS = COUNT(rows) };

TEST(tpm_classify_rows)
{
    for (size_t i = 0; i < ROWS; i++) {
        const row *at = &rows[i];
        tenon_status status = tenoni_classify(at->command, at->role, at->rc);
        test_about("0x%x (%s) after %s", (unsigned)at->rc, at->code, at->after);
        CHECK_NUMBER(tenon_status_category(status), at->category);
        CHECK_NUMBER(tenon_status_tpm_rc(status), at->rc);
    }
}

/* Bits 6 and 8-11 say which parameter, handle or session: a row is for all of them. */
TEST(tpm_classify_numbers_do_not_matter)
{
    for (size_t i = 0; i < ROWS; i++) {
        const row *at = &rows[i];
        if ((at->rc & 0x80) == 0)
            continue;
        for (uint32_t number = 0; number < 16; number++)
            for (uint32_t parameter = 0; parameter < 2; parameter++) {
                uint32_t rc = (at->rc & 0xbf) | number << 8 | parameter << 6;
                test_about("0x%x for 0x%x", (unsigned)rc, (unsigned)at->rc);
                CHECK_NUMBER(tenon_status_category(tenoni_classify(at->command, at->role, rc)), at->category);
            }
    }
}

/* No code means it, whatever the command and the key are. */
TEST(tpm_classify_never_gone)
{
    static const uint32_t commands[] = {TENONI_CC_LOAD, TENONI_CC_SIGN, TENONI_CC_CREATE_PRIMARY,
                                        TENONI_CC_ACTIVATE_CREDENTIAL, TENONI_CC_READ_PUBLIC};
    size_t bad = 0;
    for (uint32_t rc = 1; rc < 0x100000; rc = rc == 0xfff ? 0xb0000 : rc == 0xb0fff ? 0xc0000 : rc + 1) {
        if (rc > 0xc0fff)
            break;
        for (size_t i = 0; i < COUNT(commands); i++)
            for (int role = TENONI_ROLE_ANY; role <= TENONI_ROLE_AK; role++) {
                tenon_status status = tenoni_classify(commands[i], (tenoni_role)role, rc);
                int32_t category = tenon_status_category(status);
                bad += category == TENON_CATEGORY_GONE || category <= 0 || category > TENON_CATEGORY_UNKNOWN ||
                       tenon_status_tpm_rc(status) != rc;
            }
    }
    CHECK_NUMBER(bad, 0);
}

TEST(tpm_classify_retries)
{
    static const uint32_t again[] = {0x908, 0x90A, 0x920, 0x922, 0x923};
    size_t count = 0;
    for (size_t i = 0; i < COUNT(again); i++)
        for (uint32_t layer = 0; layer < 16; layer++) {
            test_about("0x%x", (unsigned)(layer << 16 | again[i]));
            CHECK(tenoni_rc_is_retry(layer << 16 | again[i]));
        }
    for (uint32_t rc = 0; rc < 0x1000; rc++)
        count += tenoni_rc_is_retry(rc);
    CHECK_NUMBER(count, COUNT(again));
}

static bool is_within(uint32_t rc, uint32_t first, uint32_t last) { return rc >= first && rc <= last; }

/* Part 2, 6.6.3: missing objects, and lack of room; the first and the last of each range. */
TEST(tpm_classify_lost_and_full)
{
    for (uint32_t rc = 1; rc < 0x1000; rc++) {
        tenon_status status = tenoni_classify(TENONI_CC_ANY, TENONI_ROLE_ANY, rc);
        bool handle = (rc & 0xbf) == 0x8b, value = (rc & 0xbf) == 0x84;
        bool format_one = (rc & 0x80) != 0;
        test_about("0x%x", (unsigned)rc);
        CHECK(tenoni_status_lost_object(status) == (format_one ? handle : is_within(rc, 0x910, 0x916)));
        CHECK(tenoni_status_lost_session(status) == (format_one ? value : rc == 0x901 || is_within(rc, 0x918, 0x91e)));
        CHECK(tenoni_status_lacks_room(status) == (!format_one && is_within(rc, 0x902, 0x906)));
    }
    CHECK(!tenoni_status_lost_object(TENON_OK) && !tenoni_status_lost_session(TENON_OK));
    CHECK(!tenoni_status_lacks_room(TENON_ERROR_TPM_BUSY));
}
