/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "tpm/classify.h"

/*
 * The table of (command, code, which key), written by hand and independently of the code under test: codes of one
 * category in each row, up to the first 0.
 */
typedef struct {
    int32_t category;
    uint32_t command;
    tenoni_role role;
    uint32_t rcs[12];
} row;

#define ANY TENONI_CC_ANY, TENONI_ROLE_ANY
#define LOAD TENONI_CC_LOAD, TENONI_ROLE_KEY
#define SIGN TENONI_CC_SIGN, TENONI_ROLE_KEY
#define PRIMARY TENONI_CC_CREATE_PRIMARY, TENONI_ROLE_OWNER
#define ACTIVATE TENONI_CC_ACTIVATE_CREDENTIAL, TENONI_ROLE_AK

enum { KERNEL = 0xB0000, TABRMD = 0xC0000 }; /* the resource manager's layer */

static const row rows[] = {
    /* INTEGRITY of parameter 1; ECC_POINT of the public area; SIZE and INSUFFICIENT of the private area. */
    {TENON_CATEGORY_REJECTED, LOAD, {0x1DF, KERNEL | 0x1DF, 0x2E7, 0x1D5, 0x1DA}},
    /* SIZE, RESERVED_BITS, SYMMETRIC, TYPE, HASH, SCHEME, KDF, CURVE and INSUFFICIENT of the public area. */
    {TENON_CATEGORY_REJECTED, LOAD, {0x2D5, 0x2E1, 0x2D6, 0x2CA, 0x2C3, 0x2D2, 0x2CC, 0x2E6, 0x2DA}},
    {TENON_CATEGORY_REJECTED, TENONI_CC_LOAD, TENONI_ROLE_AK, {0x1DF}},
    {TENON_CATEGORY_REJECTED, ACTIVATE, {0x1DF, 0x12F}}, /* and AUTH_UNAVAILABLE */
    /* HANDLE of handle 1; HIERARCHY; NV_SPACE; the vendor's. */
    {TENON_CATEGORY_UNAVAILABLE, SIGN, {0x18B}},
    {TENON_CATEGORY_UNAVAILABLE, TENONI_CC_READ_PUBLIC, TENONI_ROLE_PARENT, {0x18B}},
    {TENON_CATEGORY_UNAVAILABLE, PRIMARY, {0x185}},
    {TENON_CATEGORY_UNAVAILABLE, TENONI_CC_EVICT_CONTROL, TENONI_ROLE_OWNER, {0x14B}},
    {TENON_CATEGORY_UNAVAILABLE, ANY, {0x500}},
    /* LOCALITY, INITIALIZE, FAILURE, DISABLED, UPGRADE, REBOOT, COMMAND_CODE, and that of the resource manager. */
    {TENON_CATEGORY_UNAVAILABLE, ANY, {0x907, 0x100, 0x101, 0x120, 0x12D, 0x130, 0x143, KERNEL | 0x143}},
    /* BAD_AUTH and AUTH_FAIL of session 1, AUTH_UNAVAILABLE; LOCKOUT, POLICY, POLICY_FAIL. */
    {TENON_CATEGORY_AUTH, SIGN, {0x9A2, 0x98E, 0x12F}},
    {TENON_CATEGORY_AUTH, LOAD, {0x9A2, 0x98E}},
    {TENON_CATEGORY_AUTH, PRIMARY, {0x9A2}},
    {TENON_CATEGORY_AUTH, ANY, {0x921, 0x126, 0x99D}},
    /* REFERENCE_H0 and S0, H6 and S6. */
    {TENON_CATEGORY_TRANSIENT, SIGN, {0x910, 0x918}},
    {TENON_CATEGORY_TRANSIENT, ANY, {0x916, 0x91E, TABRMD | 0x910}},
    /* OBJECT_MEMORY, SESSION_MEMORY, MEMORY, SESSION_HANDLES, CONTEXT_GAP. */
    {TENON_CATEGORY_TRANSIENT, ANY, {0x902, 0x903, 0x904, 0x905, 0x901, KERNEL | 0x902}},
    /* YIELDED, TESTING, RETRY, CANCELED, NV_RATE, NV_UNAVAILABLE. */
    {TENON_CATEGORY_TRANSIENT, ANY, {0x908, 0x90A, 0x922, 0x909, 0x920, 0x923, KERNEL | 0x922, TABRMD | 0x922}},
    {TENON_CATEGORY_ARGUMENT, SIGN, {0x3E0}},                                 /* TICKET of parameter 3 */
    {TENON_CATEGORY_INTERNAL, TENONI_CC_CREATE, TENONI_ROLE_PARENT, {0x1C4}}, /* VALUE of parameter 1 */
};

static void each_code(void (*visit)(const row *at, uint32_t rc))
{
    for (size_t i = 0; i < COUNT(rows); i++)
        for (size_t j = 0; j < COUNT(rows->rcs) && rows[i].rcs[j] != 0; j++) {
            test_about("0x%x after command 0x%x", (unsigned)rows[i].rcs[j], (unsigned)rows[i].command);
            visit(&rows[i], rows[i].rcs[j]);
        }
}

static void check_code(const row *at, uint32_t rc)
{
    tenon_status status = tenoni_classify(at->command, at->role, rc);
    CHECK_NUMBER(tenon_status_category(status), at->category);
    CHECK_NUMBER(tenon_status_tpm_rc(status), rc);
}

TEST(tpm_classify_rows) { each_code(check_code); }

/* Bits 6 and 8-11 say which parameter, handle or session: a row is for all of them. */
static void check_numbers(const row *at, uint32_t rc)
{
    for (uint32_t i = 0; (rc & 0x80) != 0 && i < 32; i++)
        CHECK_NUMBER(
            tenon_status_category(tenoni_classify(at->command, at->role, (rc & 0xbf) | i % 16 << 8 | i / 16 << 6)),
            at->category);
}

TEST(tpm_classify_numbers_do_not_matter) { each_code(check_numbers); }

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
