/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE /* explicit_bzero */
#include <stdio.h>
#include <string.h>

#include "crypto/protection.h"
#include "scan.h"
#include "tenon/activate.h"
#include "tenon/tenon.h"

/*
 * After a software key is freed no copy of its scalar is left in the process, nor one of a secret that a function was
 * given or drew. Before the secret is gone the search has to find it.
 */

enum { SIZE = SCAN_SIZE, BOTH = TENON_KEY_SIGNS_DIGESTS | TENON_KEY_DETERMINISTIC };

/* Has its own frame, so that nothing of it stays in the caller's. */
__attribute__((noinline)) static tenon_key *import(uint32_t flags)
{
    uint8_t scalar[SIZE];
    tenon_key *key = NULL;
    scan_reveal(scalar);
    if (tenon_software_key_import(&key, scalar, SIZE, flags) != TENON_OK)
        key = NULL;
    explicit_bzero(scalar, SIZE);
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
    scan_list_regions();
    findings made = scan(false);
    bool good = key != NULL && sign(key, 1) && sign(key, 2);
    scan_list_regions();
    findings used = scan(false);
    /* Nothing else runs between the last signature, the free and the search: it would overwrite their remains. */
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

static uint8_t given[SIZE]; /* the secret, while a function is asked to use it */
static tenon_digest digest;
static const uint8_t name[TENON_NAME_SIZE] = {0, 0x0b};
static tenon_activation activation = {
    sizeof activation, "https://auth.example", 20, "app", 3, "challenge", 9, "key", 3, {{0}}, name, sizeof name};

static tenon_status derive_secret(void)
{
    return tenon_activation_secret(&digest, given, SIZE, "challenge", 9, &digest, name, sizeof name);
}

static tenon_status compute_value(void) { return tenon_activation_value(&digest, given, SIZE, &activation); }

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
    scan_draws = secret != given;
    tenon_status status = tenon_credential_make(credential, sizeof credential, &credential_n, encrypted,
                                                sizeof encrypted, &encrypted_n, &ek, name, sizeof name, secret, SIZE);
    scan_draws = false;
    return status;
}

static tenon_status hold_rsa(void) { return make_credential(TENON_EK_RSA_2048, given); }
static tenon_status hold_p384(void) { return make_credential(TENON_EK_P384, given); }

/* The seed and OAEP's salt, or the scalar. */
static tenon_status draw_rsa(void) { return make_credential(TENON_EK_RSA_2048, scan_secret); }
static tenon_status draw_p256(void) { return make_credential(TENON_EK_P256, scan_secret); }
static tenon_status draw_p384(void) { return make_credential(TENON_EK_P384, scan_secret); }

/* Nothing runs between the use and the search, which therefore looks for one form of the secret at a time. */
static bool check_use(const char *what, tenon_status (*use)(void))
{
    static const uint8_t masks[] = {SCAN_MASK, SCAN_MASK ^ SCAN_INNER_PAD, SCAN_MASK ^ SCAN_OUTER_PAD};
    size_t before = 0, left = 0;
    bool good = true;
    for (size_t i = 0; i < sizeof masks; i++) {
        scan_reveal(given);
        scan_under(SCAN_MASK);
        good = use() == TENON_OK && good; /* so that its allocations exist before the regions are listed */
        scan_list_regions();
        before += scan(false).copies;
        good = use() == TENON_OK && good;
        explicit_bzero(given, SIZE);
        scan_under(masks[i]);
        left += scan_found(true);
    }
    scan_under(SCAN_MASK);
    return scan_report(what, before, left) && good && before >= sizeof masks;
}

/* RFC 8017, 7.1.1 with SHA-256, without the core's code: the values that OAEP makes of the secret as seed and as salt.
 * */
static void mask_with(uint8_t *bytes, size_t n, const uint8_t *seed, size_t seed_n)
{
    uint8_t input[256];
    tenon_digest block;
    memcpy(input, seed, seed_n);
    for (size_t i = 0; i < n; i++) {
        const uint8_t counter[4] = {0, 0, 0, (uint8_t)(i / SIZE)};
        memcpy(input + seed_n, counter, sizeof counter);
        if (i % SIZE == 0 && tenon_sha256(&block, input, seed_n + sizeof counter) != TENON_OK)
            return;
        bytes[i] ^= block.bytes[i % SIZE];
    }
    explicit_bzero(input, sizeof input);
    explicit_bzero(&block, sizeof block);
}

__attribute__((noinline)) static void encode(uint8_t *masked_seed)
{
    enum { DATA = 223 };
    uint8_t data[DATA] = {0}, seed[SIZE];
    tenon_digest label;
    if (tenon_sha256(&label, (const uint8_t *)"IDENTITY", sizeof "IDENTITY") != TENON_OK)
        return;
    memcpy(data, label.bytes, sizeof label);
    data[DATA - SIZE - 1] = 1;
    scan_reveal(data + DATA - SIZE);
    scan_reveal(seed);
    mask_with(data, DATA, seed, SIZE);
    mask_with(seed, SIZE, data, DATA);
    memcpy(masked_seed, seed, SIZE);
    explicit_bzero(data, sizeof data);
    explicit_bzero(seed, sizeof seed);
}

/* Only this function: its callers also wipe the stack below them. */
static bool encrypt_secret(void)
{
    static uint8_t modulus[TENONI_RSA_SIZE], out[TENONI_RSA_SIZE];
    uint8_t secret[SIZE];
    memset(modulus, 0xff, sizeof modulus);
    scan_reveal(secret);
    tenon_status status = tenoni_oaep_encrypt(out, modulus, "IDENTITY", (tenoni_part){secret, SIZE}, secret);
    explicit_bzero(secret, SIZE);
    return status == TENON_OK;
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
    encode(given); /* RSA's input reveals the seed */
    good = scan_given("the encoded seed, for RSA", encrypt_secret, given) && good;
    return good ? 0 : 1;
}
