/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1 /* O_TMPFILE */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/types.h>
#include <termios.h>
#include <unistd.h>

#include "test_clock.h"
#include "tpm_rig.h"
#include "wire.h"

/*
 * One process at a time has the node of a bare TPM: another one that opens it waits, with growing waits, until the
 * deadline.
 */

/* By -Wl,--wrap: a node whose open fails so often, then opens another device; and what sysfs says of it. */
int __wrap_open(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...) __attribute__((alias("__wrap_open"))); /* with 32 bits */
ssize_t __real_readlink(const char *path, char *out, size_t n);
ssize_t __wrap_readlink(const char *path, char *out, size_t n);

static const char node_name[] = "device:/dev/tenon-node";
static _Thread_local const char *node = "/dev/tenon-node";
static _Thread_local const char *opened = "/dev/null";
static _Thread_local const char *class; /* NULL: there is no sysfs */
static _Thread_local struct {
    unsigned refusals, tries;
    int error, odd_error; /* of the tries with an even number, and with an odd one */
} held;

enum { ALWAYS = 1000000000 };

int __wrap_open(const char *path, int flags, ...)
{
    mode_t mode = 0;
    if ((flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE) {
        va_list more;
        va_start(more, flags);
        mode = va_arg(more, mode_t);
        va_end(more);
    }
    if (strcmp(path, node) != 0)
        return openat(AT_FDCWD, path, flags, mode);
    if (held.tries++ >= held.refusals)
        return openat(AT_FDCWD, opened, flags, mode);
    errno = held.tries % 2 == 0 ? held.error : held.odd_error;
    return -1;
}

ssize_t __wrap_readlink(const char *path, char *out, size_t n)
{
    if (strncmp(path, "/sys/dev/char/", strlen("/sys/dev/char/")) != 0)
        return __real_readlink(path, out, n);
    if (class == NULL) {
        errno = ENOENT;
        return -1;
    }
    size_t length = strlen(class) < n ? strlen(class) : n;
    memcpy(out, class, length);
    return (ssize_t)length;
}

static void hold(unsigned refusals, int error, int odd_error)
{
    held.refusals = refusals;
    held.tries = 0;
    held.error = error;
    held.odd_error = odd_error;
    test_clock_start();
}

static tenon_status open_node(uint32_t deadline_ms)
{
    const tenon_tpm_options options = {.size = sizeof options, .deadline_ms = deadline_ms};
    tenon_tpm *tpm;
    tenon_status status = tenon_tpm_open(&tpm, node_name, sizeof node_name - 1, &options);
    CHECK((tpm != NULL) == (status == TENON_OK));
    tenon_tpm_free(&tpm);
    return status;
}

TEST(tpm_node_is_waited_for)
{
    for (unsigned refusals = 0; refusals <= 8; refusals++) {
        test_about("held for %u tries", refusals);
        hold(refusals, EBUSY, EBUSY);
        CHECK_OK(open_node(0));
        test_clock clock = test_clock_stop();
        CHECK_NUMBER(held.tries, refusals + 1);
        CHECK_NUMBER(clock.sleeps, refusals);
        /* 1 + 2 + 4 + ... ms at most: each wait is a part of twice the one before. */
        CHECK(clock.moved_ms >= refusals && clock.moved_ms <= (1u << refusals) - 1);
    }
}

TEST(tpm_node_is_waited_for_until_the_deadline)
{
    static const uint32_t deadlines[] = {0, 1, 7, 50, 2000, 20000};
    for (size_t i = 0; i < COUNT(deadlines); i++) {
        test_about("%u ms", (unsigned)deadlines[i]);
        hold(ALWAYS, EBUSY, EBUSY);
        CHECK_STATUS(open_node(deadlines[i]), TENON_ERROR_TPM_BUSY);
        test_clock clock = test_clock_stop();
        CHECK_NUMBER(clock.moved_ms, deadlines[i] != 0 ? deadlines[i] : 2000);
        CHECK_NUMBER(held.tries, clock.sleeps + 1);
        CHECK(clock.longest_ms <= 200);
        /* Without growth it would be one every millisecond. */
        CHECK(clock.sleeps <= 12 + clock.moved_ms / 20);
    }
    CHECK(strstr(tenon_status_text(TENON_ERROR_TPM_BUSY), "until the deadline") != NULL);
}

/* Opening only the transport, which has no options, waits like the default. */
TEST(tpm_node_of_a_way_is_waited_for)
{
    tenon_tpm_transport way;
    hold(ALWAYS, EBUSY, EBUSY);
    CHECK_STATUS(tenon_tpm_transport_open(&way, node_name, sizeof node_name - 1, 0), TENON_ERROR_TPM_BUSY);
    CHECK_NUMBER(test_clock_stop().moved_ms, 2000);
    CHECK_ZERO(&way, sizeof way);
    hold(3, EBUSY, EBUSY);
    CHECK_OK(tenon_tpm_transport_open(&way, node_name, sizeof node_name - 1, 0));
    CHECK_NUMBER(test_clock_stop().sleeps, 3);
    way.close(way.context);
}

/* A signal during an open says nothing about the node: it is opened again at once. */
TEST(tpm_node_whose_open_is_interrupted)
{
    hold(5, EINTR, EINTR);
    CHECK_OK(open_node(0));
    CHECK_NUMBER(test_clock_stop().sleeps, 0);
    CHECK_NUMBER(held.tries, 6);
    hold(6, EBUSY, EINTR);
    CHECK_OK(open_node(0));
    CHECK_NUMBER(test_clock_stop().sleeps, 3);
    CHECK_NUMBER(held.tries, 7);
    hold(ALWAYS, EBUSY, EINTR);
    CHECK_STATUS(open_node(30), TENON_ERROR_TPM_BUSY);
    CHECK_NUMBER(test_clock_stop().moved_ms, 30);
}

/* Errors that waiting cannot cure are reported at once. */
TEST(tpm_node_that_is_not_held)
{
    static const struct {
        int error;
        tenon_status status;
    } others[] = {{ENOENT, TENON_ERROR_TPM_MISSING},   {ENXIO, TENON_ERROR_TPM_MISSING},
                  {ENODEV, TENON_ERROR_TPM_MISSING},   {EACCES, TENON_ERROR_TPM_PERMISSION},
                  {EPERM, TENON_ERROR_TPM_PERMISSION}, {ENOMEM, TENON_ERROR_MEMORY},
                  {EMFILE, TENON_ERROR_MEMORY},        {ENFILE, TENON_ERROR_MEMORY}};
    for (size_t i = 0; i < COUNT(others); i++) {
        test_about("%s", strerror(others[i].error));
        hold(ALWAYS, others[i].error, others[i].error);
        CHECK_STATUS(open_node(0), others[i].status);
        CHECK_NUMBER(test_clock_stop().sleeps, 0);
        CHECK_NUMBER(held.tries, 1);
    }
}

/* A node that failed is closed and opened again: another process may have been faster. */
TEST(tpm_node_that_another_took_meanwhile)
{
    tenon_tpm *tpm;
    tenon_tpm_info info;
    hold(0, EBUSY, EBUSY);
    CHECK_OK(tenon_tpm_open(&tpm, node_name, sizeof node_name - 1, NULL));
    hold(4, EBUSY, EBUSY);
    CHECK_STATUS(tenon_tpm_read_info(tpm, &info), TENON_ERROR_TPM_TRANSPORT);
    CHECK_NUMBER(test_clock_stop().sleeps, 4);
    CHECK_NUMBER(held.tries, 5);
    hold(ALWAYS, EBUSY, EBUSY);
    CHECK_STATUS(tenon_tpm_read_info(tpm, &info), TENON_ERROR_TPM_BUSY);
    CHECK_NUMBER(test_clock_stop().moved_ms, 2000);
    hold(0, EBUSY, EBUSY);
    CHECK_STATUS(tenon_tpm_read_info(tpm, &info), TENON_ERROR_TPM_TRANSPORT);
    CHECK_NUMBER(held.tries, 1);
    (void)test_clock_stop();
    tenon_tpm_free(&tpm);
}

/* The same over a transport of the caller's; and the key signs when the way is free. */
TEST_KEY(tpm_node_behind_a_transport)
{
    support_fail_before(rig->wire, support_next(SUPPORT_CC_SIGN), TENON_ERROR_TPM_TRANSPORT);
    support_transport_fail_reopen(rig->wire, 6, TENON_ERROR_TPM_BUSY);
    test_clock_start();
    CHECK_OK(tpm_rig_sign(key));
    CHECK_NUMBER(test_clock_stop().sleeps, 6);
    support_fail_before(rig->wire, support_next(SUPPORT_CC_SIGN), TENON_ERROR_TPM_TRANSPORT);
    support_transport_fail_reopen(rig->wire, ALWAYS, TENON_ERROR_TPM_BUSY);
    test_clock_start();
    CHECK_STATUS(tpm_rig_sign(key), TENON_ERROR_TPM_BUSY);
    CHECK_NUMBER(test_clock_stop().moved_ms, 2000);
    support_transport_fail_reopen(rig->wire, 0, TENON_OK);
    CHECK_OK(tpm_rig_sign(key));
}

/* The class of the node tells whether it is the kernel's resource manager; without a class, its usual name does. */
TEST(tpm_node_is_managed)
{
    static const struct {
        const char *node, *class;
        uint32_t managed;
    } rows[] = {{"/dev/tpmrm0", "../../../../class/tpmrm", 1},
                {"/dev/tpm0", "../../../../class/tpm", 0},
                {"/dev/mine", "../../../../class/tpmrm", 1},
                {"/dev/tpmrm0", "../../../../class/tpm", 0},
                {"/dev/tpmrm0", NULL, 1},
                {"/dev/tpmrm12", NULL, 1},
                {"/dev/tpm0", NULL, 0},
                {"/dev/tpmr", NULL, 0},
                {"/dev/tpmrm/0", NULL, 0},
                {"/dev/null", "../../../../class/mem", 0}};
    const char *usual = node;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char name[64];
        tenon_tpm_transport way;
        test_about("%s, %s", rows[i].node, rows[i].class == NULL ? "no sysfs" : rows[i].class);
        snprintf(name, sizeof name, "device:%s", rows[i].node);
        node = rows[i].node;
        class = rows[i].class;
        hold(0, EBUSY, EBUSY);
        if (CHECK_OK(tenon_tpm_transport_open(&way, name, strlen(name), 0))) {
            CHECK_NUMBER(way.managed, rows[i].managed);
            way.close(way.context);
        }
        (void)test_clock_stop();
    }
    node = usual;
    class = NULL;
}

