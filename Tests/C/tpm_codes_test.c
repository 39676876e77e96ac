/* SPDX-License-Identifier: Apache-2.0 */
#include "tpm_rig.h"

/*
 * The rows of tpm_classify_test.c again, through the public functions: the TPM refuses one command of an operation for
 * as long as it is asked. What comes out is the row's category, nothing is flushed but what is ours, nothing persistent
 * is taken away, and when the fault is over the key works.
 */
/* Those of one category, up to the first 0. */
static const struct {
    int32_t category;
    uint32_t rcs[16];
} codes[] = {
    {TENON_CATEGORY_UNAVAILABLE, {0x185, 0x907, 0x100, 0x101, 0x120, 0x12D, 0x130, 0x143, 0xB0143, 0x500, 0x18B}},
    {TENON_CATEGORY_UNAVAILABLE, {0x14B}},
    {TENON_CATEGORY_AUTH, {0x9A2, 0x98E, 0x921, 0x126, 0x99D, 0x12F}},
    {TENON_CATEGORY_TRANSIENT, {0x902, 0x903, 0x904, 0x905, 0x901, 0x908, 0x90A, 0x922, 0x909, 0x910, 0x916, 0x918}},
    {TENON_CATEGORY_TRANSIENT, {0x920, 0x923, 0xB0922, 0xC0902}},
    {TENON_CATEGORY_ARGUMENT, {0x3E0}},
    {TENON_CATEGORY_REJECTED, {0x1DF, 0xB01DF}},
};

static tenon_status load(tpm_stage *at)
{
    tenon_tpm_key *key;
    tenon_status status = tpm_rig_load(&at->rig, &key, &at->pem);
    CHECK((status == TENON_OK) == (key != NULL));
    tenon_tpm_key_free(&key);
    return status;
}

static tenon_status create_with_auth(tpm_stage *at)
{
    tenon_tpm_key *key;
    tenon_status status = tenon_tpm_key_create(at->rig.tpm, &key, (const uint8_t *)"auth", 4);
    CHECK((status == TENON_OK) == (key != NULL));
    tenon_tpm_key_free(&key);
    return status;
}

typedef struct {
    const char *name;
    uint32_t command;
    bool srk; /* with a storage key at 0x81000001 */
    bool loaded;
    tenon_status (*run)(tpm_stage *at);
} operation;

static const operation operations[] = {
    {"Sign", SUPPORT_CC_SIGN, true, true, tpm_stage_sign},
    {"Load", SUPPORT_CC_LOAD, true, false, load},
    {"ReadPublic of the parent", SUPPORT_CC_READ_PUBLIC, true, false, tpm_stage_create},
    {"CreatePrimary", SUPPORT_CC_CREATE_PRIMARY, false, false, load},
    {"CreatePrimary for a new key", SUPPORT_CC_CREATE_PRIMARY, false, false, tpm_stage_create},
    {"Create", SUPPORT_CC_CREATE, true, false, tpm_stage_create},
    {"StartAuthSession", SUPPORT_CC_START_AUTH_SESSION, true, false, create_with_auth},
    {"EvictControl", SUPPORT_CC_EVICT_CONTROL, true, true, tpm_stage_persist},
    {"GetCapability of handles", SUPPORT_CC_GET_CAPABILITY, true, false, tpm_stage_list},
    {"GetCapability of properties", SUPPORT_CC_GET_CAPABILITY, true, false, tpm_stage_info},
};

/* Two codes are an answer, not a failure, to one command each. */
static int32_t expected(const operation *what, uint32_t rc, int32_t category)
{
    if (what->command == SUPPORT_CC_READ_PUBLIC && rc == 0x18B)
        return 0; /* no parent at that handle: the primary is the same, and is taken */
    return category;
}

