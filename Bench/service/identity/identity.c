/* SPDX-License-Identifier: Apache-2.0 */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "identity.h"

#include <openssl/bn.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>
#include <string.h>

enum { PRIME_BITS = 1024, EXPONENT = 65537, DAYS = 30 };

struct bench_maker {
    size_t primes_n;
    BIGNUM **primes;
    EVP_PKEY *keys[2];
    X509 *certificates[2];
};

/* Of the two primes, its own function of each. */
static int set_numbers(RSA *rsa, const BIGNUM *p, const BIGNUM *q, BN_CTX *context)
{
    BIGNUM *n = BN_new(), *e = BN_new(), *d = BN_new(), *p1 = BN_dup(p), *q1 = BN_dup(q), *phi = BN_new();
    BIGNUM *dp = BN_new(), *dq = BN_new(), *inverse = BN_new();
    int good = n != NULL && e != NULL && d != NULL && p1 != NULL && q1 != NULL && phi != NULL && dp != NULL &&
               dq != NULL && inverse != NULL && BN_mul(n, p, q, context) && BN_set_word(e, EXPONENT) &&
               BN_sub_word(p1, 1) && BN_sub_word(q1, 1) && BN_mul(phi, p1, q1, context) &&
               BN_mod_inverse(d, e, phi, context) != NULL && BN_mod(dp, d, p1, context) && BN_mod(dq, d, q1, context) &&
               BN_mod_inverse(inverse, q, p, context) != NULL;
    if (good)
        good = RSA_set0_key(rsa, n, e, d) && RSA_set0_factors(rsa, BN_dup(p), BN_dup(q)) &&
               RSA_set0_crt_params(rsa, dp, dq, inverse);
    BN_free(p1);
    BN_free(q1);
    BN_free(phi);
    return good;
}

/* The key of the pair of primes with this number: (1, 0), (2, 0), (2, 1), (3, 0) and so on. */
static EVP_PKEY *make_key(const bench_maker *maker, size_t number)
{
    size_t i = 1;
    while (number >= i)
        number -= i++;
    if (i >= maker->primes_n)
        return NULL;
    BN_CTX *context = BN_CTX_new();
    RSA *rsa = RSA_new();
    EVP_PKEY *key = EVP_PKEY_new();
    int good = context != NULL && rsa != NULL && key != NULL &&
               set_numbers(rsa, maker->primes[i], maker->primes[number], context) && EVP_PKEY_set1_RSA(key, rsa);
    BN_CTX_free(context);
    RSA_free(rsa);
    if (good)
        return key;
    EVP_PKEY_free(key);
    return NULL;
}

static int add_extension(X509 *certificate, int nid, const char *value)
{
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, NULL, nid, value);
    int good = extension != NULL && X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
    return good;
}

static int add_text(X509_NAME *name, const char *oid, const char *text)
{
    ASN1_OBJECT *object = OBJ_txt2obj(oid, 1);
    int good = object != NULL && X509_NAME_add_entry_by_OBJ(name, object, V_ASN1_UTF8STRING,
                                                            (const unsigned char *)text, (int)strlen(text), -1, 0);
    ASN1_OBJECT_free(object);
    return good;
}

/* The TPM, as the TCG EK Credential Profile has it named. */
static int add_tpm_name(X509 *certificate)
{
    GENERAL_NAMES *names = GENERAL_NAMES_new();
    GENERAL_NAME *name = GENERAL_NAME_new();
    X509_NAME *directory = X509_NAME_new();
    int good = names != NULL && name != NULL && directory != NULL &&
               add_text(directory, "2.23.133.2.1", "id:54454E4F") && add_text(directory, "2.23.133.2.2", "Bench") &&
               add_text(directory, "2.23.133.2.3", "id:00010000");
    if (good) {
        GENERAL_NAME_set0_value(name, GEN_DIRNAME, directory);
        good = sk_GENERAL_NAME_push(names, name) && X509_add1_ext_i2d(certificate, NID_subject_alt_name, names, 0, 0);
    }
    GENERAL_NAMES_free(names);
    return good;
}

static int add_extensions(X509 *certificate, int is_authority)
{
    if (is_authority)
        return add_extension(certificate, NID_basic_constraints, "critical,CA:TRUE") &&
               add_extension(certificate, NID_key_usage, "critical,keyCertSign,cRLSign");
    return add_extension(certificate, NID_basic_constraints, "critical,CA:FALSE") &&
           add_extension(certificate, NID_key_usage, "critical,keyEncipherment") &&
           add_extension(certificate, NID_ext_key_usage, "2.23.133.8.1") && add_tpm_name(certificate);
}

