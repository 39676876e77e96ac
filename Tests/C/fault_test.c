/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/types.h>

#ifdef TENON_OPENSSL
#include <openssl/crypto.h>
#include <openssl/err.h>
#endif

#include "base/secure.h"
#include "crypto/gcm.h"
#include "crypto/p256.h"
#include "keri_rig.h"
#include "native_rig.h"
#include "proof_rig.h"

/*
 * Every allocation and every getrandom fails once, by -Wl,--wrap. Linked against libmbedcrypto.a mbedTLS's own
 * allocations are among them; OpenSSL's come through its hook. Only the thread that armed a failure meets it.
 */

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
ssize_t __real_getrandom(void *out, size_t n, unsigned flags);
ssize_t __wrap_getrandom(void *out, size_t n, unsigned flags);

static _Thread_local long allocations_left = -1; /* until the one that fails; negative: none does */
static _Thread_local bool allocation_failed;

static bool fails(void)
{
    if (allocations_left < 0 || allocations_left-- > 0)
        return false;
    allocation_failed = true;
    return true;
}

void *__wrap_calloc(size_t count, size_t size) { return fails() ? NULL : __real_calloc(count, size); }

#ifdef TENON_OPENSSL
static void *hooked_malloc(size_t n, const char *file, int line) { return n == 0 || fails() ? NULL : malloc(n); }

static void *hooked_realloc(void *old, size_t n, const char *file, int line)
{
    return fails() ? NULL : realloc(old, n);
}

static void hooked_free(void *old, const char *file, int line) { free(old); }

/* Must come before OpenSSL's first allocation, or OpenSSL refuses it. */
static int hooked;
__attribute__((constructor)) static void hook(void)
{
    hooked = CRYPTO_set_mem_functions(hooked_malloc, hooked_realloc, hooked_free);
}

TEST(fault_openssl_is_hooked) { CHECK_NUMBER(hooked, 1); }
#endif

enum { WELL, BROKEN, INTERRUPTED, SLOW, HIGH, EMPTY };
static _Thread_local int kernel, kernel_calls;

ssize_t __wrap_getrandom(void *out, size_t n, unsigned flags)
{
    int call = kernel_calls++;
    if (kernel == BROKEN || (kernel == INTERRUPTED && call % 3 != 2)) {
        errno = kernel == BROKEN ? ENOSYS : EINTR;
        return -1;
    }
    if (kernel == EMPTY)
        return 0;
    if (kernel == HIGH && call == 0) {
        memset(out, 0xff, n);
        return (ssize_t)n;
    }
    return __real_getrandom(out, kernel == SLOW && n > 1 ? 1 : n, flags);
}

/* The call, with a kernel that answers in this way. */
static tenon_status under(int way, tenon_status (*run)(void))
{
    kernel_calls = 0;
    kernel = way;
    tenon_status status = run();
    kernel = WELL;
    return status;
}

static const uint8_t scalar[32] = {1, 2, 3};
static const tenon_digest digest = {{5}};
static tenon_public_key public_key;
static tenon_signature signature, forged;
static tenon_key *random_key, *deterministic_key;
static tenon_verifier *verifier;
static keri_rig log_rig;
static keri_event inception;

enum { BOTH = TENON_KEY_SIGNS_DIGESTS | TENON_KEY_DETERMINISTIC };

static int set_up(void)
{
    CHECK_OK(tenon_software_key_import(&random_key, scalar, 32, TENON_KEY_SIGNS_DIGESTS));
    CHECK_OK(tenon_software_key_import(&deterministic_key, scalar, 32, BOTH));
    CHECK_OK(tenon_key_public_key(random_key, &public_key));
    CHECK_OK(tenon_key_sign_digest(random_key, &signature, &digest));
    CHECK_OK(tenon_verifier_new(&verifier, &public_key));
    log_rig = keri_begin();
    keri_make(&log_rig, &inception, KERI_INCEPTION, 0);
    forged = signature;
    forged.bytes[40] ^= 1;
    return 0;
}

