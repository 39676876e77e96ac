/* SPDX-License-Identifier: Apache-2.0 */
#include "tpm_rig.h"

/*
 * The connection to the TPM fails at each command of each operation: before the TPM sees it, after the TPM carried it
 * out, with the TPM killed, and with a connection that cannot be reopened. It ends in success after one reopen, or in
 * transient or unavailable; the key is never gone, and works when the fault is over.
 */
static tenon_status create_sealed(tpm_stage *at)
{
    tenon_tpm_key *key;
    tenon_status status = tenon_tpm_key_create(at->rig.tpm, &key, (const uint8_t *)"auth", 4);
    if (status == TENON_OK)
        status = tpm_rig_sign(key);
    tenon_tpm_key_free(&key);
    return status;
}

static tenon_status use(tpm_stage *at) { return tpm_rig_use(&at->rig, &at->pem); }
static tenon_status evict(tpm_stage *at) { return tenon_tpm_key_evict(at->key); }

typedef struct {
    const char *name;
    tenon_status (*run)(tpm_stage *at);
    bool loaded;    /* with a key that is loaded */
    bool persisted; /* and has a persistent copy each time */
} operation;

static const operation operations[] = {
    {"create", tpm_stage_create, false, false},
    {"create with auth", create_sealed, false, false},
    {"load", use, false, false},
    {"sign", tpm_stage_sign, true, false},
    {"persist", tpm_stage_persist, true, false},
    {"evict", evict, true, true},
    {"read_info", tpm_stage_info, false, false},
    {"list", tpm_stage_list, false, false},
};

typedef enum { BEFORE, AFTER, KILLED, KILLED_AFTER, NO_REOPEN, TWICE, FAULTS } fault;

static const char *const fault_names[FAULTS] = {
    "before", "after", "killed", "killed after", "cannot be reopened", "fails again, too"};

static void plan(support_transport *wire, fault kind, uint32_t nth)
{
    switch (kind) {
    case BEFORE:
        support_fail_before(wire, support_nth(SUPPORT_ANY, nth), TENON_ERROR_TPM_TRANSPORT);
        break;
    case AFTER:
        support_fail_after(wire, support_nth(SUPPORT_ANY, nth), TENON_ERROR_TPM_TRANSPORT);
        break;
    case KILLED:
    case KILLED_AFTER:
        support_kill(wire, support_nth(SUPPORT_ANY, nth), kind == KILLED_AFTER);
        break;
    case NO_REOPEN:
        support_fail_before(wire, support_nth(SUPPORT_ANY, nth), TENON_ERROR_TPM_TRANSPORT);
        support_transport_fail_reopen(wire, 1, TENON_ERROR_TPM_MISSING);
        break;
    default:
        support_fail_before(wire, support_times(SUPPORT_ANY, nth, 40), TENON_ERROR_TPM_TRANSPORT);
        break;
    }
}

static void ready(tpm_stage *at, const operation *what)
{
    if (what->loaded && at->key == NULL)
        CHECK_OK(tpm_rig_load(&at->rig, &at->key, &at->pem));
    if (what->persisted)
        CHECK_OK(tenon_tpm_key_persist(at->key, NULL));
    if (what->loaded)
        CHECK_OK(tpm_rig_sign(at->key));
    support_transport_reset_counts(at->rig.wire);
}

/* One reopen is enough for one fault. If it is not, the status says to try again. */
static void check_end(tpm_stage *at, fault kind, tenon_status status)
{
    int32_t category = tenon_status_category(status);
    if (kind == NO_REOPEN)
        CHECK(status == TENON_OK || status == TENON_ERROR_TPM_MISSING || status == TENON_ERROR_TPM_TRANSPORT);
    else if (kind == TWICE)
        CHECK(status == TENON_OK || category == TENON_CATEGORY_TRANSIENT);
    else
        CHECK_OK(status);
    CHECK(support_transport_reopens(at->rig.wire) <= 4);
}

static uint32_t commands_of(tpm_stage *at, const operation *what)
{
    ready(at, what);
    CHECK_OK(what->run(at));
    return support_transport_count(at->rig.wire, SUPPORT_ANY);
}

/* An object whose handle was lost with an answer cannot be flushed by the core; a resource manager like /dev/tpmrm0
 * does. */
static void try_fault(const operation *what, fault kind, bool manages)
{
    tpm_stage at = {.rig = tpm_rig_start(NULL)};
    at.pem = tpm_rig_make(&at.rig);
    support_transport_revive(at.rig.wire, true);
    support_transport_manage(at.rig.wire, manages);
    uint32_t commands = commands_of(&at, what);
    CHECK(commands >= 1);
    for (uint32_t nth = 1; nth <= commands; nth += (uint32_t)test_rounds(1, 3)) {
        test_about("%s, command %u of %u: %s%s", what->name, (unsigned)nth, (unsigned)commands, fault_names[kind],
                   manages ? ", managed" : "");
        ready(&at, what);
        plan(at.rig.wire, kind, nth);
        check_end(&at, kind, what->run(&at));
        if (kind == TWICE || kind == NO_REOPEN)
            support_transport_fail_reopen(at.rig.wire, 0, TENON_OK);
        support_transport_forget_faults(at.rig.wire);
        CHECK_OK(at.key != NULL ? tpm_rig_sign(at.key) : tpm_rig_use(&at.rig, &at.pem));
        CHECK(support_persistent_count(at.rig.sw) <= 1);
        if (kind == AFTER && !manages)
            support_flush_all(at.rig.sw);
    }
    tenon_tpm_key_free(&at.key);
    tpm_rig_stop(&at.rig);
}

static void try_all(fault kind, bool manages)
{
    for (size_t i = 0; i < COUNT(operations); i++)
        try_fault(&operations[i], kind, manages);
}

TEST(tpm_wire_fails_before_a_command)
{
    try_all(BEFORE, false);
    try_all(BEFORE, true);
}

TEST(tpm_wire_loses_an_answer) { try_all(AFTER, true); }
TEST(tpm_wire_loses_an_answer_without_a_manager) { try_all(AFTER, false); }

TEST(tpm_wire_tpm_killed)
{
    try_all(KILLED, false);
    try_all(KILLED_AFTER, false);
    try_all(KILLED, true);
}

TEST(tpm_wire_cannot_be_reopened) { try_all(NO_REOPEN, false); }

TEST(tpm_wire_fails_again)
{
    try_all(TWICE, false);
    try_all(TWICE, true);
}
