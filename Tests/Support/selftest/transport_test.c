/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <string.h>

#include "canned.h"
#include "selftest.h"
#include "wire.h"

static uint8_t persist_command[] = {0x80, 2, 0, 0, 0,    35, 0, 0, 1, 0x20, 0x40, 0, 0, 1,    0x80, 0, 0, 0,
                                    0,    0, 0, 9, 0x40, 0,  0, 9, 0, 0,    0,    0, 0, 0x81, 0,    0, 1};

/* Cuts the power before and after the TPM carries out the same command; the written state shows the difference. */
static void shows_kill(void)
{
    support_swtpm *tpm = start();
    support_transport *wire = support_transport_new(tpm);
    uint32_t handle, done;
    for (done = 0; done < 2; done++) {
        EQUAL(support_create_primary(tpm, SUPPORT_RH_OWNER, NULL, SUPPORT_SRK_H2, &handle), 0);
        EQUAL(handle, 0x80000000u);
        support_kill(wire, support_next(SUPPORT_CC_EVICT_CONTROL), done);
        EQUAL(pass_command(wire, persist_command, sizeof persist_command).status, TENON_ERROR_TPM_TRANSPORT);
        HOLDS(!support_swtpm_is_on(tpm));
        EQUAL(reopen(wire), TENON_ERROR_TPM_MISSING);
        HOLDS(support_swtpm_power_on(tpm));
        EQUAL(support_persistent_count(tpm), done);
        EQUAL(ask(wire).status, TENON_ERROR_TPM_TRANSPORT);
        EQUAL(reopen(wire), TENON_OK);
        EQUAL(ask(wire).rc, 0);
    }
    EQUAL(support_transport_pending(wire), 0);
    support_transport_free(wire);
    support_swtpm_stop(tpm);
}

static void shows_reopen(void)
{
    support_swtpm *tpm = start();
    support_transport *wire = support_transport_new(tpm);
    tenon_tpm_transport table = support_transport_table(wire);
    uint32_t handle;
    support_transport_fail_reopen(wire, 2, TENON_ERROR_TPM_PERMISSION);
    EQUAL(reopen(wire), TENON_ERROR_TPM_PERMISSION);
    EQUAL(reopen(wire), TENON_ERROR_TPM_PERMISSION);
    EQUAL(reopen(wire), TENON_OK);
    support_transport_revive(wire, true);
    support_swtpm_power_cut(tpm);
    EQUAL(ask(wire).status, TENON_ERROR_TPM_TRANSPORT);
    EQUAL(reopen(wire), TENON_OK);
    EQUAL(ask(wire).rc, 0);
    support_transport_follow(wire, true);
    HOLDS(support_swtpm_power_on(tpm));
    EQUAL(ask(wire).rc, 0);
    EQUAL(support_create_primary(tpm, SUPPORT_RH_NULL, NULL, SUPPORT_SIGNING, &handle), 0);
    EQUAL(reopen(wire), TENON_OK);
    EQUAL(support_transient_count(tpm), 1);
    support_transport_manage(wire, true);
    EQUAL(reopen(wire), TENON_OK);
    EQUAL(support_transient_count(tpm), 0);
    EQUAL(support_transport_reopens(wire), 6);
    table.close(table.context);
    EQUAL(support_transport_closes(wire), 1);
    support_transport_free(wire);
    support_swtpm_stop(tpm);
}

static void shows_counts(support_swtpm *tpm, support_transport *wire)
{
    support_record record;
    support_transport_reset_counts(wire);
    outcome o = ask(wire);
    EQUAL(o.n, RANDOM_ANSWER);
    EQUAL(o.size, RANDOM_ANSWER);
    EQUAL(support_flush_all(tpm), 0);
    EQUAL(support_transport_count(wire, SUPPORT_ANY), 1);
    EQUAL(support_transport_count(wire, SUPPORT_CC_GET_RANDOM), 1);
    EQUAL(support_transport_count(wire, SUPPORT_CC_SIGN), 0);
    HOLDS(support_transport_record(wire, 0, &record));
    EQUAL(record.code, SUPPORT_CC_GET_RANDOM);
    EQUAL(record.rc, 0);
    EQUAL(record.command_n, sizeof get_random);
    HOLDS(memcmp(record.command, get_random, sizeof get_random) == 0);
    EQUAL(record.answer_n, o.n);
    HOLDS(memcmp(record.answer, o.answer, o.n) == 0);
    HOLDS(!support_transport_record(wire, SUPPORT_RECORDS, &record));
    support_transport_watch(wire, get_random + 6, 6);
    ask(wire);
    EQUAL(support_transport_watched(wire), 1);
    support_transport_watch(wire, (const uint8_t *)"\0\0\0\x1c", 4);
    ask(wire);
    EQUAL(support_transport_watched(wire), 1);
    support_transport_latency(wire, 50);
    EQUAL(ask(wire).rc, 0);
    support_transport_latency(wire, 0);
}