static void tear_down(int *unused)
{
    keri_end(&log_rig);
    tenon_verifier_free(&verifier);
    tenon_key_free(&deterministic_key);
    tenon_key_free(&random_key);
}

#define STAGE __attribute__((cleanup(tear_down))) int stage = set_up()

static tenon_status check_point(void) { return tenon_p256_check(&public_key); }

static tenon_status decompress(void)
{
    uint8_t compressed[33] = {(uint8_t)(2 + (public_key.bytes[63] & 1))};
    tenon_public_key out;
    memcpy(compressed + 1, &public_key, 32);
    tenon_status status = tenon_public_key_decode_compressed(&out, compressed, sizeof compressed);
    CHECK(status == TENON_OK ? memcmp(&out, &public_key, sizeof out) == 0 : CHECK_ZERO(&out, sizeof out));
    return status;
}

static tenon_status make_verifier(void)
{
    tenon_verifier *made = (tenon_verifier *)&public_key;
    tenon_status status = tenon_verifier_new(&made, &public_key);
    CHECK((status == TENON_OK) == (made != NULL));
    tenon_verifier_free(&made);
    return status;
}

static tenon_status verify_once(void) { return tenon_p256_verify(&public_key, &digest, &signature); }
static tenon_status verify_prepared(void) { return tenon_verifier_verify(verifier, &digest, &signature); }

/* A lack of memory must not let a forgery pass; the forgery may be found before the memory is needed. */
static tenon_status verify_forged(void)
{
    tenon_status status = tenon_p256_verify(&public_key, &digest, &forged);
    CHECK(status != TENON_OK);
    return status == TENON_ERROR_SIGNATURE_INVALID ? TENON_OK : status;
}

static tenon_status sign(const tenon_key *key)
{
    tenon_signature out;
    return CLEARED(tenon_key_sign_digest(key, &out, &digest), &out);
}

static tenon_status sign_random(void) { return sign(random_key); }
static tenon_status sign_deterministic(void) { return sign(deterministic_key); }

static tenon_status made(tenon_key *key, tenon_status status)
{
    CHECK((status == TENON_OK) == (key != NULL));
    tenon_key_free(&key);
    return status;
}

static tenon_status generate(void)
{
    tenon_key *key = (tenon_key *)&public_key;
    tenon_status status = tenon_software_key_generate(&key, TENON_KEY_DETERMINISTIC);
    return made(key, status);
}

static tenon_status import(void)
{
    tenon_key *key = (tenon_key *)&public_key;
    tenon_status status = tenon_software_key_import(&key, scalar, 32, 0);
    return made(key, status);
}

/* Lack of memory is no verdict about an event, and leaves the log as it was. */
static tenon_status append_to_log(void)
{
    tenon_status status = keri_append(&log_rig, &inception);
    CHECK((status == TENON_OK) == (log_rig.state.prefix[0] == 'E'));
    CHECK(status == TENON_OK || CHECK_ZERO(&log_rig.state, sizeof log_rig.state));
    memset(&log_rig.state, 0, sizeof log_rig.state);
    return status;
}

static tenon_status make_nonce(void)
{
    char out[TENON_UUID_SIZE];
    size_t n = 12345;
    tenon_status status = tenon_request_nonce(out, sizeof out, &n);
    CHECK_NUMBER(n, status == TENON_OK ? sizeof out : 0);
    return status;
}

