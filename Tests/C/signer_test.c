/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1 /* fork */
#include "batch/signer.h"

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "batch_rig.h"
#include "test_clock.h"
#include "tpm_rig.h"

/* A signer over a key that answers when the test lets it. */
typedef struct {
    batch_rig rig;
    tenon_key *key;
    tenon_signer *signer;
} signer_rig;

static void begin_with(signer_rig *of, tenon_key *key, uint32_t flags, uint32_t max, uint32_t deadline_ms)
{
    const tenon_signer_options options = {
        .size = sizeof options, .flags = flags, .max = max, .deadline_ms = deadline_ms};
    of->signer = NULL;
    of->key = NULL;
    of->rig = key == NULL ? batch_rig_begin() : batch_rig_begin_with(key);
    CHECK_OK(batch_rig_slow_key(&of->rig, &of->key));
    CHECK_OK(tenon_signer_new(&of->signer, of->key, &options));
}

static void begin(signer_rig *of, uint32_t flags, uint32_t max, uint32_t deadline_ms)
{
    begin_with(of, NULL, flags, max, deadline_ms);
}

static void end(signer_rig *of)
{
    tenon_signer_free(&of->signer);
    CHECK(of->signer == NULL);
    tenon_key_free(&of->key);
    batch_rig_end(&of->rig);
}

#define OWNED_SIGNER __attribute__((cleanup(end))) signer_rig

/* One request, on a thread of its own, and what came of it. */
typedef struct {
    signer_rig *of;
    uint32_t form;
    tenon_status status;
    tenon_status read;
    tenon_signed2 signed2;
    tenon_root root;
    size_t input_n, signature_n;
} asker;

static void ask(void *context)
{
    asker *self = context;
    char input[TENON_SIGNATURE_INPUT_MAX], signature[TENON_SIGNATURE_VALUE_MAX];
    tenon_digest digest;
    tenon_request2 request = batch_rig_request(&self->of->rig, self->form);
    request.nonce = request.keyid = (tenon_text){NULL, 0};
    self->status = tenon_signer_sign(self->of->signer, input, sizeof input, &self->input_n, signature, sizeof signature,
                                     &self->signature_n, &request);
    self->read = tenon_signed2_read(&self->signed2, input, self->input_n, signature, self->signature_n);
    if (self->read != TENON_OK)
        return;
    request.form = self->signed2.form;
    request.nonce = (tenon_text){self->signed2.nonce, sizeof self->signed2.nonce};
    request.keyid = (tenon_text){self->signed2.keyid, sizeof self->signed2.keyid};
    self->read = tenon_request2_digest(&digest, &request);
    if (self->read == TENON_OK)
        self->read = tenon_signed2_root(&self->signed2, &self->root, &digest);
}

static void check_signed(const asker *one)
{
    CHECK_OK(one->status);
    CHECK_OK(one->read);
    CHECK_OK(tenon_root_verify(one->of->rig.verifier, &one->root));
}

static void check_refused(const asker *one, tenon_status status)
{
    CHECK_STATUS(one->status, status);
    CHECK_NUMBER(one->input_n, 0);
    CHECK_NUMBER(one->signature_n, 0);
}

TEST(signer_alone_is_plain)
{
    OWNED_SIGNER of;
    begin(&of, TENON_SIGNER_CHECKS, 16, 2000);
    for (size_t i = 0; i < 3; i++) {
        asker one = {.of = &of};
        ask(&one);
        check_signed(&one);
        CHECK_NUMBER(one.signed2.form, TENON_FORM_PLAIN);
        CHECK_NUMBER(atomic_load(&of.rig.slow.commands), i + 1);
    }
    asker one = {.of = &of, .form = TENON_FORM_BATCH};
    ask(&one);
    check_signed(&one);
    CHECK_NUMBER(one.signed2.size, 1);
}

/* ---- Many at once ---- */

enum { MANY = 64 };

/*
 * The first takes the key and is held there. The others come then. When each of them stands in the line or has its
 * answer, the last thread lets go of the key.
 */
typedef struct {
    signer_rig of;
    asker askers[MANY];
    size_t count;
    atomic_size_t answered;
    bool leave; /* the others are to have their answers first */
} crowd;

typedef struct {
    crowd *in;
    size_t number;
} place;

static void stand(const place *self)
{
    crowd *in = self->in;
    while (self->number != 0 && atomic_load(&in->of.rig.slow.inside) == 0)
        sched_yield();
    test_clock_end_of_second(true);
    ask(&in->askers[self->number]);
    atomic_fetch_add(&in->answered, 1);
}

