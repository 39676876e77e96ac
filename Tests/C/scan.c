/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE /* explicit_bzero, mincore, stack_t */
#include "scan.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "tenon/tenon.h"

const uint8_t scan_secret[SCAN_SIZE] = {0xc4, 0x1b, 0x7e, 0x55, 0x0d, 0x93, 0xe8, 0x26, 0x71, 0xbf, 0x3a,
                                        0x4c, 0xd7, 0x08, 0x6f, 0xa2, 0x19, 0xee, 0x83, 0x5d, 0x30, 0xf6,
                                        0x42, 0x9b, 0x67, 0xcd, 0x14, 0xb8, 0x2f, 0x91, 0xe3, 0x7a};

static uint8_t masked[SCAN_SIZE];
static uint8_t mask = SCAN_MASK;

__attribute__((constructor)) static void begin(void) { memcpy(masked, scan_secret, sizeof masked); }

void scan_reveal(uint8_t *out)
{
    for (size_t i = 0; i < SCAN_SIZE; i++)
        out[i] = scan_secret[i] ^ SCAN_MASK;
}

void scan_for(uint8_t *secret)
{
    for (size_t i = 0; i < sizeof masked; i++)
        masked[i] = secret[i] ^ SCAN_MASK;
    explicit_bzero(secret, sizeof masked);
}

void scan_under(uint8_t other) { mask = other; }

/* The orders of bytes that a number of 32 bytes may have in memory. */
enum { BIG_ENDIAN_BYTES, LITTLE_ENDIAN_BYTES, LIMBS_64_HIGH_FIRST, LIMBS_32_HIGH_FIRST, ORDERS };

static const char *const orders[ORDERS] = {"big-endian", "little-endian (also limbs, lowest first)",
                                           "64-bit limbs, highest first", "32-bit limbs, highest first"};

static size_t place(int order, size_t i)
{
    switch (order) {
    case BIG_ENDIAN_BYTES:
        return i;
    case LITTLE_ENDIAN_BYTES:
        return SCAN_SIZE - 1 - i;
    case LIMBS_64_HIGH_FIRST:
        return i / 8 * 8 + 7 - i % 8;
    default:
        return i / 4 * 4 + 3 - i % 4;
    }
}

/* The number of bytes of the secret, in this order and from its byte `from`, that are at `at`. */
static size_t matching(const volatile uint8_t *at, size_t left, int order, size_t from)
{
    size_t n = 0;
    while (n < left && from + n < SCAN_SIZE && (at[n] ^ mask) == masked[place(order, from + n)])
        n++;
    return n;
}

enum { TRACE = 8, COPY = 16 };

static bool is_reported(size_t n, int order, size_t from)
{
    return n >= TRACE && (order == BIG_ENDIAN_BYTES || n >= COPY || from % 8 == 0);
}

static findings found;
static bool verbose;

static void search(const char *region, const volatile uint8_t *start, size_t n)
{
    for (size_t at = 0; at < n; at++)
        for (int order = 0; order < ORDERS; order++)
            for (size_t from = 0; from + TRACE <= SCAN_SIZE; from += 8) {
                size_t length = matching(start + at, n - at, order, from);
                if (!is_reported(length, order, from))
                    continue;
                *(length >= COPY ? &found.copies : &found.traces) += 1;
                if (verbose)
                    fprintf(stderr, "  %zu bytes of the secret from %zu, %s, at offset 0x%zx of %s", length, from,
                            orders[order], at, region);
                at += length - 1;
                order = ORDERS;
                break;
            }
    found.bytes += n;
}

static struct {
    char line[200];
    uintptr_t start, end;
} regions[500];
static size_t region_count;

/* Every writable region, from the kernel's list. */
void scan_list_regions(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    region_count = 0;
    while (maps != NULL && region_count < 500 &&
           fgets(regions[region_count].line, sizeof regions->line, maps) != NULL) {
        unsigned long start, end;
        char rights[5];
        if (sscanf(regions[region_count].line, "%lx-%lx %4s", &start, &end, rights) != 3 ||
            strncmp(rights, "rw", 2) != 0)
            continue;
        regions[region_count].start = start;
        regions[region_count++].end = end;
    }
    if (maps != NULL)
        fclose(maps);
}

/* Whether a page is still mapped: pages that were unmapped after the regions were listed do not count. */
static bool is_there(uintptr_t page, size_t size)
{
    unsigned char resident;
    return mincore((void *)page, size, &resident) == 0;
}

static void search_regions(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    found = (findings){0, 0, 0};
    for (size_t i = 0; i < region_count; i++)
        for (uintptr_t start = regions[i].start, end; start < regions[i].end; start = end + page) {
            for (end = start; end < regions[i].end && is_there(end, page);)
                end += page;
            search(regions[i].line, (const volatile uint8_t *)start, end - start);
        }
}

/* Runs on its own stack: on ours, its frames would overwrite the ones that are searched. */
findings scan(bool wordy)
{
    static uint8_t stack[1 << 16];
    static ucontext_t here, apart;
    verbose = wordy;
    getcontext(&apart);
    apart.uc_link = &here;
    apart.uc_stack = (stack_t){.ss_sp = stack, .ss_size = sizeof stack};
    makecontext(&apart, search_regions, 0);
    swapcontext(&here, &apart);
    return found;
}

bool scan_draws;

ssize_t getrandom(void *out, size_t n, unsigned flags)
{
    for (size_t i = 0; scan_draws && i < n; i++)
        ((uint8_t *)out)[i] = scan_secret[i % SCAN_SIZE] ^ SCAN_MASK;
    return scan_draws ? (ssize_t)n : syscall(SYS_getrandom, out, n, flags);
}

size_t scan_found(bool aloud)
{
    findings all = scan(aloud);
    return all.copies + all.traces;
}

bool scan_report(const char *what, size_t before, size_t left)
{
    printf("%s, %s: %zu copies before, %zu copies and traces after\n", tenon_backend_name(), what, before, left);
    return before != 0 && left == 0;
}

bool scan_around(const char *what, bool (*use)(void), void *given)
{
    bool good = use();
    scan_list_regions();
    size_t before = scan_found(false);
    good = use() && good;
    explicit_bzero(given, SCAN_SIZE);
    size_t left = scan_found(true);
    return scan_report(what, before, left) && good;
}

bool scan_given(const char *what, bool (*use)(void), void *given)
{
    uint8_t copy[SCAN_SIZE];
    memcpy(copy, given, sizeof copy);
    scan_for(copy);
    return scan_around(what, use, given);
}