static void shows_failures(support_transport *wire)
{
    support_fail_code(wire, support_times(SUPPORT_CC_GET_RANDOM, 2, 2), 0x922);
    EQUAL(support_transport_pending(wire), 1);
    EQUAL(ask(wire).rc, 0);
    EQUAL(ask(wire).rc, 0x922);
    EQUAL(support_transport_pending(wire), 1);
    EQUAL(ask(wire).n, 10);
    EQUAL(support_transport_pending(wire), 0);
    EQUAL(ask(wire).rc, 0);
    support_fail_code(wire, support_next(SUPPORT_CC_SIGN), 0x922);
    EQUAL(ask(wire).rc, 0);
    EQUAL(support_transport_pending(wire), 1);
    support_transport_forget_faults(wire);
    EQUAL(support_transport_pending(wire), 0);
    support_fail_before(wire, support_times(SUPPORT_ANY, 1, SUPPORT_ALWAYS), TENON_ERROR_TPM_BUSY);
    EQUAL(ask(wire).status, TENON_ERROR_TPM_BUSY);
    EQUAL(ask(wire).status, TENON_ERROR_TPM_BUSY);
    EQUAL(support_transport_pending(wire), 0);
    support_transport_forget_faults(wire);
    EQUAL(ask(wire).status, TENON_OK);
}

static size_t zero_rc(void *context, uint8_t *answer, size_t n, size_t size)
{
    *(size_t *)context = size;
    memset(answer + 6, 0, 4);
    return n;
}

static void shows_changed_answers(support_transport *wire)
{
    static const uint8_t other[] = {1, 2, 3};
    support_when next = support_next(SUPPORT_CC_GET_RANDOM);
    size_t size = 0;
    support_flip(wire, next, 9, 0x41);
    EQUAL(ask(wire).rc, 0x41);
    support_flip(wire, next, -RANDOM_ANSWER, 0x80);
    EQUAL(ask(wire).answer[0], 0);
    support_flip(wire, next, RANDOM_ANSWER, 1);
    support_flip(wire, next, -RANDOM_ANSWER - 1, 1);
    EQUAL(ask(wire).rc, 0);
    support_truncate(wire, next, 11);
    outcome o = ask(wire);
    EQUAL(o.n, 11);
    EQUAL(o.size, RANDOM_ANSWER);
    support_truncate(wire, next, 11);
    support_fix_size(wire, next);
    EQUAL(ask(wire).size, 11);
    support_extend(wire, next, 5);
    EQUAL(ask(wire).n, RANDOM_ANSWER + 5);
    support_extend(wire, next, 5000);
    EQUAL(ask(wire).n, TENON_TPM_BUFFER_SIZE);
    support_resize(wire, next, 0xFFFFFFFF);
    o = ask(wire);
    EQUAL(o.n, RANDOM_ANSWER);
    EQUAL(o.size, 0xFFFFFFFF);
    support_replace(wire, next, other, sizeof other);
    o = ask(wire);
    EQUAL(o.n, 3);
    HOLDS(memcmp(o.answer, other, 3) == 0);
    support_lie(wire, next, 100000);
    EQUAL(ask(wire).n, 100000);
    support_fail_code(wire, next, 0x922);
    support_edit(wire, next, zero_rc, &size);
    EQUAL(ask(wire).rc, 0);
    EQUAL(size, TENON_TPM_BUFFER_SIZE);
    EQUAL(support_transport_pending(wire), 0);
}

static outcome sign(support_transport *wire, uint32_t key)
{
    support_command command;
    support_command_begin(&command, SUPPORT_CC_SIGN);
    support_put32(&command, key);
    support_password(&command, NULL);
    support_put_sized(&command, "digest digest digest digest dig.", 32);
    support_put32(&command, 0x0018000B);
    support_put16(&command, 0x8024);
    support_put32(&command, SUPPORT_RH_NULL);
    support_put16(&command, 0);
    support_store32(command.bytes + 2, (uint32_t)command.n);
    return pass_command(wire, command.bytes, command.n);
}