static void let_go(crowd *in)
{
    while (atomic_load(&in->of.rig.slow.inside) == 0 ||
           (in->leave ? 0 : tenoni_signer_waiting(in->of.signer)) + atomic_load(&in->answered) + 1 < in->count)
        sched_yield();
    atomic_store(&in->of.rig.slow.is_held, false);
}

static void run_place(void *context)
{
    const place *self = context;
    if (self->number < self->in->count)
        stand(self);
    else
        let_go(self->in);
}

static void run_crowd(crowd *in, size_t count)
{
    place places[MANY + 1];
    in->count = count;
    atomic_store(&in->answered, 0);
    atomic_store(&in->of.rig.slow.is_held, true);
    for (size_t i = 0; i <= count; i++)
        places[i] = (place){in, i};
    for (size_t i = 0; i < count; i++)
        in->askers[i].of = &in->of;
    test_threads(count + 1, run_place, places, sizeof *places);
}

static void disperse(crowd *in) { end(&in->of); }
#define OWNED_CROWD __attribute__((cleanup(disperse))) crowd

/* Requests that come at one moment: one command for the first, one for all the others. */
TEST(signer_shares_a_command)
{
    OWNED_CROWD in = {.count = 0};
    bool seen[MANY] = {false};
    begin(&in.of, 0, MANY, 60001); /* the deadline is in the next second */
    run_crowd(&in, MANY);
    CHECK_NUMBER(atomic_load(&in.of.rig.slow.commands), 2);
    check_signed(&in.askers[0]);
    CHECK_NUMBER(in.askers[0].signed2.form, TENON_FORM_PLAIN);
    for (size_t i = 1; i < MANY; i++) {
        const asker *one = &in.askers[i];
        check_signed(one);
        CHECK_NUMBER(one->signed2.size, MANY - 1);
        CHECK(!seen[one->signed2.index]);
        seen[one->signed2.index] = true;
        CHECK_BYTES(&one->root, &in.askers[1].root, sizeof one->root);
    }
}

/* A batch takes max of those that wait; the next one takes the rest. Who wants no batch has a command of its own. */
TEST(signer_takes_so_many)
{
    OWNED_CROWD in = {.count = 0};
    size_t sizes[MANY] = {0};
    begin(&in.of, 0, 5, 60000);
    in.askers[4].form = in.askers[9].form = TENON_FORM_PLAIN;
    run_crowd(&in, 20);
    for (size_t i = 0; i < 20; i++) {
        check_signed(&in.askers[i]);
        sizes[in.askers[i].signed2.size]++;
    }
    CHECK_NUMBER(sizes[0], 3);
    CHECK_NUMBER(sizes[5], 15);
    CHECK_NUMBER(sizes[2], 2);
    CHECK_NUMBER(atomic_load(&in.of.rig.slow.commands), 3 + 3 + 1);
}

/* What the key says is said to each member, and nothing is left of it; the next command is another matter. */
TEST(signer_tells_all_of_a_failure)
{
    static const struct {
        tenon_status status;
        int commands; /* a key that is gone, or must not sign now, is asked once; the rest of the line is told */
    } failures[] = {{TENON_ERROR_TPM_TRANSPORT, 4},
                    {TENON_ERROR_TPM_BUSY, 4},
                    {TENON_ERROR_TPM_MISSING, 4},
                    {TENON_ERROR_KEY_GONE, 1},
                    {TENON_CATEGORY_STATE << 24 | 1, 1}};
    for (size_t i = 0; i < COUNT(failures); i++) {
        OWNED_CROWD in = {.count = 0};
        begin(&in.of, 0, 8, 60000);
        atomic_store(&in.of.rig.slow.status, failures[i].status);
        run_crowd(&in, 20);
        for (size_t n = 0; n < in.count; n++)
            check_refused(&in.askers[n], failures[i].status);
        CHECK_NUMBER(atomic_load(&in.of.rig.slow.commands), failures[i].commands);
        atomic_store(&in.of.rig.slow.status, TENON_OK);
        asker after = {.of = &in.of};
        ask(&after);
        check_signed(&after);
    }
}