/* An EK of this kind, whose key only has to pass: an odd modulus; on P-384 the point with x = 0. */
static tenon_status make_credential(uint32_t kind)
{
    static const uint8_t y_of_0[48] = {0xc3, 0x06, 0x61, 0x0f, 0xb0, 0xae, 0x5a, 0x15, 0x9c, 0xf4, 0x5c, 0x06,
                                       0x06, 0x9f, 0x22, 0xa6, 0xc5, 0xeb, 0x36, 0x41, 0xc6, 0x02, 0xd4, 0x2d,
                                       0xea, 0x2c, 0x4b, 0x4f, 0x75, 0x55, 0x07, 0x93, 0x40, 0x6d, 0x80, 0xd2,
                                       0xb9, 0x1a, 0xd5, 0x4f, 0x90, 0x48, 0xbd, 0x48, 0x7a, 0xf1, 0xad, 0xe1};
    static const uint8_t name[TENON_NAME_SIZE] = {0, 0x0b};
    uint8_t credential[TENON_CREDENTIAL_MAX], encrypted[TENON_CREDENTIAL_MAX];
    size_t credential_n = 1, encrypted_n = 1;
    tenon_ek ek = {.kind = kind, .key_n = kind == TENON_EK_RSA_2048 ? 256 : kind == TENON_EK_P256 ? 64 : 96};
    if (kind == TENON_EK_RSA_2048)
        memset(ek.key, 0xff, ek.key_n);
    else if (kind == TENON_EK_P256)
        memcpy(ek.key, public_key.bytes, ek.key_n);
    else
        memcpy(ek.key + sizeof y_of_0, y_of_0, sizeof y_of_0);
    tenon_status status = tenon_credential_make(credential, sizeof credential, &credential_n, encrypted,
                                                sizeof encrypted, &encrypted_n, &ek, name, sizeof name, scalar, 32);
    CHECK(status == TENON_OK ? credential_n != 0 && encrypted_n != 0 : credential_n == 0 && encrypted_n == 0);
    return status;
}

static tenon_status make_credential_rsa(void) { return make_credential(TENON_EK_RSA_2048); }
static tenon_status make_credential_p256(void) { return make_credential(TENON_EK_P256); }
static tenon_status make_credential_p384(void) { return make_credential(TENON_EK_P384); }

static const uint8_t gcm_nonce[TENONI_GCM_NONCE_SIZE] = {1}, hello[] = "hello";
static uint8_t sealed[sizeof hello], tag[TENONI_GCM_TAG_SIZE];

static tenon_status seal(void)
{
    return tenoni_gcm_encrypt(sealed, tag, scalar, gcm_nonce, (tenoni_part){NULL, 0}, hello, sizeof hello);
}

/* A failure is not taken for a tag that does not fit. */
static tenon_status open_sealed(void)
{
    uint8_t back[sizeof hello];
    bool good;
    tenon_status status =
        tenoni_gcm_decrypt(back, &good, scalar, gcm_nonce, (tenoni_part){NULL, 0}, tag, sealed, sizeof sealed);
    CHECK(status == TENON_OK ? good && memcmp(back, hello, sizeof back) == 0 : !good && CHECK_ZERO(back, sizeof back));
    return status;
}

typedef struct {
    const char *name;
    tenon_status (*run)(void);
    bool random; /* it asks our getrandom, with each backend */
} operation;

static const operation operations[] = {
    {"check", check_point, false},
    {"decompress", decompress, false},
    {"verifier_new", make_verifier, false},
    {"verify", verify_once, false},
    {"verify prepared", verify_prepared, false},
    {"verify forged", verify_forged, false},
    {"sign", sign_random, false},
    {"sign deterministic", sign_deterministic, true},
    {"generate", generate, true},
    {"import", import, false},
    {"log", append_to_log, false},
    {"nonce", make_nonce, true},
    {"proof", rig_verify_good, false},
    {"proof, chain", rig_verify_chain, false},
    {"proof, forged", rig_verify_forged, false},
    {"credential, RSA", make_credential_rsa, true},
    {"credential, P-256", make_credential_p256, true},
    {"credential, P-384", make_credential_p384, true},
    {"seal", seal, false},
    {"open", open_sealed, false},
};

enum { OPERATIONS = COUNT(operations) };

/* Lets libraries and rigs make their objects that are made once in a process. */
static void run_each_once(void)
{
    for (int i = 0; i < OPERATIONS; i++)
        CHECK_OK(operations[i].run());
}