static X509 *certify(EVP_PKEY *key, const char *subject, long serial, int is_authority, const X509 *issuer,
                     EVP_PKEY *issuer_key)
{
    X509 *out = X509_new();
    X509_NAME *name = X509_NAME_new();
    int good = out != NULL && name != NULL && X509_set_version(out, 2) &&
               ASN1_INTEGER_set(X509_get_serialNumber(out), serial) && add_text(name, "2.5.4.3", subject) &&
               X509_set_subject_name(out, name) &&
               X509_set_issuer_name(out, issuer != NULL ? X509_get_subject_name(issuer) : name) &&
               X509_gmtime_adj(X509_getm_notBefore(out), -86400) != NULL &&
               X509_gmtime_adj(X509_getm_notAfter(out), DAYS * 86400L) != NULL && X509_set_pubkey(out, key) &&
               add_extensions(out, is_authority) && X509_sign(out, issuer_key, EVP_sha256()) > 0;
    X509_NAME_free(name);
    if (good)
        return out;
    X509_free(out);
    return NULL;
}

static X509 *certify_ek(const bench_maker *maker, EVP_PKEY *key, size_t number)
{
    return certify(key, "Bench EK", (long)number + 3, 0, maker->certificates[1], maker->keys[1]);
}

static int make_authorities(bench_maker *maker)
{
    static const char *const names[] = {"Bench EK Root", "Bench EK Issuer"};
    for (size_t i = 0; i < 2; i++) {
        maker->keys[i] = EVP_RSA_gen(2048);
        if (maker->keys[i] == NULL)
            return 0;
        maker->certificates[i] =
            certify(maker->keys[i], names[i], (long)i + 1, 1, i == 0 ? NULL : maker->certificates[0], maker->keys[0]);
        if (maker->certificates[i] == NULL)
            return 0;
    }
    return 1;
}

static int make_primes(bench_maker *maker)
{
    maker->primes = OPENSSL_zalloc(maker->primes_n * sizeof *maker->primes);
    for (size_t i = 0; maker->primes != NULL && i < maker->primes_n; i++) {
        maker->primes[i] = BN_new();
        if (maker->primes[i] == NULL)
            return 0;
        do {
            if (!BN_generate_prime_ex(maker->primes[i], PRIME_BITS, 0, NULL, NULL, NULL))
                return 0;
        } while (BN_mod_word(maker->primes[i], EXPONENT) == 1);
    }
    return maker->primes != NULL;
}

bench_maker *bench_maker_new(size_t eks)
{
    bench_maker *maker = OPENSSL_zalloc(sizeof *maker);
    if (maker == NULL)
        return NULL;
    maker->primes_n = 2;
    while (maker->primes_n * (maker->primes_n - 1) / 2 < eks)
        maker->primes_n++;
    if (make_primes(maker) && make_authorities(maker))
        return maker;
    bench_maker_free(maker);
    return NULL;
}

void bench_maker_free(bench_maker *maker)
{
    if (maker == NULL)
        return;
    for (size_t i = 0; maker->primes != NULL && i < maker->primes_n; i++)
        BN_free(maker->primes[i]);
    OPENSSL_free(maker->primes);
    for (size_t i = 0; i < 2; i++) {
        EVP_PKEY_free(maker->keys[i]);
        X509_free(maker->certificates[i]);
    }
    OPENSSL_free(maker);
}

static size_t der_of(const X509 *certificate, uint8_t *out, size_t size)
{
    int n = i2d_X509(certificate, NULL);
    unsigned char *at = out;
    return n > 0 && (size_t)n <= size && i2d_X509(certificate, &at) == n ? (size_t)n : 0;
}

size_t bench_maker_certificate(const bench_maker *maker, int which, uint8_t *out, size_t size)
{
    return der_of(maker->certificates[which != 0], out, size);
}

enum { HASH = 32, CIPHER_KEY = 16, RSA_SIZE = 256, LABEL_MAX = 16 };

struct bench_ek {
    EVP_PKEY *key;
    X509 *certificate;
};

bench_ek *bench_ek_new(const bench_maker *maker, size_t number)
{
    bench_ek *ek = OPENSSL_zalloc(sizeof *ek);
    if (ek == NULL)
        return NULL;
    ek->key = make_key(maker, number);
    if (ek->key != NULL)
        ek->certificate = certify_ek(maker, ek->key, number);
    if (ek->certificate != NULL)
        return ek;
    bench_ek_free(ek);
    return NULL;
}

void bench_ek_free(bench_ek *ek)
{
    if (ek == NULL)
        return;
    EVP_PKEY_free(ek->key);
    X509_free(ek->certificate);
    OPENSSL_free(ek);
}