TEST(signer_checks_before_it_gives)
{
    OWNED_CROWD in = {.count = 0};
    begin(&in.of, TENON_SIGNER_CHECKS, 64, 60000);
    atomic_store(&in.of.rig.slow.breaks, true);
    run_crowd(&in, 10);
    for (size_t n = 0; n < in.count; n++)
        check_refused(&in.askers[n], TENON_ERROR_SIGNATURE_INVALID);
}

/* The line has room for four batches; one more is told so at once, and the others are signed. */
TEST(signer_line_is_full)
{
    OWNED_CROWD in = {.count = 0};
    size_t full = 0;
    begin(&in.of, 0, 1, 60000);
    run_crowd(&in, 7);
    for (size_t i = 0; i < in.count; i++) {
        if (in.askers[i].status == TENON_ERROR_BATCH_FULL)
            full++;
        else
            check_signed(&in.askers[i]);
    }
    CHECK_NUMBER(full, 2);
}

/* Those that wait longer than their deadline leave the line, and no command is sent for them. */
TEST(signer_deadline_passes)
{
    OWNED_CROWD in = {.count = 0};
    begin(&in.of, 0, 64, 1);
    in.leave = true;
    run_crowd(&in, 10);
    check_signed(&in.askers[0]);
    for (size_t i = 1; i < in.count; i++)
        check_refused(&in.askers[i], TENON_ERROR_DEADLINE);
    CHECK_NUMBER(atomic_load(&in.of.rig.slow.commands), 1);
}

/* ---- A key in a software TPM ---- */

/* Requests that come at one moment are two TPM2_Sign, and one request is one. */
TEST(signer_in_a_tpm)
{
    OWNED_RIG tpm = tpm_rig_start(NULL);
    OWNED_TPM_KEY key = tpm_rig_key(&tpm, NULL);
    OWNED_CROWD in = {.count = 0};
    begin_with(&in.of, tpm_rig_view(key, 0), TENON_SIGNER_CHECKS, TENON_BATCH_MAX, 60000);
    support_transport_latency(tpm.wire, 35000);
    support_transport_reset_counts(tpm.wire);
    run_crowd(&in, MANY);
    CHECK_NUMBER(support_transport_count(tpm.wire, SUPPORT_CC_SIGN), 2);
    for (size_t i = 0; i < in.count; i++)
        check_signed(&in.askers[i]);
    support_transport_reset_counts(tpm.wire);
    asker one = {.of = &in.of};
    ask(&one);
    check_signed(&one);
    CHECK_NUMBER(support_transport_count(tpm.wire, SUPPORT_ANY), 1);
}

/* A TPM that is busy is asked again below the batch; one that fails has failed for each member; it comes back. */
TEST(signer_in_a_tpm_with_faults)
{
    OWNED_RIG tpm = tpm_rig_start(NULL);
    OWNED_TPM_KEY key = tpm_rig_key(&tpm, NULL);
    OWNED_CROWD in = {.count = 0};
    begin_with(&in.of, tpm_rig_view(key, 0), 0, TENON_BATCH_MAX, 60000);
    support_fail_code(tpm.wire, support_times(SUPPORT_CC_SIGN, 2, 3), 0x922);
    run_crowd(&in, 20);
    for (size_t i = 0; i < in.count; i++)
        check_signed(&in.askers[i]);
    CHECK_NUMBER(support_transport_pending(tpm.wire), 0);
    support_fail_code(tpm.wire, support_times(SUPPORT_CC_SIGN, 2, 1), 0x101);
    run_crowd(&in, 20);
    check_signed(&in.askers[0]);
    for (size_t i = 1; i < in.count; i++) {
        CHECK(in.askers[i].status != TENON_OK);
        check_refused(&in.askers[i], in.askers[1].status);
    }
    support_fail_after(tpm.wire, support_times(SUPPORT_CC_SIGN, 2, 1), TENON_ERROR_TPM_TRANSPORT);
    run_crowd(&in, 20);
    for (size_t i = 0; i < in.count; i++)
        check_signed(&in.askers[i]);
    CHECK_NUMBER(support_transport_pending(tpm.wire), 0);
}

/* ---- What is refused ---- */

