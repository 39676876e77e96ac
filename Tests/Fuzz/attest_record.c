/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE 1 /* syscall */
#include "attest_work.h"
#include "swtpm.h"
#include "tpm_wire.h"

/* attest_record STATE FOLDER: records the seeds of attest_fuzz from a software TPM with EK certificates. */

typedef struct {
    support_swtpm *tpm;
    FILE *out;
    tenon_status worst;
} recording;

static tenon_status record(void *context, uint8_t *answer, size_t size, size_t *length, const uint8_t *command,
                           size_t n)
{
    recording *to = context;
    tenon_status status = support_swtpm_exchange(to->tpm, answer, size, length, command, n);
    MUST(status == TENON_OK && *length >= HEADER);
    bool good = fetch32(answer + 6) == 0;
    size_t begin = good ? HEADER : 6, said = *length - begin;
    const uint8_t head[] = {good ? BODY : REFUSED, (uint8_t)(said >> 8), (uint8_t)said};
    MUST(fwrite(head, sizeof head, 1, to->out) == 1 && (said == 0 || fwrite(answer + begin, said, 1, to->out) == 1));
    return TENON_OK;
}

static void judge(void *context, tenon_status status)
{
    recording *of = context;
    if (status != TENON_OK)
        of->worst = status;
}

static void make_seed(const char *state, const char *folder, const char *name, uint8_t session, attest_plan plan)
{
    char path[512];
    recording to = {.tpm = support_swtpm_start(state)};
    tenon_tpm_transport transport = {.size = sizeof transport, .context = &to, .exchange = record, .managed = 1};
    tenon_tpm_options options = {.size = sizeof options, .session = session, .deadline_ms = 2000};
    const uint8_t head[] = {session, plan.what, plan.kind, 0, 0};
    tenon_tpm *tpm;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    to.out = fopen(path, "wb");
    MUST(to.tpm != NULL && to.out != NULL && fwrite(head, sizeof head, 1, to.out) == 1);
    MUST(tenon_tpm_open_transport(&tpm, &transport, &options) == TENON_OK);
    random_state = RANDOM_SEED;
    fuzzing = true;
    attest_work(tpm, &plan, judge, &to);
    tenon_tpm_free(&tpm);
    fuzzing = false;
    MUST(fclose(to.out) == 0);
    support_swtpm_stop(to.tpm);
    printf("%s: %s\n", name, tenon_status_name(to.worst));
    MUST(to.worst == TENON_OK);
}

int main(int count, char **arguments)
{
    MUST(count == 3);
    const uint8_t all = CERTIFICATE | CREATION | ATTEST | ACTIVATE;
    const struct {
        const char *name;
        uint8_t session, what, kind;
    } seeds[] = {
        {"rsa", TENON_TPM_SESSION_PASSWORD, all, 0},
        {"rsa-reloaded", TENON_TPM_SESSION_PASSWORD, all | RELOAD, 0},
        {"rsa-salted", TENON_TPM_SESSION_SALTED, CERTIFICATE | ATTEST | SECRET, 0},
        {"p384", TENON_TPM_SESSION_PASSWORD, all, 2},
        {"p384-encrypted", TENON_TPM_SESSION_ENCRYPTED, CERTIFICATE | ATTEST | ACTIVATE, 2},
        {"auth", TENON_TPM_SESSION_SALTED, CREATION | ATTEST | AUTH, 0},
        {"secret", TENON_TPM_SESSION_PASSWORD, CERTIFICATE | SECRET, 2},
    };
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++)
        make_seed(arguments[1], arguments[2], seeds[i].name, seeds[i].session,
                  (attest_plan){.what = seeds[i].what, .kind = seeds[i].kind});
    return 0;
}
