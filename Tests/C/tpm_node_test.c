/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1 /* O_TMPFILE */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/types.h>

#include "test_clock.h"
#include "tpm_rig.h"

/*
 * The node of a bare TPM is one process's at a time: whoever opens it meanwhile waits, with waits that grow, until the
 * deadline.
 */

/* By -Wl,--wrap: a node whose open fails so often, and then opens a device that is none. Of this thread alone. */
int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);

static const char node[] = "/dev/tenon-node";
static const char node_name[] = "device:/dev/tenon-node";
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
        return __real_open(path, flags, mode);
    if (held.tries++ >= held.refusals)
        return __real_open("/dev/null", flags, mode);
    errno = held.tries % 2 == 0 ? held.error : held.odd_error;
    return -1;
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
        CHECK_STATUS(open_node(0), TENON_OK);
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
    for (size_t i = 0; i < sizeof deadlines / sizeof deadlines[0]; i++) {
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

/* The way alone, which has no options, waits as the default does. */
TEST(tpm_node_of_a_way_is_waited_for)
{
    tenon_tpm_transport way;
    hold(ALWAYS, EBUSY, EBUSY);
    CHECK_STATUS(tenon_tpm_transport_open(&way, node_name, sizeof node_name - 1, 0), TENON_ERROR_TPM_BUSY);
    CHECK_NUMBER(test_clock_stop().moved_ms, 2000);
    CHECK_ZERO(&way, sizeof way);
    hold(3, EBUSY, EBUSY);
    CHECK_STATUS(tenon_tpm_transport_open(&way, node_name, sizeof node_name - 1, 0), TENON_OK);
    CHECK_NUMBER(test_clock_stop().sleeps, 3);
    way.close(way.context);
}

/* A signal in the middle of an open says nothing of the node: it is opened again at once. */
TEST(tpm_node_whose_open_is_interrupted)
{
    hold(5, EINTR, EINTR);
    CHECK_STATUS(open_node(0), TENON_OK);
    CHECK_NUMBER(test_clock_stop().sleeps, 0);
    CHECK_NUMBER(held.tries, 6);
    hold(6, EBUSY, EINTR);
    CHECK_STATUS(open_node(0), TENON_OK);
    CHECK_NUMBER(test_clock_stop().sleeps, 3);
    CHECK_NUMBER(held.tries, 7);
    hold(ALWAYS, EBUSY, EINTR);
    CHECK_STATUS(open_node(30), TENON_ERROR_TPM_BUSY);
    CHECK_NUMBER(test_clock_stop().moved_ms, 30);
}

/* What waiting does not mend is said at once. */
TEST(tpm_node_that_is_not_held)
{
    static const struct {
        int error;
        tenon_status status;
    } others[] = {{ENOENT, TENON_ERROR_TPM_MISSING},   {ENXIO, TENON_ERROR_TPM_MISSING},
                  {ENODEV, TENON_ERROR_TPM_MISSING},   {EACCES, TENON_ERROR_TPM_PERMISSION},
                  {EPERM, TENON_ERROR_TPM_PERMISSION}, {ENOMEM, TENON_ERROR_MEMORY},
                  {EMFILE, TENON_ERROR_MEMORY},        {ENFILE, TENON_ERROR_MEMORY}};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
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
    CHECK_STATUS(tenon_tpm_open(&tpm, node_name, sizeof node_name - 1, NULL), TENON_OK);
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
TEST(tpm_node_behind_a_transport)
{
    tpm_rig rig = tpm_rig_start(NULL);
    tenon_tpm_key *key;
    CHECK_STATUS(tenon_tpm_key_create(rig.tpm, &key, NULL, 0), TENON_OK);
    support_fail_before(rig.wire, support_next(SUPPORT_CC_SIGN), TENON_ERROR_TPM_TRANSPORT);
    support_transport_fail_reopen(rig.wire, 6, TENON_ERROR_TPM_BUSY);
    test_clock_start();
    CHECK_STATUS(tpm_rig_sign(key), TENON_OK);
    CHECK_NUMBER(test_clock_stop().sleeps, 6);
    support_fail_before(rig.wire, support_next(SUPPORT_CC_SIGN), TENON_ERROR_TPM_TRANSPORT);
    support_transport_fail_reopen(rig.wire, ALWAYS, TENON_ERROR_TPM_BUSY);
    test_clock_start();
    CHECK_STATUS(tpm_rig_sign(key), TENON_ERROR_TPM_BUSY);
    CHECK_NUMBER(test_clock_stop().moved_ms, 2000);
    support_transport_fail_reopen(rig.wire, 0, TENON_OK);
    CHECK_STATUS(tpm_rig_sign(key), TENON_OK);
    tenon_tpm_key_free(&key);
    tpm_rig_stop(&rig);
}
