/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE /* nanosleep, clock_gettime */
#include "tpm/patience.h"

#include <time.h>

#include "base/random.h"

enum { FIRST_MS = 1, LONGEST_MS = 200 };

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void tenoni_tpm_wait(uint32_t ms)
{
    struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
    while (nanosleep(&left, &left) != 0)
        continue;
}

static uint32_t some_of(uint32_t ms)
{
    uint32_t random;
    return tenoni_random((uint8_t *)&random, sizeof random) == TENON_OK ? 1 + random % ms : ms;
}

/* The clock is not read before there is something to wait for. */
bool tenoni_wait_once(tenoni_patience *patience, uint32_t deadline_ms, bool among_many)
{
    uint64_t now = now_ms();
    if (patience->wait_ms == 0)
        *patience = (tenoni_patience){.deadline = now + deadline_ms, .wait_ms = FIRST_MS};
    if (now >= patience->deadline)
        return false;
    uint64_t left = patience->deadline - now;
    uint32_t wait = among_many ? some_of(patience->wait_ms) : patience->wait_ms;
    tenoni_tpm_wait(wait < left ? wait : (uint32_t)left);
    patience->wait_ms = patience->wait_ms * 2 < LONGEST_MS ? patience->wait_ms * 2 : LONGEST_MS;
    return true;
}