/* A text that may not be signed costs nobody else anything. */
TEST(signer_refuses_a_bad_request)
{
    char input[TENON_SIGNATURE_INPUT_MAX], signature[TENON_SIGNATURE_VALUE_MAX];
    size_t input_n, signature_n;
    OWNED_SIGNER of;
    begin(&of, 0, 4, 2000);
    for (uint32_t form = 0; form <= TENON_FORM_BATCH; form++) {
        tenon_request2 request = batch_rig_request(&of.rig, form);
        request.path = TEXT("/a/../b");
        CHECK_STATUS(tenon_signer_sign(of.signer, input, sizeof input, &input_n, signature, sizeof signature,
                                       &signature_n, &request),
                     TENON_ERROR_PATH);
        CHECK_NUMBER(input_n + signature_n, 0);
    }
    CHECK_NUMBER(atomic_load(&of.rig.slow.commands), 0);
    asker after = (asker){.of = &of};
    ask(&after);
    check_signed(&after);
}

TEST(signer_in_a_child)
{
    OWNED_SIGNER of;
    int state = -1;
    begin(&of, 0, 4, 2000);
    pid_t child = fork();
    if (child == 0) {
        asker one = {.of = &of};
        ask(&one);
        tenon_signer_free(&of.signer);
        tpm_rig_end_child(one.status != TENON_ERROR_FORKED || of.signer != NULL);
    }
    CHECK(waitpid(child, &state, 0) == child);
    CHECK(WIFEXITED(state) && WEXITSTATUS(state) == 0);
    asker after = {.of = &of};
    ask(&after);
    check_signed(&after);
}

TEST_BATCH(signer_options)
{
    enum { SIZE = sizeof(tenon_signer_options) };
    static const struct {
        tenon_signer_options options;
        tenon_status status;
    } rows[] = {
        {{.size = SIZE, .max = 1, .deadline_ms = 1}, TENON_OK},
        {{.size = SIZE, .max = TENON_BATCH_MAX, .deadline_ms = UINT32_MAX}, TENON_OK},
        {{.size = SIZE, .max = 0, .deadline_ms = 1}, TENON_ERROR_OPTIONS},
        {{.size = SIZE, .max = TENON_BATCH_MAX + 1, .deadline_ms = 1}, TENON_ERROR_OPTIONS},
        {{.size = SIZE, .max = 1, .deadline_ms = 0}, TENON_ERROR_OPTIONS},
        {{.size = SIZE, .max = 1, .deadline_ms = 1, .flags = 2}, TENON_ERROR_FLAGS},
        {{.size = SIZE - 1, .max = 1, .deadline_ms = 1}, TENON_ERROR_OPTIONS},
    };
    tenon_signer *signer = NULL;
    CHECK_OK(tenon_signer_new(&signer, rig->key, NULL));
    tenon_signer_free(&signer);
    for (size_t i = 0; i < COUNT(rows); i++) {
        CHECK_STATUS(tenon_signer_new(&signer, rig->key, &rows[i].options), rows[i].status);
        CHECK((signer != NULL) == (rows[i].status == TENON_OK));
        tenon_signer_free(&signer);
    }
}

TEST(signer_bad_arguments)
{
    char input[TENON_SIGNATURE_INPUT_MAX], signature[TENON_SIGNATURE_VALUE_MAX];
    size_t input_n, signature_n;
    OWNED_SIGNER of;
    begin(&of, 0, 4, 2000);
    const tenon_request2 request = batch_rig_request(&of.rig, 0);
    tenon_signer *signer = NULL;
    CHECK_STATUS(tenon_signer_new(NULL, of.key, NULL), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_signer_new(&signer, NULL, NULL), TENON_ERROR_NULL);
    CHECK_STATUS(
        tenon_signer_sign(NULL, input, sizeof input, &input_n, signature, sizeof signature, &signature_n, &request),
        TENON_ERROR_NULL);
    CHECK_STATUS(
        tenon_signer_sign(of.signer, input, sizeof input, &input_n, signature, sizeof signature, &signature_n, NULL),
        TENON_ERROR_NULL);
    CHECK_STATUS(tenon_signer_sign(of.signer, input, sizeof input - 1, &input_n, signature, sizeof signature,
                                   &signature_n, &request),
                 TENON_ERROR_BUFFER_TOO_SMALL);
    CHECK_NUMBER(input_n, TENON_SIGNATURE_INPUT_MAX);
    CHECK_STATUS(tenon_signer_sign(of.signer, input, sizeof input, &input_n, signature, 0, &signature_n, &request),
                 TENON_ERROR_BUFFER_TOO_SMALL);
    CHECK_NUMBER(signature_n, TENON_SIGNATURE_VALUE_MAX);
    CHECK_NUMBER(atomic_load(&of.rig.slow.commands), 0);
    tenon_signer_free(&signer);
    tenon_signer_free(NULL);
}