static void shows_changed_commands(support_swtpm *tpm, support_transport *wire)
{
    uint32_t key;
    EQUAL(support_create_primary(tpm, SUPPORT_RH_NULL, NULL, SUPPORT_SIGNING, &key), 0);
    outcome o = sign(wire, key);
    EQUAL(o.rc, 0);
    EQUAL(o.answer[1], 2);
    support_tamper(wire, support_next(SUPPORT_CC_SIGN), -1, 1);
    HOLDS(sign(wire, key).rc != 0);
    support_strip_sessions(wire, support_next(SUPPORT_CC_SIGN));
    o = sign(wire, key);
    EQUAL(o.rc, 0);
    EQUAL(o.answer[1], 1);
    EQUAL(o.n, 10 + 4 + 34 + 34);
    EQUAL(o.size, o.n);
    EQUAL(support_fetch32(o.answer + 10), 0x0018000B);
    EQUAL(support_flush(tpm, key), 0);
}

static void shows_lost_answer(support_swtpm *tpm, support_transport *wire)
{
    uint32_t handle;
    EQUAL(support_create_primary(tpm, SUPPORT_RH_OWNER, NULL, SUPPORT_SRK_H2, &handle), 0);
    support_fail_after(wire, support_next(SUPPORT_CC_EVICT_CONTROL), TENON_ERROR_TPM_TRANSPORT);
    EQUAL(pass_command(wire, persist_command, sizeof persist_command).status, TENON_ERROR_TPM_TRANSPORT);
    EQUAL(support_persistent_count(tpm), 1);
    EQUAL(support_evict_srk(tpm, NULL), 0);
    EQUAL(support_flush_all(tpm), 0);
}

static void shows_faults(void)
{
    support_swtpm *tpm = start();
    support_transport *wire = support_transport_new(tpm);
    shows_counts(tpm, wire);
    shows_failures(wire);
    shows_changed_answers(wire);
    shows_changed_commands(tpm, wire);
    shows_lost_answer(tpm, wire);
    EQUAL(support_transport_overlaps(wire), 0);
    support_transport_free(wire);
    support_swtpm_stop(tpm);
}

static void *ask_in_thread(void *context)
{
    outcome o = ask(context);
    EQUAL(o.rc, 0);
    return NULL;
}

static void shows_hold(void)
{
    support_swtpm *tpm = start();
    support_transport *wire = support_transport_new(tpm);
    pthread_t threads[2];
    support_hold(wire, support_times(SUPPORT_ANY, 1, 2));
    for (size_t i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, ask_in_thread, wire);
    HOLDS(support_wait_held(wire, 2));
    EQUAL(support_transport_overlaps(wire), 1);
    EQUAL(ask(wire).rc, 0);
    EQUAL(support_transport_overlaps(wire), 2);
    support_release(wire);
    for (size_t i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    EQUAL(support_transport_count(wire, SUPPORT_ANY), 3);
    support_transport_free(wire);
    support_swtpm_stop(tpm);
}

static void shows_canned(void)
{
    support_canned *canned = support_canned_new();
    tenon_tpm_transport table = support_canned_table(canned);
    static const uint8_t answer[] = {0x80, 1, 0, 0, 0, 10, 0, 0, 9, 0x22};
    uint8_t found[16];
    size_t n = 0;
    EQUAL(table.exchange(table.context, found, sizeof found, &n, get_random, sizeof get_random),
          TENON_ERROR_TPM_TRANSPORT);
    support_canned_answer(canned, SUPPORT_CC_GET_RANDOM, answer, 3);
    support_canned_answer(canned, SUPPORT_CC_GET_RANDOM, answer, sizeof answer);
    EQUAL(table.exchange(table.context, found, sizeof found, &n, get_random, sizeof get_random), TENON_OK);
    EQUAL(n, sizeof answer);
    HOLDS(memcmp(found, answer, n) == 0);
    EQUAL(support_canned_count(canned), 2);
    support_canned_free(canned);
}

void shows_transport(void)
{
    shows_kill();
    shows_reopen();
    shows_faults();
    shows_hold();
    shows_canned();
}
