/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
/*
 * Shows that the tools of the TPM tests work in cases that no other test would notice: a fault that does not happen
 * would let every test that plans it pass, and no test sees the remains of a killed one.
 */
#include <dirent.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "folder.h"
#include "selftest.h"
#include "wire.h"

static atomic_uint passed, failed;

void check(const char *file, int line, const char *what, uint64_t found, uint64_t expected)
{
    if (found == expected) {
        passed++;
        return;
    }
    failed++;
    printf("%s:%d: %s is %#llx, not %#llx\n", file, line, what, (unsigned long long)found,
           (unsigned long long)expected);
}

support_swtpm *start(void)
{
    support_swtpm *tpm = support_swtpm_start(NULL);
    if (tpm == NULL) {
        printf("no software TPM\n");
        exit(1);
    }
    return tpm;
}

const uint8_t get_random[GET_RANDOM_SIZE] = {0x80, 1, 0, 0, 0, 12, 0, 0, 1, 0x7B, 0, 16};

outcome pass_command(support_transport *wire, const uint8_t *command, size_t n)
{
    tenon_tpm_transport table = support_transport_table(wire);
    outcome o;
    memset(&o, 0, sizeof o);
    o.status = table.exchange(table.context, o.answer, sizeof o.answer, &o.n, command, n);
    o.size = support_fetch32(o.answer + 2);
    o.rc = o.n < 10 ? SUPPORT_RC_NONE : support_fetch32(o.answer + 6);
    return o;
}

outcome ask(support_transport *wire) { return pass_command(wire, get_random, sizeof get_random); }

tenon_status reopen(support_transport *wire)
{
    tenon_tpm_transport table = support_transport_table(wire);
    return table.reopen(table.context);
}

/* Counts and removes the state folders that are left below $TMPDIR. */
static unsigned remove_folders(void)
{
    const char *base = getenv("TMPDIR");
    DIR *files = opendir(base);
    const struct dirent *file;
    unsigned found = 0;
    while (files != NULL && (file = readdir(files)) != NULL) {
        char *path = NULL;
        if (strncmp(file->d_name, "tenon-swtpm.", 12) != 0 || asprintf(&path, "%s/%s", base, file->d_name) < 0)
            continue;
        found++;
        support_folder_remove(path);
    }
    if (files != NULL)
        closedir(files);
    return found;
}

/* Kills a test: its TPM becomes our child and ends by itself. */
static void shows_no_orphan(void)
{
    int status;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    alarm(60);
    pid_t test = fork();
    if (test == 0) {
        support_swtpm *tpm = support_swtpm_start(NULL);
        kill(getpid(), tpm == NULL ? SIGTERM : SIGKILL);
    }
    EQUAL(waitpid(test, &status, 0), test);
    EQUAL(WTERMSIG(status), SIGKILL);
    HOLDS(waitpid(-1, &status, 0) > 0);
    HOLDS(WIFEXITED(status));
    alarm(0);
    EQUAL(remove_folders(), 1);
}

int main(void)
{
    char *own = support_folder_make();
    if (own == NULL || setenv("TMPDIR", own, 1) != 0)
        return 1;
    shows_transport();
    EQUAL(remove_folders(), 0);
    shows_no_orphan();
    EQUAL(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
    support_folder_remove(own);
    printf("%u passed, %u failed\n", atomic_load(&passed), atomic_load(&failed));
    return atomic_load(&failed) != 0;
}