static tpm_stage set(const operation *what)
{
    tpm_stage at = {.rig = tpm_rig_start(&tpm_hurried)};
    if (what->srk)
        CHECK_NUMBER(support_persist_srk(at.rig.sw, NULL, SUPPORT_SRK_H2), 0);
    CHECK_NUMBER(support_create_primary(at.rig.sw, SUPPORT_RH_NULL, NULL, SUPPORT_SIGNING, &at.foreign), 0);
    at.pem = tpm_rig_make(&at.rig);
    if (what->loaded)
        CHECK_OK(tpm_rig_load(&at.rig, &at.key, &at.pem));
    return at;
}

/* A refused signature may unload the key, but never a foreign or a persistent object. */
static void check_unharmed(tpm_stage *at, uint32_t persistent)
{
    support_public area;
    CHECK_NUMBER(support_read_public(at->rig.sw, at->foreign, &area), 0);
    CHECK_NUMBER(support_persistent_count(at->rig.sw), persistent);
    CHECK_OK(at->key != NULL ? tpm_rig_sign(at->key) : tpm_rig_use(&at->rig, &at->pem));
}

/* Then a fresh connection is tried once: behind a resource manager that frees what was lost. */
static bool lacks_room(uint32_t rc) { return (rc & 0xffff) >= 0x902 && (rc & 0xffff) <= 0x906; }

static void try_code(tpm_stage *at, const operation *what, uint32_t rc, int32_t category)
{
    uint32_t reopens = support_transport_reopens(at->rig.wire), persistent = support_persistent_count(at->rig.sw);
    test_about("0x%x at %s", (unsigned)rc, what->name);
    support_fail_code(at->rig.wire, support_times(what->command, 1, SUPPORT_ALWAYS), rc);
    tenon_status status = what->run(at);
    CHECK_CATEGORY(status, expected(what, rc, category));
    if (status != TENON_OK && status != TENON_ERROR_PARENT_MISSING)
        CHECK_NUMBER(tenon_status_tpm_rc(status), rc);
    CHECK_NUMBER(support_transport_pending(at->rig.wire), 0);
    CHECK_NUMBER(support_transport_reopens(at->rig.wire) - reopens, lacks_room(rc));
    support_transport_forget_faults(at->rig.wire);
    check_unharmed(at, persistent);
}

static void try_operation(const operation *what)
{
    tpm_stage at = set(what);
    for (size_t i = 0; i < COUNT(codes); i++)
        for (size_t j = 0; j < COUNT(codes->rcs) && codes[i].rcs[j] != 0; j++)
            try_code(&at, what, codes[i].rcs[j], codes[i].category);
    tenon_tpm_key_free(&at.key);
    CHECK_NUMBER(support_flush(at.rig.sw, at.foreign), 0);
    tpm_rig_stop(&at.rig);
}

TEST(tpm_codes_at_each_command)
{
    for (size_t i = 0; i < COUNT(operations); i++)
        try_operation(&operations[i]);
}

/* The persistent copy is a cache: if it is missing or refused once, the blob is used. */
TEST(tpm_codes_at_the_persistent_copy)
{
    static const uint32_t lost[] = {0x18B, 0xB018B, 0x910};
    for (size_t i = 0; i < COUNT(lost); i++) {
        OWNED_RIG rig = tpm_rig_start(NULL);
        test_about("0x%x", (unsigned)lost[i]);
        tenon_tpm_key *key = tpm_rig_key(&rig, NULL);
        CHECK_OK(tenon_tpm_key_persist(key, NULL));
        support_fail_code(rig.wire, support_next(SUPPORT_CC_SIGN), lost[i]);
        CHECK_OK(tpm_rig_sign(key));
        CHECK_OK(tpm_rig_sign(key));
        CHECK_NUMBER(support_persistent_count(rig.sw), 1);
        tpm_pem pem = tpm_rig_export(key);
        tenon_tpm_key_free(&key);
        support_fail_code(rig.wire, support_next(SUPPORT_CC_READ_PUBLIC), lost[i]);
        CHECK_OK(tpm_rig_use(&rig, &pem));
        CHECK_NUMBER(support_persistent_count(rig.sw), 1);
    }
}