size_t bench_ek_certificate(const bench_ek *ek, uint8_t *out, size_t size)
{
    return der_of(ek->certificate, out, size);
}

/* Part 1, B.4: the label with its NUL. */
static int decrypt_seed(EVP_PKEY *key, uint8_t *seed, const uint8_t *block)
{
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new(key, NULL);
    unsigned char *label = OPENSSL_memdup("IDENTITY", sizeof "IDENTITY");
    unsigned char plain[RSA_SIZE];
    size_t n = sizeof plain;
    int good = context != NULL && label != NULL && EVP_PKEY_decrypt_init(context) > 0 &&
               EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_OAEP_PADDING) > 0 &&
               EVP_PKEY_CTX_set_rsa_oaep_md(context, EVP_sha256()) > 0 &&
               EVP_PKEY_CTX_set_rsa_mgf1_md(context, EVP_sha256()) > 0;
    if (good && EVP_PKEY_CTX_set0_rsa_oaep_label(context, label, sizeof "IDENTITY") > 0)
        label = NULL;
    good = good && label == NULL && EVP_PKEY_decrypt(context, plain, &n, block, RSA_SIZE) > 0 && n == HASH;
    if (good)
        memcpy(seed, plain, HASH);
    OPENSSL_free(label);
    EVP_PKEY_CTX_free(context);
    return good;
}

/* Part 1, 11.4.10.2 KDFa of at most one block. */
static int derive(uint8_t *out, const uint8_t *seed, const char *label, const uint8_t *name, size_t name_n,
                  uint32_t bits)
{
    uint8_t text[4 + LABEL_MAX + BENCH_NAME_SIZE + 4] = {0, 0, 0, 1};
    size_t n = 4, label_n = strlen(label) + 1;
    memcpy(text + n, label, label_n);
    n += label_n;
    if (name_n != 0)
        memcpy(text + n, name, name_n);
    n += name_n;
    for (int shift = 24; shift >= 0; shift -= 8)
        text[n++] = (uint8_t)(bits >> shift);
    return HMAC(EVP_sha256(), seed, HASH, text, n, out, NULL) != NULL;
}

/* Part 1, 24.5 */
static int is_whole(const uint8_t *seed, const uint8_t *integrity, const uint8_t *identity, size_t n,
                    const uint8_t *name)
{
    uint8_t key[HASH], text[2 + HASH + BENCH_NAME_SIZE], expected[HASH];
    memcpy(text, identity, n);
    memcpy(text + n, name, BENCH_NAME_SIZE);
    return derive(key, seed, "INTEGRITY", NULL, 0, 8 * HASH) &&
           HMAC(EVP_sha256(), key, HASH, text, n + BENCH_NAME_SIZE, expected, NULL) != NULL &&
           CRYPTO_memcmp(expected, integrity, HASH) == 0;
}

/* Part 1, 24.4 */
static int decrypt_identity(const uint8_t *seed, const uint8_t *name, const uint8_t *identity, int n, uint8_t *out)
{
    static const uint8_t iv[16];
    uint8_t key[HASH];
    int written = 0;
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    int good = context != NULL && derive(key, seed, "STORAGE", name, BENCH_NAME_SIZE, 8 * CIPHER_KEY) &&
               EVP_DecryptInit_ex(context, EVP_aes_128_cfb128(), NULL, key, iv) &&
               EVP_DecryptUpdate(context, out, &written, identity, n) && written == n;
    EVP_CIPHER_CTX_free(context);
    return good;
}

int bench_ek_open(const bench_ek *ek, uint8_t *secret, const uint8_t *credential, size_t credential_n,
                  const uint8_t *encrypted, size_t encrypted_n, const uint8_t *name)
{
    enum { IDENTITY = 2 + BENCH_SECRET_SIZE, CREDENTIAL = 2 + 2 + HASH + IDENTITY };
    uint8_t seed[HASH], plain[IDENTITY];
    const uint8_t *identity = credential + CREDENTIAL - IDENTITY;
    if (credential_n != CREDENTIAL || credential[2] != 0 || credential[3] != HASH || encrypted_n != 2 + RSA_SIZE)
        return 0;
    if (!decrypt_seed(ek->key, seed, encrypted + 2) || !is_whole(seed, credential + 4, identity, IDENTITY, name) ||
        !decrypt_identity(seed, name, identity, IDENTITY, plain) || plain[0] != 0 || plain[1] != BENCH_SECRET_SIZE)
        return 0;
    memcpy(secret, plain + 2, BENCH_SECRET_SIZE);
    return 1;
}
