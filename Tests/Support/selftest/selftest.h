/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SELFTEST_H
#define SELFTEST_H

#include "admin.h"
#include "test_transport.h"

/* Checks, for any thread; a test continues after a failed check. */
void check(const char *file, int line, const char *what, uint64_t found, uint64_t expected);

#define EQUAL(found, expected) check(__FILE__, __LINE__, #found, (uint64_t)(found), (uint64_t)(expected))
#define HOLDS(condition) check(__FILE__, __LINE__, #condition, (condition) ? 1 : 0, 1)

/* Starts a factory-fresh software TPM, or ends the run. */
support_swtpm *start(void);

/* One command through a transport, on which the faults are tried. */
typedef struct {
    tenon_status status;
    size_t n;
    uint32_t size, rc; /* as in the answer */
    uint8_t answer[TENON_TPM_BUFFER_SIZE];
} outcome;

enum { GET_RANDOM_SIZE = 12, RANDOM_ANSWER = 28 };
extern const uint8_t get_random[GET_RANDOM_SIZE]; /* 16 bytes of it */

outcome pass_command(support_transport *wire, const uint8_t *command, size_t n);
outcome ask(support_transport *wire); /* get_random */
tenon_status reopen(support_transport *wire);

void shows_transport(void);

#endif