/* OpenSSL tells its reason to its error queue only; mbedTLS goes on after RFC 6979's generator got no memory. */
static bool loses_the_reason(const operation *of)
{
#ifdef TENON_OPENSSL
    return true;
#else
    return of->run == sign_deterministic;
#endif
}

static void check_nothing_is_left(tenon_status status)
{
#ifdef TENON_OPENSSL
    CHECK(status == TENON_OK || ERR_peek_error() == 0);
    ERR_clear_error();
#endif
}

/*
 * Fails the call's allocation of this number; false when it had no such. Both libraries pass by some failures, of
 * caches: what is then answered was checked to be right.
 */
static bool fail_one(const operation *of, long number)
{
    allocation_failed = false;
    allocations_left = number;
    tenon_status status = of->run();
    allocations_left = -1;
    test_about("%s, allocation %ld", of->name, number);
    if (status == TENON_ERROR_CRYPTO)
        CHECK(allocation_failed && loses_the_reason(of));
    else
        CHECK_STATUS(status, allocation_failed && status != TENON_OK ? TENON_ERROR_MEMORY : TENON_OK);
    check_nothing_is_left(status);
    return allocation_failed;
}

/* The first failures, and then a sample of the rest. */
static void fail_each(const operation *of, long first, long step)
{
    long number = 0;
    while (number < 20000 && fail_one(of, number))
        number += number < first ? 1 : step;
    CHECK(number < 20000);
    CHECK_OK(of->run());
    test_about(NULL);
}

TEST(fault_no_memory)
{
    STAGE;
    run_each_once();
    for (int i = 0; i < OPERATIONS; i++)
        fail_each(&operations[i], (long)test_rounds(20, 6), (long)test_rounds(29, 401));
    CHECK_OK(verify_prepared());
}

static tpm_rig chip;
static tpm_pem kept;

static tenon_status chip_open(void)
{
    static const char name[] = "device:/dev/null";
    OWNED_TPM tpm = NULL;
    tenon_status status = tenon_tpm_open(&tpm, name, sizeof name - 1, NULL);
    CHECK((status == TENON_OK) == (tpm != NULL));
    return status;
}

static tenon_status chip_make(void)
{
    OWNED_TPM_KEY key = NULL;
    OWNED_TPM_KEY ak = NULL;
    tenon_status status = tenon_tpm_key_create(chip.tpm, &key, NULL, 0);
    CHECK((status == TENON_OK) == (key != NULL));
    return status == TENON_OK ? tenon_tpm_ak_create(key, &ak) : status;
}

static tenon_status chip_use(void) { return tpm_rig_use(&chip, &kept); }

static tenon_status chip_use_verified(void)
{
    OWNED_TPM_KEY key = NULL;
    TRY(tpm_rig_load(&chip, &key, &kept));
    return tpm_rig_sign_flags(key, TENON_TPM_KEY_VERIFIED | TENON_TPM_KEY_LOW_S);
}

/* This includes salted sessions, where the cryptographic library runs between a TPM's answers. */
TEST(fault_no_memory_beside_a_tpm)
{
    static const operation all[] = {
        {"open", chip_open, false},
        {"make", chip_make, false},
        {"use", chip_use, false},
        {"use, verified", chip_use_verified, false},
    };
    static const uint32_t sessions[] = {TENON_TPM_SESSION_PASSWORD, TENON_TPM_SESSION_ENCRYPTED};
    for (size_t s = 0; s < COUNT(sessions); s++) {
        tenon_tpm_options options = {.size = sizeof options, .session = sessions[s]};
        chip = tpm_rig_start(&options);
        kept = tpm_rig_make(&chip);
        for (size_t i = 0; i < COUNT(all); i++)
            fail_each(&all[i], 12, (long)test_rounds(97, 401));
        tpm_rig_stop(&chip);
    }
}

