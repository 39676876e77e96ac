/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE 1 /* fork, alarm */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tpm_rig.h"

/* A TPM belongs to the process that opened it. A child gets an error, sends nothing, and can free its handles. */

/* By -Wl,--wrap: a child that has its parent's number, as the first of another pid namespace, and that namespace's
 * file; and a kernel or sandbox that cannot empty a page in a child. */
pid_t __real_getpid(void);
pid_t __wrap_getpid(void);
int __wrap_stat(const char *path, struct stat *found);
int __wrap_stat64(const char *path, struct stat *found) __attribute__((alias("__wrap_stat"))); /* with 32 bits */
int __real_madvise(void *address, size_t n, int advice);
int __wrap_madvise(void *address, size_t n, int advice);

static pid_t pretended;
static bool cannot_wipe;
static dev_t other_device;
static ino_t other_number;

int __wrap_stat(const char *path, struct stat *found)
{
    int result = fstatat(AT_FDCWD, path, found, 0);
    if (result == 0 && strcmp(path, "/proc/self/ns/pid") == 0) {
        found->st_dev += other_device;
        found->st_ino += other_number;
    }
    return result;
}

pid_t __wrap_getpid(void) { return pretended != 0 ? pretended : __real_getpid(); }

int __wrap_madvise(void *address, size_t n, int advice)
{
    if (cannot_wipe) {
        errno = EINVAL;
        return -1;
    }
    return __real_madvise(address, n, advice);
}

typedef struct {
    tpm_rig rig;
    tenon_tpm_key *key;
    tenon_key *view;
    tpm_pem pem;
} family;

/* Runs in the child, and returns the number of functions with another result. alarm ends a child that hangs. */
static int wrong_in_child(family *all)
{
    tenon_tpm_key *key;
    tenon_tpm_info info;
    tenon_signature signature;
    tenon_digest digest = {{1}};
    uint32_t handles[4];
    size_t n;
    char text[TENON_TPM_KEY_MAX];
    const tpm_pem *pem = &all->pem;
    tenon_tpm *tpm = all->rig.tpm;
    int wrong = 0;
    wrong += tenon_tpm_read_info(tpm, &info) != TENON_ERROR_FORKED;
    wrong += tenon_tpm_handles(tpm, handles, 4, &n) != TENON_ERROR_FORKED;
    wrong += tenon_tpm_key_create(tpm, &key, NULL, 0) != TENON_ERROR_FORKED || key != NULL;
    wrong += tenon_tpm_key_load(tpm, &key, pem->text, pem->n, (const uint8_t *)"auth", 4) != TENON_ERROR_FORKED ||
             key != NULL;
    wrong += tenon_tpm_key_import(tpm, &key, pem->text, pem->n, NULL, 0) != TENON_ERROR_FORKED || key != NULL;
    wrong += tenon_tpm_key_export(all->key, text, sizeof text, &n) != TENON_ERROR_FORKED;
    wrong += tenon_tpm_key_check(all->key) != TENON_ERROR_FORKED;
    wrong += tenon_tpm_key_persist(all->key, NULL) != TENON_ERROR_FORKED;
    wrong += tenon_tpm_key_evict(all->key) != TENON_ERROR_FORKED;
    wrong += tenon_key_sign_digest(all->view, &signature, &digest) != TENON_ERROR_FORKED;
    return wrong;
}

static void free_all(family *all)
{
    tenon_key_free(&all->view);
    tenon_tpm_key_free(&all->key);
    tenon_tpm_free(&all->rig.tpm);
}

static void run_child(family *all)
{
    alarm(20);
    int wrong = wrong_in_child(all);
    uint32_t commands = support_transport_count(all->rig.wire, SUPPORT_ANY);
    free_all(all);
    wrong += support_transport_count(all->rig.wire, SUPPORT_ANY) != commands;
    tpm_rig_end_child(wrong);
}

static family set(void)
{
    family all = {.rig = tpm_rig_start(NULL)};
    all.key = tpm_rig_key(&all.rig, "auth");
    all.view = tpm_rig_view(all.key, TENON_KEY_SIGNS_DIGESTS);
    all.pem = tpm_rig_export(all.key);
    CHECK_OK(tpm_rig_sign(all.key));
    CHECK_OK(tpm_rig_sign(all.key)); /* flushes the transient parent */
    return all;
}

static void end(family *all)
{
    free_all(all);
    tpm_rig_stop(&all->rig);
}

#define FAMILY __attribute__((cleanup(end))) family

static void check_child(pid_t child)
{
    int status = -1;
    CHECK(child > 0);
    CHECK_NUMBER(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status));
    CHECK_NUMBER(WEXITSTATUS(status), 0);
}

/* A child is recognised by a page that is empty in it, by its number, and by the file of its pid namespace. */
static const struct {
    const char *what;
    bool cannot_wipe, same_number;
    dev_t other_device;
    ino_t other_number;
} children[] = {
    {"a child", false, false, 0, 0},
    {"one of its parent's number, as the first of another pid namespace", false, true, 0, 0},
    {"of a kernel that cannot wipe", true, false, 0, 0},
    {"by the number of its namespace alone", true, true, 0, 1},
    {"by the device of its namespace alone", true, true, 1, 0},
};

/* The parent continues with its loaded objects. */
TEST(tpm_fork_child_is_told)
{
    for (size_t i = 0; i < COUNT(children); i++) {
        test_about("%s", children[i].what);
        cannot_wipe = children[i].cannot_wipe;
        FAMILY all = set();
        cannot_wipe = false;
        pid_t parent = getpid(), child = fork();
        if (child == 0) {
            pretended = children[i].same_number ? parent : 0;
            other_device = children[i].other_device;
            other_number = children[i].other_number;
            run_child(&all);
        }
        check_child(child);
        CHECK_NUMBER(COMMANDS(all.rig, tpm_rig_sign(all.key)), 1);
    }
}

/* By the view that the child frees: a view of its own would keep the TPM open there. */
static void *sign(void *context)
{
    static const tenon_digest digest = {{2}};
    tenon_signature signature;
    CHECK_OK(tenon_key_sign_digest(context, &signature, &digest));
    return NULL;
}

/* Forks while one thread is in a command and two others wait for their turn: the child has only their traces. */
TEST(tpm_fork_while_others_wait)
{
    enum { WAITING = 3 };
    FAMILY all = set();
    pthread_t threads[WAITING];
    struct timespec pause = {0, 100000000};
    support_hold(all.rig.wire, support_next(SUPPORT_CC_SIGN));
    for (int i = 0; i < WAITING; i++)
        CHECK_NUMBER(pthread_create(&threads[i], NULL, sign, all.view), 0);
    CHECK(support_wait_held(all.rig.wire, 1));
    nanosleep(&pause, NULL); /* no check depends on it: the others have most likely asked by then */
    pid_t child = fork();
    if (child == 0)
        run_child(&all);
    check_child(child);
    support_release(all.rig.wire);
    for (int i = 0; i < WAITING; i++)
        CHECK_NUMBER(pthread_join(threads[i], NULL), 0);
}

/* The child opens the TPM again, and has its own. */
TEST(tpm_fork_child_opens_again)
{
    FAMILY all = set();
    pid_t child = fork();
    if (child == 0) {
        tpm_rig mine = tpm_rig_start(NULL);
        tpm_pem pem = tpm_rig_make(&mine);
        tenon_status status = tpm_rig_use(&mine, &pem);
        tpm_rig_stop(&mine);
        tpm_rig_end_child(status != TENON_OK);
    }
    check_child(child);
}