/* A driver at the other end of a terminal: it reads a whole command, and writes the answer in one piece. */
typedef struct {
    int side;
    size_t length; /* of the answer */
} driver;

static void *drive(void *context)
{
    static const uint8_t failure[10] = {0x80, 0x01, 0, 0, 0, 10, 0, 0, 0x01, 0x01};
    const driver *of = context;
    uint8_t command[256];
    ssize_t n = read(of->side, command, sizeof command);
    CHECK(n >= (ssize_t)sizeof failure && support_fetch32(command + 2) == (uint32_t)n);
    CHECK_NUMBER(write(of->side, failure, of->length), of->length);
    return NULL;
}

static int open_terminal(char *name, size_t size)
{
    struct termios raw;
    int side = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    CHECK(side >= 0 && grantpt(side) == 0 && unlockpt(side) == 0 && ptsname_r(side, name, size) == 0);
    CHECK_NUMBER(tcgetattr(side, &raw), 0);
    cfmakeraw(&raw);
    CHECK_NUMBER(tcsetattr(side, TCSANOW, &raw), 0);
    return side;
}

TEST(tpm_node_takes_commands)
{
    static const struct {
        size_t length;
        tenon_status status;
    } rows[] = {{10, (tenon_status)0x05800101}, {9, TENON_ERROR_TPM_ANSWER}, {10, (tenon_status)0x05800101}};
    char name[128];
    tenon_tpm *tpm;
    tenon_tpm_info info;
    driver of = {.side = open_terminal(name, sizeof name)};
    opened = name;
    hold(0, EBUSY, EBUSY);
    CHECK_OK(tenon_tpm_open(&tpm, node_name, sizeof node_name - 1, NULL));
    for (size_t i = 0; i < COUNT(rows); i++) {
        pthread_t thread;
        of.length = rows[i].length;
        CHECK_NUMBER(pthread_create(&thread, NULL, drive, &of), 0);
        CHECK_STATUS(tenon_tpm_read_info(tpm, &info), rows[i].status);
        CHECK_NUMBER(pthread_join(thread, NULL), 0);
    }
    CHECK_NUMBER(held.tries, 1);
    (void)test_clock_stop();
    tenon_tpm_free(&tpm);
    opened = "/dev/null";
    close(of.side);
}