/* A value that was asked for in vain is not replaced, also where there is no memory to remember it. */
TEST_NATIVE(fault_no_memory_for_an_unread_value)
{
    CHECK(native_rig_stores("s", "k", "master"));
    OWNED_FILE file = native_rig_open(rig, "v-");
    long number = 0;
    do {
        native_rig_again(rig);
        CHECK_NUMBER(chmod(file.path, 0620), 0);
        allocation_failed = false;
        allocations_left = number;
        char *value = synheart_native_secure_load("s", "k");
        allocations_left = -1;
        CHECK_TEXT(value, NULL);
        CHECK_NUMBER(chmod(file.path, 0600), 0);
        CHECK(synheart_native_secure_store("s", "k", "new") != 0);
    } while (allocation_failed && ++number < 100);
    CHECK(number > 1);
    CHECK(native_rig_loads("s", "k", "master"));
}

static tenon_status key_sign(void *context, tenon_signature *out, const tenon_digest *of)
{
    memset(out, 1, sizeof *out);
    return context == NULL ? TENON_OK : TENON_ERROR_CRYPTO;
}

static tenon_status key_public_key(void *context, tenon_public_key *out)
{
    *out = *(const tenon_public_key *)context;
    return TENON_OK;
}

TEST(fault_no_memory_for_a_key_of_the_seam)
{
    tenon_key_ops ops = {sizeof ops, 0, key_sign, key_public_key, NULL};
    tenon_key *key = (tenon_key *)&ops;
    STAGE;
    allocations_left = 0;
    tenon_status status = tenon_key_new(&key, &ops, &public_key);
    allocations_left = -1;
    CHECK_STATUS(status, TENON_ERROR_MEMORY);
    CHECK(key == NULL);
}

TEST(fault_no_randomness)
{
    STAGE;
    run_each_once();
    for (int i = 0; i < OPERATIONS; i++)
        for (int way = BROKEN; way <= EMPTY; way += EMPTY - BROKEN) {
            test_about("%s", operations[i].name);
            tenon_status status = under(way, operations[i].run);
            CHECK(kernel_calls > 0 || !operations[i].random);
            CHECK_STATUS(status, kernel_calls > 0 ? TENON_ERROR_RANDOM : TENON_OK);
        }
}

TEST(fault_randomness_in_pieces)
{
    STAGE;
    for (int i = 0; i < OPERATIONS; i++) {
        test_about("%s", operations[i].name);
        CHECK_OK(under(INTERRUPTED, operations[i].run));
        CHECK_OK(under(SLOW, operations[i].run));
    }
    uint8_t out[64];
    memset(out, 0, sizeof out);
    kernel = SLOW;
    kernel_calls = 0;
    CHECK_OK(tenoni_random(out, 40));
    kernel = WELL;
    CHECK_NUMBER(kernel_calls, 40);
    CHECK(memcmp(out, out + 8, 32) != 0);
    CHECK_ZERO(out + 40, 24);
    memset(out, 0xa5, sizeof out);
    kernel = BROKEN;
    CHECK_STATUS(tenoni_random(out, 40), TENON_ERROR_RANDOM);
    CHECK_OK(tenoni_random(NULL, 0));
    kernel = WELL;
    CHECK_ZERO(out, 40);
    CHECK_NUMBER(out[40], 0xa5);
}

/* A scalar of n or more is drawn again. */
TEST(fault_randomness_out_of_range)
{
    static tenon_status (*const runs[])(void) = {generate, make_credential_p256, make_credential_p384};
    STAGE;
    for (size_t i = 0; i < COUNT(runs); i++) {
        test_about("run %zu", i);
        CHECK_OK(under(HIGH, runs[i]));
        CHECK(kernel_calls > 1);
    }
}

/* The seed and OAEP's salt: each byte of them is the kernel's. */
TEST(fault_randomness_of_a_credential)
{
    STAGE;
    CHECK_OK(under(SLOW, make_credential_rsa));
    CHECK_NUMBER(kernel_calls, 48 + 32);
}
