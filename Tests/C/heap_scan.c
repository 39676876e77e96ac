/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE /* explicit_bzero */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include "tenon/activate.h"
#include "tenon/tenon.h"

/*
 * After a software key is freed no copy of its scalar is left in the process (contracts/security.md H5), nor one of a
 * secret that a function was given or drew: all writable memory is searched, the stack below us and what the allocator
 * keeps included. The search's own copy is masked, and before the secret is gone the search has to find it.
 */

enum {
    SIZE = TENON_SCALAR_SIZE,
    MASK = 0xa5,
    INNER_PAD = 0x36,
    OUTER_PAD = 0x5c,
    BOTH = TENON_KEY_SIGNS_DIGESTS | TENON_KEY_DETERMINISTIC
};

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

/* MASK, or that and a pad of HMAC: a key under a pad is a copy of it. */
static uint8_t mask = MASK;

/* How many bytes of the scalar, in this order and from its byte `from`, stand at `at`. */
static size_t matching(const volatile uint8_t *at, size_t left, int order, size_t from)
{
    size_t n = 0;
    while (n < left && from + n < SIZE && (at[n] ^ mask) == masked[place(order, from + n)])
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

/* While it is armed the kernel draws the secret, again and again. */
static bool armed;

ssize_t getrandom(void *out, size_t n, unsigned flags);

ssize_t getrandom(void *out, size_t n, unsigned flags)
{
    for (size_t i = 0; armed && i < n; i++)
        ((uint8_t *)out)[i] = masked[i % SIZE] ^ MASK;
    return armed ? (ssize_t)n : syscall(SYS_getrandom, out, n, flags);
}

static uint8_t given[SIZE]; /* the secret, while a function is asked to use it */
static tenon_digest digest;
static const uint8_t name[TENON_NAME_SIZE] = {0, 0x0b};
static tenon_activation activation = {.size = sizeof activation,
                                      .origin = "https://auth.example",
                                      .origin_n = 20,
                                      .app_id = "app",
                                      .app_id_n = 3,
                                      .challenge = "challenge",
                                      .challenge_n = 9,
                                      .public_key = "key",
                                      .public_key_n = 3,
                                      .ak_name = name,
                                      .ak_name_n = sizeof name};

static tenon_status derive_secret(void)
{
    return tenon_activation_secret(&digest, given, SIZE, "challenge", 9, &digest, name, sizeof name);
}

static tenon_status compute_value(void)
{
    return tenon_activation_value(&digest, given, SIZE, &activation);
}

static tenon_status verify_value(void)
{
    tenon_status status = tenon_activation_verify(given, SIZE, &activation, name, SIZE);
    return status == TENON_ERROR_ACTIVATION ? TENON_OK : status;
}

/* On P-384 the point with x = 0. */
static tenon_status make_credential(uint32_t kind, const uint8_t *secret)
{
    static const uint8_t y_of_0[48] = {0xc3, 0x06, 0x61, 0x0f, 0xb0, 0xae, 0x5a, 0x15, 0x9c, 0xf4, 0x5c, 0x06,
                                       0x06, 0x9f, 0x22, 0xa6, 0xc5, 0xeb, 0x36, 0x41, 0xc6, 0x02, 0xd4, 0x2d,
                                       0xea, 0x2c, 0x4b, 0x4f, 0x75, 0x55, 0x07, 0x93, 0x40, 0x6d, 0x80, 0xd2,
                                       0xb9, 0x1a, 0xd5, 0x4f, 0x90, 0x48, 0xbd, 0x48, 0x7a, 0xf1, 0xad, 0xe1};
    static uint8_t credential[TENON_CREDENTIAL_MAX], encrypted[TENON_CREDENTIAL_MAX];
    static tenon_public_key point;
    static const uint8_t one[SIZE] = {[SIZE - 1] = 1};
    static tenon_ek ek;
    size_t credential_n, encrypted_n;
    tenon_key *key = NULL;
    memset(&ek, 0xff, sizeof ek);
    ek.kind = kind;
    ek.key_n = kind == TENON_EK_RSA_2048 ? 256 : kind == TENON_EK_P256 ? sizeof point : 2 * sizeof y_of_0;
    if (kind == TENON_EK_P384) {
        memset(ek.key, 0, sizeof y_of_0);
        memcpy(ek.key + sizeof y_of_0, y_of_0, sizeof y_of_0);
    } else if (kind == TENON_EK_P256) {
        if (tenon_software_key_import(&key, one, SIZE, 0) != TENON_OK || tenon_key_public_key(key, &point) != TENON_OK)
            return TENON_ERROR_CRYPTO;
        tenon_key_free(&key);
        memcpy(ek.key, &point, sizeof point);
    }
    armed = secret != given;
    tenon_status status = tenon_credential_make(credential, sizeof credential, &credential_n, encrypted,
                                                sizeof encrypted, &encrypted_n, &ek, name, sizeof name, secret, SIZE);
    armed = false;
    return status;
}

static tenon_status hold_rsa(void)
{
    return make_credential(TENON_EK_RSA_2048, given);
}

static tenon_status hold_p384(void)
{
    return make_credential(TENON_EK_P384, given);
}

/* The seed and OAEP's salt, or the scalar. */
static tenon_status draw_rsa(void)
{
    return make_credential(TENON_EK_RSA_2048, masked);
}

static tenon_status draw_p256(void)
{
    return make_credential(TENON_EK_P256, masked);
}

static tenon_status draw_p384(void)
{
    return make_credential(TENON_EK_P384, masked);
}

/* Nothing runs between the use and the search, which therefore looks for one form of the secret at a time. */
static bool check_use(const char *what, tenon_status (*use)(void))
{
    static const uint8_t masks[] = {MASK, MASK ^ INNER_PAD, MASK ^ OUTER_PAD};
    size_t before = 0, left = 0;
    bool good = true;
    for (size_t i = 0; i < sizeof masks; i++) {
        for (size_t j = 0; j < SIZE; j++)
            given[j] = masked[j] ^ MASK;
        mask = MASK;
        good = use() == TENON_OK && good; /* what it takes from the allocator is there when regions are listed */
        list_regions();
        before += scan(false).copies;
        good = use() == TENON_OK && good;
        explicit_bzero(given, SIZE);
        mask = masks[i];
        findings after = scan(true);
        left += after.copies + after.traces;
    }
    mask = MASK;
    printf("%s, %s: %zu copies before, %zu copies and traces after\n", tenon_backend_name(), what, before, left);
    return good && before >= sizeof masks && left == 0;
}

int main(void)
{
    bool good = check("random nonces", TENON_KEY_SIGNS_DIGESTS);
    good = check("deterministic", BOTH) && good;
    good = check_use("K_act, of a secret", derive_secret) && good;
    good = check_use("the secret, of a value", compute_value) && good;
    good = check_use("the secret, to verify a value", verify_value) && good;
    good = check_use("the secret, in a credential for RSA", hold_rsa) && good;
    good = check_use("the secret, in a credential for P-384", hold_p384) && good;
    good = check_use("the seed, for RSA", draw_rsa) && good;
    good = check_use("the scalar, for P-256", draw_p256) && good;
    good = check_use("the scalar, for P-384", draw_p384) && good;
    return good ? 0 : 1;
}
