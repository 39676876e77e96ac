/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE /* explicit_bzero */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tenon/tenon.h"

/*
 * After a software key is freed no copy of its scalar is left in the process (contracts/security.md H5): all writable
 * memory is searched, the stack below us and what the allocator keeps included. The search's own copy is masked, and
 * before the free the search has to find the key's.
 */

enum { SIZE = TENON_SCALAR_SIZE, MASK = 0xa5, BOTH = TENON_KEY_SIGNS_DIGESTS | TENON_KEY_DETERMINISTIC };

/* The scalar, each byte xor MASK. It is in no other form anywhere in the program. */
static const uint8_t masked[SIZE] = {0xc4, 0x1b, 0x7e, 0x55, 0x0d, 0x93, 0xe8, 0x26, 0x71, 0xbf, 0x3a,
                                     0x4c, 0xd7, 0x08, 0x6f, 0xa2, 0x19, 0xee, 0x83, 0x5d, 0x30, 0xf6,
                                     0x42, 0x9b, 0x67, 0xcd, 0x14, 0xb8, 0x2f, 0x91, 0xe3, 0x7a};

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
        return SIZE - 1 - i;
    case LIMBS_64_HIGH_FIRST:
        return i / 8 * 8 + 7 - i % 8;
    default:
        return i / 4 * 4 + 3 - i % 4;
    }
}

/* How many bytes of the scalar, in this order and from its byte `from`, stand at `at`. */
static size_t matching(const volatile uint8_t *at, size_t left, int order, size_t from)
{
    size_t n = 0;
    while (n < left && from + n < SIZE && (at[n] ^ MASK) == masked[place(order, from + n)])
        n++;
    return n;
}

/* A limb of the scalar alone is a trace; half of the scalar is a copy. */
enum { TRACE = 8, COPY = 16 };

typedef struct {
    size_t copies, traces, bytes;
} findings;

static bool is_reported(size_t n, int order, size_t from)
{
    return n >= TRACE && (order == BIG_ENDIAN_BYTES || n >= COPY || from % 8 == 0);
}

static void search(const char *region, const volatile uint8_t *start, size_t n, bool verbose, findings *found)
{
    for (size_t at = 0; at < n; at++)
        for (int order = 0; order < ORDERS; order++)
            for (size_t from = 0; from + TRACE <= SIZE; from += 8) {
                size_t length = matching(start + at, n - at, order, from);
                if (!is_reported(length, order, from))
                    continue;
                *(length >= COPY ? &found->copies : &found->traces) += 1;
                if (verbose)
                    fprintf(stderr, "  %zu bytes of the scalar from %zu, %s, at offset 0x%zx of %s", length, from,
                            orders[order], at, region);
                at += length - 1;
                order = ORDERS;
                break;
            }
    found->bytes += n;
}

static struct {
    char line[200];
    uintptr_t start, end;
} regions[500];
static size_t region_count;

/* Every region that can be written, by the list of the kernel. */
static void list_regions(void)
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

static findings scan(bool verbose)
{
    findings found = {0, 0, 0};
    for (size_t i = 0; i < region_count; i++)
        search(regions[i].line, (const volatile uint8_t *)regions[i].start, regions[i].end - regions[i].start, verbose,
               &found);
    return found;
}

/* In a frame of its own, so that nothing of it stays in the caller's. */
__attribute__((noinline)) static tenon_key *import(uint32_t flags)
{
    volatile uint8_t scalar[SIZE];
    tenon_key *key = NULL;
    for (size_t i = 0; i < SIZE; i++)
        scalar[i] = masked[i] ^ MASK;
    if (tenon_software_key_import(&key, (const uint8_t *)(uintptr_t)scalar, SIZE, flags) != TENON_OK)
        key = NULL;
    explicit_bzero((void *)(uintptr_t)scalar, SIZE);
    return key;
}

static bool sign(const tenon_key *key, uint8_t number)
{
    tenon_signature signature;
    tenon_digest digest = {{number}};
    return tenon_key_sign_digest(key, &signature, &digest) == TENON_OK;
}

static bool check(const char *name, uint32_t flags)
{
    tenon_key *key = import(flags);
    list_regions();
    findings made = scan(false);
    bool good = key != NULL && sign(key, 1) && sign(key, 2);
    list_regions();
    findings used = scan(false);
    /* Nothing runs between the last signature, the free and the search: it would write over what they leave. */
    good = good && sign(key, 3);
    tenon_key_free(&key);
    findings freed = scan(true);
    printf("%s, %s: %zu copies when made, %zu when used, %zu and %zu traces when freed, in %zu KiB\n",
           tenon_backend_name(), name, made.copies, used.copies, freed.copies, freed.traces, freed.bytes / 1024);
    if (!good)
        fprintf(stderr, "the key cannot be used\n");
    if (made.copies == 0 || used.copies == 0)
        fprintf(stderr, "the search does not find a key that is there: it proves nothing\n");
    return good && made.copies != 0 && used.copies != 0 && freed.copies == 0 && freed.traces == 0;
}

int main(void)
{
    bool good = check("random nonces", TENON_KEY_SIGNS_DIGESTS);
    good = check("deterministic", BOTH) && good;
    return good ? 0 : 1;
}
